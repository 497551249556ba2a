/* FMI 2.0.4, section 3.2: model exchange. Time, states and inputs are what the importer sets; they live in the latch,
   so that variables are read as in co-simulation. Modes change in fmi2NewDiscreteStates only. */

/* Where state derivatives and event indicators can be asked for. */
enum { MAY_EVALUATE = INITIALIZATION | EVENT_MODE | CONTINUOUS_TIME | TERMINATED };

static fmi2Status check_vector(Instance *s, const char *function, unsigned allowed, const double *values, size_t n,
                               size_t expected)
{
    if (check_interface(s, function, fmi2ModelExchange, allowed)) return fmi2Error;
    if (n != expected || (n && !values))
        return say(s, fmi2Error, "%s: an array of %lu values, not of %lu", function, (unsigned long)n,
                   (unsigned long)expected);
    return fmi2OK;
}

/* Bring w up to date; where that fails, a smaller step of the importer may do. */
static fmi2Status evaluate(Instance *s, const char *function)
{
    if (refresh(s, 0)) return fmi2OK;
    return say(s, s->now.phase == INITIALIZATION ? fmi2Error : fmi2Discard, "%s at time %.9g: %s", function,
               s->now.latch.t, s->cause);
}

/* Distance of the states from the constraints, relative to the tolerance. */
static double drift_from_constraints(Instance *s)
{
    const Latch *at = &s->now.latch;
    double drift = 0;
    for (int i = 0; i < NQUATERNIONS; ++i) {
        const double *Q = at->x + quaternions[i];
        drift = fmax(drift, fabs(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3] - 1));
    }
#if NL > 0
    if (eval_constraints(s, at->t, at->x, at->u, at->m, s->g, s->c, s->G)) return INFINITY;
    drift = fmax(drift, largest(s->g, NG) / (1 + largest(at->x, NQ)));
    drift = fmax(drift, largest(s->c, NL) / (1 + largest(at->x + NQ, NV)));
#endif
    return drift / s->now.tolerance;
}

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    Instance *s = c;
    if (check_interface(s, "fmi2EnterEventMode", fmi2ModelExchange, EVENT_MODE | CONTINUOUS_TIME)) return fmi2Error;
    s->now.phase = EVENT_MODE;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *fmi2eventInfo)
{
    Instance *s = c;
    const char *name = "fmi2NewDiscreteStates";
    if (check_interface(s, name, fmi2ModelExchange, EVENT_MODE)) return fmi2Error;
    if (!fmi2eventInfo) return say(s, fmi2Error, "%s: no place for the result", name);
    Latch *at = &s->now.latch;
    COPY(s->next_x, at->x, NX);
    forget_flips(s);
    s->cause[0] = 0;
    Outcome outcome = project(s, at->t, s->next_x, at->m);
    if (!outcome) outcome = update_modes(s, at->t, s->next_x, at->m, s->c_next);
    if (!outcome && s->now.touched) outcome = check_redundant(s, at->t, s->next_x, at->m);
    if (outcome) {
        explain(s, outcome);
        return say(s, fmi2Error, "%s at time %.9g: %s", name, at->t, s->cause);
    }
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i]) say(s, fmi2OK, "switch %d becomes %d at time %.9g", i, at->m[i] > 0.5, at->t);
    s->now.events += 1;
    s->now.touched = 0;
    s->w_fresh = s->y_fresh = 0;
    double next = next_instant(s, at->t);
    memset(fmi2eventInfo, 0, sizeof *fmi2eventInfo);
    fmi2eventInfo->valuesOfContinuousStatesChanged = NX && memcmp(at->x, s->next_x, NX * sizeof *at->x) != 0;
    fmi2eventInfo->nextEventTimeDefined = next < INFINITY;
    fmi2eventInfo->nextEventTime = next < INFINITY ? next : 0;
    COPY(at->x, s->next_x, NX);
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    Instance *s = c;
    if (check_interface(s, "fmi2EnterContinuousTimeMode", fmi2ModelExchange, EVENT_MODE)) return fmi2Error;
    s->now.phase = CONTINUOUS_TIME;
    return fmi2OK;
}

