/* The equations of initialisation. */

#ifndef INITIALISE_H
#define INITIALISE_H

#include "runtime.h"

/* Residuals and Jacobian at X, and the norm of the residuals that are looked at; 0 where these have no finite value. */
INTERNAL int start_residual(Instance *s, const double *X, double *r, double *J, double *norm);

/* What the first assertion says that the start in the latch violates, whatever the accelerations are. */
INTERNAL const char *violated_assertion(Instance *s);

/* A fixed sequence (Marsaglia's xorshift) between -0.5 and 0.5, so that every run is the same. */
INTERNAL double next_random(unsigned long long *seed);

/* Put the solution where it belongs: states, and free parameters. */
INTERNAL void take_start(Instance *s);

/* Do the rows that were dropped as dependent still hold? */
INTERNAL Outcome check_redundant(Instance *s, double t, const double *x, const double *m);

/* Do they hold later in a run, at states that meet the others? What is moved from two sides may part there. */
INTERNAL Outcome check_still_redundant(Instance *s, double t, const double *x, const double *m);

/* The same with delayed signals that are what the signals are at the start. Where they follow from positions and speeds,
   the equations of initialisation know that, and the second round agrees with the first. */
INTERNAL int find_start(Instance *s, int leaving);

INTERNAL int initialise(Instance *s);

#endif
