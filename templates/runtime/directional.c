/* Directional derivatives (FMI 2.0.4, section 2.1.9) and adjoint ones (FMI 3.0, section 2.2.11), exact for outputs and
   state derivatives. Those of event indicators are central differences; so are, in initialisation mode, where every value
   depends on the solution for the start, those of all, and in model exchange those of what moves under constraints: the
   states nearby that meet these have no derivative in closed form. */

/* Position of a variable among the exposed ones, or -1. */
static int exposed_position(const Instance *s, unsigned index)
{
    for (int i = 0; i < NEXPOSED; ++i)
        if (s->tables->exposed_variables[i] == (int)index) return i;
    return -1;
}

static Status check_unknowns(const Instance *s, const char *function, const unsigned *vr, size_t nvr)
{
    for (size_t i = 0; i < nvr; ++i) {
        int place = s->tables->real_places[vr[i]];
        if (s->now->phase != INITIALIZATION && store_of(place) == STORE_Y && exposed_position(s, index_of(place)) < 0)
            return say(s, STATUS_ERROR, "%s: value reference %u is neither an output nor the derivative of a state",
                       function, vr[i]);
    }
    return STATUS_OK;
}

/* The direction that changes of knowns are; in initialisation mode, knowns are what can be set. */
static Status take_direction(Instance *s, const char *function, const unsigned *vr, size_t nvr,
                                 const double *change)
{
    clear_direction(s, &s->along);
    for (size_t i = 0; i < nvr; ++i) {
        int place = s->tables->real_places[vr[i]];
        unsigned index = index_of(place);
        switch (store_of(place)) {
        case STORE_TIME: s->along.t += change[i]; break;
        case STORE_X: s->along.x[index] += change[i]; break;
        case STORE_U:
            if (!is_inner(s, index)) {
                s->along.u[index] += change[i];
                break;
            } /* fall through */
        default:
            return say(s, STATUS_ERROR, "%s: value reference %u is neither an input nor a state nor time", function,
                       vr[i]);
        }
    }
    return STATUS_OK;
}

/* Crossings at the latch moved by `distance` along the direction, times `factor`, are added to the indicators. */
static int add_crossings(Instance *s, double distance, double factor)
{
    double t = s->now->latch_t + distance * s->along.t;
    for (int i = 0; i < NX; ++i) s->moved.x[i] = s->latch_x[i] + distance * s->along.x[i];
    for (int i = 0; i < NU; ++i) s->moved.u[i] = s->latch_u[i] + distance * s->along.u[i];
    if (CROSSINGS_NEED_W && accelerations(s, t, s->moved.x, s->moved.u, s->latch_m, s->moved_w)) return 0;
    if (eval_crossings(s, t, s->moved.x, s->moved.u, s->latch_m, s->moved_w, s->c_trial)) return 0;
    for (int i = 0; i < NINDICATORS; ++i) s->indicators[i] += factor * s->c_trial[s->tables->indicators[i]];
    return 1;
}

/* Changes of the event indicators along the direction, in their place. */
static int indicator_direction(Instance *s)
{
    double size = fmax(1, fmax(largest(s->latch_x, NX), largest(s->latch_u, NU)));
    double far = fmax(fabs(s->along.t), fmax(largest(s->along.x, NX), largest(s->along.u, NU)));
    double distance = 6e-6 * size / (far > 0 ? far : 1);
    for (int i = 0; i < NINDICATORS; ++i) s->indicators[i] = 0;
    return add_crossings(s, distance, 0.5 / distance) && add_crossings(s, -distance, -0.5 / distance)
        && finite_all(s->indicators, NINDICATORS);
}

