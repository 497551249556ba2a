/* Parts of initialisation. */

#ifndef PARTS_H
#define PARTS_H

#include "runtime.h"

/* A part, and its block of J, column by column. */
typedef struct {
    int next;                       /* number of the one behind it */
    int row, rows, cols;            /* its first row, and how many rows and unknowns it has */
    const int *unknowns;
    double *J;
} Part;

INTERNAL void look_at_parts(Instance *s, int first, int end);
INTERNAL int first_row(const Instance *s);
INTERNAL int rows_end(const Instance *s);

/* Go on to the next of the parts that are looked at, from {0} to the first; 0 where there is none left. */
INTERNAL int next_part(const Instance *s, Part *part);

enum { ALL_RELEASED = -1, LAST_STAGE = 2 };

/* What rounding leaves of 0 is 0. */
INTERNAL double without_rounding(double value);

/* Does the start value of an unknown hold, or may it move? */
INTERNAL int holds(const Instance *s, int j);

/* Make the rows, and those of J, nothing that take no part in the present stage. */
INTERNAL void leave_out(Instance *s, double *r);

/* Natural size of each residual's terms: what rounding errors and tolerances are relative to. */
INTERNAL void scale_residuals(Instance *s);

/* Scale the unknowns by their weights and hold the fixed ones. A row that only what is fixed can change becomes zero:
   what rounding leaves of its other derivatives would move them without bound. */
INTERNAL void scale_columns(Instance *s);

/* dX of least norm among those that minimise |J dX + r|, J scaled. A row that is nothing beside those of other parts is
   nothing in its own. */
INTERNAL void least_norm_steps(Instance *s);

/* Step of Levenberg and Marquardt in the space of residuals: dX = -J' (J J' + mu I)^-1 r, J scaled. */
INTERNAL int damped_step(Instance *s, double mu);

/* How the norm of the residuals changes along each unknown: dX. Returns the largest entry of J. */
INTERNAL double along_residuals(Instance *s, double norm);

#endif
