/* Dormand and Prince's pair of orders 5 and 4. */

#ifndef DOPRI5_H
#define DOPRI5_H

#include "method.h"

/* Five further stages of a step of length h from the time t to `end`: their number, their time, and by what part of h
   their states differ from x, derivatives k1 ... of earlier stages being given; and the same for the result. */
#define DOPRI5_STAGES \
    STAGE(1, t + h / 5, 1.0 / 5 * k1[i]) \
    STAGE(2, t + h * 3 / 10, 3.0 / 40 * k1[i] + 9.0 / 40 * k2[i]) \
    STAGE(3, t + h * 4 / 5, 44.0 / 45 * k1[i] - 56.0 / 15 * k2[i] + 32.0 / 9 * k3[i]) \
    STAGE(4, t + h * 8 / 9, \
          19372.0 / 6561 * k1[i] - 25360.0 / 2187 * k2[i] + 64448.0 / 6561 * k3[i] - 212.0 / 729 * k4[i]) \
    STAGE(5, end, \
          9017.0 / 3168 * k1[i] - 355.0 / 33 * k2[i] + 46732.0 / 5247 * k3[i] + 49.0 / 176 * k4[i] \
          - 5103.0 / 18656 * k5[i])

#define DOPRI5_RESULT \
    (35.0 / 384 * k1[i] + 500.0 / 1113 * k3[i] + 125.0 / 192 * k4[i] - 2187.0 / 6784 * k5[i] + 11.0 / 84 * k6[i])

/* What the result is ahead of the solution of order 4, with the derivatives k7 at the end. */
#define DOPRI5_ERROR \
    (71.0 / 57600 * k1[i] - 71.0 / 16695 * k3[i] + 71.0 / 1920 * k4[i] - 17253.0 / 339200 * k5[i] + 22.0 / 525 * k6[i] \
     - 1.0 / 40 * k7[i])

/* Stages and result, next_x, of a step from (t, x) with derivatives s->step.stage[0]. */
INTERNAL Outcome dopri5_stages(Instance *s, double t, double h, double end, const double *x, const double *m);

#endif
