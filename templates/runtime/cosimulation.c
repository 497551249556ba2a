/* Co-simulation (FMI 2.0.4, section 4.2): steps, input and output derivatives. */

enum { MAY_ASK = STEP_COMPLETE | STEP_FAILED | TERMINATED | INTERMEDIATE };

static Status set_input_derivatives(Instance *s, const char *name, const unsigned *vr, size_t nvr, const int *order,
                                    const double *value)
{
    if (!s) return STATUS_ERROR;
    Settables table = real_settables(s);
    if (check_interface(s, name, CO_SIMULATION, MAY_SET) || check_references(s, name, MAY_SET, vr, nvr, value, NREALS))
        return STATUS_ERROR;
    if (nvr && !order) return say(s, STATUS_ERROR, "%s: no orders", name);
    for (size_t i = 0; i < nvr; ++i) {
        int which = find_settable(&table, vr[i]);
        if (which < 0 || table.settings[which] != SET_INPUT)
            return say(s, STATUS_ERROR, "%s: %s is not an input", name, name_of(s, table.names, vr[i]));
        if (order[i] != 1)
            return say(s, STATUS_ERROR, "%s: order %d of %s, order 1 is provided", name, order[i],
                       name_of(s, table.names, vr[i]));
        if (!(fabs(value[i]) <= 1.7976931348623157e308))
            return say(s, STATUS_DISCARD, "%s: %s is given the value %g; the values before are kept", name,
                       name_of(s, table.names, vr[i]), value[i]);
    }
    for (size_t i = 0; i < nvr; ++i) {
        double *to = s->du + table.indices[find_settable(&table, vr[i])];
        if (*to != value[i]) s->now->touched = 1;
        *to = value[i];
    }
    s->now->ramps = largest(s->du, NU) > 0;
    return STATUS_OK;
}

/* Values at the latch moved by dt along the trajectory. */
static int sample(Instance *s, double dt, const double *dx, const unsigned *vr, size_t nvr, double *values)
{
    double t = s->now->latch_t, *x = s->next_x, *u = s->u_kept;
    COPY(x, s->latch_x, NX);
    COPY(u, s->latch_u, NU);
    s->now->latch_t += dt;
    for (int i = 0; i < NX; ++i) s->latch_x[i] += dt * dx[i];
    for (int i = 0; i < NINPUTS; ++i) s->latch_u[i] += dt * s->du[i];
    take_delayed(s, t + dt, s->latch_x, s->latch_m, s->latch_u);
    forget_latch(s);
    int ready = prepare(s, s->tables->real_places, vr, nvr);
    for (size_t i = 0; ready && i < nvr; ++i) values[i] += (dt > 0 ? 1 : -1) * value_at(s, s->tables->real_places[vr[i]]);
    s->now->latch_t = t;
    COPY(s->latch_x, x, NX);
    COPY(s->latch_u, u, NU);
    s->now->latch_solved = 1;
    s->w_fresh = s->y_fresh = 0;
    return ready;
}

/* Derivatives of states are exact, others are central differences along the trajectory. */
static Status get_output_derivatives(Instance *s, const char *name, const unsigned *vr, size_t nvr, const int *order,
                                     double *value)
{
    if (!s) return STATUS_ERROR;
    if (check_interface(s, name, CO_SIMULATION, MAY_ASK)
        || check_references(s, name, MAY_ASK, vr, nvr, value, NREALS))
        return STATUS_ERROR;
    if (nvr && !order) return say(s, STATUS_ERROR, "%s: no orders", name);
    for (size_t i = 0; i < nvr; ++i)
        if (order[i] != 1) return say(s, STATUS_ERROR, "%s: order %d, order 1 is provided", name, order[i]);

    double *dx = s->stage[1], dt = 1e-3 * (s->now->head.h > 0 ? fmin(s->now->head.h, 1) : 1e-2);
    dt = fmax(dt, 1e-8 * fmax(1, fabs(s->now->latch_t)));
    for (size_t i = 0; i < nvr; ++i) value[i] = 0;
    if (!refresh(s, 0) || (NX && eval_derivatives(s, s->now->latch_t, s->latch_x, s->latch_u, s->latch_m, s->w, dx))
        || !sample(s, dt, dx, vr, nvr, value) || !sample(s, -dt, dx, vr, nvr, value))
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", name, s->now->latch_t, s->cause);
    for (size_t i = 0; i < nvr; ++i) {
        int place = s->tables->real_places[vr[i]];
        switch (store_of(place)) {
        case STORE_X: value[i] = dx[index_of(place)]; break;
        case STORE_U:
            if (is_inner(s, index_of(place))) value[i] /= 2 * dt;
            else value[i] = s->du[index_of(place)];
            break;
        default: value[i] /= 2 * dt;
        }
    }
    return STATUS_OK;
}

