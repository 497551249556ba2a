/* FMI 2.0.4, section 3.2: functions of model exchange. This FMU is for co-simulation: all refuse, with a log line. */

static fmi2Status not_model_exchange(fmi2Component c, const char *function)
{
    return c ? say(c, fmi2Error, "%s: this FMU is for co-simulation, not for model exchange", function) : fmi2Error;
}

fmi2Status fmi2EnterEventMode(fmi2Component c) { return not_model_exchange(c, "fmi2EnterEventMode"); }

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *fmi2eventInfo)
{
    (void)fmi2eventInfo;
    return not_model_exchange(c, "fmi2NewDiscreteStates");
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { return not_model_exchange(c, "fmi2EnterContinuousTimeMode"); }

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
{
    (void)noSetFMUStatePriorToCurrentPoint, (void)enterEventMode, (void)terminateSimulation;
    return not_model_exchange(c, "fmi2CompletedIntegratorStep");
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    (void)time;
    return not_model_exchange(c, "fmi2SetTime");
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    (void)x, (void)nx;
    return not_model_exchange(c, "fmi2SetContinuousStates");
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    (void)derivatives, (void)nx;
    return not_model_exchange(c, "fmi2GetDerivatives");
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni)
{
    (void)eventIndicators, (void)ni;
    return not_model_exchange(c, "fmi2GetEventIndicators");
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    (void)x, (void)nx;
    return not_model_exchange(c, "fmi2GetContinuousStates");
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx)
{
    (void)x_nominal, (void)nx;
    return not_model_exchange(c, "fmi2GetNominalsOfContinuousStates");
}
