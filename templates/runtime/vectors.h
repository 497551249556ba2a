/* Small things that are done with vectors. */

#ifndef VECTORS_H
#define VECTORS_H

#include <math.h>
#include <string.h>

#define COPY(to, from, n) memcpy((to), (from), (size_t)(n) * sizeof *(to))

/* Are all of n values finite? */
static inline int finite_all(const double *values, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += values[i] * 0;
    return sum == 0;
}

/* The largest of their sizes; NAN where one is none. */
static inline double largest(const double *values, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) if (!(fabs(values[i]) <= most)) most = fabs(values[i]);
    return most;
}

#endif
