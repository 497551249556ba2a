/* Dormand and Prince's explicit pair of orders 5 and 4 with dense output. Coefficients: Dormand and Prince (1980);
   dense output and the test for stiffness: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section
   II.6, and II, section IV.2. */

#include "dopri5.h"

#include "method.h"
#include "evaluate.h"
#include "vectors.h"

INTERNAL Outcome dopri5_stages(Instance *s, double t, double h, double end, const double *x, const double *m)
{
    const double *k1 = s->step.stage[0], *k2 = s->step.stage[1], *k3 = s->step.stage[2], *k4 = s->step.stage[3],
        *k5 = s->step.stage[4],
                 *k6 = s->step.stage[5];
    double *y = s->step.x;
    Outcome outcome;

#define STAGE(number, time, sum) \
    for (int i = 0; i < nx(s->model); ++i) y[i] = x[i] + h * (sum); \
    if ((outcome = right_hand_side(s, time, y, m, s->step.w, s->step.stage[number]))) return outcome;
    DOPRI5_STAGES
#undef STAGE
    for (int i = 0; i < nx(s->model); ++i) s->step.next_x[i] = x[i] + h * DOPRI5_RESULT;
    return DONE;
}

/* The same, and what tells of its error: derivatives at its end, s->step.next_k, accelerations there, s->step.w, and
   the error relative to the tolerance, the distance of the solution of order 4, s->step.x. */
static Outcome dopri5_step(Instance *s, double t, double h, double end, const double *x, const double *m,
                             double *error)
{
    const double *k1 = s->step.stage[0], *k3 = s->step.stage[2], *k4 = s->step.stage[3], *k5 = s->step.stage[4],
        *k6 = s->step.stage[5],
                 *k7 = s->step.next_k, *y = s->step.next_x;
    Outcome outcome = dopri5_stages(s, t, h, end, x, m);
    if (outcome) return outcome;
    if ((outcome = right_hand_side(s, end, y, m, s->step.w, s->step.next_k))) return outcome;

    double sum = 0, bend = 0, gap = 0;
    for (int i = 0; i < nx(s->model); ++i) {
        bend += (k7[i] - k6[i]) * (k7[i] - k6[i]);
        gap += (y[i] - s->step.x[i]) * (y[i] - s->step.x[i]);
        double e = h * DOPRI5_ERROR;
        s->step.x[i] = y[i] - e;
        e /= error_weight(s, i, x[i], y[i]);
        sum += e * e;
    }
    s->step.stiffness = gap > 0 ? h * sqrt(bend / gap) / 3.25 : 0;
    *error = nx(s->model) ? sqrt(sum / nx(s->model)) : 0;
    return *error <= IMMENSE ? DONE : NOT_FINITE;
}

static Outcome dopri5_dense(Instance *s, double t, const double *x)
{
    (void)t;
    Head *head = &s->now->head;
    double h = head->length, *d = s->head.dense;
    const double *k1 = s->step.stage[0], *k3 = s->step.stage[2], *k4 = s->step.stage[3], *k5 = s->step.stage[4],
        *k6 = s->step.stage[5],
                 *k7 = s->step.next_k;
    for (int i = 0; i < nx(s->model); ++i) {
        double change = s->step.next_x[i] - x[i], bend = h * k1[i] - change;
        d[i] = x[i];
        d[nx(s->model) + i] = change;
        d[2 * nx(s->model) + i] = bend;
        d[3 * nx(s->model) + i] = change - h * k7[i] - bend;
        d[4 * nx(s->model) + i] = h * (-12715105075.0 / 11282082432 * k1[i] + 87487479700.0 / 32700410799 * k3[i]
                             - 10690763975.0 / 1880347072 * k4[i] + 701980252875.0 / 199316789632 * k5[i]
                             - 1453857185.0 / 822651844 * k6[i] + 69997945.0 / 29380423 * k7[i]);
    }
    return DONE;
}

INTERNAL const Method dopri5 = {"explicit", 5, 0, 1, 0, 5, 0, {0.55, 0.7}, dopri5_step, NULL, dopri5_dense};