/* Let inputs follow lines to the values that the master gives for the end of the step to come. */
static void ask_inputs(Instance *s, double target)
{
    State *now = s->now;
    double length = target - now->latch_t;
    int touched = now->touched;
    COPY(s->u_kept, s->u, NINPUTS);
    now->phase = ASKED;
    s->master.ask(s->master.environment, target);
    now->phase = STEP_COMPLETE;
    for (int i = 0; i < NINPUTS; ++i) {
        double slope = (s->u[i] - s->u_kept[i]) / length;
        if (!(fabs(slope) <= 1e300)) slope = 0;
        touched |= s->du[i] != slope;
        s->du[i] = slope;
        s->u[i] = s->u_kept[i];
    }
    now->touched = touched;
    now->ramps = largest(s->du, NU) > 0;
}

/* What a step that cannot be made answers. */
static Status failed_status(const Instance *s) { return s->master.never_discards ? STATUS_ERROR : STATUS_DISCARD; }

/* Begin a step from `point` of length `h`: trials of the integrator follow (`next_trial`), then its end. */
static Status begin_do_step(Instance *s, const char *name, double point, double h)
{
    double target = point + h;
    if (check_interface(s, name, CO_SIMULATION, STEP_COMPLETE)) return STATUS_ERROR;
    double t = s->now->latch_t;
    if (!(h > 0) || !(target <= 1e300))
        return say(s, STATUS_ERROR, "%s: a step from %.9g of length %g", name, point, h);
    if (!(fabs(point - t) <= 1e-9 * fmax(fabs(t), h)))
        return say(s, STATUS_ERROR, "%s: a step from %.9g, but the instance is at %.9g", name, point,
                   t);
    if (!(target > t)) return say(s, STATUS_ERROR, "%s: a step of length %g is lost in rounding at %.9g", name, h, t);
    if (target > s->now->stop_time) {
        if (target - s->now->stop_time > 1e-9 * fmax(fabs(s->now->stop_time), h))
            return say(s, STATUS_ERROR, "%s: a step to %.9g, beyond the stop time %.9g", name, target, s->now->stop_time);
        s->now->stop_time = target;
    }
    if (s->now->ended) {
        s->now->phase = STEP_FAILED;
        return say(s, failed_status(s), "%s from %.9g to %.9g: the model has ended the simulation", name, t, target);
    }
    if (s->master.ask) ask_inputs(s, target);
    s->origin = t;
    s->goal = target;
    begin_advance(s, target);
    return STATUS_OK;
}

/* End a step. */
static Status end_do_step(Instance *s, const char *name)
{
    Outcome outcome = s->outcome;
    double t = s->origin, target = s->goal;
    s->now->ended = outcome == ENDED;
    int complete = target - s->now->latch_t <= 1e-9 * fmax(fabs(target), target - t);
    if (outcome == ENDED && (complete || s->master.never_discards))
        return say_ended(s, "%s: at %.9g %s", name, s->now->latch_t, s->cause);
    if (outcome) {
        explain(s, outcome);
        if (STEP_LENGTH > 0 && (outcome == NOT_FINITE || outcome == SINGULAR || outcome == NOT_PROJECTED || outcome == UNSOLVED))
            append(s, "; or fixed steps of %.3g s are too long for this model: build it with shorter ones%s", STEP_LENGTH,
                   SOLVER == SOLVER_IMPLICIT ? "" : ", or with --solver implicit");
        s->now->phase = STEP_FAILED;
        return say(s, failed_status(s), "%s from %.9g to %.9g ends at %.9g: %s", name, t, target, s->now->latch_t,
                   s->cause);
    }
    return STATUS_OK;
}

/* A step from `point` of length `h`. */
static Status do_step(Instance *s, const char *name, double point, double h)
{
    Status status = begin_do_step(s, name, point, h);
    if (status) return status;
    while (next_trial(s)) take_trial(s, make_stages(s));
    return end_do_step(s, name);
}
