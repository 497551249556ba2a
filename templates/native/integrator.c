/* One accepted step of Dormand and Prince's 5(4) pair with dense output. Coefficients: Dormand and Prince (1980);
   step control, starting step and dense output: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I,
   sections II.4 to II.6. The error norm is the root mean square of error / (atol + rtol |x|), atol = rtol. */

static double error_weight(const Instance *s, double a, double b)
{
    return s->now.tolerance * (1 + fmax(fabs(a), fabs(b)));
}

/* States on the last step, by its dense output. */
static void interpolate(const Head *head, double t, double *x)
{
    double theta = (t - head->begin) / head->length, rest = 1 - theta;
    const double *d = head->dense;
    for (int i = 0; i < NX; ++i)
        x[i] = d[i] + theta * (d[NX + i] + rest * (d[2 * NX + i] + theta * (d[3 * NX + i] + rest * d[4 * NX + i])));
}

/* The six further stages of a step of length h from (t, x) with derivatives s->stage[0]. The result is next_x, its
   derivatives s->stage[6], its accelerations s->stage_w, and the error relative to the tolerance. */
static Outcome stages(Instance *s, double t, double h, double end, const double *x, const double *m, double *error)
{
    const double *k1 = s->stage[0], *k2 = s->stage[1], *k3 = s->stage[2], *k4 = s->stage[3], *k5 = s->stage[4],
                 *k6 = s->stage[5], *k7 = s->stage[6];
    double *y = s->stage_x;
    Outcome outcome;

    for (int i = 0; i < NX; ++i) y[i] = x[i] + h * (1.0 / 5 * k1[i]);
    if ((outcome = right_hand_side(s, t + h / 5, y, m, s->stage_w, s->stage[1]))) return outcome;
    for (int i = 0; i < NX; ++i) y[i] = x[i] + h * (3.0 / 40 * k1[i] + 9.0 / 40 * k2[i]);
    if ((outcome = right_hand_side(s, t + h * 3 / 10, y, m, s->stage_w, s->stage[2]))) return outcome;
    for (int i = 0; i < NX; ++i) y[i] = x[i] + h * (44.0 / 45 * k1[i] - 56.0 / 15 * k2[i] + 32.0 / 9 * k3[i]);
    if ((outcome = right_hand_side(s, t + h * 4 / 5, y, m, s->stage_w, s->stage[3]))) return outcome;
    for (int i = 0; i < NX; ++i)
        y[i] = x[i] + h * (19372.0 / 6561 * k1[i] - 25360.0 / 2187 * k2[i] + 64448.0 / 6561 * k3[i]
                           - 212.0 / 729 * k4[i]);
    if ((outcome = right_hand_side(s, t + h * 8 / 9, y, m, s->stage_w, s->stage[4]))) return outcome;
    for (int i = 0; i < NX; ++i)
        y[i] = x[i] + h * (9017.0 / 3168 * k1[i] - 355.0 / 33 * k2[i] + 46732.0 / 5247 * k3[i] + 49.0 / 176 * k4[i]
                           - 5103.0 / 18656 * k5[i]);
    if ((outcome = right_hand_side(s, end, y, m, s->stage_w, s->stage[5]))) return outcome;
    y = s->next_x;
    for (int i = 0; i < NX; ++i)
        y[i] = x[i] + h * (35.0 / 384 * k1[i] + 500.0 / 1113 * k3[i] + 125.0 / 192 * k4[i] - 2187.0 / 6784 * k5[i]
                           + 11.0 / 84 * k6[i]);
    if ((outcome = right_hand_side(s, end, y, m, s->stage_w, s->stage[6]))) return outcome;

    double sum = 0;
    for (int i = 0; i < NX; ++i) {
        double e = h * (71.0 / 57600 * k1[i] - 71.0 / 16695 * k3[i] + 71.0 / 1920 * k4[i] - 17253.0 / 339200 * k5[i]
                        + 22.0 / 525 * k6[i] - 1.0 / 40 * k7[i]) / error_weight(s, x[i], y[i]);
        sum += e * e;
    }
    *error = sqrt(sum / LENGTH(NX));
    return *error <= 1e300 ? DONE : NOT_FINITE;
}

