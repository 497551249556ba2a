/* From one communication point to the next.

   Steps need not end at communication points: while no input changes, the integrator goes as far as accuracy lets it,
   and communication points in between are read from the dense output. Where an input or parameter changes, what lies
   beyond is dropped. */

#include "advance.h"

#include <string.h>

#include "cosimulation.h"
#include "method.h"
#include "evaluate.h"
#include "fixed_step.h"
#include "freshness.h"
#include "history.h"
#include "initialise.h"
#include "integrator.h"
#include "iterate.h"
#include "optimize.h"
#include "project.h"
#include "switches.h"
#include "vectors.h"

SMALL

INTERNAL void place_head(Instance *s)
{
    State *now = s->now;
    Head *head = &now->head;
    if (head->end != now->latch_t) head->regular = 0;
    head->begin = head->end = now->latch_t;
    head->length = 1;
    COPY(s->head.x, s->latch.x, nx(s->model));
    COPY(s->head.m, s->latch.m, ndiscrete(s->model));
    accept_latch(s);
    now->latch_inside = 0;
    COPY(s->head.s, s->given.u + iterations_begin(s->model), niterations(s->model));
    head->k_known = head->event = 0;
    head->before = 0;
}

/* Keep the head before a step that may fail, and take it back. */
static void keep_head(Instance *s)
{
    memcpy(&s->communication.kept_head, &s->now->head, sizeof s->communication.kept_head);
    COPY(s->communication.kept_vectors, s->head.dense, s->head.doubles);
    COPY(s->iterations.kept, s->given.u + iterations_begin(s->model), niterations(s->model));
}

static void recall_head(Instance *s)
{
    memcpy(&s->now->head, &s->communication.kept_head, sizeof s->communication.kept_head);
    COPY(s->head.dense, s->communication.kept_vectors, s->head.doubles);
    COPY(s->given.u + iterations_begin(s->model), s->iterations.kept, niterations(s->model));
    cut_history(s, s->now->head.end);
}

INTERNAL void prepare_first_step(Instance *s)
{
    State *now = s->now;
    unsigned long long evaluations = now->evaluations, jacobians = now->jacobians;
    if (!(fixed_step_length(s->model) > 0)) return;
    now->u_time = now->latch_t;
    if (!begin_step(s)) {
        evaluations = now->evaluations;
        keep_head(s);
        rehearse_step(s);
        recall_head(s);
        forget_factors(s);
    }
    now->evaluations = evaluations;
    now->jacobians = jacobians;
    s->log.cause[0] = 0;
}

/* Take up changed inputs and parameters. */
static Outcome restart(Instance *s)
{
    Head *head = &s->now->head;
    place_head(s);
    cut_history(s, head->end);
    forget_flips(s);
    Outcome outcome = settle_events(s, head->end, s->head.x, s->head.m, s->head.c, s->head.m);
    if (!outcome) outcome = mark_kink(s, head->end, s->head.x, s->head.m, 1);
    for (int i = 0; i < nm(s->model); ++i)
        if (s->events.flipped[i]) head->h = 0;
    if (ndiscrete(s->model) && !outcome) know_derivatives(s);
    if (!outcome) outcome = accept_iterations(s);
    return outcome ? outcome : check_redundant(s, head->end, s->head.x, s->head.m);
}

static Outcome latch_at(Instance *s, double t)
{
    State *now = s->now;
    const Head *head = &now->head;
    Outcome outcome = DONE;
    if (t == head->end) {
        COPY(s->latch.x, s->head.x, nx(s->model));
        COPY(s->latch.m, s->head.m, ndiscrete(s->model));
    } else {
        outcome = states_within(s, t, s->latch.x);
        COPY(s->latch.m, s->head.inside, ndiscrete(s->model));
    }
    COPY(s->latch.u, known_inputs_at(s, t, s->latch.x, s->latch.m), nu(s->model));
    if (now->ramps) COPY(s->given.u, s->latch.u, ninputs(s->model));
    now->latch_t = now->u_time = t;
    /* At the head, iteration variables have been accepted: they are among what is known. */
    now->latch_inside = t != head->end;
    latch_moved(s, t == head->end);
    if (!outcome) outcome = solve_latch(s);
    return outcome;
}

