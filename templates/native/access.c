/* FMI 2.0.4, section 2.1.7: getting and setting variables. A call that refuses one value changes none. */

enum {
    MAY_GET = INITIALIZATION | STEP_COMPLETE | STEP_FAILED | TERMINATED | EVENT_MODE | CONTINUOUS_TIME,
    MAY_SET = INSTANTIATED | INITIALIZATION | STEP_COMPLETE | EVENT_MODE | CONTINUOUS_TIME
};

static fmi2Status check_references(const Instance *s, const char *function, unsigned allowed,
                                   const fmi2ValueReference vr[], size_t nvr, const void *values, unsigned known)
{
    if (check_phase(s, function, allowed)) return fmi2Error;
    if (nvr && (!vr || !values)) return say(s, fmi2Error, "%s: no array of values", function);
    for (size_t i = 0; i < nvr; ++i)
        if (vr[i] >= known)
            return say(s, fmi2Error, "%s: unknown value reference %u (the greatest is %d)", function, vr[i],
                       (int)known - 1);
    return fmi2OK;
}

static fmi2Status check_get(Instance *s, const char *function, const fmi2ValueReference vr[], size_t nvr,
                            const void *values, const unsigned *places, unsigned known)
{
    if (check_references(s, function, MAY_GET, vr, nvr, values, known)) return fmi2Error;
    if (!prepare(s, places, vr, nvr))
        return say(s, s->now.phase == INITIALIZATION ? fmi2Error : fmi2Discard, "%s at time %.9g: %s", function,
                   s->now.latch.t, s->cause);
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    Instance *s = c;
    fmi2Status status = check_get(s, "fmi2GetReal", vr, nvr, value, real_places, NREALS);
    for (size_t i = 0; !status && i < nvr; ++i) value[i] = value_at(s, real_places[vr[i]]);
    return status;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[])
{
    Instance *s = c;
    fmi2Status status = check_get(s, "fmi2GetInteger", vr, nvr, value, integer_places, NINTEGERS);
    for (size_t i = 0; !status && i < nvr; ++i) value[i] = (fmi2Integer)lround(value_at(s, integer_places[vr[i]]));
    return status;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[])
{
    Instance *s = c;
    fmi2Status status = check_get(s, "fmi2GetBoolean", vr, nvr, value, boolean_places, NBOOLEANS);
    for (size_t i = 0; !status && i < nvr; ++i)
        value[i] = value_at(s, boolean_places[vr[i]]) > 0.5 ? fmi2True : fmi2False;
    return status;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[])
{
    Instance *s = c;
    fmi2Status status = check_references(s, "fmi2GetString", MAY_GET, vr, nvr, value, NSTRINGS);
    for (size_t i = 0; !status && i < nvr; ++i) value[i] = strings[vr[i]];
    return status;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[])
{
    Instance *s = c;
    fmi2Status status = check_references(s, "fmi2SetReal", MAY_SET, vr, nvr, value, NREALS);
    for (size_t i = 0; !status && i < nvr; ++i) {
        const Settable *variable = find_settable(real_settables, NREAL_SETTABLES, vr[i]);
        status = check_settable(s, "fmi2SetReal", variable, vr[i]);
        if (!status && !(fabs(value[i]) <= 1.7976931348623157e308))
            status = say(s, fmi2Discard, "fmi2SetReal: %s is given the value %g; the values before are kept",
                         variable->name, value[i]);
    }
    for (size_t i = 0; !status && i < nvr; ++i)
        set_value(s, find_settable(real_settables, NREAL_SETTABLES, vr[i]), value[i]);
    return status;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[])
{
    Instance *s = c;
    fmi2Status status = check_references(s, "fmi2SetInteger", MAY_SET, vr, nvr, value, NINTEGERS);
    for (size_t i = 0; !status && i < nvr; ++i)
        status = check_settable(s, "fmi2SetInteger",
                                find_settable(integer_settables, NINTEGER_SETTABLES, vr[i]), vr[i]);
    for (size_t i = 0; !status && i < nvr; ++i)
        set_value(s, find_settable(integer_settables, NINTEGER_SETTABLES, vr[i]), value[i]);
    return status;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[])
{
    Instance *s = c;
    fmi2Status status = check_references(s, "fmi2SetBoolean", MAY_SET, vr, nvr, value, NBOOLEANS);
    for (size_t i = 0; !status && i < nvr; ++i)
        status = check_settable(s, "fmi2SetBoolean",
                                find_settable(boolean_settables, NBOOLEAN_SETTABLES, vr[i]), vr[i]);
    for (size_t i = 0; !status && i < nvr; ++i)
        set_value(s, find_settable(boolean_settables, NBOOLEAN_SETTABLES, vr[i]), value[i] ? 1 : 0);
    return status;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[])
{
    Instance *s = c;
    fmi2Status status = check_references(s, "fmi2SetString", MAY_SET, vr, nvr, value, NSTRINGS);
    for (size_t i = 0; !status && i < nvr; ++i)
        status = check_settable(s, "fmi2SetString", find_settable(string_settables, NSTRING_SETTABLES, vr[i]), vr[i]);
    return status;
}