/* Asks for an event where the states have drifted off their constraints, and for the end where an assertion fails. */
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
{
    Instance *s = c;
    const char *name = "fmi2CompletedIntegratorStep";
    (void)noSetFMUStatePriorToCurrentPoint;
    if (check_interface(s, name, fmi2ModelExchange, CONTINUOUS_TIME)) return fmi2Error;
    if (!enterEventMode || !terminateSimulation) return say(s, fmi2Error, "%s: no place for the result", name);
    s->now.steps += 1;
    *enterEventMode = drift_from_constraints(s) > 1;
    *terminateSimulation = fmi2False;
    fmi2Status status = NH ? evaluate(s, name) : fmi2OK;
    if (!status && check_assertions(s, s->now.latch.t, s->now.latch.x, s->now.latch.m, s->w)) {
        *terminateSimulation = fmi2True;
        return say(s, fmi2Warning, "%s at time %.9g: %s", name, s->now.latch.t, s->cause);
    }
    return status;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    Instance *s = c;
    if (check_interface(s, "fmi2SetTime", fmi2ModelExchange, EVENT_MODE | CONTINUOUS_TIME)) return fmi2Error;
    if (!(fabs(time) <= 1e300)) return say(s, fmi2Error, "fmi2SetTime: the time %g", time);
    s->now.latch.t = s->now.u_time = time;
    s->w_fresh = s->y_fresh = 0;
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    Instance *s = c;
    const char *name = "fmi2SetContinuousStates";
    if (check_vector(s, name, CONTINUOUS_TIME, x, nx, NX)) return fmi2Error;
    if (!finite_all(x, NX)) return say(s, fmi2Discard, "%s: values that are not finite; the states before stay", name);
    if (NX) COPY(s->now.latch.x, x, NX);
    s->w_fresh = s->y_fresh = 0;
    return fmi2OK;
}

/* Where there are constraints, derivatives are those of the nearest states that meet them: importers do not all complete
   every step, and off the constraints equations of motion may be singular where on them they are not. */
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    Instance *s = c;
    const char *name = "fmi2GetDerivatives";
    if (check_vector(s, name, MAY_EVALUATE, derivatives, nx, NX)) return fmi2Error;
    if (s->now.phase == INITIALIZATION && evaluate(s, name)) return fmi2Error;
    const Latch *at = &s->now.latch;
    COPY(s->next_x, at->x, NX);
    Outcome outcome = project(s, at->t, s->next_x, at->m);
    if (!outcome) outcome = right_hand_side(s, at->t, s->next_x, at->m, s->stage_w, s->stage[0]);
    if (outcome) {
        explain(s, outcome);
        return say(s, fmi2Discard, "%s at time %.9g: %s", name, at->t, s->cause);
    }
    if (NX) COPY(derivatives, s->stage[0], NX);
    return fmi2OK;
}

/* Indicators are the crossings, moved a little so that the switch's mode is not at its border: importers see a change
   between positive and not positive values only, but a crossing may begin at zero and go either way. */
fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni)
{
    Instance *s = c;
    const char *name = "fmi2GetEventIndicators";
    if (check_vector(s, name, MAY_EVALUATE, eventIndicators, ni, NINDICATORS)) return fmi2Error;
    fmi2Status status = evaluate(s, name);
    if (status) return status;
    const Latch *at = &s->now.latch;
    if (NM && (eval_crossings(s, at->t, at->x, at->u, at->m, s->w, s->c_trial) || !finite_all(s->c_trial, NM)))
        return say(s, fmi2Discard, "%s at time %.9g: the indicators are not finite", name, at->t);
    for (int i = 0; i < NINDICATORS; ++i) {
        int which = indicators[i];
        eventIndicators[i] = s->c_trial[which] + (at->m[which] > 0.5 ? 1e-10 : -1e-10);
    }
    return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    Instance *s = c;
    const char *name = "fmi2GetContinuousStates";
    if (check_vector(s, name, MAY_EVALUATE, x, nx, NX)) return fmi2Error;
    if (s->now.phase == INITIALIZATION && evaluate(s, name)) return fmi2Error;
    if (NX) COPY(x, s->now.latch.x, NX);
    return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx)
{
    Instance *s = c;
    const char *name = "fmi2GetNominalsOfContinuousStates";
    if (check_vector(s, name, INSTANTIATED | MAY_EVALUATE, x_nominal, nx, NX)) return fmi2Error;
    if (NX) COPY(x_nominal, nominals, NX);
    return fmi2OK;
}
