/* Steps of the adaptive integration. */

#ifndef INTEGRATOR_H
#define INTEGRATOR_H

#include "method.h"

/* A communication step that takes more evaluations of the right-hand side than this is given up: something in the model
   is so fast that it would never end. */
#ifndef EVALUATIONS_OF_A_STEP
#define EVALUATIONS_OF_A_STEP 1000000u
#endif

/* Regularity of the constraints, relative to the largest so far, below which branches of the motion cross there: rounding
   errors of 1e-16 leave ten digits of the direction that the motion takes. Once a step has been made shorter for it, and in
   steps of one length, which cannot be made shorter, it is to end further off. */
#define BRANCHES_CROSS 1e-6
#define BRANCHES_CROSS_NEAR 1e-5

/* The distance of 1 to the next number. */
#define ROUNDING 2.3e-16

/* The method of the next step; the last of the leaps goes between the stages of dopri5. */
INTERNAL const Method *next_method(const Instance *s);

/* The stages of a trial: its result next_x and its error; for the explicit methods with derivatives there. */
INTERNAL Outcome make_stages(Instance *s);

/* Complete a trial, of whose stages this is the outcome: where its error is small enough next_x becomes projected, with
   its derivatives s->step.next_k and its accelerations s->step.w. */
INTERNAL Outcome complete_trial(Instance *s, Outcome outcome);

/* Derivatives at the head, for the step that begins there. */
INTERNAL Outcome begin_step(Instance *s);

/* Begin a step from the head, to `limit` at most. */
INTERNAL Outcome begin_trials(Instance *s, double limit);

/* The length of the next trial; an outcome where no more can be made. */
INTERNAL Outcome choose_length(Instance *s);

/* Look at a complete trial: accept it, which ends the step, or propose another length. */
INTERNAL Outcome judge(Instance *s, Outcome outcome);

#endif