/* Coefficients of the dense output of the step just made, with its projected end. */
static void keep_dense(Instance *s, const double *x)
{
    Head *head = &s->now.head;
    double h = head->length, *d = head->dense;
    const double *k1 = s->stage[0], *k3 = s->stage[2], *k4 = s->stage[3], *k5 = s->stage[4], *k6 = s->stage[5],
                 *k7 = s->stage[6];
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

/* A first step size from the sizes of the first two derivatives. */
static double first_step(Instance *s, double t, const double *x, const double *m)
{
    double d0 = 0, d1 = 0, d2 = 0, longest = s->now.longest_step;
    const double *k = s->stage[0];
    if (!NX) return longest;
    for (int i = 0; i < NX; ++i) {
        double weight = error_weight(s, x[i], x[i]);
        d0 += x[i] / weight * (x[i] / weight);
        d1 += k[i] / weight * (k[i] / weight);
    }
    d0 = sqrt(d0 / LENGTH(NX));
    d1 = sqrt(d1 / LENGTH(NX));
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h = fmin(h, longest);
    for (int i = 0; i < NX; ++i) s->stage_x[i] = x[i] + h * k[i];
    if (right_hand_side(s, t + h, s->stage_x, m, s->stage_w, s->stage[1])) return 1e-3 * h;
    for (int i = 0; i < NX; ++i) {
        double change = (s->stage[1][i] - k[i]) / error_weight(s, x[i], x[i]);
        d2 += change * change;
    }
    d2 = sqrt(d2 / LENGTH(NX)) / h;
    double most = fmax(d1, d2);
    double next = most <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / most, 0.2);
    return fmin(fmin(100 * h, next), longest);
}

/* Find the first flip of a switch on the step just made, where `crossed` marks candidates: bisection and secants in
   turn on the dense output. Returns the time just past the crossing and leaves s->flipped = 2 for what flips there. */
static double locate_crossing(Instance *s, const int *crossed, double end)
{
    enum { ITERATIONS = 120 };
    Head *head = &s->now.head;
    double low = head->begin, high = end, c_low[LENGTH(NM)], c_high[LENGTH(NM)];
    COPY(c_low, head->c, NM);
    COPY(c_high, s->c_next, NM);
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        double gap = high - low, resolution = 4e-16 * fmax(fabs(low), fabs(high)) + 1e-14 * head->length, t = high;
        if (gap <= resolution) break;
        if (iteration % 3 == 2) {
            t = low + 0.5 * gap;
        } else {
            for (int i = 0; i < NM; ++i)
                if (crossed[i] && disagrees(c_high[i], head->inside[i]))
                    t = fmin(t, low + gap * c_low[i] / (c_low[i] - c_high[i]));
            /* Aim a little past the root, so that the bracket closes from both sides. */
            t += iteration % 3 ? resolution : 0;
            t = fmin(fmax(t, low + 0.25 * resolution), high - 0.25 * resolution);
        }
        interpolate(head, t, s->stage_x);
        if (accelerations(s, t, s->stage_x, inputs_at(s, t), head->inside, s->stage_w)
            || eval_crossings(s, t, s->stage_x, inputs_at(s, t), head->inside, s->stage_w, s->c_trial))
            break;
        int flips = 0;
        for (int i = 0; i < NM; ++i) flips |= crossed[i] && disagrees(s->c_trial[i], head->inside[i]);
        if (flips) {
            high = t;
            COPY(c_high, s->c_trial, NM);
        } else {
            low = t;
            COPY(c_low, s->c_trial, NM);
        }
    }
    for (int i = 0; i < NM; ++i)
        s->flipped[i] = crossed[i] && disagrees(c_high[i], head->inside[i]) ? 2 : 0;
    return high;
}

