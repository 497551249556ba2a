/* From one communication point to the next. */

#ifndef ADVANCE_H
#define ADVANCE_H

#include "runtime.h"

/* Let the integrator begin at the latch. */
INTERNAL void place_head(Instance *s);

/* Of a model in steps of one length: what a first step takes more than others, done at the end of initialisation. */
INTERNAL void prepare_first_step(Instance *s);

/* Begin a communication step to the target. The step may end before where an event or the master wants it; after a
   failure the latch is at the last time reached. */
INTERNAL void begin_advance(Instance *s, double target);

/* Go on with the communication step until the integrator has a trial to make, 1; 0 where the step is over, with
   s->communication.outcome. */
INTERNAL int next_trial(Instance *s);

/* Take up a trial, of whose stages this is the outcome. */
INTERNAL void take_trial(Instance *s, Outcome outcome);

#endif
