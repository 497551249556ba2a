/* Steps of one length. */

#ifndef FIXED_STEP_H
#define FIXED_STEP_H

#include "runtime.h"

/* Integrate to the target in equal steps of about the length asked for. */
INTERNAL Outcome fixed_steps(Instance *s, double target);

#endif
