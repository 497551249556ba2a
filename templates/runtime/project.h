/* Constraints. */

#ifndef PROJECT_H
#define PROJECT_H

#include "runtime.h"

INTERNAL void normalise_quaternions(const Instance *s, double *q);

/* Factorise for `constraint_step` at (t, x), where the constraints were evaluated last: the first `rows` of them. */
INTERNAL Outcome factorise_constraints(Instance *s, double t, const double *x, const double *m, int rows);

/* The displacement dv along which the first `rows` constraints lose these residuals. */
INTERNAL void constraint_step(Instance *s, const double *residuals, int rows, double *dv);

INTERNAL Outcome project(Instance *s, double t, double *x, const double *m);

/* Move x close to the constraints along the directions in which constraint forces accelerate: [dv; impulses] =
   A^-1 [0; -residuals], with the factors of A that the last accelerations left. */
INTERNAL Outcome project_along_forces(Instance *s, double t, double *x, const double *m);

/* How far the factorised rows are from being dependent: the least of what each adds to the others, as a fraction of the
   most. `weakest` becomes the row that adds least. */
INTERNAL double regularity(Instance *s, int *weakest);

/* The same for all constraints at (t, x). */
INTERNAL double regularity_at(Instance *s, double t, const double *x, const double *m, int *weakest);

#endif
