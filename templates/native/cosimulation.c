/* FMI 2.0.4, section 4.2: steps, input and output derivatives, status. */

enum { MAY_ASK = STEP_COMPLETE | STEP_FAILED | TERMINATED };

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    Instance *s = c;
    const char *name = "fmi2SetRealInputDerivatives";
    if (check_interface(s, name, fmi2CoSimulation, MAY_SET)
        || check_references(s, name, MAY_SET, vr, nvr, value, NREALS))
        return fmi2Error;
    if (nvr && !order) return say(s, fmi2Error, "%s: no orders", name);
    for (size_t i = 0; i < nvr; ++i) {
        const Settable *variable = find_settable(real_settables, NREAL_SETTABLES, vr[i]);
        if (!variable || variable->kind != SET_INPUT)
            return say(s, fmi2Error, "%s: value reference %u is not an input", name, vr[i]);
        if (order[i] != 1)
            return say(s, fmi2Error, "%s: order %d of %s, order 1 is provided", name, order[i], variable->name);
        if (!(fabs(value[i]) <= 1.7976931348623157e308))
            return say(s, fmi2Discard, "%s: %s is given the value %g; the values before are kept", name,
                       variable->name, value[i]);
    }
    for (size_t i = 0; i < nvr; ++i) {
        double *to = s->now.du + find_settable(real_settables, NREAL_SETTABLES, vr[i])->index;
        if (*to != value[i]) s->now.touched = 1;
        *to = value[i];
    }
    s->now.ramps = largest(s->now.du, NU) > 0;
    return fmi2OK;
}

/* Values at the latch moved by dt along the trajectory. */
static int sample(Instance *s, double dt, const double *dx, const fmi2ValueReference vr[], size_t nvr, double *values)
{
    Latch *at = &s->now.latch, latch = *at;
    at->t += dt;
    for (int i = 0; i < NX; ++i) at->x[i] += dt * dx[i];
    for (int i = 0; i < NU; ++i) at->u[i] += dt * s->now.du[i];
    s->w_fresh = s->y_fresh = 0;
    int ready = prepare(s, real_places, vr, nvr);
    for (size_t i = 0; ready && i < nvr; ++i) values[i] += (dt > 0 ? 1 : -1) * value_at(s, real_places[vr[i]]);
    *at = latch;
    s->w_fresh = s->y_fresh = 0;
    return ready;
}

/* Derivatives of states are exact, others are central differences along the trajectory. */
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    Instance *s = c;
    const char *name = "fmi2GetRealOutputDerivatives";
    if (check_interface(s, name, fmi2CoSimulation, MAY_ASK)
        || check_references(s, name, MAY_ASK, vr, nvr, value, NREALS))
        return fmi2Error;
    if (nvr && !order) return say(s, fmi2Error, "%s: no orders", name);
    for (size_t i = 0; i < nvr; ++i)
        if (order[i] != 1) return say(s, fmi2Error, "%s: order %d, order 1 is provided", name, order[i]);

    const Latch *at = &s->now.latch;
    double *dx = s->stage[1], dt = 1e-3 * (s->now.head.h > 0 ? fmin(s->now.head.h, 1) : 1e-2);
    dt = fmax(dt, 1e-8 * fmax(1, fabs(at->t)));
    for (size_t i = 0; i < nvr; ++i) value[i] = 0;
    if (!refresh(s, 0) || (NX && eval_derivatives(s, at->t, at->x, at->u, at->m, s->w, dx))
        || !sample(s, dt, dx, vr, nvr, value) || !sample(s, -dt, dx, vr, nvr, value))
        return say(s, fmi2Discard, "%s at time %.9g: %s", name, at->t, s->cause);
    for (size_t i = 0; i < nvr; ++i) {
        unsigned place = real_places[vr[i]];
        switch (store_of(place)) {
        case STORE_X: value[i] = dx[index_of(place)]; break;
        case STORE_U: value[i] = s->now.du[index_of(place)]; break;
        default: value[i] /= 2 * dt;
        }
    }
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    Instance *s = c;
    double h = communicationStepSize, target = currentCommunicationPoint + h;
    (void)noSetFMUStatePriorToCurrentPoint;
    if (check_interface(s, "fmi2DoStep", fmi2CoSimulation, STEP_COMPLETE)) return fmi2Error;
    double t = s->now.latch.t;
    if (!(h > 0) || !(target <= 1e300))
        return say(s, fmi2Error, "fmi2DoStep: a step from %.9g of length %g", currentCommunicationPoint, h);
    if (!(fabs(currentCommunicationPoint - t) <= 1e-9 * fmax(fabs(t), h)))
        return say(s, fmi2Error, "fmi2DoStep: a step from %.9g, but the instance is at %.9g", currentCommunicationPoint,
                   t);
    if (!(target > t)) return say(s, fmi2Error, "fmi2DoStep: a step of length %g is lost in rounding at %.9g", h, t);
    if (target > s->now.stop_time) {
        if (target - s->now.stop_time > 1e-9 * fmax(fabs(s->now.stop_time), h))
            return say(s, fmi2Error, "fmi2DoStep: a step to %.9g, beyond the stop time %.9g", target, s->now.stop_time);
        s->now.stop_time = target;
    }
    Outcome outcome = advance(s, target);
    if (outcome) {
        explain(s, outcome);
        s->now.phase = STEP_FAILED;
        return say(s, fmi2Discard, "fmi2DoStep from %.9g to %.9g ends at %.9g: %s", t, target, s->now.latch.t, s->cause);
    }
    return fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    Instance *s = c;
    if (check_interface(s, "fmi2CancelStep", fmi2CoSimulation, ~0u)) return fmi2Error;
    return say(s, fmi2Error, "fmi2CancelStep: steps are not asynchronous, there is none to cancel");
}

static fmi2Status no_status(const Instance *s, const char *function)
{
    return say(s, fmi2Discard, "%s: this status is not provided", function);
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    Instance *s = c;
    if (check_interface(s, "fmi2GetStatus", fmi2CoSimulation, MAY_ASK) || !value) return fmi2Error;
    if (kind != fmi2DoStepStatus) return no_status(s, "fmi2GetStatus");
    *value = s->now.phase == STEP_FAILED ? fmi2Discard : fmi2OK;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    Instance *s = c;
    if (check_interface(s, "fmi2GetRealStatus", fmi2CoSimulation, MAY_ASK) || !value) return fmi2Error;
    if (kind != fmi2LastSuccessfulTime) return no_status(s, "fmi2GetRealStatus");
    *value = s->now.latch.t;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    Instance *s = c;
    (void)kind;
    if (check_interface(s, "fmi2GetIntegerStatus", fmi2CoSimulation, MAY_ASK) || !value) return fmi2Error;
    return no_status(s, "fmi2GetIntegerStatus");
}

/* A discarded step ends the simulation: shorter ones would end at the same time. */
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    Instance *s = c;
    if (check_interface(s, "fmi2GetBooleanStatus", fmi2CoSimulation, MAY_ASK) || !value) return fmi2Error;
    if (kind != fmi2Terminated) return no_status(s, "fmi2GetBooleanStatus");
    *value = s->now.phase == STEP_FAILED ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    Instance *s = c;
    if (check_interface(s, "fmi2GetStringStatus", fmi2CoSimulation, MAY_ASK) || !value) return fmi2Error;
    if (kind != fmi2PendingStatus) return no_status(s, "fmi2GetStringStatus");
    *value = "";
    return fmi2OK;
}
