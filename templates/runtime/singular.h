/* Starts in singular positions. */

#ifndef SINGULAR_H
#define SINGULAR_H

#include "runtime.h"

INTERNAL double norm_of(const double *values, int n);

/* Newton steps from a projected position down to rounding errors, which the direction of a branch hangs on. */
INTERNAL int sharpen(Instance *s, double t, double *x, const double *m);

/* Put a singular start on a branch: the one in whose direction it moves; at rest, or where the speeds do not show one,
   that along which the loads drive it most. Speeds keep their fixed start values. */
INTERNAL void leave_singular_position(Instance *s);

/* Keep the cause of accelerations that an initialised start does not have. */
INTERNAL void explain_start(Instance *s, Outcome outcome);

#endif
