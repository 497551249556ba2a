/* Dormand and Prince's explicit method of order 8 with embedded ones of orders 5 and 3 and dense output of order 7, for
   small tolerances. Coefficients: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, second edition,
   sections II.5 (method, error) and II.6 (dense output). */

/* From which tolerance on, downwards, this method does the explicit steps: above it the one of order 5 needs fewer
   evaluations. */
#define ORDER8_TOLERANCE 1e-7

/* Stages are the begin of the step, eleven more, its end, and three within it for dense output. */
enum { ORDER8_END = 12 };

/* Eleven further stages of a step of length h from the time t to `end`: their number, their time, and by what part of h
   their states differ from x, the derivatives k of earlier stages being given; the same for the result, and for the
   three stages within the step, which know the derivatives at its end. */
#define ORDER8_STAGES \
    STAGE(1, t + 0.05260015195876773 * h, 0.05260015195876773 * k[0][i]) \
    STAGE(2, t + 0.0789002279381516 * h, 0.0197250569845379 * k[0][i] + 0.0591751709536137 * k[1][i]) \
    STAGE(3, t + 0.1183503419072274 * h, 0.02958758547680685 * k[0][i] + 0.08876275643042054 * k[2][i]) \
    STAGE(4, t + 0.2816496580927726 * h, 0.2413651341592667 * k[0][i] - 0.8845494793282861 * k[2][i] \
          + 0.924834003261792 * k[3][i]) \
    STAGE(5, t + 0.3333333333333333 * h, 0.037037037037037035 * k[0][i] + 0.17082860872947386 * k[3][i] \
          + 0.12546768756682242 * k[4][i]) \
    STAGE(6, t + 0.25 * h, 0.037109375 * k[0][i] + 0.17025221101954405 * k[3][i] + 0.06021653898045596 * k[4][i] \
          - 0.017578125 * k[5][i]) \
    STAGE(7, t + 0.3076923076923077 * h, 0.03709200011850479 * k[0][i] + 0.17038392571223998 * k[3][i] \
          + 0.10726203044637328 * k[4][i] - 0.015319437748624402 * k[5][i] + 0.008273789163814023 * k[6][i]) \
    STAGE(8, t + 0.6512820512820513 * h, 0.6241109587160757 * k[0][i] - 3.3608926294469414 * k[3][i] \
          - 0.868219346841726 * k[4][i] + 27.59209969944671 * k[5][i] + 20.154067550477894 * k[6][i] \
          - 43.48988418106996 * k[7][i]) \
    STAGE(9, t + 0.6 * h, 0.47766253643826434 * k[0][i] - 2.4881146199716677 * k[3][i] - 0.590290826836843 * k[4][i] \
          + 21.230051448181193 * k[5][i] + 15.279233632882423 * k[6][i] - 33.28821096898486 * k[7][i] \
          - 0.020331201708508627 * k[8][i]) \
    STAGE(10, t + 0.8571428571428571 * h, -0.9371424300859873 * k[0][i] + 5.186372428844064 * k[3][i] \
          + 1.0914373489967295 * k[4][i] - 8.149787010746927 * k[5][i] - 18.52006565999696 * k[6][i] \
          + 22.739487099350505 * k[7][i] + 2.4936055526796523 * k[8][i] - 3.0467644718982196 * k[9][i]) \
    STAGE(11, end, 2.273310147516538 * k[0][i] - 10.53449546673725 * k[3][i] - 2.0008720582248625 * k[4][i] \
          - 17.9589318631188 * k[5][i] + 27.94888452941996 * k[6][i] - 2.8589982771350235 * k[7][i] \
          - 8.87285693353063 * k[8][i] + 12.360567175794303 * k[9][i] + 0.6433927460157636 * k[10][i])

#define ORDER8_RESULT \
    (0.054293734116568765 * k[0][i] + 4.450312892752409 * k[5][i] + 1.8915178993145003 * k[6][i] \
     - 5.801203960010585 * k[7][i] + 0.3111643669578199 * k[8][i] - 0.1521609496625161 * k[9][i] \
     + 0.20136540080403034 * k[10][i] + 0.04471061572777259 * k[11][i])

#define ORDER8_INNER_STAGES \
    STAGE(13, t + 0.1 * h, 0.056167502283047954 * k[0][i] + 0.25350021021662483 * k[6][i] \
          - 0.2462390374708025 * k[7][i] - 0.12419142326381637 * k[8][i] + 0.15329179827876568 * k[9][i] \
          + 0.00820105229563469 * k[10][i] + 0.007567897660545699 * k[11][i] - 0.008298 * k[12][i]) \
    STAGE(14, t + 0.2 * h, 0.03183464816350214 * k[0][i] + 0.028300909672366776 * k[5][i] \
          + 0.053541988307438566 * k[6][i] - 0.05492374857139099 * k[7][i] - 0.00010834732869724932 * k[10][i] \
          + 0.0003825710908356584 * k[11][i] - 0.00034046500868740456 * k[12][i] + 0.1413124436746325 * k[13][i]) \
    STAGE(15, t + 0.7777777777777778 * h, -0.42889630158379194 * k[0][i] - 4.697621415361164 * k[5][i] \
          + 7.683421196062599 * k[6][i] + 4.06898981839711 * k[7][i] + 0.3567271874552811 * k[8][i] \
          - 0.0013990241651590145 * k[12][i] + 2.9475147891527724 * k[13][i] - 9.15095847217987 * k[14][i])

