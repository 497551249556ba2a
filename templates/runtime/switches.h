/* Modes and event iteration. */

#ifndef SWITCHES_H
#define SWITCHES_H

#include "runtime.h"

/* Instants closer than rounding are one. */
INTERNAL double time_margin(double t);

/* The first instant after t at which something jumps or kinks in time. */
INTERNAL double next_instant(Instance *s, double t, const double *m);

INTERNAL int disagrees(double crossing, double mode);

/* Log that a switch has flipped. */
INTERNAL void say_flip(const Instance *s, int which, double mode, double t);

/* What s->events.flipped says of a switch while modes are sought. */
enum { AS_BEFORE, TURNS, STAYS, FLIPPED };

/* Bring modes in line with the crossings at (t, x). `s->events.flipped` says what flips on the way; it may be preset
   to STAYS. Switches may depend on each other (a limiter behind a limiter): modes follow until none is contradicted.
   Where they contradict each other, and would go round in circles, each flips once at most. Leaves the crossings in c
   and the accelerations in stage_w: where no crossing depends on them they are evaluated once, however many modes
   change. */
INTERNAL Outcome update_modes(Instance *s, double t, const double *x, double *m, double *c);

INTERNAL void forget_flips(Instance *s);

/* Find modes and held values that belong together at (t, x), with `m_before` as those before the event: each value that
   an event gives may depend on others, so that all are worked out again until none changes. Leaves the crossings in c,
   the accelerations in stage_w and what states are set to in x_event. */
INTERNAL Outcome agree(Instance *s, double t, const double *x, double *m, double *c);

/* Event iteration at (t, x): bring modes and held values up to date, and set states anew where an event says so,
   until nothing changes any more. `before` are the discrete states before the event (m itself, if nothing has been
   changed yet); `s->events.flipped` says which switches differ from them, and may be preset to what must not flip in
   the first round. Leaves the crossings in c and, where there are discrete states, the accelerations in stage_w. */
INTERNAL Outcome settle_events(Instance *s, double t, double *x, double *m, double *c, const double *before);

#endif
