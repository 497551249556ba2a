/* Dormand and Prince's explicit method of order 8 with embedded ones of orders 5 and 3 and dense output of order 7, for
   small tolerances. Coefficients: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, second edition,
   sections II.5 (method, error) and II.6 (dense output). */

#include "dop853.h"

#include "method.h"
#include "evaluate.h"
#include "vectors.h"

#define DOP853_INNER_STAGES \
    STAGE(13, t + 0.1 * h, 0.056167502283047954 * k[0][i] + 0.25350021021662483 * k[6][i] \
          - 0.2462390374708025 * k[7][i] - 0.12419142326381637 * k[8][i] + 0.15329179827876568 * k[9][i] \
          + 0.00820105229563469 * k[10][i] + 0.007567897660545699 * k[11][i] - 0.008298 * k[12][i]) \
    STAGE(14, t + 0.2 * h, 0.03183464816350214 * k[0][i] + 0.028300909672366776 * k[5][i] \
          + 0.053541988307438566 * k[6][i] - 0.05492374857139099 * k[7][i] - 0.00010834732869724932 * k[10][i] \
          + 0.0003825710908356584 * k[11][i] - 0.00034046500868740456 * k[12][i] + 0.1413124436746325 * k[13][i]) \
    STAGE(15, t + 0.7777777777777778 * h, -0.42889630158379194 * k[0][i] - 4.697621415361164 * k[5][i] \
          + 7.683421196062599 * k[6][i] + 4.06898981839711 * k[7][i] + 0.3567271874552811 * k[8][i] \
          - 0.0013990241651590145 * k[12][i] + 2.9475147891527724 * k[13][i] - 9.15095847217987 * k[14][i])

/* The vectors of dense output that are sums of derivatives. */
#define DOP853_DENSE \
    ROW(4, -8.428938276109013 * k[0][i] + 0.5667149535193777 * k[5][i] - 3.0689499459498917 * k[6][i] \
        + 2.38466765651207 * k[7][i] + 2.117034582445028 * k[8][i] - 0.871391583777973 * k[9][i] \
        + 2.2404374302607883 * k[10][i] + 0.6315787787694688 * k[11][i] - 0.08899033645133331 * k[12][i] \
        + 18.148505520854727 * k[13][i] - 9.194632392478356 * k[14][i] - 4.436036387594894 * k[15][i]) \
    ROW(5, 10.427508642579134 * k[0][i] + 242.28349177525817 * k[5][i] + 165.20045171727028 * k[6][i] \
        - 374.5467547226902 * k[7][i] - 22.113666853125306 * k[8][i] + 7.733432668472264 * k[9][i] \
        - 30.674084731089398 * k[10][i] - 9.332130526430229 * k[11][i] + 15.697238121770845 * k[12][i] \
        - 31.139403219565178 * k[13][i] - 9.35292435884448 * k[14][i] + 35.81684148639408 * k[15][i]) \
    ROW(6, 19.985053242002433 * k[0][i] - 387.0373087493518 * k[5][i] - 189.17813819516758 * k[6][i] \
        + 527.8081592054236 * k[7][i] - 11.57390253995963 * k[8][i] + 6.8812326946963 * k[9][i] \
        - 1.0006050966910838 * k[10][i] + 0.7777137798053443 * k[11][i] - 2.778205752353508 * k[12][i] \
        - 60.19669523126412 * k[13][i] + 84.32040550667716 * k[14][i] + 11.99229113618279 * k[15][i]) \
    ROW(7, -25.69393346270375 * k[0][i] - 154.18974869023643 * k[5][i] - 231.5293791760455 * k[6][i] \
        + 357.6391179106141 * k[7][i] + 93.40532418362432 * k[8][i] - 37.45832313645163 * k[9][i] \
        + 104.0996495089623 * k[10][i] + 29.8402934266605 * k[11][i] - 43.53345659001114 * k[12][i] \
        + 96.32455395918828 * k[13][i] - 39.17726167561544 * k[14][i] - 149.72683625798564 * k[15][i])

/* Stages, result and error: of the embedded solutions that of order 5, as far as that of order 3 agrees. */
static Outcome dop853_step(Instance *s, double t, double h, double end, const double *x, const double *m,
                           double *error)
{
    double *const *k = s->step.stage, *restrict y = s->step.x;
    Outcome outcome;

#define STAGE(number, time, sum) \
    for (int i = 0; i < nx(s->model); ++i) y[i] = x[i] + h * (sum); \
    if ((outcome = right_hand_side(s, time, y, m, s->step.w, s->step.stage[number]))) return outcome;
    DOP853_STAGES
#undef STAGE
    COPY(s->step.last_stage_x, y, nx(s->model));

    double fifth = 0, third = 0;
    for (int i = 0; i < nx(s->model); ++i) {
        double next = s->step.next_x[i] = x[i] + h * DOP853_RESULT, weight = error_weight(s, i, x[i], next);
        double e5 = h * DOP853_FIFTH, e3 = h * DOP853_THIRD / weight;
        y[i] = e5;
        e5 /= weight;
        fifth += e5 * e5;
        third += e3 * e3;
    }
    double share = fifth > 0 ? sqrt(fifth / (fifth + 0.01 * third)) : 0;
    for (int i = 0; i < nx(s->model); ++i) y[i] = s->step.next_x[i] - share * y[i];
    *error = nx(s->model) ? share * sqrt(fifth / nx(s->model)) : 0;
    return *error <= IMMENSE ? DONE : NOT_FINITE;
}

static void dop853_stiffness(Instance *s, double h)
{
    double bend = 0, gap = 0;
    for (int i = 0; i < nx(s->model); ++i) {
        double dk = s->step.next_k[i] - s->step.stage[DOP853_END - 1][i],
            dx = s->step.next_x[i] - s->step.last_stage_x[i];
        bend += dk * dk;
        gap += dx * dx;
    }
    s->step.stiffness = gap > 0 ? h * sqrt(bend / gap) / 6.1 : 0;
}

/* Three more evaluations. */
static Outcome dop853_dense_output(Instance *s, double t, const double *x)
{
    Head *head = &s->now->head;
    double h = head->length, *const *k = s->step.stage, *restrict y = s->step.x, *restrict d = s->head.dense;
    Outcome outcome;
    COPY(s->step.stage[DOP853_END], s->step.next_k, nx(s->model));

#define STAGE(number, time, sum) \
    for (int i = 0; i < nx(s->model); ++i) y[i] = x[i] + h * (sum); \
    if ((outcome = right_hand_side(s, time, y, s->head.inside, s->step.inner_w, s->step.stage[number]))) return outcome;
    DOP853_INNER_STAGES
#undef STAGE
    for (int i = 0; i < nx(s->model); ++i) {
        double change = s->step.next_x[i] - x[i], bend = h * k[0][i] - change;
        d[i] = x[i];
        d[nx(s->model) + i] = change;
        d[2 * nx(s->model) + i] = bend;
        d[3 * nx(s->model) + i] = change - h * s->step.next_k[i] - bend;
    }
#define ROW(row, sum) \
    for (int i = 0; i < nx(s->model); ++i) d[row * nx(s->model) + i] = h * (sum);
    DOP853_DENSE
#undef ROW
    return DONE;
}

INTERNAL const Method dop853 = {"explicit", 8, 0, 0, 1, 8, 3, {0.467, 0.715}, dop853_step, dop853_stiffness, dop853_dense_output};