/* What the result is ahead of the embedded solutions of order 5 and 3. */
#define ORDER8_FIFTH \
    (0.01312004499419488 * k[0][i] - 1.2251564463762044 * k[5][i] - 0.4957589496572502 * k[6][i] \
     + 1.6643771824549864 * k[7][i] - 0.35032884874997366 * k[8][i] + 0.3341791187130175 * k[9][i] \
     + 0.08192320648511571 * k[10][i] - 0.022355307863886294 * k[11][i])

#define ORDER8_THIRD \
    (-0.18980075407240762 * k[0][i] + 4.450312892752409 * k[5][i] + 1.8915178993145003 * k[6][i] \
     - 5.801203960010585 * k[7][i] - 0.4226823213237919 * k[8][i] - 0.1521609496625161 * k[9][i] \
     + 0.20136540080403034 * k[10][i] + 0.02265179219836082 * k[11][i])

/* The vectors of dense output that are sums of derivatives. */
#define ORDER8_DENSE \
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

/* The stages of a step from (t, x) with derivatives s->stage[0]. The result is next_x, the error relative to the
   tolerance, and in s->stage_x a solution that lies as far from next_x as the error is large. */
static Outcome order8_step(Instance *s, double t, double h, double end, const double *x, const double *m, double *error)
{
    double *const *k = s->stage, *restrict y = s->stage_x;
    Outcome outcome;

#define STAGE(number, time, sum) \
    for (int i = 0; i < NX; ++i) y[i] = x[i] + h * (sum); \
    if ((outcome = right_hand_side(s, time, y, m, s->stage_w, s->stage[number]))) return outcome;
    ORDER8_STAGES
#undef STAGE
    COPY(s->last_stage_x, y, NX);

    double fifth = 0, third = 0;
    for (int i = 0; i < NX; ++i) {
        double next = s->next_x[i] = x[i] + h * ORDER8_RESULT, weight = error_weight(s, i, x[i], next);
        double e5 = h * ORDER8_FIFTH, e3 = h * ORDER8_THIRD / weight;
        y[i] = e5;
        e5 /= weight;
        fifth += e5 * e5;
        third += e3 * e3;
    }
    double share = fifth > 0 ? sqrt(fifth / (fifth + 0.01 * third)) : 0;
    for (int i = 0; i < NX; ++i) y[i] = s->next_x[i] - share * y[i];
    *error = NX ? share * sqrt(fifth / NX) : 0;
    return *error <= 1e300 ? DONE : NOT_FINITE;
}

/* What tells whether stability limits the steps, with the derivatives at the end of the step. */
static void order8_stiffness(Instance *s, double h)
{
    double bend = 0, gap = 0;
    for (int i = 0; i < NX; ++i) {
        double dk = s->next_k[i] - s->stage[ORDER8_END - 1][i], dx = s->next_x[i] - s->last_stage_x[i];
        bend += dk * dk;
        gap += dx * dx;
    }
    s->stiffness = gap > 0 ? h * sqrt(bend / gap) / 6.1 : 0;
}

/* Coefficients of the dense output of the step just made, with its projected end: three more evaluations. */
static Outcome order8_dense_output(Instance *s, double t, const double *x)
{
    Head *head = &s->now->head;
    double h = head->length, *const *k = s->stage, *restrict y = s->stage_x, *restrict d = s->dense;
    Outcome outcome;
    COPY(s->stage[ORDER8_END], s->next_k, NX);

#define STAGE(number, time, sum) \
    for (int i = 0; i < NX; ++i) y[i] = x[i] + h * (sum); \
    if ((outcome = right_hand_side(s, time, y, s->inside, s->moved_w, s->stage[number]))) return outcome;
    ORDER8_INNER_STAGES
#undef STAGE
    for (int i = 0; i < NX; ++i) {
        double change = s->next_x[i] - x[i], bend = h * k[0][i] - change;
        d[i] = x[i];
        d[NX + i] = change;
        d[2 * NX + i] = bend;
        d[3 * NX + i] = change - h * s->next_k[i] - bend;
    }
#define ROW(row, sum) \
    for (int i = 0; i < NX; ++i) d[row * NX + i] = h * (sum);
    ORDER8_DENSE
#undef ROW
    return DONE;
}