/* Add the values of the unknowns, for latch and inputs moved by `distance` along the direction, `weight` times. */
static int add_values(Instance *s, const unsigned *unknowns, size_t nunknowns, double distance, double weight,
                      double *result)
{
    double t = s->now->latch_t;
    COPY(s->moved.x, s->latch_x, NX);
    COPY(s->u_kept, s->latch_u, NU);
    s->now->latch_t += distance * s->along.t;
    for (int i = 0; i < NX; ++i) s->latch_x[i] += distance * s->along.x[i];
    for (int i = 0; i < NU; ++i) s->latch_u[i] += distance * s->along.u[i];
    COPY(s->u, s->latch_u, NU - NITERATIONS);
    forget_latch(s);
    int ready = !solve_latch(s) && prepare(s, s->tables->real_places, unknowns, nunknowns);
    for (size_t i = 0; ready && i < nunknowns; ++i)
        result[i] += weight * value_at(s, s->tables->real_places[unknowns[i]]);
    s->now->latch_t = t;
    COPY(s->latch_x, s->moved.x, NX);
    COPY(s->latch_u, s->u_kept, NU);
    COPY(s->u, s->u_kept, NU - NITERATIONS);
    forget_latch(s);
    return ready;
}

/* Derivatives by differences of order 4, good to 1e-9 or so: values are known to rounding errors of the projection. */
static Status differences_along(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                const unsigned *knowns, size_t nknowns, const double *change, double *result)
{
    Status status = take_direction(s, function, knowns, nknowns, change);
    if (status) return status;
    double far = 20 * fabs(s->along.t);
    for (int i = 0; i < NX; ++i) far = fmax(far, fabs(s->along.x[i]) / s->tables->nominals[i]);
    for (int i = 0; i < NU; ++i) far = fmax(far, fabs(s->along.u[i]) / fmax(1, fabs(s->latch_u[i])));
    for (size_t i = 0; i < nunknowns; ++i) result[i] = 0;
    if (!(far > 0)) return STATUS_OK;
    double h = 2e-4 / far;
    if (!add_values(s, unknowns, nunknowns, h, 8 / (12 * h), result)
        || !add_values(s, unknowns, nunknowns, -h, -8 / (12 * h), result)
        || !add_values(s, unknowns, nunknowns, 2 * h, -1 / (12 * h), result)
        || !add_values(s, unknowns, nunknowns, -2 * h, 1 / (12 * h), result) || !finite_all(result, (int)nunknowns))
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", function, s->now->latch_t, s->cause);
    return STATUS_OK;
}

static Status exact_derivatives(Instance *s, const char *function, const unsigned *unknowns,
                                    size_t nunknowns, const unsigned *knowns, size_t nknowns,
                                    const double *change, double *result)
{
    double t = s->now->latch_t;
    double *rates = s->stage[1];
    Status status = take_direction(s, function, knowns, nknowns, change);
    if (status) return status;
    solve_latch(s);
    /* The factors of A must be those of this point. */
    Outcome outcome = accelerations(s, t, s->latch_x, s->latch_u, s->latch_m, s->w);
    if (!outcome) outcome = linearise_iterations(s, t, s->latch_x, s->latch_u, s->latch_m, s->w);
    if (!outcome && (direction(s, t, s->latch_x, s->latch_u, s->latch_m, s->w, &s->along, s->dw, rates)
                     || exposed_direction(s, t, s->latch_x, s->latch_u, s->latch_m, s->w, &s->along, s->dw, s->dy)))
        outcome = NOT_FINITE;
    if (outcome) {
        explain(s, outcome);
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", function, s->now->latch_t, s->cause);
    }
    s->w_fresh = 1;
    int indicators = 0;
    for (size_t i = 0; i < nunknowns; ++i) indicators |= store_of(s->tables->real_places[unknowns[i]]) == STORE_INDICATOR;
    if (indicators && !indicator_direction(s))
        return say(s, STATUS_DISCARD, "%s at time %.9g: the indicators are not finite", function, t);
    for (size_t i = 0; i < nunknowns; ++i) {
        int place = s->tables->real_places[unknowns[i]];
        unsigned index = index_of(place);
        switch (store_of(place)) {
        case STORE_TIME: result[i] = s->along.t; break;
        case STORE_X: result[i] = s->along.x[index]; break;
        case STORE_U: result[i] = s->along.u[index]; break;
        case STORE_W: result[i] = s->dw[index]; break;
        case STORE_Y: result[i] = s->dy[exposed_position(s, index)]; break;
        case STORE_INDICATOR: result[i] = s->indicators[index]; break;
        default: result[i] = 0;
        }
    }
    return STATUS_OK;
}

