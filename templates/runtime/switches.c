/* Discrete states: modes of the switches, 1 while the crossing is not negative, and values that are held between
   events. */

#include "switches.h"

#include <string.h>

#include "evaluate.h"
#include "functions.h"
#include "impacts.h"
#include "iterate.h"
#include "log.h"
#include "optimize.h"
#include "project.h"
#include "vectors.h"

SMALL

INTERNAL double time_margin(double t)
{
    return 1e-14 * fmax(1, fabs(t));
}

INTERNAL double next_instant(Instance *s, double t, const double *m)
{
    double next = INFINITY;
    if (!nt(s->model) || eval_next_times(s, t, m, s->events.times)) return next;
    for (int i = 0; i < nt(s->model); ++i)
        if (s->events.times[i] > t + time_margin(t) && s->events.times[i] < next) next = s->events.times[i];
    return next;
}

INTERNAL int disagrees(double crossing, double mode)
{
    return (crossing >= 0) != is_on(mode);
}

INTERNAL void say_flip(const Instance *s, int which, double mode, double t)
{
    say(s, STATUS_OK, "%s becomes %d at time %.9g", s->tables->switch_names[which], is_on(mode), t);
}

/* Mark the switches that their crossings at (t, x) contradict; those in time count as they are just after t, and come
   first: before they have flipped, crossings may be of what ends here. *again: they are those of the pass before. */
static Outcome find_turns(Instance *s, double t, double after, const double *x, const double *u, const double *m,
                          double *c,
                          int *turns, int *again)
{
    if (unsolved(s, u)) return UNSOLVED;
    if (has_time_switches(s->model) && eval_crossings(s, after, x, u, m, s->step.w, s->events.c_after))
        return NOT_FINITE;
    if (eval_crossings(s, t, x, u, m, s->step.w, c) || !finite_all(c, nm(s->model))) return NOT_FINITE;
    int waiting = 0;
    for (int i = 0; i < nm(s->model) && has_time_switches(s->model); ++i)
        waiting |= s->tables->time_switches[i] && s->events.flipped[i] != STAYS
            && disagrees(s->events.c_after[i], m[i]);
    *turns = 0;
    *again = 1;
    for (int i = 0; i < nm(s->model); ++i) {
        if (s->events.flipped[i] == STAYS) continue;
        int in_time = s->tables->time_switches[i];
        int turn = (in_time || !waiting) && disagrees(in_time ? s->events.c_after[i] : c[i], m[i]);
        *again &= turn == (s->events.flipped[i] == TURNS);
        *turns |= turn;
        s->events.flipped[i] = turn ? TURNS : s->events.flipped[i] == TURNS ? AS_BEFORE : s->events.flipped[i];
    }
    return DONE;
}

INTERNAL Outcome update_modes(Instance *s, double t, const double *x, double *m, double *c)
{
    if (!nm(s->model)) return DONE;
    const double *u = inputs_at(s, t, x, m);
    double after = t + fmin(1e-9 * fmax(1, fabs(t)), 0.5 * (next_instant(s, t, m) - t));
    int once = 0;
    COPY(s->events.m_start, m, nm(s->model));
    for (int pass = 0;; ++pass) {
        int turns, again;
        if (niterations(s->model)) u = inputs_at(s, t, x, m);
        Outcome outcome = crossings_need_w(s->model) ? accelerations(s, t, x, u, m, s->step.w) : DONE;
        if (!outcome) outcome = find_turns(s, t, after, x, u, m, c, &turns, &again);
        if (outcome) return outcome;
        if (!turns) break;
        if (!once && pass && (again || pass > nm(s->model))) {
            once = 1;
            COPY(m, s->events.m_start, nm(s->model));
            for (int i = 0; i < nm(s->model); ++i)
                if (s->events.flipped[i] == TURNS) s->events.flipped[i] = AS_BEFORE;
            continue;
        }
        for (int i = 0; i < nm(s->model); ++i)
            if (s->events.flipped[i] == TURNS) {
                m[i] = 1 - m[i];
                if (once) s->events.flipped[i] = STAYS;
            }
    }
    for (int i = 0; i < nm(s->model); ++i)
        if (s->events.flipped[i] != STAYS && m[i] != s->events.m_start[i]) s->events.flipped[i] = FLIPPED;
    return crossings_need_w(s->model) ? DONE : accelerations(s, t, x, u, m, s->step.w);
}

