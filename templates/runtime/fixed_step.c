/* Steps of one length, for real-time targets: every step costs the same, memory is never allocated, and nothing is
   located. Switches and instants act from the end of the step in which they are passed. With the explicit method
   there are six evaluations: five stages, and the projected end, whose accelerations decide on events and assertions
   and begin the next step. */

#include "fixed_step.h"

#include "dopri5.h"
#include "evaluate.h"
#include "history.h"
#include "impacts.h"
#include "initialise.h"
#include "integrator.h"
#include "iterate.h"
#include "log.h"
#include "optimize.h"
#include "project.h"
#include "rodas5p.h"
#include "switches.h"
#include "vectors.h"

SMALL

/* Project the end of a step. Where it falls on a position in which branches of motion cross, projecting would be led by
   rounding errors: the next end will do. */
static Outcome return_to_constraints(Instance *s, double end)
{
    Head *head = &s->now->head;
    if (!is_constrained(s->model)) return project(s, end, s->step.next_x, s->head.m);
    int weakest;
    double regular = regularity_at(s, end, s->step.next_x, s->head.m, &weakest);
    normalise_quaternions(s, s->step.next_x);
    if (regular < BRANCHES_CROSS_NEAR * head->regularity) return DONE;
    head->regularity = fmax(head->regularity, regular);
    Outcome outcome = project_along_forces(s, end, s->step.next_x, s->head.m);
    if (outcome) return outcome;
    return project(s, end, s->step.next_x, s->head.m);
}

static const Method *method_of(const Instance *s) { return solver(s->model) == SOLVER_IMPLICIT ? &rodas5p : &dopri5; }

/* Write down what delayed signals are in the step just made, from the head to `end`. */
static Outcome record_fixed(Instance *s, double h, double end)
{
    Head *head = &s->now->head;
    if (!ndelays(s->model)) return DONE;
    Outcome outcome = right_hand_side(s, end, s->step.next_x, s->head.m, s->step.w, s->step.next_k);
    if (outcome) return outcome;
    head->begin = head->end;
    head->length = h;
    head->dense_vectors = method_of(s)->dense_vectors;
    COPY(s->head.inside, s->head.m, ndiscrete(s->model));
    outcome = method_of(s)->dense_output(s, head->begin, s->head.x);
    if (outcome) return outcome;
    return record(s, head->begin, end);
}

/* From the head to the projected end, which is left where the next head will be. */
static Outcome states_at_end(Instance *s, double h, double end)
{
    const Head *head = &s->now->head;
    double error;
    Outcome outcome = begin_step(s);
    if (outcome) return outcome;
    s->step.leaning = head->end + 0.5 * h;
    if (solver(s->model) == SOLVER_IMPLICIT)
        outcome = rodas5p.step(s, head->end, h, end, s->head.x, s->head.m, &error);
    else outcome = dopri5_stages(s, head->end, h, end, s->head.x, s->head.m);
    if (!outcome) outcome = return_to_constraints(s, end);
    int moved;
    return outcome ? outcome : settle_points(s, end, s->step.next_x, s->head.m, s->step.w, 0, &moved);
}

static Outcome fixed_step(Instance *s, double h, double end)
{
    Head *head = &s->now->head;
    double longest;
    Outcome outcome = check_delays(s, head->end, s->head.x, s->head.m, &longest);
    if (!outcome) outcome = states_at_end(s, h, end);
    if (!outcome) outcome = record_fixed(s, h, end);
    s->step.leaning = INFINITY;
    if (outcome) return outcome;
    COPY(s->head.x, s->step.next_x, nx(s->model));
    head->begin = head->end = end;
    head->k_known = 0;
    s->now->steps += 1;
    s->now->implicit_steps += solver(s->model) == SOLVER_IMPLICIT;
    forget_flips(s);
    outcome = ndiscrete(s->model) ? settle_events(s, end, s->head.x, s->head.m, s->head.c, s->head.m)
                        : accelerations(s, end, s->head.x, inputs_at(s, end, s->head.x, s->head.m), s->head.m,
                                        s->step.w);
    if (outcome) return outcome;
    for (int i = 0; i < nm(s->model); ++i) s->now->events += s->events.flipped[i] != 0;
    s->now->evaluations += 1;
    know_derivatives(s);
    outcome = accept_iterations(s);
    if (outcome) return outcome;
    outcome = check_still_redundant(s, end, s->head.x, s->head.m);
    return outcome ? outcome : check_assertions(s, end, s->head.x, s->head.m, s->step.w);
}

INTERNAL void rehearse_step(Instance *s)
{
    double end = s->now->head.end + fixed_step_length(s->model);
    states_at_end(s, end - s->now->head.end, end);
    s->step.leaning = INFINITY;
}

INTERNAL Outcome fixed_steps(Instance *s, double target)
{
    const double begin = s->now->head.end, length = target - begin,
        n = fmax(1, ceil(length / fixed_step_length(s->model) - 1e-6));
    if (!(n <= EVALUATIONS_OF_A_STEP)) {
        because(s, "%.3g steps of %.3g s are more than one call can make: a shorter communication step is needed", n,
                fixed_step_length(s->model));
        return EXHAUSTED;
    }
    for (double i = 1; i <= n; ++i) {
        Outcome outcome = fixed_step(s, length / n, i == n ? target : begin + length * i / n);
        if (outcome) return outcome;
    }
    return DONE;
}

QUICK