/* Add the values of the unknowns to `result`, for start values moved by `distance` along the changes. */
static int add_start_values(Instance *s, const unsigned *unknowns, size_t nunknowns,
                            const unsigned *knowns, size_t nknowns, const double *change, double distance,
                            double *result)
{
    Settables table = real_settables(s);
    for (size_t i = 0; i < nknowns; ++i) {
        int which = find_settable(&table, knowns[i]);
        double *to = (table.settings[which] == SET_INPUT ? s->u : s->start) + table.indices[which];
        *to += distance * change[i];
    }
    s->now->start_stale = 1;
    int ready = initialise(s) && prepare(s, s->tables->real_places, unknowns, nunknowns);
    for (size_t i = 0; ready && i < nunknowns; ++i)
        result[i] += (distance > 0 ? 1 : -1) * value_at(s, s->tables->real_places[unknowns[i]]);
    COPY(s->start, s->start_kept, NPAR);
    COPY(s->u, s->u_kept, NU);
    s->now->start_stale = 1;
    return ready;
}

static Status start_derivatives(Instance *s, const char *function, const unsigned *unknowns,
                                    size_t nunknowns, const unsigned *knowns, size_t nknowns,
                                    const double *change, double *result)
{
    Settables table = real_settables(s);
    double size = 0, far = largest(change, (int)nknowns);
    COPY(s->start_kept, s->start, NPAR);
    COPY(s->u_kept, s->u, NU);
    for (size_t i = 0; i < nknowns; ++i) {
        int which = find_settable(&table, knowns[i]);
        if (which < 0 || table.settings[which] == SET_STRUCTURE)
            return say(s, STATUS_ERROR, "%s: value reference %u cannot be set in initialisation mode", function,
                       knowns[i]);
        size = fmax(size, fabs((table.settings[which] == SET_INPUT ? s->u : s->start)[table.indices[which]]));
    }
    for (size_t i = 0; i < nunknowns; ++i) result[i] = 0;
    if (!(far > 0)) return STATUS_OK;
    double distance = 1e-5 * fmax(size, 1e-2) / far;
    if (!add_start_values(s, unknowns, nunknowns, knowns, nknowns, change, distance, result)
        || !add_start_values(s, unknowns, nunknowns, knowns, nknowns, change, -distance, result))
        return say(s, STATUS_DISCARD, "%s: %s", function, s->cause);
    for (size_t i = 0; i < nunknowns; ++i) result[i] /= 2 * distance;
    return STATUS_OK;
}

static Status directional_derivative(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                     const unsigned *knowns, size_t nknowns, const double *change, double *result)
{
    if (!s) return STATUS_ERROR;
    if (check_references(s, function, MAY_GET, unknowns, nunknowns, result, NREALS)
        || check_references(s, function, MAY_GET, knowns, nknowns, change, NREALS)
        || check_unknowns(s, function, unknowns, nunknowns))
        return STATUS_ERROR;
    int exchanged = s->now->interface == MODEL_EXCHANGE && (NL || NQUATERNIONS);
    return (s->now->phase == INITIALIZATION ? start_derivatives : exchanged ? differences_along : exact_derivatives)(
        s, function, unknowns, nunknowns, knowns, nknowns, change, result);
}

/* The products of `seed`, one number for each unknown, with the columns of the Jacobian: one column after the other. */
static Status adjoint_derivative(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                 const unsigned *knowns, size_t nknowns, const double *seed, double *result)
{
    if (!s) return STATUS_ERROR;
    if (check_references(s, function, MAY_GET, unknowns, nunknowns, seed, NREALS)
        || check_references(s, function, MAY_GET, knowns, nknowns, result, NREALS))
        return STATUS_ERROR;
    double one = 1, *column = host_allocate(&s->host, (nunknowns + 1) * sizeof *column);
    Status status = column ? STATUS_OK : say(s, STATUS_ERROR, "%s: no memory", function);
    for (size_t k = 0; !status && k < nknowns; ++k) {
        status = directional_derivative(s, function, unknowns, nunknowns, knowns + k, 1, &one, column);
        result[k] = 0;
        for (size_t i = 0; !status && i < nunknowns; ++i) result[k] += seed[i] * column[i];
    }
    host_release(&s->host, column);
    return status;
}