INTERNAL void forget_flips(Instance *s)
{
    for (int i = 0; i < nm(s->model); ++i) s->events.flipped[i] = AS_BEFORE;
}

INTERNAL Outcome agree(Instance *s, double t, const double *x, double *m, double *c)
{
    const double *u = inputs_at(s, t, x, m);
    double *held = m + nm(s->model);
    for (int pass = 0;; ++pass) {
        int same = 1, last = 0;
        if (niterations(s->model)) u = inputs_at(s, t, x, m);
        Outcome outcome = nm(s->model) ? update_modes(s, t, x, m, c) : accelerations(s, t, x, u, m, s->step.w);
        if (outcome || !nheld(s->model)) return outcome;
        if (eval_update(s, t, x, u, m, s->step.w, s->events.m_before, s->events.w_before, s->events.held,
                        s->events.x_event)
            || !finite_all(s->events.held, nheld(s->model)) || !finite_all(s->events.x_event, nx(s->model)))
            return NOT_FINITE;
        if (npoints(s->model)) {
            outcome = choose_modes(s, t, x, u, m, s->step.w, s->events.held);
            if (outcome) return outcome;
        }
        for (int i = 0; i < nheld(s->model); ++i)
            if (s->events.held[i] != held[i]) {
                same = 0;
                last = i;
            }
        if (same) return DONE;
        COPY(held, s->events.held, nheld(s->model));
        if (pass > nheld(s->model) + nm(s->model)) {
            because(s, "values that an event gives depend on each other in a circle at time %.9g (%s is one of them): let "
                    "one of them be taken from before the event", t, s->tables->held_names[last]);
            return CHATTERING;
        }
    }
}

INTERNAL Outcome settle_events(Instance *s, double t, double *x, double *m, double *c, const double *before)
{
    enum { ROUNDS = 200 };
    Outcome outcome;
    int moved;
    if (!nheld(s->model)) return update_modes(s, t, x, m, c);
    COPY(s->events.m_event, before, ndiscrete(s->model));
    COPY(s->events.m_before, before, ndiscrete(s->model));
    outcome = settle_points(s, t, x, s->events.m_before, s->step.w, 1, &moved);
    if (outcome) return outcome;
    if (moved) forget_flips(s); /* what was a crossing may be none any more */
    outcome = accelerations(s, t, x, inputs_at(s, t, x, s->events.m_before), s->events.m_before, s->events.w_before);
    for (int round = 0; !outcome && round < ROUNDS; ++round) {
        outcome = agree(s, t, x, m, c);
        if (outcome) break;
        int struck = 0;
        if (npoints(s->model)) {
            outcome = strike(s, t, x, inputs_at(s, t, x, m), m, s->step.w, s->events.x_event, &struck);
            if (outcome) break;
        }
        moved = nx(s->model) && memcmp(x, s->events.x_event, (size_t)nx(s->model) * sizeof *x) != 0;
        int held = memcmp(m + nm(s->model), s->events.m_before + nm(s->model),
                          (size_t)nheld(s->model) * sizeof *m) != 0;
        if (moved) {
            COPY(x, s->events.x_event, nx(s->model));
            outcome = project(s, t, x, m);
            if (outcome) break;
        }
        if (!moved && !held) {
            for (int i = 0; i < nm(s->model); ++i)
                s->events.flipped[i] = m[i] != s->events.m_event[i] ? FLIPPED : AS_BEFORE;
            return DONE;
        }
        /* What has changed may let a switch flip back, and is the state before of the next round. */
        forget_flips(s);
        COPY(s->events.m_before, m, ndiscrete(s->model));
        COPY(s->events.w_before, s->step.w, nw(s->model));
    }
    if (outcome) return outcome;
    because(s, "events follow each other without end at time %.9g: what an event sets must not cause it again", t);
    return CHATTERING;
}

QUICK
