/* FMI 2.0.4, section 2.1.9: directional derivatives, exact for outputs and state derivatives. In initialisation mode,
   where every value depends on the solution for the start, they are central differences of that solution. */

/* Position of a variable among the exposed ones, or -1. */
static int exposed_position(unsigned index)
{
    for (int i = 0; i < NEXPOSED; ++i)
        if (exposed_variables[i] == (int)index) return i;
    return -1;
}

static fmi2Status check_unknowns(const Instance *s, const char *function, const fmi2ValueReference vr[], size_t nvr)
{
    for (size_t i = 0; i < nvr; ++i) {
        unsigned place = real_places[vr[i]];
        if (s->now.phase != INITIALIZATION && store_of(place) == STORE_Y && exposed_position(index_of(place)) < 0)
            return say(s, fmi2Error, "%s: value reference %u is neither an output nor the derivative of a state",
                       function, vr[i]);
    }
    return fmi2OK;
}

/* The direction that changes of knowns are; in initialisation mode, knowns are what can be set. */
static fmi2Status take_direction(Instance *s, const char *function, const fmi2ValueReference vr[], size_t nvr,
                                 const double *change)
{
    memset(&s->along, 0, sizeof s->along);
    for (size_t i = 0; i < nvr; ++i) {
        unsigned place = real_places[vr[i]], index = index_of(place);
        switch (store_of(place)) {
        case STORE_TIME: s->along.t += change[i]; break;
        case STORE_X: s->along.x[index] += change[i]; break;
        case STORE_U: s->along.u[index] += change[i]; break;
        default:
            return say(s, fmi2Error, "%s: value reference %u is neither an input nor a state nor time", function,
                       vr[i]);
        }
    }
    return fmi2OK;
}

static fmi2Status exact_derivatives(Instance *s, const char *function, const fmi2ValueReference unknowns[],
                                    size_t nunknowns, const fmi2ValueReference knowns[], size_t nknowns,
                                    const double *change, double *result)
{
    const Latch *at = &s->now.latch;
    double *rates = s->stage[1];
    fmi2Status status = take_direction(s, function, knowns, nknowns, change);
    if (status) return status;
    /* The factors of A must be those of this point. */
    Outcome outcome = accelerations(s, at->t, at->x, at->u, at->m, s->w);
    if (!outcome && (direction(s, at->t, at->x, at->u, at->m, s->w, &s->along, s->dw, rates)
                     || exposed_direction(s, at->t, at->x, at->u, at->m, s->w, &s->along, s->dw, s->dy)))
        outcome = NOT_FINITE;
    if (outcome) {
        explain(s, outcome);
        return say(s, fmi2Discard, "%s at time %.9g: %s", function, at->t, s->cause);
    }
    s->w_fresh = 1;
    for (size_t i = 0; i < nunknowns; ++i) {
        unsigned place = real_places[unknowns[i]], index = index_of(place);
        switch (store_of(place)) {
        case STORE_TIME: result[i] = s->along.t; break;
        case STORE_X: result[i] = s->along.x[index]; break;
        case STORE_U: result[i] = s->along.u[index]; break;
        case STORE_W: result[i] = s->dw[index]; break;
        case STORE_Y: result[i] = s->dy[exposed_position(index)]; break;
        default: result[i] = 0;
        }
    }
    return fmi2OK;
}

/* Add the values of the unknowns to `result`, for start values moved by `distance` along the changes. */
static int add_start_values(Instance *s, const fmi2ValueReference unknowns[], size_t nunknowns,
                            const fmi2ValueReference knowns[], size_t nknowns, const double *change, double distance,
                            double *result)
{
    for (size_t i = 0; i < nknowns; ++i) {
        const Settable *variable = find_settable(real_settables, NREAL_SETTABLES, knowns[i]);
        double *to = (variable->kind == SET_INPUT ? s->now.u : s->now.start) + variable->index;
        *to += distance * change[i];
    }
    s->now.start_stale = 1;
    int ready = initialise(s) && prepare(s, real_places, unknowns, nunknowns);
    for (size_t i = 0; ready && i < nunknowns; ++i)
        result[i] += (distance > 0 ? 1 : -1) * value_at(s, real_places[unknowns[i]]);
    COPY(s->now.start, s->start_kept, NPAR);
    COPY(s->now.u, s->u_kept, NU);
    s->now.start_stale = 1;
    return ready;
}

static fmi2Status start_derivatives(Instance *s, const char *function, const fmi2ValueReference unknowns[],
                                    size_t nunknowns, const fmi2ValueReference knowns[], size_t nknowns,
                                    const double *change, double *result)
{
    double size = 0, far = largest(change, (int)nknowns);
    COPY(s->start_kept, s->now.start, NPAR);
    COPY(s->u_kept, s->now.u, NU);
    for (size_t i = 0; i < nknowns; ++i) {
        const Settable *variable = find_settable(real_settables, NREAL_SETTABLES, knowns[i]);
        if (!variable || variable->kind == SET_STRUCTURE)
            return say(s, fmi2Error, "%s: value reference %u cannot be set in initialisation mode", function,
                       knowns[i]);
        size = fmax(size, fabs((variable->kind == SET_INPUT ? s->now.u : s->now.start)[variable->index]));
    }
    for (size_t i = 0; i < nunknowns; ++i) result[i] = 0;
    if (!(far > 0)) return fmi2OK;
    double distance = 1e-5 * fmax(size, 1e-2) / far;
    if (!add_start_values(s, unknowns, nunknowns, knowns, nknowns, change, distance, result)
        || !add_start_values(s, unknowns, nunknowns, knowns, nknowns, change, -distance, result))
        return say(s, fmi2Discard, "%s: %s", function, s->cause);
    for (size_t i = 0; i < nunknowns; ++i) result[i] /= 2 * distance;
    return fmi2OK;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[])
{
    Instance *s = c;
    const char *name = "fmi2GetDirectionalDerivative";
    if (check_references(s, name, MAY_GET, vUnknown_ref, nUnknown, dvUnknown, NREALS)
        || check_references(s, name, MAY_GET, vKnown_ref, nKnown, dvKnown, NREALS)
        || check_unknowns(s, name, vUnknown_ref, nUnknown))
        return fmi2Error;
    return (s->now.phase == INITIALIZATION ? start_derivatives : exact_derivatives)(
        s, name, vUnknown_ref, nUnknown, vKnown_ref, nKnown, dvKnown, dvUnknown);
}
