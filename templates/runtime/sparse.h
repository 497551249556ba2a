/* LU of a sparse A along its pivots. */

#ifndef SPARSE_H
#define SPARSE_H

#include "runtime.h"

/* Columns from which products are taken off at once: so many factors stay in registers. */
enum { WIDTH = 8 };

/* Numbers of factors. */
static inline size_t nfactors(const Model *model)
{
#ifdef WRITTEN_OUT
    (void)model;
    return WRITTEN_OUT;
#else
    return (size_t)model->elimination.starts[nsystem(model)];
#endif
}

/* Find out what fills in. Returns NULL, or what is wrong. */
INTERNAL const char *plan_elimination(Model *model, const int *entry_rows, const int *entry_columns, int entries,
                                      const int *pivot_rows, const int *pivot_columns, int n);

/* Factorise A. Where a pivot is nothing, what is solved with the factors tells. */
INTERNAL void sparse_factorise(const Instance *s);

/* Solve A s = b with the factors of A, to `unknowns`, and in the order of pivots to the solution. What was solved for
   last is put in last, so that nothing else waits for it. */
INTERNAL void sparse_substitute(const Instance *s, const double *b, double *unknowns);

/* Residuals of the solution, and the largest of them as a fraction of the terms that they are made of: the backward
   error. */
INTERNAL double sparse_residual(const Instance *s, double *residual);

#endif
