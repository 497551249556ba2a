/* Steps of one length. */

#ifndef FIXED_STEP_H
#define FIXED_STEP_H

#include "runtime.h"

/* Integrate to the target in equal steps of about the length asked for. */
INTERNAL Outcome fixed_steps(Instance *s, double target);

/* Make a step from the head, and leave the head where it is, but its derivatives known: what comes first in a program,
   pages of memory and of code that nobody has touched, is then no part of the first step that counts. */
INTERNAL void rehearse_step(Instance *s);

#endif
