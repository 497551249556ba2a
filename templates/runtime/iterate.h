/* Iteration variables. */

#ifndef ITERATE_H
#define ITERATE_H

#include "runtime.h"

/* Where iteration variables begin in u. */
static inline int iterations_begin(const Model *model) { return nu(model) - niterations(model); }

/* Are iteration variables without solution at the point of u? */
INTERNAL int unsolved(const Instance *s, const double *u);

/* Does the importer solve for the iteration variables now, and sets them at the latch? At the start and in events they
   are solved for here. */
static inline int solved_outside(const Instance *s)
{
    return s->now->solved_outside && s->now->phase == CONTINUOUS_TIME;
}

/* Residuals of the iteration variables at the latch, whose w is known, for `value_at`; 0 where they are not finite. */
INTERNAL int refresh_residuals(Instance *s);

/* Change of the residuals at the latch in a direction of all else, iteration variables too, and the w that follows. */
INTERNAL int residual_direction(Instance *s, const Direction *along, const double *dw);

/* Solve for the iteration variables in u, of which the rest is known, from a guess; 0 where there is no solution:
   they are NAN then. The last result is kept, as several ask for the same point. */
INTERNAL int solve_iterations(Instance *s, double t, const double *x, const double *m, const double *guess, double *u);

/* First guesses, with the parameters that there are. */
INTERNAL void begin_iterations(Instance *s);

/* What was found at the head is where the next solutions begin. */
INTERNAL Outcome accept_iterations(Instance *s);

/* Bring the iteration variables of the latch up to date. Within the last step they begin where it ended before its
   event. */
INTERNAL Outcome solve_latch(Instance *s);

/* The latch is where the next solutions begin. */
INTERNAL Outcome accept_latch(Instance *s);

/* Factorise the Jacobian for `iteration_direction` where `accelerations` was called last for this point. */
INTERNAL Outcome linearise_iterations(Instance *s, double t, const double *x, const double *u, const double *m,
                                      const double *w);

/* Change of the iteration variables in a direction of all else, by the theorem of implicit functions. */
INTERNAL int iteration_direction(Instance *s, double t, const double *x, const double *u, const double *m,
                                 const double *w, Direction *along);

#endif