/* Modes changed at the end of the step: the next one starts afresh. */
static Outcome finish_event(Instance *s)
{
    Head *head = &s->now.head;
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i] == 2) head->m[i] = 1 - head->m[i];
    Outcome outcome = update_modes(s, head->end, head->x, head->m, head->c);
    if (outcome) return outcome;
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i]) say(s, fmi2OK, "switch %d becomes %d at time %.9g", i, head->m[i] > 0.5, head->end);
    s->now.events += 1;
    head->k_known = 0;
    head->h = 0;
    head->chatter = head->end - head->begin < 1e-10 * s->now.longest_step ? head->chatter + 1 : 0;
    return head->chatter < 1000 ? DONE : CHATTERING;
}

/* Advance the head by one accepted step, to `limit` at most. */
static Outcome step(Instance *s, double limit)
{
    State *now = &s->now;
    Head *head = &now->head;
    double begin = head->end, instant = next_instant(s, begin);
    int rejected = 0;
    Outcome cause = INACCURATE;
    limit = fmin(limit, instant);
    if (head->k_known) {
        COPY(s->stage[0], head->k, NX);
    } else {
        Outcome outcome = right_hand_side(s, begin, head->x, head->m, s->stage_w, s->stage[0]);
        if (outcome) return outcome;
        COPY(head->k, s->stage[0], NX);
        head->k_known = 1;
    }
    if (!(head->h > 0)) {
        head->h = first_step(s, begin, head->x, head->m);
        head->error = 1e-4;
    }
    for (;;) {
        double remaining = limit - begin, h = fmin(head->h, now->longest_step), end, error = 0;
        int cut = 0;
        if (h >= remaining * (1 - 1e-6)) {
            h = remaining;
            cut = 1;
        } else if (2 * h > remaining) {
            /* Two equal steps rather than a long and a tiny one. */
            h = 0.5 * remaining;
            cut = 1;
        }
        end = h == remaining ? limit : begin + h;
        if (!(h > 8 * 2.3e-16 * fmax(fabs(begin), fabs(end)) || h == remaining) || !(h > 1e-290)) return cause;

        Outcome outcome = stages(s, begin, h, end, head->x, head->m, &error);
        if (!outcome && error <= 1) outcome = project(s, end, s->next_x, head->m);
        if (outcome || error > 1) {
            now->rejections += 1;
            if (outcome) cause = outcome;
            head->h = h * (outcome ? 0.25 : fmax(0.2, 0.9 * pow(error, -0.2)));
            rejected = 1;
            /* Nothing is left to shorten where a step of rounding length fails. */
            if (h <= 8 * 2.3e-16 * fmax(fabs(begin), fabs(end))) return cause;
            continue;
        }

        /* PI control; a step cut short says little about longer ones, so it never makes the proposal smaller. */
        double factor = 0.9 * pow(fmax(error, 1e-10), -0.17) * pow(head->error, 0.04);
        double next = h * fmin(fmax(factor, 0.2), rejected ? 1 : 10);
        head->h = cut && !rejected ? fmax(head->h, next) : next;
        head->error = fmax(error, 1e-4);
        now->steps += 1;

        double x[LENGTH(NX)];
        COPY(x, head->x, NX);
        head->begin = begin;
        head->length = h;
        COPY(head->inside, head->m, NM);
        keep_dense(s, x);
        forget_flips(s);

        int event = end == instant;
#if NM > 0
        int crossed[NM], any = 0, late = 0;
        if (eval_crossings(s, end, s->next_x, inputs_at(s, end), head->m, s->stage_w, s->c_next)) return NOT_FINITE;
        for (int i = 0; i < NM; ++i) {
            int flips = !time_switches[i] && disagrees(s->c_next[i], head->m[i]);
            crossed[i] = flips && !disagrees(head->c[i], head->m[i]);
            any |= crossed[i];
            late |= flips;
        }
        if (any) {
            double past = locate_crossing(s, crossed, end);
            if (past < end) {
                interpolate(head, past, s->next_x);
                Outcome projected = project(s, past, s->next_x, head->m);
                if (projected) return projected;
                end = past;
            }
        }
        event |= any | late;
        COPY(head->c, s->c_next, NM);
#endif
        head->end = end;
        COPY(head->x, s->next_x, NX);
        COPY(head->k, s->stage[6], NX);
        if (event) {
            outcome = finish_event(s);
            if (outcome) return outcome;
        }
        return check_assertions(s, end, head->x, head->m, s->stage_w);
    }
}
