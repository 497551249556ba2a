/* Co-simulation (FMI 2.0.4, section 4.2): steps, input and output derivatives. */

#include "cosimulation.h"

#include "access.h"
#include "advance.h"
#include "freshness.h"
#include "functions.h"
#include "history.h"
#include "instance.h"
#include "integrator.h"
#include "iterate.h"
#include "log.h"
#include "optimize.h"
#include "values.h"
#include "vectors.h"

SMALL

/* Times of an importer agree with those of the runtime as far as this, relative to them: importers add up their steps. */
#define TIME_AGREEMENT 1e-9

INTERNAL Status set_input_derivatives(Instance *s, const char *name, const unsigned *vr, size_t nvr, const int *order,
                                      const double *value)
{
    if (!s) return STATUS_ERROR;
    Settables table = real_settables(s);
    if (check_interface(s, name, CO_SIMULATION, MAY_SET)
        || check_references(s, name, MAY_SET, vr, nvr, value, nreals(s->model)))
        return STATUS_ERROR;
    if (nvr && !order) return say(s, STATUS_ERROR, "%s: no orders", name);
    for (size_t i = 0; i < nvr; ++i) {
        int which = find_settable(&table, vr[i]);
        if (which < 0 || table.settings[which] != SET_INPUT)
            return say(s, STATUS_ERROR, "%s: %s is not an input", name, name_of(s, table.names, vr[i]));
        if (order[i] != 1)
            return say(s, STATUS_ERROR, "%s: order %d of %s, order 1 is provided", name, order[i],
                       name_of(s, table.names, vr[i]));
        if (!(fabs(value[i]) <= DBL_MAX))
            return say(s, STATUS_DISCARD, "%s: %s is given the value %g; the values before are kept", name,
                       name_of(s, table.names, vr[i]), value[i]);
    }
    for (size_t i = 0; i < nvr; ++i) {
        double *to = s->given.du + table.indices[find_settable(&table, vr[i])];
        if (*to != value[i]) s->now->touched = 1;
        *to = value[i];
    }
    s->now->ramps = largest(s->given.du, nu(s->model)) > 0;
    return STATUS_OK;
}

/* Values at the latch moved by dt along the trajectory. */
static int sample(Instance *s, double dt, const double *dx, const unsigned *vr, size_t nvr, double *values)
{
    double t = s->now->latch_t, *x = s->communication.x, *u = s->communication.u;
    COPY(x, s->latch.x, nx(s->model));
    COPY(u, s->latch.u, nu(s->model));
    s->now->latch_t += dt;
    for (int i = 0; i < nx(s->model); ++i) s->latch.x[i] += dt * dx[i];
    for (int i = 0; i < ninputs(s->model); ++i) s->latch.u[i] += dt * s->given.du[i];
    take_delayed(s, t + dt, s->latch.x, s->latch.m, s->latch.u);
    forget_latch(s);
    int ready = prepare(s, s->tables->real_places, vr, nvr);
    for (size_t i = 0; ready && i < nvr; ++i)
        values[i] += (dt > 0 ? 1 : -1) * value_at(s, s->tables->real_places[vr[i]]);
    s->now->latch_t = t;
    COPY(s->latch.x, x, nx(s->model));
    COPY(s->latch.u, u, nu(s->model));
    latch_moved(s, 1);
    return ready;
}

