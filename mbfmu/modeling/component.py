"""Component: what every part, joint, force, sensor, block and assembly is."""

from __future__ import annotations

import html
import inspect
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from mbfmu.errors import MbfmuError, ModelError
from mbfmu.frames import Orientation
from mbfmu.messages import suggestion
from mbfmu.modeling import types
from mbfmu.modeling.connectors import Connector, Frames, Port, Reference, Signal
from mbfmu.modeling.copying import Copier
from mbfmu.modeling.declarations import (
    Declaration,
    Parameter,
    Shape,
    Start,
    Variable,
    checked_start,
    is_expression,
    required,
)
from mbfmu.modeling.evaluation import evaluated, given, rows, sentence_of
from mbfmu.modeling.names import checked_name
from mbfmu.modeling.notebook import html_table
from mbfmu.modeling.user_code import described, property_of, told


def shown(value: Any) -> str:
    """How messages call what was given in place of something else: by its name where it has one."""
    if isinstance(value, Component):
        ports = next((f"; name its connector, such as {value.where}.{name}" for name in value.ports()), "")
        return f"the component {value.title}{ports}"
    if isinstance(value, Connector | Reference):
        return f"the {'connector' if isinstance(value, Connector) else 'variable'} {value.path}"
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    if isinstance(value, ca.SX):
        return "a parameter, or an expression of some"
    bare = "__repr__" not in {name for cls in type(value).__mro__[:-1] for name in vars(cls)}
    return f"an object of the class {type(value).__name__}" if bare or callable(value) else f"{value!r:.60}"


def _is_reserved(cls: type, name: str) -> bool:
    """True for a method or property that all components, or all assemblies, have."""
    for base in cls.__mro__:
        if name in vars(base):
            is_ours = base.__module__ in ("mbfmu.modeling.component", "mbfmu.modeling.assembly")
            return is_ours and isinstance(vars(base)[name], property | FunctionType)
    return False


