/* Methods of integration, as the control of steps sees them, and what they share. */

#ifndef METHOD_H
#define METHOD_H

#include "runtime.h"

/* A method, by which a step from the head is made: each has a file with its coefficients. */
typedef struct {
    const char *name;               /* as log lines call it */
    double order;                   /* the error of a step grows with this power of its length */
    int implicit;
    int ends_known;                 /* a step leaves derivatives, s->step.next_k, and accelerations, s->step.w, at its end */
    int long_steps;                 /* steps are so long that what makes them hard changes from one to the next */
    int dense_vectors;              /* of its dense output */
    int dense_stages;               /* evaluations that its dense output takes, of its own */
    double gaps[2];                 /* where in a step it is far from stages: in the middle of the widest gap, and behind */

    /* A step of length h from (t, x) with derivatives s->step.stage[0]. The result is next_x and the error relative
       to the tolerance, and in s->step.x a solution that lies as far from next_x as the error is large. */
    Outcome (*step)(Instance *s, double t, double h, double end, const double *x, const double *m, double *error);

    /* What tells whether stability limits the steps, s->step.stiffness, with the derivatives at the end of the step;
       NULL where the step tells, or nobody asks. */
    void (*stiffness)(Instance *s, double h);

    /* Coefficients of the dense output of the step just made from (t, x), with its projected end. */
    Outcome (*dense_output)(Instance *s, double t, const double *x);
} Method;

INTERNAL_DATA const Method dopri5, dop853, rodas5p;

/* What error of state i counts as 1, between its values a and b. A nominal value below 1 makes it small where the
   state is (a twist, say); one above 1 does not make it larger. */
INTERNAL double error_weight(const Instance *s, int i, double a, double b);

/* States on the last step, by its dense output. */
INTERNAL void interpolate(const Instance *s, double t, double *x);

/* The same, where they meet the constraints. */
INTERNAL Outcome states_within(Instance *s, double t, double *x);

#endif