/* Is there an event at the head that the communication step to the target has to end at? */
static int event_ends_step(const Instance *s, double target)
{
    const Head *head = &s->now->head;
    return s->caller.master.event_mode && s->caller.master.early_return && head->event && head->end > s->now->latch_t
        && head->end < target;
}

/* Let the master see the end of a step of the integrator; returns when the communication step shall end. */
static double call_master(Instance *s, double target)
{
    State *now = s->now;
    if (!s->caller.master.between || !(now->head.end < target)) return target;
    latch_at(s, now->head.end);
    now->phase = INTERMEDIATE;
    double end = s->caller.master.between(s->caller.master.environment, now->latch_t, s->caller.master.early_return);
    now->phase = STEP_COMPLETE;
    return s->caller.master.early_return && end < target ? fmax(end, now->head.end) : target;
}

INTERNAL void begin_advance(Instance *s, double target)
{
    State *now = s->now;
    Head *head = &now->head;
    s->communication.target = target;
    s->communication.ahead = !now->ramps && (ninputs(s->model) == 0 || !now->touched);
    s->trial.under_way = 0;
    s->trial.outcome = s->communication.outcome = DONE;
    now->u_time = now->latch_t;
    now->longest_step = fmax(0.1 * (default_stop_time(s->model) - default_start_time(s->model)), target - now->latch_t);
    s->log.cause[0] = 0;
    s->communication.budget = now->evaluations + EVALUATIONS_OF_A_STEP;
    if (now->touched) {
        keep_head(s);
        s->communication.outcome = restart(s);
        if (s->communication.outcome) {
            recall_head(s);
            return;
        }
        now->touched = 0;
    }
    if (fixed_step_length(s->model) > 0) {
        keep_head(s);
        s->communication.outcome = fixed_steps(s, target);
        if (s->communication.outcome) {
            if (s->communication.outcome != ENDED) recall_head(s);
            latch_at(s, head->end);
        }
    }
}

INTERNAL int next_trial(Instance *s)
{
    Trial *trial = &s->trial;
    const Head *head = &s->now->head;
    if (s->communication.outcome) return 0;
    for (;;) {
        if (!trial->under_way) {
            if (event_ends_step(s, s->communication.target)) s->communication.target = head->end;
            if (head->end >= s->communication.target) {
                s->communication.outcome = latch_at(s, s->communication.target);
                return 0;
            }
            keep_head(s);
            s->step.dense_after = s->communication.target;
            trial->under_way = 1;
            trial->outcome = begin_trials(s, s->communication.ahead ? s->now->stop_time : s->communication.target);
        }
        if (!trial->outcome) trial->outcome = choose_length(s);
        if (!trial->outcome) return 1;
        trial->under_way = 0;
        s->step.leaning = INFINITY;
        if (trial->outcome == ENDED && head->end <= s->communication.target) break;
        recall_head(s);
        if (!s->communication.ahead) break;
        /* What failed may lie beyond the communication point. */
        s->communication.ahead = 0;
    }
    latch_at(s, head->end);
    s->communication.outcome = trial->outcome;
    return 0;
}

INTERNAL void take_trial(Instance *s, Outcome outcome)
{
    Trial *trial = &s->trial;
    trial->outcome = judge(s, complete_trial(s, outcome));
    if (trial->outcome) trial->under_way = 1; /* `next_trial` looks at what is left to do */
    else if (!trial->under_way && !event_ends_step(s, s->communication.target))
        s->communication.target = call_master(s, s->communication.target);
}

QUICK