INTERNAL Status get_output_derivatives(Instance *s, const char *name, const unsigned *vr, size_t nvr, const int *order,
                                       double *value)
{
    if (!s) return STATUS_ERROR;
    if (check_interface(s, name, CO_SIMULATION, MAY_ASK)
        || check_references(s, name, MAY_ASK, vr, nvr, value, nreals(s->model)))
        return STATUS_ERROR;
    if (nvr && !order) return say(s, STATUS_ERROR, "%s: no orders", name);
    for (size_t i = 0; i < nvr; ++i)
        if (order[i] != 1) return say(s, STATUS_ERROR, "%s: order %d, order 1 is provided", name, order[i]);

    double *dx = s->communication.rates, dt = 1e-3 * (s->now->head.h > 0 ? fmin(s->now->head.h, 1) : 1e-2);
    dt = fmax(dt, 1e-8 * fmax(1, fabs(s->now->latch_t)));
    for (size_t i = 0; i < nvr; ++i) value[i] = 0;
    if (!refresh(s, 0) || (nx(s->model)
                           && eval_derivatives(s, s->now->latch_t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, dx))
        || !sample(s, dt, dx, vr, nvr, value) || !sample(s, -dt, dx, vr, nvr, value))
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    for (size_t i = 0; i < nvr; ++i) {
        int place = s->tables->real_places[vr[i]];
        switch (store_of(place)) {
        case STORE_X: value[i] = dx[index_of(place)]; break;
        case STORE_U:
            if (is_inner(s, index_of(place))) value[i] /= 2 * dt;
            else value[i] = s->given.du[index_of(place)];
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
    COPY(s->communication.u, s->given.u, ninputs(s->model));
    now->phase = ASKED;
    s->caller.master.ask(s->caller.master.environment, target);
    now->phase = STEP_COMPLETE;
    for (int i = 0; i < ninputs(s->model); ++i) {
        double slope = (s->given.u[i] - s->communication.u[i]) / length;
        if (!(fabs(slope) <= IMMENSE)) slope = 0;
        touched |= s->given.du[i] != slope;
        s->given.du[i] = slope;
        s->given.u[i] = s->communication.u[i];
    }
    now->touched = touched;
    now->ramps = largest(s->given.du, nu(s->model)) > 0;
}

/* What a step that cannot be made answers. */
static Status failed_status(const Instance *s) { return s->caller.master.never_discards ? STATUS_ERROR
                                                : STATUS_DISCARD; }

INTERNAL Status begin_do_step(Instance *s, const char *name, double point, double h)
{
    double target = point + h;
    if (check_interface(s, name, CO_SIMULATION, STEP_COMPLETE)) return STATUS_ERROR;
    double t = s->now->latch_t;
    if (!(h > 0) || !(target <= IMMENSE))
        return say(s, STATUS_ERROR, "%s: a step from %.9g of length %g", name, point, h);
    if (!(fabs(point - t) <= TIME_AGREEMENT * fmax(fabs(t), h)))
        return say(s, STATUS_ERROR, "%s: a step from %.9g, but the instance is at %.9g", name, point,
                   t);
    if (!(target > t)) return say(s, STATUS_ERROR, "%s: a step of length %g is lost in rounding at %.9g", name, h, t);
    if (target > s->now->stop_time) {
        if (target - s->now->stop_time > TIME_AGREEMENT * fmax(fabs(s->now->stop_time), h))
            return say(s, STATUS_ERROR, "%s: a step to %.9g, beyond the stop time %.9g", name, target,
                       s->now->stop_time);
        s->now->stop_time = target;
    }
    if (s->now->ended) {
        s->now->phase = STEP_FAILED;
        return say(s, failed_status(s), "%s from %.9g to %.9g: the model has ended the simulation", name, t, target);
    }
    if (s->caller.master.ask) ask_inputs(s, target);
    s->communication.origin = t;
    s->communication.goal = target;
    begin_advance(s, target);
    return STATUS_OK;
}

INTERNAL Status end_do_step(Instance *s, const char *name)
{
    Outcome outcome = s->communication.outcome;
    double t = s->communication.origin, target = s->communication.goal;
    s->now->ended = outcome == ENDED;
    int complete = target - s->now->latch_t <= TIME_AGREEMENT * fmax(fabs(target), target - t);
    if (outcome == ENDED && (complete || s->caller.master.never_discards))
        return say_ended(s, "%s: at %.9g %s", name, s->now->latch_t, s->log.cause);
    if (outcome) {
        explain(s, outcome);
        if (fixed_step_length(s->model) > 0
            && (outcome == NOT_FINITE || outcome == SINGULAR || outcome == NOT_PROJECTED || outcome == UNSOLVED))
            append(s, "; or fixed steps of %.3g s are too long for this model: build it with shorter ones%s",
                   fixed_step_length(s->model),
                   solver(s->model) == SOLVER_IMPLICIT ? "" : ", or with --solver implicit");
        s->now->phase = STEP_FAILED;
        return say(s, failed_status(s), "%s from %.9g to %.9g ends at %.9g: %s", name, t, target, s->now->latch_t,
                   s->log.cause);
    }
    return STATUS_OK;
}

INTERNAL Status do_step(Instance *s, const char *name, double point, double h)
{
    Status status = begin_do_step(s, name, point, h);
    if (status) return status;
    while (next_trial(s)) take_trial(s, make_stages(s));
    return end_do_step(s, name);
}

QUICK
