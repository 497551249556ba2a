/* What is worked out when somebody asks, and kept for as long as it holds.

   kept                               it holds while               it follows from
   the start                          !now->start_stale            what is set, until initialisation ends
   the head, and what lies ahead      !now->touched                inputs, tunable parameters, what importers set
   iteration variables at the latch   now->latch_solved            time, states, inputs, modes and parameters there
   w at the latch                     latch.w_fresh                these and iteration variables
   y at the latch                     latch.y_fresh                these and w
   derivatives at the head            now->head.k_known            time, states, inputs, modes and parameters there
   factors of A                       system.factors_time, NAN: of no point that anybody asks for
   Jacobian and drift of a step       implicit.linearised          the begin of the step
   preparations of tapes              functions.prepared           parameters
   the last iteration variables       iterations.known             parameters; all else is compared

   Three things happen to an instance, each with a function below or in evaluate.c, which says what holds no more:

   an input or start value is set     input_changed                the start before initialisation has ended, the head after
   the latch goes elsewhere           latch_moved, forget_latch    y and w, and iteration variables unless they came along
   parameters change                  derive                       preparations; the caller moves the latch, too

   y never holds where w does not, nor w where iteration variables do not: `refresh` (values.c) goes from one to the next.
   The flags of State are saved with it; what does not follow a state that is taken back is asked for anew. */

#ifndef FRESHNESS_H
#define FRESHNESS_H

#include <math.h>

#include "runtime.h"

/* The start has to be found anew. */
static inline void start_changed(Instance *s) { s->now->start_stale = 1; }

/* An input has another value or slope. */
static inline void input_changed(Instance *s)
{
    s->now->touched = 1;
    if (s->now->phase & (INSTANTIATED | INITIALIZATION)) start_changed(s);
}

/* The latch is elsewhere, with or without iteration variables that hold there. */
static inline void latch_moved(Instance *s, int solved)
{
    s->latch.w_fresh = s->latch.y_fresh = 0;
    s->now->latch_solved = solved;
}

/* The latch is elsewhere: what belongs to it has to be found anew. */
static inline void forget_latch(Instance *s) { latch_moved(s, 0); }

/* The factors of A belong to no point. */
static inline void forget_factors(Instance *s) { s->system.factors_time = NAN; }

#endif
