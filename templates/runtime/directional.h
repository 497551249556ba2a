/* Directional and adjoint derivatives. */

#ifndef DIRECTIONAL_H
#define DIRECTIONAL_H

#include "runtime.h"

INTERNAL Status directional_derivative(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                       const unsigned *knowns, size_t nknowns, const double *change, double *result);

/* The products of `seed`, one number for each unknown, with the columns of the Jacobian: one column after the other. */
INTERNAL Status adjoint_derivative(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                   const unsigned *knowns, size_t nknowns, const double *seed, double *result);

#endif
