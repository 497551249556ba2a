/* Model exchange (FMI 2.0.4, section 3.2): time, states and inputs are what the importer sets; they live in the latch,
   so that variables are read as in co-simulation. Modes change in new_discrete_states only. */

#include "model_exchange.h"

#include <string.h>

#include "access.h"
#include "advance.h"
#include "enclose.h"
#include "evaluate.h"
#include "freshness.h"
#include "functions.h"
#include "history.h"
#include "initialise.h"
#include "instance.h"
#include "iterate.h"
#include "log.h"
#include "optimize.h"
#include "project.h"
#include "switches.h"
#include "values.h"
#include "vectors.h"

SMALL

/* Distance from the constraints, relative to 1 and the states' values, at which an event projects the states. The
   pull of the derivatives keeps them nearer than that: each event costs a restart of the importer's integrator, and
   takes away more accuracy than the drift does. */
#define FAR_OFF 1e-2

/* What assertions may be off by, relative to the tolerance: states drift by some tolerances. */
#define TOLERATED_DRIFT 50

static Status check_vector(Instance *s, const char *function, unsigned allowed, const double *values, size_t n,
                           size_t expected)
{
    if (check_interface(s, function, MODEL_EXCHANGE, allowed)) return STATUS_ERROR;
    if (n != expected || (n && !values))
        return say(s, STATUS_ERROR, "%s: an array of %lu values, not of %lu", function, (unsigned long)n,
                   (unsigned long)expected);
    return STATUS_OK;
}

/* Bring w up to date; where that fails, a smaller step of the importer may do. */
static Status evaluate(Instance *s, const char *function)
{
    if (refresh(s, 0)) return STATUS_OK;
    return say(s, s->now->phase == INITIALIZATION ? STATUS_ERROR : STATUS_DISCARD, "%s at time %.9g: %s", function,
               s->now->latch_t, s->log.cause);
}

/* Are the states far off those that meet the constraints? Those are left in exchange.x. */
static int far_off(Instance *s)
{
    COPY(s->exchange.x, s->latch.x, nx(s->model));
    if (!nl(s->model) && !nquaternions(s->model)) return 0;
    if (project(s, s->now->latch_t, s->exchange.x, s->latch.m)) return 1;
    for (int i = 0; i < nx(s->model); ++i)
        if (fabs(s->exchange.x[i] - s->latch.x[i]) > FAR_OFF * (1 + fabs(s->exchange.x[i]))) return 1;
    return 0;
}

INTERNAL Status enter_event_mode(Instance *s, const char *name)
{
    if (check_phase(s, name, EVENT_MODE | CONTINUOUS_TIME | STEP_COMPLETE)) return STATUS_ERROR;
    if (s->now->phase == STEP_COMPLETE) {
        if (!s->caller.master.event_mode)
            return say(s, STATUS_ERROR, "%s: the instance was made without event mode", name);
        COPY(s->latch.u, s->given.u, ninputs(s->model));
        forget_latch(s);
    } else {
        accept_latch(s);
        if (solved_outside(s)) forget_latch(s);
    }
    s->now->phase = EVENT_MODE;
    return STATUS_OK;
}

/* Tell the importer when the next event in time is due. */
static void announce_next(Instance *s, EventInfo *info)
{
    double next = next_instant(s, s->now->latch_t, s->latch.m);
    if (s->now->interface == MODEL_EXCHANGE) next = fmin(next, next_pulse(s, s->now->latch_t, s->latch.m));
    info->has_next_time = next < INFINITY;
    info->next_time = next < INFINITY ? next : 0;
}

