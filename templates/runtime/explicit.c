/* Dormand and Prince's explicit pair of orders 5 and 4 with dense output. Coefficients: Dormand and Prince (1980);
   dense output and the test for stiffness: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section
   II.6, and II, section IV.2. */

/* Five further stages of a step of length h from the time t to `end`: their number, their time, and by what part of h
   their states differ from x, derivatives k1 ... of earlier stages being given; and the same for the result. */
#define EXPLICIT_STAGES \
    STAGE(1, t + h / 5, 1.0 / 5 * k1[i]) \
    STAGE(2, t + h * 3 / 10, 3.0 / 40 * k1[i] + 9.0 / 40 * k2[i]) \
    STAGE(3, t + h * 4 / 5, 44.0 / 45 * k1[i] - 56.0 / 15 * k2[i] + 32.0 / 9 * k3[i]) \
    STAGE(4, t + h * 8 / 9, \
          19372.0 / 6561 * k1[i] - 25360.0 / 2187 * k2[i] + 64448.0 / 6561 * k3[i] - 212.0 / 729 * k4[i]) \
    STAGE(5, end, \
          9017.0 / 3168 * k1[i] - 355.0 / 33 * k2[i] + 46732.0 / 5247 * k3[i] + 49.0 / 176 * k4[i] \
          - 5103.0 / 18656 * k5[i])

#define EXPLICIT_RESULT \
    (35.0 / 384 * k1[i] + 500.0 / 1113 * k3[i] + 125.0 / 192 * k4[i] - 2187.0 / 6784 * k5[i] + 11.0 / 84 * k6[i])

/* What the result is ahead of the solution of order 4, with the derivatives k7 at the end. */
#define EXPLICIT_ERROR \
    (71.0 / 57600 * k1[i] - 71.0 / 16695 * k3[i] + 71.0 / 1920 * k4[i] - 17253.0 / 339200 * k5[i] + 22.0 / 525 * k6[i] \
     - 1.0 / 40 * k7[i])

/* Stages and result, next_x, of a step from (t, x) with derivatives s->stage[0]. */
static Outcome explicit_stages(Instance *s, double t, double h, double end, const double *x, const double *m)
{
    const double *k1 = s->stage[0], *k2 = s->stage[1], *k3 = s->stage[2], *k4 = s->stage[3], *k5 = s->stage[4],
                 *k6 = s->stage[5];
    double *y = s->stage_x;
    Outcome outcome;

#define STAGE(number, time, sum) \
    for (int i = 0; i < NX; ++i) y[i] = x[i] + h * (sum); \
    if ((outcome = right_hand_side(s, time, y, m, s->stage_w, s->stage[number]))) return outcome;
    EXPLICIT_STAGES
#undef STAGE
    for (int i = 0; i < NX; ++i) s->next_x[i] = x[i] + h * EXPLICIT_RESULT;
    return DONE;
}

/* The same, and what tells of its error: derivatives at its end, s->next_k, accelerations there, s->stage_w, and the error
   relative to the tolerance, the distance of the solution of order 4, s->stage_x. */
static Outcome explicit_step(Instance *s, double t, double h, double end, const double *x, const double *m,
                             double *error)
{
    const double *k1 = s->stage[0], *k3 = s->stage[2], *k4 = s->stage[3], *k5 = s->stage[4], *k6 = s->stage[5],
                 *k7 = s->next_k, *y = s->next_x;
    Outcome outcome = explicit_stages(s, t, h, end, x, m);
    if (outcome) return outcome;
    if ((outcome = right_hand_side(s, end, y, m, s->stage_w, s->next_k))) return outcome;

    double sum = 0, bend = 0, gap = 0;
    for (int i = 0; i < NX; ++i) {
        bend += (k7[i] - k6[i]) * (k7[i] - k6[i]);
        gap += (y[i] - s->stage_x[i]) * (y[i] - s->stage_x[i]);
        double e = h * EXPLICIT_ERROR;
        s->stage_x[i] = y[i] - e;
        e /= error_weight(s, i, x[i], y[i]);
        sum += e * e;
    }
    s->stiffness = gap > 0 ? h * sqrt(bend / gap) / 3.25 : 0;
    *error = NX ? sqrt(sum / NX) : 0;
    return *error <= 1e300 ? DONE : NOT_FINITE;
}

/* Coefficients of the dense output of the step just made, with its projected end. */
static void explicit_dense(Instance *s, const double *x)
{
    Head *head = &s->now->head;
    double h = head->length, *d = s->dense;
    const double *k1 = s->stage[0], *k3 = s->stage[2], *k4 = s->stage[3], *k5 = s->stage[4], *k6 = s->stage[5],
                 *k7 = s->next_k;
    for (int i = 0; i < NX; ++i) {
        double change = s->next_x[i] - x[i], bend = h * k1[i] - change;
        d[i] = x[i];
        d[NX + i] = change;
        d[2 * NX + i] = bend;
        d[3 * NX + i] = change - h * k7[i] - bend;
        d[4 * NX + i] = h * (-12715105075.0 / 11282082432 * k1[i] + 87487479700.0 / 32700410799 * k3[i]
                             - 10690763975.0 / 1880347072 * k4[i] + 701980252875.0 / 199316789632 * k5[i]
                             - 1453857185.0 / 822651844 * k6[i] + 69997945.0 / 29380423 * k7[i]);
    }
}
