

def test_a_connection_to_something_switched_off_is_refused() -> None:
    """A forgotten useAxisFlange would otherwise take the damper away without a word."""

    class Hinge(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.hinge = Revolute()
            self.body = Body(m=1, r_CM=(1, 0, 0))
            self.damper = rotational.Damper(d=1)
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.body.frame_a)
            self.connect(self.damper.flange_b, self.hinge.axis)

    with pytest.raises(ModelError, match=r"connects hinge\.axis.*set useAxisFlange=True"):
        System.of(Hinge())
