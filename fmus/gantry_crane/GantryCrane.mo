model GantryCrane "A trolley carries a load on a rope of rods from rest to rest, its drive damps the swing"
  import SI = Modelica.Units.SI;
  import Modelica.Units.Conversions.from_deg;

  parameter Integer n(min=1) = 3 "Number of rods that the rope is made of";
  parameter SI.Length rope = 3 "Length of the rope";
  parameter SI.Mass m_load(min=0) = 120 "Mass of the load";
  parameter SI.Length travel = 4 "Distance to travel";
  parameter SI.Velocity v_max = 1.5 "Greatest speed of travel";
  parameter SI.Acceleration a_max = 0.8 "Greatest acceleration of travel";
  parameter SI.TranslationalSpringConstant k = 1000 "Stiffness of the position control";
  parameter SI.TranslationalDampingConstant d = 1500 "Damping of the position control";
  parameter SI.Force k_swing = 6000 "Force per angle of the rope, against its swing";
  parameter SI.Force f_max = 700 "Greatest force of the drive";
  final parameter SI.Mass m_rod = 0.5*rope/n "Mass of one rod, of a rope of 0.5 kg/m";

  inner Modelica.Mechanics.MultiBody.World world(n={0,-1,0});
  Modelica.Mechanics.MultiBody.Joints.Prismatic track(
    n={1,0,0},
    useAxisFlange=true,
    s(fixed=true),
    v(fixed=true),
    animation=false) "Track of the trolley";
  Modelica.Mechanics.MultiBody.Parts.Body trolley(m=200, r_CM={0,0,0}, I_11=10, I_22=10, I_33=10, animation=false);
  Modelica.Mechanics.MultiBody.Joints.Revolute hinge[n](
    each n={0,0,1},
    each cylinderLength=0.16,
    each cylinderDiameter=0.08,
    useAxisFlange={i == 1 for i in 1:n},
    phi(start={if i == 1 then from_deg(8) else 0 for i in 1:n}, each fixed=true),
    w(each fixed=true)) "Hinges of the rope, the first one on the trolley";
  Modelica.Mechanics.MultiBody.Parts.BodyShape rod[n](
    each r={0,-rope/n,0},
    each r_CM={0,-rope/n/2,0},
    each m=m_rod,
    each I_11=m_rod*(rope/n)^2/12,
    each I_22=1e-4,
    each I_33=m_rod*(rope/n)^2/12,
    each width=0.035,
    each color={70,74,80},
    each animateSphere=false);
  Modelica.Mechanics.MultiBody.Parts.PointMass load(m=m_load, animation=false);
  Modelica.Mechanics.Rotational.Components.Damper friction(d=2) "In the hinge on the trolley";
  Modelica.Mechanics.Translational.Sources.Force drive(useSupport=true);
  Modelica.Blocks.Sources.KinematicPTP2 path(
    q_end={travel},
    qd_max={v_max},
    qdd_max={a_max},
    startTime=1);

  Modelica.Mechanics.MultiBody.Visualizers.FixedShape rail[2](
    each length=travel + 3,
    each width=0.22,
    each height=0.14,
    each lengthDirection={1,0,0},
    each color={226,172,58},
    r_shape={{-1.5,-0.25,0.45},{-1.5,-0.25,-0.45}}) "Rails, as they are seen";
  Modelica.Mechanics.MultiBody.Visualizers.FixedShape column[4](
    each length=rope + 1.7,
    each width=0.2,
    each height=0.2,
    each lengthDirection={0,-1,0},
    each widthDirection={1,0,0},
    each color={120,128,136},
    r_shape={{-1.4,-0.35,0.45},{-1.4,-0.35,-0.45},{travel + 1.4,-0.35,0.45},{travel + 1.4,-0.35,-0.45}});
  Modelica.Mechanics.MultiBody.Visualizers.FixedShape carriage(
    length=0.9,
    width=0.22,
    height=1.1,
    r_shape={-0.45,-0.02,0},
    color={198,98,62});
  Modelica.Mechanics.MultiBody.Visualizers.FixedShape cargo(
    length=0.7,
    width=0.9,
    height=0.8,
    lengthDirection={0,-1,0},
    widthDirection={1,0,0},
    color={92,128,150});

  SI.Force demand "Force that the control asks for";
  SI.Angle swing = sum(hinge.phi) "Angle of the last rod against the vertical";
  output SI.Position x = track.s "Position of the trolley";
  output SI.Position x_load = load.frame_a.r_0[1] "Position of the load along the track";
  output SI.Force force = drive.f "Force of the drive";
equation
  demand = k*(path.q[1] - track.s) + d*(path.qd[1] - track.v) + k_swing*hinge[1].phi;
  drive.f = if demand > f_max then f_max elseif demand < -f_max then -f_max else demand;
  connect(world.frame_b, track.frame_a);
  connect(drive.support, track.support);
  connect(drive.flange, track.axis);
  connect(track.frame_b, trolley.frame_a);
  connect(track.frame_b, hinge[1].frame_a);
  connect(hinge[1].support, friction.flange_a);
  connect(friction.flange_b, hinge[1].axis);
  for i in 1:n loop
    connect(hinge[i].frame_b, rod[i].frame_a);
  end for;
  connect(rod[1:n - 1].frame_b, hinge[2:n].frame_a);
  connect(rod[n].frame_b, load.frame_a);
  connect(rod[n].frame_b, cargo.frame_a);
  connect(track.frame_b, carriage.frame_a);
  for i in 1:2 loop
    connect(world.frame_b, rail[i].frame_a);
  end for;
  for i in 1:4 loop
    connect(world.frame_b, column[i].frame_a);
  end for;
  annotation(experiment(StopTime=8, Tolerance=1e-6));
end GantryCrane;
