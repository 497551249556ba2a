/* Accelerations, right-hand side, directional derivatives. */

#ifndef EVALUATE_H
#define EVALUATE_H

#include "runtime.h"

/* Parameters have changed: what depends on them alone is to be evaluated anew. */
INTERNAL void forget_preparations(Instance *s);

/* Derived parameters belong to p: bring them up to date after p changed. */
INTERNAL void derive(Instance *s);

/* Inputs at time t: as set, or continued by their derivatives; and behind them delayed signals, as they are at (t, x). In
   place of iteration variables there is where they begin. */
INTERNAL const double *known_inputs_at(Instance *s, double t, const double *x, const double *m);

/* The same, and behind them iteration variables at (t, x): NAN where there is no solution. */
INTERNAL const double *inputs_at(Instance *s, double t, const double *x, const double *m);

/* What constraints know of them. */
INTERNAL const double *constraint_inputs_at(Instance *s, double t, const double *x, const double *m);

/* Write the sparse A as a dense matrix. */
INTERNAL void spread_entries(Instance *s);

/* The backward error that rounding leaves, and what is good enough for a refined solution. Near positions in which
   branches of the motion cross, rounding errors decide where it goes: partial pivoting leaves no more than the first,
   and in small systems, which had that, refining costs little. In large loops it leaves more, up to 1e-12. */
/* A solution with a larger backward error has no digits that refining could build upon. */
#define REFINABLE 1e-3

/* Central differences go so far, relative to what they move: the cube root of rounding errors, where these and what is left
   out of the series are alike. */
#define DIFFERENCE_DISTANCE 6e-6

static inline double backward_error_met(const Model *model) { return projects_along_forces(model) ? 1e-13 : 5e-16; }
static inline double backward_error_refined(const Model *model) { return projects_along_forces(model) ? 1e-13 : 4e-15; }

/* Solve for w with the factors of A, block by block: w holds the right side before. Where equations are explicit, the
   recursion for trees has solved them already. */
INTERNAL void substitute_blocks(Instance *s, double *w);

/* Solve A w = b. The factors of A stay until the next call. */
INTERNAL Outcome accelerations(Instance *s, double t, const double *x, const double *u, const double *m, double *w);

INTERNAL void clear_direction(const Instance *s, Direction *along);

/* Change of w with (t, x, u) in a direction, where `accelerations` was called last for this point. */
INTERNAL int acceleration_direction(Instance *s, double t, const double *x, const double *u, const double *m,
                                    const double *w, const Direction *along, double *dw);

/* Change of iteration variables, into the direction itself, of w and of dx/dt with (t, x, u) in a direction, where
   `accelerations` and then `linearise_iterations` were called last for this point. */
INTERNAL int direction(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                       Direction *along, double *dw, double *change);

/* The same for the exposed variables; dw is that of `direction`. */
INTERNAL int exposed_direction(Instance *s, double t, const double *x, const double *u, const double *m,
                               const double *w, const Direction *along, const double *dw, double *dy);

INTERNAL Outcome right_hand_side(Instance *s, double t, const double *x, const double *m, double *w, double *dx);

/* Derivatives at the head, where its accelerations are known, s->step.w: the step from there need not evaluate them. */
INTERNAL void know_derivatives(Instance *s);

/* What an assertion says whose value is in s->checks.h: `{}` in its message stands for how far that is below 0. */
INTERNAL const char *assertion_text(Instance *s, int i);

/* The first assertion that does not hold is kept as the cause; where only such do not that end the run, it has ended. */
INTERNAL Outcome check_assertions(Instance *s, double t, const double *x, const double *m, const double *w);

#endif
