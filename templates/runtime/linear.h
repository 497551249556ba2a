/* Dense linear algebra. */

#ifndef LINEAR_H
#define LINEAR_H

#include "runtime.h"

/* What elimination leaves of a column, as a part of what it held: below this it is rounding errors, and A singular. */
#define PIVOT_ROUNDING 1e-15

/* Factorise A in place, P A = L U, right-looking; the diagonal of U is kept as reciprocals. Returns n, or
   where A is singular to working precision the column that depends on those before it: a pivot is nothing beside what its
   column held at first. `before` is scratch [n]. */
INTERNAL int lu_factorise(int n, double *A, int *pivots, double *before);

/* Solve A x = b with the factors of A: x replaces b. */
INTERNAL void lu_substitute(int n, const double *restrict A, const int *restrict pivots, double *restrict b);

/* Factorise the first `rows` rows of A (leading dimension `stride`) by QR with column pivoting of the transpose, rows
   scaled to norm 1, or by their `sizes`: A = P L Q'. What is dependent to 1e-10, or beyond `most_rank`, is left out of
   the rank; then L is factorised once more. Rows that are nothing but rounding errors beside the others, or beside the
   length `longest`, come last in the order and take no part. */
INTERNAL void least_norm_factorise(LeastNorm *f, int rows, int most_rank, const double *A, int stride);

/* x of least norm among those that minimise |A x + b|: the step of Newton's method for residuals b. */
INTERNAL void least_norm_step(LeastNorm *f, const double *b, double *x);

/* A backward error, or that of a row with this residual, made of terms of this size, where it is larger. */
INTERNAL double worse(double worst, double residual, double size);

#endif
