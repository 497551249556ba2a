/* Accelerations for importers where branches of motion cross. */

#ifndef BRANCH_POINTS_H
#define BRANCH_POINTS_H

#include "runtime.h"

/* w at x as importers that integrate themselves see it: where there are constraints, accelerations are those of the
   nearest states that meet them. Importers do not all complete every step, and off the constraints equations of
   motion may be singular where on them they are not. The way back is led by accelerations alone, q_d'' = -2 k q_d' -
   k^2 q_d for the drift q_d, so that derivatives of positions are the speeds that the importer has set. */
INTERNAL Outcome exchanged_accelerations(Instance *s, double t, const double *x, const double *u, const double *m,
                                         double *w);

#endif