INTERNAL Status new_discrete_states(Instance *s, const char *name, EventInfo *info)
{
    if (check_phase(s, name, EVENT_MODE)) return STATUS_ERROR;
    if (!info) return say(s, STATUS_ERROR, "%s: no place for the result", name);
    memset(info, 0, sizeof *info);
    announce_next(s, info);
    /* In co-simulation the integrator has handled its events; inputs and parameters that changed are left. */
    int integrated = s->now->interface == CO_SIMULATION;
    if (integrated && !s->now->touched) return STATUS_OK;
    if (integrated) accept_latch(s); /* the integrator may be ahead of it */
    COPY(s->exchange.x, s->latch.x, nx(s->model));
    forget_flips(s);
    s->log.cause[0] = 0;
    Outcome outcome = project(s, s->now->latch_t, s->exchange.x, s->latch.m);
    COPY(s->exchange.m, s->latch.m, ndiscrete(s->model));
    if (!outcome) outcome = settle_events(s, s->now->latch_t, s->exchange.x, s->latch.m, s->exchange.c, s->exchange.m);
    if (!outcome)
        outcome = s->now->touched ? check_redundant(s, s->now->latch_t, s->exchange.x, s->latch.m)
                                  : check_still_redundant(s, s->now->latch_t, s->exchange.x, s->latch.m);
    if (outcome) {
        explain(s, outcome);
        info->terminate = 1;
        return say(s, STATUS_ERROR, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    }
    /* An event that changes the equations counts as one that changes states: importers restart their integrator on it. */
    info->states_changed = nx(s->model)
        && memcmp(s->latch.x, s->exchange.x, (size_t)nx(s->model) * sizeof *s->latch.x) != 0;
    int held = nheld(s->model)
        && memcmp(s->exchange.m + nm(s->model), s->latch.m + nm(s->model),
                  (size_t)nheld(s->model) * sizeof *s->latch.m) != 0;
    if (held) info->states_changed = nx(s->model) > 0;
    for (int i = 0; i < nm(s->model); ++i)
        if (s->events.flipped[i]) {
            info->states_changed = nx(s->model) > 0;
            say_flip(s, i, s->latch.m[i], s->now->latch_t);
        }
    announce_next(s, info);
    const double *u = inputs_at(s, s->now->latch_t, s->exchange.x, s->latch.m);
    if (nh(s->model) && !accelerations(s, s->now->latch_t, s->exchange.x, u, s->latch.m, s->step.w)
        && check_assertions(s, s->now->latch_t, s->exchange.x, s->latch.m, s->step.w) == ENDED) {
        info->terminate = 1;
        say_ended(s, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    }
    s->now->events += 1;
    s->now->touched = 0;
    COPY(s->latch.x, s->exchange.x, nx(s->model));
    forget_latch(s);
    outcome = accept_latch(s);
    if (outcome) {
        explain(s, outcome);
        info->terminate = 1;
        return say(s, STATUS_ERROR, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    }
    if (integrated) {
        place_head(s);
        cut_history(s, s->now->latch_t);
        if (mark_kink(s, s->now->latch_t, s->latch.x, s->latch.m, 1))
            return say(s, STATUS_ERROR, "%s at time %.9g: the signals to delay are not finite", name, s->now->latch_t);
        for (int i = 0; i < nm(s->model); ++i)
            if (s->events.flipped[i]) s->now->head.h = 0;
        if (held) s->now->head.h = 0;
    }
    return STATUS_OK;
}

INTERNAL Status enter_step_mode(Instance *s, const char *name)
{
    if (check_interface(s, name, CO_SIMULATION, EVENT_MODE)) return STATUS_ERROR;
    s->now->phase = STEP_COMPLETE;
    return STATUS_OK;
}

INTERNAL Status enter_continuous_time_mode(Instance *s, const char *name)
{
    if (check_interface(s, name, MODEL_EXCHANGE, EVENT_MODE)) return STATUS_ERROR;
    if (s->now->solved_outside) solve_latch(s); /* the importer goes on from there */
    s->now->phase = CONTINUOUS_TIME;
    return STATUS_OK;
}

/* Is an assertion violated by more than states that are known to the tolerance can tell? */
static int violated_beyond_drift(const Instance *s)
{
    for (int i = 0; i < nh(s->model); ++i)
        if (!(s->checks.h[i] >= -TOLERATED_DRIFT * s->now->tolerance)) return 1;
    return 0;
}

INTERNAL Status completed_integrator_step(Instance *s, const char *name, int *enter_event, int *stop)
{
    if (check_interface(s, name, MODEL_EXCHANGE, CONTINUOUS_TIME)) return STATUS_ERROR;
    if (!enter_event || !stop) return say(s, STATUS_ERROR, "%s: no place for the result", name);
    s->now->steps += 1;
    *enter_event = far_off(s);
    *stop = 0;
    if (check_still_redundant(s, s->now->latch_t, s->exchange.x, s->latch.m)) {
        *enter_event = *stop = 1; /* who does not stop there is told in event mode */
        return say(s, STATUS_WARNING, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    }
    Status status = nh(s->model) || niterations(s->model) ? evaluate(s, name) : STATUS_OK;
    if (!status) accept_latch(s);
    Outcome outcome = status ? DONE : check_assertions(s, s->now->latch_t, s->latch.x, s->latch.m, s->latch.w);
    if (outcome && violated_beyond_drift(s)) {
        *stop = 1;
        if (outcome == ENDED) return say_ended(s, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
        return say(s, STATUS_WARNING, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    }
    return status;
}

INTERNAL Status set_time(Instance *s, const char *name, double time)
{
    if (check_interface(s, name, MODEL_EXCHANGE, EVENT_MODE | CONTINUOUS_TIME)) return STATUS_ERROR;
    if (!(fabs(time) <= IMMENSE)) return say(s, STATUS_ERROR, "%s: the time %g", name, time);
    s->now->latch_t = s->now->u_time = time;
    forget_latch(s);
    return STATUS_OK;
}

INTERNAL Status set_continuous_states(Instance *s, const char *name, const double *x, size_t n)
{
    if (check_vector(s, name, CONTINUOUS_TIME, x, n, nx(s->model))) return STATUS_ERROR;
    if (!finite_all(x, nx(s->model)))
        return say(s, STATUS_DISCARD, "%s: values that are not finite; the states before stay", name);
    if (nx(s->model)) COPY(s->latch.x, x, nx(s->model));
    forget_latch(s);
    return STATUS_OK;
}

INTERNAL Status get_derivatives(Instance *s, const char *name, double *derivatives, size_t n)
{
    if (check_vector(s, name, MAY_EVALUATE, derivatives, n, nx(s->model))) return STATUS_ERROR;
    Status status = evaluate(s, name);
    if (status || !nx(s->model)) return status;
    if (eval_derivatives(s, s->now->latch_t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, s->exchange.rates)
        || !finite_all(s->exchange.rates, nx(s->model))) {
        explain(s, NOT_FINITE);
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    }
    COPY(derivatives, s->exchange.rates, nx(s->model));
    return STATUS_OK;
}

INTERNAL Status get_event_indicators(Instance *s, const char *name, double *values, size_t ni)
{
    if (check_vector(s, name, MAY_EVALUATE, values, ni, nindicators(s->model))) return STATUS_ERROR;
    Status status = evaluate(s, name);
    if (status) return status;
    if (!refresh_indicators(s))
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
    COPY(values, s->latch.indicators, nindicators(s->model));
    return STATUS_OK;
}

INTERNAL Status get_continuous_states(Instance *s, const char *name, double *x, size_t n)
{
    if (check_vector(s, name, MAY_EVALUATE, x, n, nx(s->model))) return STATUS_ERROR;
    if (s->now->phase == INITIALIZATION && evaluate(s, name)) return STATUS_ERROR;
    if (nx(s->model)) COPY(x, s->latch.x, nx(s->model));
    return STATUS_OK;
}

INTERNAL Status get_nominals(Instance *s, const char *name, double *x_nominal, size_t n)
{
    if (check_vector(s, name, INSTANTIATED | MAY_EVALUATE, x_nominal, n, nx(s->model))) return STATUS_ERROR;
    if (nx(s->model)) COPY(x_nominal, s->tables->nominals, nx(s->model));
    return STATUS_OK;
}

QUICK
