// The partial models of the Modelica library from which models with equations of their own are usually derived: names
// and equations of the library's interfaces, written down as far as a model needs them.
package Modelica
  package Mechanics
    package Rotational
      package Interfaces
        partial model PartialTwoFlanges
          Flange_a flange_a "Flange of left shaft";
          Flange_b flange_b "Flange of right shaft";
        end PartialTwoFlanges;

        partial model PartialRigid
          Units.SI.Angle phi "Absolute rotation angle of component";
          extends PartialTwoFlanges;
        equation
          flange_a.phi = phi;
          flange_b.phi = phi;
        end PartialRigid;

        partial model PartialCompliant
          Units.SI.Angle phi_rel(start=0) "Relative rotation angle (= flange_b.phi - flange_a.phi)";
          Units.SI.Torque tau "Torque between flanges (= flange_b.tau)";
          extends PartialTwoFlanges;
        equation
          phi_rel = flange_b.phi - flange_a.phi;
          flange_b.tau = tau;
          flange_a.tau = -tau;
        end PartialCompliant;

        partial model PartialCompliantWithRelativeStates
          Units.SI.Angle phi_rel(start=0) "Relative rotation angle (= flange_b.phi - flange_a.phi)";
          Units.SI.AngularVelocity w_rel(start=0) "Relative angular velocity (= der(phi_rel))";
          Units.SI.AngularAcceleration a_rel(start=0) "Relative angular acceleration (= der(w_rel))";
          Units.SI.Torque tau "Torque between flanges (= flange_b.tau)";
          parameter StateSelect stateSelect=StateSelect.prefer "Priority to use phi_rel and w_rel as states";
          parameter Units.SI.Angle phi_nominal=1e-4 "Nominal value of phi_rel (used for scaling)";
          extends PartialTwoFlanges;
        equation
          phi_rel = flange_b.phi - flange_a.phi;
          w_rel = der(phi_rel);
          a_rel = der(w_rel);
          flange_b.tau = tau;
          flange_a.tau = -tau;
        end PartialCompliantWithRelativeStates;

        partial model PartialOneFlange
          Flange_b flange "Flange of shaft";
        end PartialOneFlange;

        partial model PartialElementaryOneFlangeAndSupport2
          parameter Boolean useSupport=false
            "= true, if support flange enabled, otherwise implicitly grounded";
          Flange_b flange "Flange of shaft";
          Support support if useSupport "Support/housing of component";
        protected
          Units.SI.Angle phi_support "Absolute angle of support flange";
        equation
          if useSupport then
            phi_support = support.phi;
            support.tau = -flange.tau;
          else
            phi_support = 0;
          end if;
        end PartialElementaryOneFlangeAndSupport2;

        partial model PartialTorque
          extends PartialElementaryOneFlangeAndSupport2;
          Units.SI.Angle phi "Angle of flange with respect to support (= flange.phi - support.phi)";
        equation
          phi = flange.phi - phi_support;
        end PartialTorque;

        partial model PartialElementaryTwoFlangesAndSupport2
          parameter Boolean useSupport=false
            "= true, if support flange enabled, otherwise implicitly grounded";
          extends PartialTwoFlanges;
          Support support if useSupport "Support/housing of component";
        protected
          Units.SI.Angle phi_support "Absolute angle of support flange";
        equation
          if useSupport then
            phi_support = support.phi;
            support.tau = -flange_a.tau - flange_b.tau;
          else
            phi_support = 0;
          end if;
        end PartialElementaryTwoFlangesAndSupport2;

        partial model PartialAbsoluteSensor
          Flange_a flange "Flange of shaft from which sensor information shall be measured";
        equation
          flange.tau = 0;
        end PartialAbsoluteSensor;

        partial model PartialRelativeSensor
          extends PartialTwoFlanges;
        equation
          flange_a.tau = 0;
          flange_b.tau = 0;
        end PartialRelativeSensor;
      end Interfaces;
    end Rotational;

    package Translational
      package Interfaces
        partial model PartialTwoFlanges
          Flange_a flange_a "(left) driving flange (flange axis directed into cut plane)";
          Flange_b flange_b "(right) driven flange (flange axis directed out of cut plane)";
        end PartialTwoFlanges;

        partial model PartialCompliant
          extends PartialTwoFlanges;
          Units.SI.Distance s_rel(start=0) "Relative distance (= flange_b.s - flange_a.s)";
          Units.SI.Force f "Force between flanges (positive in direction of flange axis R)";
        equation
          s_rel = flange_b.s - flange_a.s;
          flange_b.f = f;
          flange_a.f = -f;
        end PartialCompliant;

        partial model PartialCompliantWithRelativeStates
          extends PartialTwoFlanges;
          parameter StateSelect stateSelect=StateSelect.prefer "Priority to use s_rel and v_rel as states";
          parameter Units.SI.Distance s_nominal=1e-4 "Nominal value of s_rel (used for scaling)";
          Units.SI.Distance s_rel(start=0) "Relative distance (= flange_b.s - flange_a.s)";
          Units.SI.Velocity v_rel(start=0) "Relative velocity (= der(s_rel))";
          Units.SI.Force f "Forces between flanges (= flange_b.f)";
        equation
          s_rel = flange_b.s - flange_a.s;
          v_rel = der(s_rel);
          flange_b.f = f;
          flange_a.f = -f;
        end PartialCompliantWithRelativeStates;

        partial model PartialOneFlange
          Flange_b flange "Flange of component";
        end PartialOneFlange;

        partial model PartialElementaryOneFlangeAndSupport2
          parameter Boolean useSupport=false
            "= true, if support flange enabled, otherwise implicitly grounded";
          Flange_b flange "Flange of component";
          Support support if useSupport "Support/housing of component";
        protected
          Units.SI.Length s_support "Absolute position of support flange";
        equation
          if useSupport then
            s_support = support.s;
            support.f = -flange.f;
          else
            s_support = 0;
          end if;
        end PartialElementaryOneFlangeAndSupport2;

        partial model PartialForce
          extends PartialElementaryOneFlangeAndSupport2;
          Units.SI.Length s "Distance between flange and support (= flange.s - support.s)";
        equation
          s = flange.s - s_support;
        end PartialForce;

        partial model PartialAbsoluteSensor
          Flange_a flange "Flange to be measured";
        equation
          flange.f = 0;
        end PartialAbsoluteSensor;

        partial model PartialRelativeSensor
          extends PartialTwoFlanges;
        equation
          flange_a.f = 0;
          flange_b.f = 0;
        end PartialRelativeSensor;
      end Interfaces;
    end Translational;

    package MultiBody
      package Interfaces
        partial model PartialTwoFrames
          Frame_a frame_a "Coordinate system fixed to the component with one cut-force and cut-torque";
          Frame_b frame_b "Coordinate system fixed to the component with one cut-force and cut-torque";
        protected
          outer World world;
        end PartialTwoFrames;

        partial model PartialTwoFramesDoubleSize
          extends PartialTwoFrames;
        end PartialTwoFramesDoubleSize;

        partial model PartialOneFrame_a
          Frame_a frame_a "Coordinate system fixed to the component with one cut-force and cut-torque";
        protected
          outer World world;
        end PartialOneFrame_a;

        partial model PartialOneFrame_b
          Frame_b frame_b "Coordinate system fixed to the component with one cut-force and cut-torque";
        protected
          outer World world;
        end PartialOneFrame_b;

        partial model PartialForce
          extends PartialTwoFrames;
          Units.SI.Position r_rel_b[3]
            "Position vector from origin of frame_a to origin of frame_b, resolved in frame_b";
        equation
          r_rel_b = Frames.resolve2(frame_b.R, frame_b.r_0 - frame_a.r_0);
          frame_a.f = -Frames.resolveRelative(frame_b.f, frame_b.R, frame_a.R);
          frame_a.t = -Frames.resolveRelative(frame_b.t + cross(r_rel_b, frame_b.f), frame_b.R, frame_a.R);
        end PartialForce;

        partial model PartialLineForce
          extends PartialTwoFrames;
          parameter Units.SI.Position s_small=1e-6 "Prevent zero-division if relative distance s=0";
          Units.SI.Force f "Line force, positive where it pulls the frames together";
          Units.SI.Distance length "Distance between the origin of frame_a and the origin of frame_b";
          Units.SI.Position s "(Guarded) distance between the origins of frame_a and frame_b (>= s_small)";
          Units.SI.Position r_rel_0[3] "Position vector from frame_a to frame_b resolved in world frame";
          Real e_rel_0[3](each final unit="1")
            "Unit vector in direction from frame_a to frame_b, resolved in world frame";
        equation
          r_rel_0 = frame_b.r_0 - frame_a.r_0;
          length = sqrt(r_rel_0*r_rel_0);
          s = noEvent(max(length, s_small));
          e_rel_0 = r_rel_0/s;
          frame_a.f = Frames.resolve2(frame_a.R, -e_rel_0*f);
          frame_a.t = zeros(3);
          frame_b.f = Frames.resolve2(frame_b.R, e_rel_0*f);
          frame_b.t = zeros(3);
        end PartialLineForce;

        partial model PartialAbsoluteSensor
          extends PartialOneFrame_a;
          parameter Integer n_out=1 "Number of output signals";
          Blocks.Interfaces.RealOutput y[n_out] "Measured data as signal vector";
        end PartialAbsoluteSensor;

        partial model PartialRelativeSensor
          extends PartialTwoFrames;
          parameter Integer n_out=1 "Number of output signals";
          Blocks.Interfaces.RealOutput y[n_out] "Measured data as signal vector";
        end PartialRelativeSensor;

        partial function partialGravityAcceleration
          input Units.SI.Position r[3] "Position vector from world frame to actual point, resolved in world frame";
          output Units.SI.Acceleration gravity[3] "Gravity acceleration at position r, resolved in world frame";
        end partialGravityAcceleration;
      end Interfaces;
    end MultiBody;
  end Mechanics;

  package Blocks
    package Interfaces
      partial block SO
        RealOutput y "Connector of Real output signal";
      end SO;

      partial block MO
        parameter Integer nout(min=1)=1 "Number of outputs";
        RealOutput y[nout] "Connector of Real output signals";
      end MO;

      partial block SISO
        RealInput u "Connector of Real input signal";
        RealOutput y "Connector of Real output signal";
      end SISO;

      partial block SI2SO
        RealInput u1 "Connector of Real input signal 1";
        RealInput u2 "Connector of Real input signal 2";
        RealOutput y "Connector of Real output signal";
      end SI2SO;

      partial block SIMO
        parameter Integer nout=1 "Number of outputs";
        RealInput u "Connector of Real input signal";
        RealOutput y[nout] "Connector of Real output signals";
      end SIMO;

      partial block MISO
        parameter Integer nin=1 "Number of inputs";
        RealInput u[nin] "Connector of Real input signals";
        RealOutput y "Connector of Real output signal";
      end MISO;

      partial block MIMO
        parameter Integer nin=1 "Number of inputs";
        parameter Integer nout=1 "Number of outputs";
        RealInput u[nin] "Connector of Real input signals";
        RealOutput y[nout] "Connector of Real output signals";
      end MIMO;

      partial block MIMOs
        parameter Integer n=1 "Number of inputs (= number of outputs)";
        RealInput u[n] "Connector of Real input signals";
        RealOutput y[n] "Connector of Real output signals";
      end MIMOs;

      partial block MI2MO
        parameter Integer n=1 "Dimension of input and output vectors.";
        RealInput u1[n] "Connector 1 of Real input signals";
        RealInput u2[n] "Connector 2 of Real input signals";
        RealOutput y[n] "Connector of Real output signals";
      end MI2MO;

      partial block SVcontrol
        RealInput u_s "Connector of setpoint input signal";
        RealInput u_m "Connector of measurement input signal";
        RealOutput y "Connector of actuator output signal";
      end SVcontrol;

      partial block SignalSource
        extends SO;
        parameter Real offset=0 "Offset of output signal y";
        parameter Units.SI.Time startTime=0 "Output y = offset for time < startTime";
      end SignalSource;

      partial block MVcontrol
        parameter Integer nu_s(min=1)=1 "Number of setpoint inputs";
        parameter Integer nu_m(min=1)=1 "Number of measurement inputs";
        parameter Integer ny(min=1)=1 "Number of actuator outputs";
        RealInput u_s[nu_s] "Connector of setpoint input signals";
        RealInput u_m[nu_m] "Connector of measurement input signals";
        RealOutput y[ny] "Connector of actuator output signals";
      end MVcontrol;

      partial block PartialRealMISO
        parameter Integer significantDigits(min=1)=3 "Number of digits shown in a diagram (no effect)";
        parameter Integer nu(min=0)=0 "Number of input connections";
        RealInput u[nu] "Connector of Real input signals";
        RealOutput y "Connector of Real output signal";
      end PartialRealMISO;

      partial block PartialConversionBlock
        RealInput u "Connector of Real input signal to be converted";
        RealOutput y "Connector of Real output signal with the converted input";
      end PartialConversionBlock;

      partial block partialBooleanSI
        BooleanInput u "Connector of Boolean input signal";
      end partialBooleanSI;

      partial block partialBooleanSO
        BooleanOutput y "Connector of Boolean output signal";
      end partialBooleanSO;

      partial block partialBooleanSource
        extends partialBooleanSO;
      end partialBooleanSource;

      partial block BooleanSignalSource
        extends partialBooleanSO;
      end BooleanSignalSource;

      partial block BooleanSISO
        BooleanInput u "Connector of Boolean input signal";
        BooleanOutput y "Connector of Boolean output signal";
      end BooleanSISO;

      partial block partialBooleanSISO
        extends BooleanSISO;
      end partialBooleanSISO;

      partial block PartialBooleanSISO_small
        extends BooleanSISO;
      end PartialBooleanSISO_small;

      partial block SI2BooleanSO
        BooleanInput u1 "Connector of Boolean input signal 1";
        BooleanInput u2 "Connector of Boolean input signal 2";
        BooleanOutput y "Connector of Boolean output signal";
      end SI2BooleanSO;

      partial block partialBooleanSI2SO
        extends SI2BooleanSO;
      end partialBooleanSI2SO;

      partial block partialBooleanSI3SO
        BooleanInput u1 "Connector of Boolean input signal 1";
        BooleanInput u2 "Connector of Boolean input signal 2";
        BooleanInput u3 "Connector of Boolean input signal 3";
        BooleanOutput y "Connector of Boolean output signal";
      end partialBooleanSI3SO;

      partial block PartialBooleanMISO
        parameter Integer nu(min=0)=0 "Number of input connections";
        BooleanInput u[nu] "Connector of Boolean input signals";
        BooleanOutput y "Connector of Boolean output signal";
      end PartialBooleanMISO;

      partial block BooleanMIMOs
        parameter Integer n(min=1)=1 "Number of inputs (= number of outputs)";
        BooleanInput u[n] "Connector of Boolean input signals";
        BooleanOutput y[n] "Connector of Boolean output signals";
      end BooleanMIMOs;

      partial block MI2BooleanMOs
        parameter Integer n(min=1)=1 "Number of elements of each vector";
        BooleanInput u1[n] "Connector of Boolean input signals 1";
        BooleanInput u2[n] "Connector of Boolean input signals 2";
        BooleanOutput y[n] "Connector of Boolean output signals";
      end MI2BooleanMOs;

      partial block partialBooleanThresholdComparison
        parameter Real threshold=0 "Comparison with respect to threshold";
        RealInput u "Connector of Real input signal";
        BooleanOutput y "Connector of Boolean output signal";
      end partialBooleanThresholdComparison;

      partial block partialBooleanComparison
        RealInput u1 "Connector of Real input signal 1";
        RealInput u2 "Connector of Real input signal 2";
        BooleanOutput y "Connector of Boolean output signal";
      end partialBooleanComparison;

      partial block IntegerSO
        IntegerOutput y "Connector of Integer output signal";
      end IntegerSO;

      partial block IntegerMO
        parameter Integer nout(min=1)=1 "Number of outputs";
        IntegerOutput y[nout] "Connector of Integer output signals";
      end IntegerMO;

      partial block IntegerSignalSource
        extends IntegerSO;
        parameter Integer offset=0 "Offset of output signal y";
        parameter Units.SI.Time startTime=0 "Output y = offset for time < startTime";
      end IntegerSignalSource;

      partial block PartialIntegerSISO
        IntegerInput u "Connector of Integer input signal";
        IntegerOutput y "Connector of Integer output signal";
      end PartialIntegerSISO;

      partial block PartialIntegerMISO
        parameter Integer significantDigits(min=1)=3 "Number of digits shown in a diagram (no effect)";
        parameter Integer nu(min=0)=0 "Number of input connections";
        IntegerInput u[nu] "Connector of Integer input signals";
        IntegerOutput y "Connector of Integer output signal";
      end PartialIntegerMISO;

      partial block IntegerSIBooleanSO
        IntegerInput u "Connector of Integer input signal";
        BooleanOutput y "Connector of Boolean output signal";
      end IntegerSIBooleanSO;

      partial block IntegerMIBooleanMOs
        parameter Integer n(min=1)=1 "Number of inputs (= number of outputs)";
        IntegerInput u[n] "Connector of Integer input signals";
        BooleanOutput y[n] "Connector of Boolean output signals";
      end IntegerMIBooleanMOs;
    end Interfaces;
  end Blocks;

  package Thermal
    package HeatTransfer
      package Interfaces
        partial model Element1D
          Units.SI.HeatFlowRate Q_flow "Heat flow rate from port_a -> port_b";
          Units.SI.TemperatureDifference dT "port_a.T - port_b.T";
          HeatPort_a port_a "Heat port a";
          HeatPort_b port_b "Heat port b";
        equation
          dT = port_a.T - port_b.T;
          port_a.Q_flow = Q_flow;
          port_b.Q_flow = -Q_flow;
        end Element1D;

        partial model PartialElementaryConditionalHeatPort
          parameter Boolean useHeatPort=false "= true, if heatPort is enabled";
          parameter Units.SI.Temperature T=293.15 "Fixed device temperature if useHeatPort = false";
          HeatPort_a heatPort if useHeatPort "Optional port to which dissipated losses are transported";
          Units.SI.Temperature TheatPort "Temperature of heatPort";
          Units.SI.Power lossPower "Loss power leaving component via heatPort (> 0, if heat is flowing out)";
        equation
          if useHeatPort then
            TheatPort = heatPort.T;
            heatPort.Q_flow = -lossPower;
          else
            TheatPort = T;
          end if;
        end PartialElementaryConditionalHeatPort;

        partial model PartialElementaryConditionalHeatPortWithoutT
          parameter Boolean useHeatPort=false "= true, if heatPort is enabled";
          HeatPort_a heatPort if useHeatPort "Optional port to which dissipated losses are transported";
          Units.SI.Power lossPower "Loss power leaving component via heatPort (> 0, if heat is flowing out)";
        equation
          if useHeatPort then
            heatPort.Q_flow = -lossPower;
          end if;
        end PartialElementaryConditionalHeatPortWithoutT;
      end Interfaces;
    end HeatTransfer;
  end Thermal;
end Modelica;