def _components_in(value: Any) -> Iterator[Component]:
    """The components in nested lists, sets and mappings."""
    if isinstance(value, Component):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _components_in(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _components_in(one)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from _components_in(value.ravel().tolist())


#: Words of equations and pictures (mbfmu.dynamics: reading/equation_context.py, showing/drawing.py): they mean the same
#: in all components.
VOCABULARY = frozenset(
    {
        *("time", "start_time", "world", "outer", "der", "pre", "is_connected", "is_root", "holds_orientation"),
        *("relation", "constrain", "implied", "relative_motion", "effort", "with_rate", "delay", "initially"),
        *("switch", "time_event", "require", "terminate", "energy", "on_top", "shared"),
        *("initial", "edge", "change", "sample", "active", "when", "reinit", "impact", "hold", "kept"),
        *("draw_arrow", "draw_axes", "draw_deformed", "draw_lines", "draw_shape", "draw_surface", "is_positive"),
    }
)


#: What a model says of a variable's start, where it says nothing.
_NOT_GIVEN = Start()
#: What mbfmu itself asks of components, and users do not.
_INNER = frozenset(
    {
        *("check_attributes", "check_connections", "check_values", "copy_obstacle", "free_joint"),
        *("free_joint_priority", "has_part", "is_animated", "is_composite", "is_fixed", "is_given", "lend", "original"),
        *("own_words", "parameter", "plain_symbol", "see", "shape_of", "start", "switching_on", "symbol"),
        *("takes_attributes", "ties_orientation", "title", "value_to", "variable", "where", "draw_own_shape", "folder"),
        *("drops_connections", "draw_cylinder", "declarations"),
    }
)


class _Computed:
    """Stands in a signature for a default that is no plain value."""

    def __repr__(self) -> str:
        return "..."


class _Signature:
    """What `inspect.signature`, and with it `help` and notebooks, say of a component's constructor."""

    def __get__(self, instance: Component | None, owner: type[Component]) -> inspect.Signature:
        given = list(inspect.signature(owner.__init__).parameters.values())[1:]
        if not given or given[-1].kind is not inspect.Parameter.VAR_KEYWORD:
            return inspect.Signature(given)
        own: dict[str, inspect.Parameter] = {}
        inherited: dict[str, inspect.Parameter] = {}
        for name, declaration in owner.declarations.items():
            if isinstance(declaration, Variable) or (isinstance(declaration, Parameter) and not declaration.final):
                default = declaration.default if isinstance(declaration, Parameter) else _Computed()
                if default is required:
                    default = inspect.Parameter.empty
                elif callable(default):
                    default = _Computed()
                found = own if name in vars(owner) else inherited
                found[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        return inspect.Signature([*given[:-1], *(own | inherited).values(), given[-1]])


class Component:
    """Base of all components. Class attributes declare; `equations` or `build` say how it behaves.

    An instance belongs to at most one assembly: assigning it to an attribute names and owns it. Keyword arguments of
    the constructor are modifiers, as in Modelica: values of parameters, `Start(...)` of variables, and mappings for
    the parts of a composite.
    """

    #: Modelica name without `Modelica.` and `Mechanics.`, e.g. "MultiBody.Joints.Revolute"; None: not for files.
    modelica_name: ClassVar[str | None] = None
    #: What all components of an assembly see it as, for which Modelica has `inner`: "world"; "": they do not see it.
    inner_name: ClassVar[str] = ""
    declarations: ClassVar[dict[str, Declaration]] = {}
    _declared_ports: ClassVar[dict[str, Port]] = {}
    _declared_vectors: ClassVar[list[Frames]] = []
    _declared_variables: ClassVar[dict[str, Variable]] = {}
    _declared_parameters: ClassVar[dict[str, Parameter]] = {}
    #: Why components of this class cannot be copied, and what to do; None where they can.
    copy_obstacle: ClassVar[str | None] = None
    #: True where anything may be kept in attributes of an instance that is a part already.
    takes_attributes: ClassVar[bool] = False
    #: Words of the vocabulary that the class declares itself, since Modelica has them so, and that it does without.
    own_words: ClassVar[frozenset[str]] = frozenset()
    #: Kind of scope -> the class of those that stand for components of this class in equations; it ends with it.
    _scope_classes: ClassVar[dict[type, type]] = {}

    __signature__ = _Signature()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, value in vars(cls).items():
            if isinstance(value, Declaration) and name in vars(Component):
                raise ModelError(
                    f"{cls.__name__}: {name!r} is part of what every component has, and cannot be declared; choose "
                    "another name"
                )
        declarations: dict[str, Declaration] = {}
        for base in reversed(cls.__mro__):
            declarations |= {k: v for k, v in vars(base).items() if isinstance(v, Declaration)}
        for name in (*declarations, *vars(cls)):
            if cls._is_word(name):
                raise ModelError(
                    f"{cls.__name__}: {name!r} is a word of equations, self.{name}, and cannot be anything else there; "
                    "choose another name"
                )
        cls._take_declarations(declarations)
        for declaration in vars(cls).values():
            if isinstance(declaration, Declaration):
                declaration.__doc__ = sentence_of(declaration)  # for `help`
        cls._scope_classes = {}

    @classmethod
    def _is_word(cls, name: str) -> bool:
        """True where equations or pictures of the class would not see an attribute, for a word of theirs."""
        speaks = hasattr(cls, "equations") or cls.visualize is not Component.visualize
        return speaks and name in VOCABULARY - cls.own_words

    @classmethod
    def _take_declarations(cls, declarations: dict[str, Declaration]) -> None:
        """Let these be the declarations of the class, sorted once by what they declare."""
        cls.declarations = declarations
        cls._declared_ports = {k: d for k, d in cls.declarations.items() if isinstance(d, Port)}
        cls._declared_vectors = [d for d in cls.declarations.values() if isinstance(d, Frames)]
        cls._declared_variables = {k: d for k, d in cls.declarations.items() if isinstance(d, Variable)}
        cls._declared_parameters = {k: d for k, d in cls.declarations.items() if isinstance(d, Parameter)}

    def __new__(cls, *args: Any, **kwargs: Any) -> Component:
        """An empty component: a subclass may assign parts before or without calling `Component.__init__`."""
        self = super().__new__(cls)
        vars(self).update(
            _owner=None,
            _name="",
            _values={},
            _symbols={},
            _parts={},
            _ports={},
            _connections=[],
            _conditions={},
            _outers={},
            _rebuilding=False,
            _asked=frozenset(k for k in kwargs if isinstance(cls.declarations.get(k), Parameter)),
        )
        return self

    def __init__(self, **modifiers: Any) -> None:
        self.modify(**modifiers)
        for name, declaration in self.parameters().items():
            if declaration.default is required:
                self.value(name)
        self.check_values()

    # -- structure

    def build(self) -> None:
        """Make parts and connections of a composite from its (structural) parameters; elementary ones have none."""

    def visualize(self) -> None:
        """Say what the component looks like, in the words of mbfmu.dynamics.showing.drawing; called for scenes only."""

    @property
    def is_animated(self) -> bool:
        """True where the component draws something, and no parameter `animation` of it switches that off."""
        if type(self).visualize is Component.visualize:
            return False
        return "animation" not in self.declarations or bool(self.value("animation"))

    @property
    def is_composite(self) -> bool:
        """True where the component consists of parts."""
        return bool(self._parts) or type(self).build is not Component.build

    @property
    def path(self) -> str:
        """Dotted name from the outermost assembly ('' for that one)."""
        if self._owner is None:
            return ""
        outer = self._owner.path
        return f"{outer}.{self._name}" if outer and self._name else outer or self._name

    @property
    def part_of(self) -> Component | None:
        """The component that this one is a part of; None for the outermost."""
        return self._owner

    @property
    def where(self) -> str:
        """How messages call this component."""
        return self.path or self._name or type(self).__name__

    @property
    def title(self) -> str:
        """How messages call this component where its class matters, too."""
        name = type(self).__name__
        return name if self.where == name else f"{self.where} ({name})"

    def __repr__(self) -> str:
        told = ", ".join(given(self))
        return f"<{self.title}: {told}>" if told else f"<{self.title}>"

    def _repr_html_(self) -> str:
        head = ("name", "value", "unit", "description")
        doc = (type(self).__doc__ or "").strip().partition("\n")[0]
        parts = [(name, type(part).__name__) for name, part in self._parts.items()]
        return (
            f"<div><b>{html.escape(self.title)}</b> {html.escape(doc)}</div>{html_table(head, list(rows(self)), 60)}"
            f"{html_table(('part', 'class'), parts)}"
        )

    @property
    def _help(self) -> str:
        """The command that shows what the component declares."""
        return f"mbfmu list {type(self).__name__}" if self.modelica_name else "mbfmu info"

    @property
    def _sentences(self) -> dict[str, str]:
        """What parameters and variables are, by name."""
        return {name: d.doc for name, d in self.declarations.items() if isinstance(d, Parameter | Variable)}

    @property
    def parts(self) -> dict[str, Component]:
        """Components that this one owns, by name."""
        return self._parts

    @property
    def connections(self) -> list[tuple[Connector, Connector]]:
        """Connections made in this component."""
        return self._connections

    def ports(self) -> dict[str, Port]:
        """Declared connectors and those made by assigning one to an attribute, by name; conditional ones if enabled."""
        found = {k: d for k, d in (self._declared_ports | self._ports).items() if d.enabled(self)}
        for vector in self._declared_vectors:
            found |= vector.ports(self)
        return found

    def variables(self) -> dict[str, Variable]:
        """Declared variables that are enabled."""
        return {k: d for k, d in self._declared_variables.items() if d.enabled(self)}

    def variable(self, name: str) -> Variable | None:
        """A declared variable that is enabled; None where there is none of this name."""
        declaration = self._declared_variables.get(name)
        return declaration if declaration is not None and declaration.enabled(self) else None

    def parameters(self) -> dict[str, Parameter]:
        """Declared parameters that are enabled."""
        return {k: d for k, d in self._declared_parameters.items() if d.enabled(self)}

    def parameter(self, name: str) -> Parameter | None:
        """A declared parameter that is enabled; None where there is none of this name."""
        declaration = self._declared_parameters.get(name)
        return declaration if declaration is not None and declaration.enabled(self) else None

    def switching_on(self, port: Port) -> list[str]:
        """Which value of one other Boolean or enumeration would enable a connector, as `name=value`."""
        found = []
        for name, declaration in self.parameters().items():
            choices = {"Boolean": (True, False)}.get(declaration.type.base, declaration.type.values or ())
            if declaration.final or declaration.animation or not choices:
                continue
            for value in choices:
                before = dict(self._values)
                self._values[name] = value
                try:
                    if port.enabled(self):
                        found.append(f"{name}={value!r}")
                finally:
                    self._values.clear()
                    self._values.update(before)
        return found

    def check_attributes(self) -> None:
        """Raise ModelError where what was given has no effect.

        A component in an attribute that is no part (in a mapping, a nested list, or appended to a list), and a
        parameter that the constructor did not pass on.
        """
        for name, value in vars(self).items():
            if name.startswith("_") or not isinstance(value, Mapping | list | tuple | set | frozenset | np.ndarray):
                continue
            for part in _components_in(value):
                if not any(part is own for own in self._parts.values()) and part.part_of is None:
                    raise ModelError(
                        f"{self.where}.{name}: the {type(part).__name__} in it is no part of {self.where}; assign each "
                        "component to an attribute, or a complete list of them, or use add(name, component)"
                    )
            parts = self._parts_in(name) if isinstance(value, list) and value else []
            if parts and (len(parts) != len(value) or any(a is not b for a, b in zip(parts, value, strict=True))):
                raise ModelError(
                    f"{self.where}.{name}: the list has been changed since it was assigned, and its {len(parts)} "
                    "components have not; assign a complete list"
                )
        lost = sorted(self._asked - set(self._values))
        if lost:
            raise ModelError(
                f"{self.title}: its constructor does not pass on {', '.join(lost)}; call "
                "super().__init__(**modifiers) in it"
            )

    def walk(self) -> Iterator[Component]:
        """This component and all below it, parents first."""
        yield self
        for part in self._parts.values():
            yield from part.walk()

    def check_values(self) -> None:
        """Raise ModelError where values of parameters contradict each other, as far as they are numbers.

        Called when the constructor has them, and again when a System is made: they may have been modified.
        """
        for name, declaration in self.parameters().items():
            if declaration.size is None:
                continue
            found, expected = self.shape_of(name), (int(self.value(declaration.size)),)
            if found != expected:
                raise ModelError(
                    f"{self.where}.{name}: has the shape {found}, but {declaration.size} = {expected[0]}; give as many "
                    "numbers, or change that"
                )

    def check_connections(self, connected: set[str]) -> None:
        """Raise ModelError where a connector is open that must not be: one declared as `needed`."""
        for name, port in self.ports().items():
            if port.needed and name not in connected:
                other = "remove the component" if port.when is None else "switch it off"
                raise ModelError(
                    f"{self.where}.{name}: this connector of {type(self).__name__} is not connected; connect it, or "
                    f"{other}"
                )

    def attachments(self) -> list[tuple[Connector, Connector]]:
        """Connections that the component makes itself, once the assembly is complete: of its connectors, which nobody
        else connects, with those of components that its parameters name.

        Raises:
            ModelError: there is no such component.
        """
        return []

    @property
    def ties_orientation(self) -> bool:
        """True where a joint computes one frame's orientation from the other's (Modelica's Connections.branch)."""
        return True

    def free_joint_priority(self) -> int | None:
        """How much this component wants its frame to move freely where nothing holds it.

        None: it never can; 0: always, its motion variables are the states (enforceStates); larger: rather another one.
        """
        return None

    def free_joint(self, alone: bool) -> Component:
        """The joint between ground and the component's frame where it moves freely. `alone`: no other part holds on.

        Raises:
            ModelError: this component cannot move freely.
        """
        raise ModelError(f"{self.where}: {type(self).__name__} cannot move freely")

    def connect(self, a: Connector | Port, b: Connector | Port) -> None:
        """Connect two connectors of one kind and size.

        (A Port is what type checkers take an assembly's own connector for, which is one when it is read.)

        Raises:
            ModelError: one of them is no connector, they are of different kinds, or one and the same.
        """
        if not isinstance(a, Connector) or not isinstance(b, Connector):
            wrong = b if isinstance(a, Connector) else a
            raise ModelError(f"{self.where}: connect takes two connectors, got {shown(wrong)}")
        if a.owner is b.owner and a.port is b.port and (a.elements is None or set(a.elements) & set(b.elements or ())):
            raise ModelError(f"{self.where}: connects {a.path} with itself; name the other connector")
        if a.port.kind != b.port.kind:
            raise ModelError(f"{self.where}: cannot connect {a.path} ({a.port.kind}) with {b.path} ({b.port.kind})")
        self._connections.append((a, b))

    def add(self, name: str, part: Component, when: Any = None) -> Component:
        """Own `part` under `name`. `when`: a function of this component; the part exists where it gives true.

        Raises:
            ModelError: the name is none that an FMU can have; `part` is no component, or has an owner already.
        """
        self._own(name, part)
        if when is not None:
            self._conditions[name] = when
        return part

    def has_part(self, name: str) -> bool:
        """False for a conditional part that does not exist here."""
        if name not in self._conditions:
            return True
        with told(f"{self.where}.{name}: its condition fails"):
            return bool(self._conditions[name](self))

    def _refuse_word(self, name: str) -> None:
        if self._is_word(name):
            raise ModelError(
                f"{self.where}: {name!r} is a word of equations, self.{name}, and cannot be assigned; choose another "
                "name"
            )

    def _own(self, name: str, part: Component) -> None:
        checked_name(name, f"component {'.'.join(filter(None, (self.path, str(name))))}")
        if name != getattr(part, "inner_name", ""):  # self.world is the world
            self._refuse_word(name.partition("[")[0])
        if not isinstance(part, Component):
            raise ModelError(f"{self.where}.{name}: a part is a component such as Revolute(), got {shown(part)}")
        if part._owner is not None:
            raise ModelError(
                f"{self.where}.{name}: this {type(part).__name__} is already {part.path or part._name!r}; "
                "a component can be used once, make another one"
            )
        if any(outer is part for outer in self._owners()):
            raise ModelError(f"{self.where}.{name}: a component cannot contain itself")
        if name in self._parts:
            self._parts[name].__dict__["_owner"] = None
        part.__dict__.update(_owner=self, _name=name)
        self._parts[name] = part

    def see(self, outers: Mapping[str, Component]) -> None:
        """Take the components around this one whose parameters it reads, as a World, by what they stand as."""
        self.__dict__["_outers"] = outers

    @property
    def _outer_world(self) -> Component | None:
        """The World that the component sees, or will see when a System is made of the whole."""
        world: Component | None = self.__dict__.get("_outers", {}).get("world")
        if world is not None:
            return world
        around = (part for owner in reversed([*self._owners()][1:]) for part in owner.parts.values())
        return next((part for part in around if part.inner_name == "world"), None)

    def lend(self, name: str, part: Component) -> Component:
        """Name a part that stands in for something of this component, which sees what this sees but does not own it."""
        part.__dict__.update(_owner=self, _name=name)
        part.see(self._outers)
        return part

    # -- copies

    def __deepcopy__(self, memo: dict[int, Any]) -> Component:
        """An independent component with equal parts, connections and values, which belongs to no assembly yet."""
        for component in self.walk():
            if component.copy_obstacle is not None:
                raise ModelError(f"{component.title}: cannot be copied, for {component.copy_obstacle}")
        copied: Component = Copier(self, memo).run(self)
        return copied

    def __copy__(self) -> Component:
        raise ModelError(f"{self.title}: a copy would share its parts; use copy.deepcopy, or make another one")

    def __reduce__(self) -> Any:
        raise ModelError(
            f"{self.title}: components hold functions and symbols, which cannot be pickled; pickle what it is made of, "
            "write it to a file with `mbfmu convert`, or use copy.deepcopy"
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    def _owners(self) -> Iterator[Component]:
        component: Component | None = self
        while component is not None:
            yield component
            component = component._owner

    # -- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        of_component = isinstance(value, Component | Port) or (
            isinstance(value, list | tuple) and any(isinstance(v, Component) for v in value)
        )
        if of_component and (name in self.declarations or hasattr(type(self), name)):
            raise ModelError(
                f"{self.where}: no component can be assigned to {name!r}, for {type(self).__name__} has something else "
                f"of this name; call it {name}1"
            )
        if _is_reserved(type(self), name):
            raise ModelError(
                f"{self.where}: {name!r} is part of what every component has, and cannot be assigned; choose another "
                "name"
            )
        if not of_component or isinstance(value, Port):
            self._refuse_word(name)
        if inspect.isclass(value) and issubclass(value, Component):
            raise ModelError(f"{self.where}.{name}: is the class {value.__name__}; make one, {value.__name__}(...)")
        self._refuse_to_lose(name, value)
        if name in self.declarations:
            super().__setattr__(name, value)
        elif isinstance(value, Component):
            self._own(name, value)
            self.__dict__.pop(name, None)  # what may have stood there before, such as None
        elif of_component and isinstance(value, list | tuple):
            wrong = [v for v in value if not isinstance(v, Component)]
            if wrong:
                raise ModelError(f"{self.where}.{name}: a list of components has {shown(wrong[0])} in it; leave it out")
            for i, part in enumerate(value, start=1):
                self._own(f"{name}[{i}]", part)
            for i in range(len(value), len(self._parts_in(name))):  # of a longer list before
                self._parts.pop(f"{name}[{i + 1}]").__dict__["_owner"] = None
            self.__dict__[name] = list(value)
        elif isinstance(value, Port):
            value.name = checked_name(name, f"connector {name}")
            self._ports[name] = value
        else:
            self._refuse_unknown(name, value)
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_to_lose(name, None)
        super().__delattr__(name)

    def _parts_in(self, name: str) -> list[Component]:
        """The parts `name[1]`, `name[2]` ... that a list of components in this attribute has become."""
        found: list[Component] = []
        while f"{name}[{len(found) + 1}]" in self._parts:
            found.append(self._parts[f"{name}[{len(found) + 1}]"])
        return found

    def _refuse_to_lose(self, name: str, value: Any) -> None:
        """Refuse something else in place of a part, a list of parts or a connector: the model would keep these."""
        listed = isinstance(value, list | tuple) and any(isinstance(v, Component) for v in value)
        kept: Any = None
        if name in self._parts and not isinstance(value, Component):
            kept = f"the component {self._parts[name].title}"
        elif name in self._ports and not isinstance(value, Port):
            kept = f"the connector {self._ports[name].name}"
        elif not listed and isinstance(self.__dict__.get(name), list) and self._parts_in(name):
            kept = f"a list of {len(self._parts_in(name))} components"
        if kept is not None:
            raise ModelError(
                f"{self.where}.{name} = {value!r:.40}: it is {kept}, which the model would keep; leave that out where "
                "it is made, or choose another name"
            )

    def _refuse_unknown(self, name: str, value: Any) -> None:
        """Refuse an attribute that an assembly gives to one of its parts and that means nothing to this: a misspelling.

        A component's own methods may keep what they like under names that begin with an underscore.
        """
        if self._owner is None or name.startswith("_") or name in vars(self) or hasattr(type(self), name):
            return
        if self._rebuilding or self.takes_attributes:
            return
        hint = suggestion(name, self._sentences, self._help, self._sentences)
        raise ModelError(f"{self.title} has no {name!r} that can be set to {shown(value)}; {hint}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_parts" not in self.__dict__:
            raise AttributeError(name)
        if name in self._parts:
            return self._parts[name]
        if name in self._ports:
            return Connector(self, self._ports[name])
        if name == "world" and self._outer_world is not None:
            return self._outer_world
        own = property_of(type(self), name)
        if own is not None:
            return own.__get__(self)  # for what it lacks itself
        known = [*self._parts, *self._ports, *self.declarations]
        raise AttributeError(f"{self.title} has no {name!r}; {suggestion(name, known, self._help)}")

    def __dir__(self) -> list[str]:
        """Names that users need: what is declared, parts, connectors, methods; none of mbfmu's own work."""
        off = {
            name
            for declared in (self._declared_ports, self._declared_variables, self._declared_parameters)
            for name, one in declared.items()
            if not self._is_on(one)
        }
        own = {name for name in super().__dir__() if name not in _INNER and not name.startswith("_")}
        return sorted({*(own - off), *self._parts, *self._ports})

    def _is_on(self, declaration: Declaration) -> bool:
        """Is a declaration enabled? What cannot be told is shown."""
        try:
            return declaration.enabled(self)
        except Exception:
            return True

    def _read(self, declaration: Declaration) -> Any:
        if isinstance(declaration, Parameter):
            return self.value(declaration.name) if declaration.structural else self.symbol(declaration.name)
        if isinstance(declaration, Port):
            return Connector(self, declaration)
        if isinstance(declaration, Frames):
            return [Connector(self, port) for port in declaration.ports(self).values()]
        return Reference(self, declaration.name)

    def _write(self, declaration: Declaration, value: Any) -> None:
        self.modify(**{declaration.name: value})

    # -- modifiers

    def modify(self, **modifiers: Any) -> None:
        """Give parameters, start values and parts' modifiers; a composite is built (again) with them.

        Raises:
            ModelError: unknown name, wrong type, shape or bound, or a parameter that the class itself computes.
        """
        nested: dict[str, Any] = {}
        rebuild = type(self).build is not Component.build and not self._parts
        for name, value in modifiers.items():
            declaration = self.declarations.get(name)
            if isinstance(declaration, Parameter):
                if declaration.final:
                    raise ModelError(
                        f"{self.where}.{name}: this parameter is computed by {type(self).__name__}; "
                        "set those that it depends on"
                    )
                self._values[name] = declaration.checked(value, self.where)
                rebuild |= declaration.structural and type(self).build is not Component.build
            elif isinstance(declaration, Variable):
                new = checked_start(value, f"{self.where}.{name}", declaration.type)
                old = self._values.get(name, Start())
                declaration.check_bounds(new.value, f"{self.where}.{name}")
                self._values[name] = Start(
                    old.value if new.value is None else new.value, old.fixed if new.fixed is None else new.fixed
                )
            elif isinstance(declaration, Signal):
                start = checked_start(value, f"{self.where}.{name}")
                if np.any(start.fixed):  # a guess of a signal's value changes nothing
                    raise ModelError(
                        f"{self.where}.{name}: a signal follows from others and cannot start with a fixed value; fix "
                        "that of a state"
                    )
            else:
                nested[name] = value
        if rebuild:
            self._rebuild()
        for name, value in nested.items():
            part = self._parts.get(name)
            if part is not None and not isinstance(value, Mapping):
                example = next(iter(part.parameters()), "parameter")
                raise ModelError(
                    f"{part.title} = {value!r}: is a component; name what is to change, such as {part.where}.{example}"
                )
            if part is None:
                hint = suggestion(name, [*self._sentences, *self._parts], self._help, self._sentences)
                raise ModelError(f"{self.title} has no parameter {name!r}; {hint}")
            part.modify(**value)

    def _rebuild(self) -> None:
        for name in [name for name, value in vars(self).items() if isinstance(value, list) and self._parts_in(name)]:
            del self.__dict__[name]
        self._parts.clear()
        self._connections.clear()
        vars(self)["_rebuilding"] = True
        try:
            with told(f"{self.where}: build() of {type(self).__name__} fails"):
                self.build()
        finally:
            vars(self)["_rebuilding"] = False

    def value(self, name: str) -> Any:
        """Value or binding of a parameter: number(s), string, bool, CasADi expression, or Start of a free one.

        An expression is of the symbols of other parameters, as equations take it; `evaluated` gives its number.

        Raises:
            ModelError: it has no value, or its binding fails.
        """
        return self.value_to(self, name)

    def value_to(self, reader: Any, name: str) -> Any:
        """The same, where `reader` is what bindings see in place of the component."""
        declaration = self.declarations[name]
        assert isinstance(declaration, Parameter)
        value = self._values.get(name, declaration.default)
        if value is required:
            raise ModelError(f"{self.title} needs a value for {name} ({declaration.doc})")
        if callable(value) and not is_expression(value):
            try:
                with told(lambda: f"{self.where}.{name}: its binding fails"):
                    value = value(reader)
            except MbfmuError:
                raise
            except Exception as error:
                if name not in self._values:
                    raise  # a binding of the class
                raise ModelError(f"{self.where}.{name}: its binding fails: {described(error)}") from error
            if declaration.type is not types.Orientation:
                value = declaration.checked(value, self.where)
        elif name not in self._values:
            value = declaration.checked_default(self)
        return value

    def evaluated(self, name: str) -> Any:
        """Value of a parameter as number(s), with whatever it depends on; text or truth value of such.

        Raises:
            ModelError: there is no such parameter, or it depends on what has no value yet.
        """
        if not isinstance(self.declarations.get(name), Parameter):
            hint = suggestion(name, self.parameters(), self._help)
            raise ModelError(f"{self.title} has no parameter {name!r}; {hint}")
        return evaluated(self, name)

    def original(self, name: str) -> Any:
        """Value of a parameter, as `value`; what owners just pass on is found where it was given."""
        value, owner = self.value(name), self._owner
        while owner is not None and getattr(value, "is_symbolic", lambda: False)() and value.is_scalar():
            symbols = {s.element_hash(): n for n, s in owner._symbols.items() if s.is_scalar()}
            passed = symbols.get(value.element_hash())
            if passed is None or owner.parameter(passed) is None:
                break
            value, owner = owner.value(passed), owner._owner
        return value

    def is_given(self, name: str) -> bool:
        """True where a modifier set this parameter or start value."""
        return name in self._values

    def shape_of(self, name: str) -> Shape:
        """Shape of a parameter's value ((3, 3) for the T of an orientation)."""
        declaration = self.declarations[name]
        assert isinstance(declaration, Parameter)
        if declaration.type is types.Orientation:
            return (3, 3)
        if declaration.shape is not None:
            return declaration.shape
        value = self.value(name)
        value = value.value if isinstance(value, Start) else value
        if is_expression(value):
            return () if value.is_scalar() else tuple(value.shape) if value.size2() > 1 else (int(value.numel()),)
        return np.shape(value)

    def symbol(self, name: str) -> Any:
        """The symbol of a parameter that is no structural one; an Orientation of symbols for orientations."""
        symbol = self.plain_symbol(name)
        declaration = self.declarations[name]
        if isinstance(declaration, Parameter) and declaration.type is types.Orientation:
            return Orientation(symbol, np.zeros(3))
        return symbol

    def plain_symbol(self, name: str) -> ca.SX:
        """The same as it is; of an orientation, that of its matrix T."""
        symbol = self._symbols.get(name)
        if symbol is None:
            symbol = self._symbols[name] = ca.SX.sym(name, *(self.shape_of(name) or (1,)))
        return symbol

    def start(self, name: str) -> tuple[Any, Any, str]:
        """(start value or None, fixed, state selection) of a variable, modifiers over what the class declares."""
        declaration = self.declarations[name]
        assert isinstance(declaration, Variable)
        given: Start = self._values.get(name, _NOT_GIVEN)
        value = given.value if given.value is not None else self._of_start(name, declaration.start)
        return value, self.is_fixed(name), self._of_start(name, declaration.state_select)

    def is_fixed(self, name: str) -> Any:
        """Does a variable begin with its start value; one answer, or one per element."""
        declaration = self.declarations[name]
        assert isinstance(declaration, Variable)
        given: Start = self._values.get(name, _NOT_GIVEN)
        return given.fixed if given.fixed is not None else self._of_start(name, declaration.fixed)

    def _of_start(self, name: str, declared: Any) -> Any:
        """What a class declares of a variable's start."""
        if not callable(declared) or is_expression(declared):
            return declared
        with told(lambda: f"{self.where}.{name}: its start value fails"):
            return declared(self)

    def connector(self, name: str) -> Connector:
        """Connector by name.

        Raises:
            ModelError: there is none of this name.
        """
        ports = self.ports() | self._declared_ports | self._ports
        port = ports.get(name)
        if port is None:
            raise ModelError(f"{self.title} has no connector {name!r}; {suggestion(name, self.ports(), self._help)}")
        return Connector(self, port)
