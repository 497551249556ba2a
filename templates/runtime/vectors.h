/* Small things that are done with vectors. */

#ifndef VECTORS_H
#define VECTORS_H

#include <float.h>
#include <math.h>
#include <string.h>

#define COPY(to, from, n) memcpy((to), (from), (size_t)(n) * sizeof *(to))

/* What is larger counts as not finite: its square, or its difference from another, would be none. */
#define IMMENSE 1e300

/* Is a mode on? Modes are states like others, 0 or 1. */
static inline int is_on(double mode) { return mode > 0.5; }

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

/* Lowest point of a parabola through three points, where it lies between them; returns its height, or infinity. */
static inline double vertex(const double *t, const double *y, double *lowest)
{
    double first = (y[1] - y[0]) / (t[1] - t[0]), second = (y[2] - y[1]) / (t[2] - t[1]);
    double bend = (second - first) / (t[2] - t[0]);
    if (!(bend > 0)) return INFINITY;
    *lowest = 0.5 * (t[0] + t[1]) - 0.5 * first / bend;
    if (!(*lowest > t[0] && *lowest < t[2])) return INFINITY;
    return y[0] + (*lowest - t[0]) * (first + bend * (*lowest - t[1]));
}

/* Take a further point between the outer ones of three: the next three lie around the lowest one of these four. */
static inline void lowest_of_four(double *t, double *y, double further, double height)
{
    int own = further > t[1] ? 2 : 0;
    if (height <= y[1]) {
        t[2 - own] = t[1];
        y[2 - own] = y[1];
        own = 1;
    }
    t[own] = further;
    y[own] = height;
}

#endif
