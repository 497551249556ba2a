/* Dormand and Prince's explicit method of order 8 with embedded ones of orders 5 and 3 and dense output of order 7, for
   small tolerances. Coefficients: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, second edition,
   sections II.5 (method, error) and II.6 (dense output). */

/* From which tolerance on, downwards, this method does the explicit steps: above it the one of order 5 needs fewer
   evaluations. */
#define ORDER8_TOLERANCE 1e-7

/* Stages are the begin of the step, eleven more, its end, and three within it for dense output. */
enum { ORDER8_END = 12 };

/* One entry of a row of coefficients: those that are zero are left out. */
typedef struct {
    int stage;
    double factor;
} Term;

static const double order8_time[STAGES - 1] = {
    0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
    0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0, 1.0, 0.1, 0.2, 0.7777777777777778
};

static const int order8_starts[STAGES] = {0, 1, 3, 5, 8, 11, 15, 20, 26, 33, 41, 50, 58, 66, 74, 82};

static const Term order8_a[82] = {
    {0, 0.05260015195876773}, {0, 0.0197250569845379}, {1, 0.0591751709536137}, {0, 0.02958758547680685},
    {2, 0.08876275643042054}, {0, 0.2413651341592667}, {2, -0.8845494793282861}, {3, 0.924834003261792},
    {0, 0.037037037037037035}, {3, 0.17082860872947386}, {4, 0.12546768756682242}, {0, 0.037109375},
    {3, 0.17025221101954405}, {4, 0.06021653898045596}, {5, -0.017578125}, {0, 0.03709200011850479},
    {3, 0.17038392571223998}, {4, 0.10726203044637328}, {5, -0.015319437748624402}, {6, 0.008273789163814023},
    {0, 0.6241109587160757}, {3, -3.3608926294469414}, {4, -0.868219346841726}, {5, 27.59209969944671},
    {6, 20.154067550477894}, {7, -43.48988418106996}, {0, 0.47766253643826434}, {3, -2.4881146199716677},
    {4, -0.590290826836843}, {5, 21.230051448181193}, {6, 15.279233632882423}, {7, -33.28821096898486},
    {8, -0.020331201708508627}, {0, -0.9371424300859873}, {3, 5.186372428844064}, {4, 1.0914373489967295},
    {5, -8.149787010746927}, {6, -18.52006565999696}, {7, 22.739487099350505}, {8, 2.4936055526796523},
    {9, -3.0467644718982196}, {0, 2.273310147516538}, {3, -10.53449546673725}, {4, -2.0008720582248625},
    {5, -17.9589318631188}, {6, 27.94888452941996}, {7, -2.8589982771350235}, {8, -8.87285693353063},
    {9, 12.360567175794303}, {10, 0.6433927460157636}, {0, 0.054293734116568765}, {5, 4.450312892752409},
    {6, 1.8915178993145003}, {7, -5.801203960010585}, {8, 0.3111643669578199}, {9, -0.1521609496625161},
    {10, 0.20136540080403034}, {11, 0.04471061572777259}, {0, 0.056167502283047954}, {6, 0.25350021021662483},
    {7, -0.2462390374708025}, {8, -0.12419142326381637}, {9, 0.15329179827876568}, {10, 0.00820105229563469},
    {11, 0.007567897660545699}, {12, -0.008298}, {0, 0.03183464816350214}, {5, 0.028300909672366776},
    {6, 0.053541988307438566}, {7, -0.05492374857139099}, {10, -0.00010834732869724932}, {11, 0.0003825710908356584},
    {12, -0.00034046500868740456}, {13, 0.1413124436746325}, {0, -0.42889630158379194}, {5, -4.697621415361164},
    {6, 7.683421196062599}, {7, 4.06898981839711}, {8, 0.3567271874552811}, {12, -0.0013990241651590145},
    {13, 2.9475147891527724}, {14, -9.15095847217987},
};

static const Term order8_fifth[8] = {
    {0, 0.01312004499419488}, {5, -1.2251564463762044}, {6, -0.4957589496572502}, {7, 1.6643771824549864},
    {8, -0.35032884874997366}, {9, 0.3341791187130175}, {10, 0.08192320648511571}, {11, -0.022355307863886294},
};

static const Term order8_third[8] = {
    {0, -0.18980075407240762}, {5, 4.450312892752409}, {6, 1.8915178993145003}, {7, -5.801203960010585},
    {8, -0.4226823213237919}, {9, -0.1521609496625161}, {10, 0.20136540080403034}, {11, 0.02265179219836082},
};

static const Term order8_dense[4][12] = {
    {{0, -8.428938276109013}, {5, 0.5667149535193777}, {6, -3.0689499459498917}, {7, 2.38466765651207},
        {8, 2.117034582445028}, {9, -0.871391583777973}, {10, 2.2404374302607883}, {11, 0.6315787787694688},
        {12, -0.08899033645133331}, {13, 18.148505520854727}, {14, -9.194632392478356}, {15, -4.436036387594894}},
    {{0, 10.427508642579134}, {5, 242.28349177525817}, {6, 165.20045171727028}, {7, -374.5467547226902},
        {8, -22.113666853125306}, {9, 7.733432668472264}, {10, -30.674084731089398}, {11, -9.332130526430229},
        {12, 15.697238121770845}, {13, -31.139403219565178}, {14, -9.35292435884448}, {15, 35.81684148639408}},
    {{0, 19.985053242002433}, {5, -387.0373087493518}, {6, -189.17813819516758}, {7, 527.8081592054236},
        {8, -11.57390253995963}, {9, 6.8812326946963}, {10, -1.0006050966910838}, {11, 0.7777137798053443},
        {12, -2.778205752353508}, {13, -60.19669523126412}, {14, 84.32040550667716}, {15, 11.99229113618279}},
    {{0, -25.69393346270375}, {5, -154.18974869023643}, {6, -231.5293791760455}, {7, 357.6391179106141},
        {8, 93.40532418362432}, {9, -37.45832313645163}, {10, 104.0996495089623}, {11, 29.8402934266605},
        {12, -43.53345659001114}, {13, 96.32455395918828}, {14, -39.17726167561544}, {15, -149.72683625798564}},
};

/* The sum of terms for state i. */
static double order8_sum(const Instance *s, const Term *terms, int n, int i)
{
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += terms[k].factor * s->stage[terms[k].stage][i];
    return sum;
}

/* States at which a stage is evaluated. */
static void order8_stage(const Instance *s, int stage, double h, const double *x, double *y)
{
    int first = order8_starts[stage - 1], n = order8_starts[stage] - first;
    for (int i = 0; i < NX; ++i) y[i] = x[i] + h * order8_sum(s, order8_a + first, n, i);
}

/* The eleven further stages of a step of length h from (t, x) with derivatives s->stage[0]. The result is next_x, the
   error relative to the tolerance, and in s->stage_x a solution that lies as far from next_x as the error is large. */
static Outcome order8_step(Instance *s, double t, double h, double end, const double *x, const double *m, double *error)
{
    for (int stage = 1; stage < ORDER8_END; ++stage) {
        double at = stage < ORDER8_END - 1 ? t + order8_time[stage - 1] * h : end;
        order8_stage(s, stage, h, x, s->stage_x);
        Outcome outcome = right_hand_side(s, at, s->stage_x, m, s->stage_w, s->stage[stage]);
        if (outcome) return outcome;
    }
    COPY(s->last_stage_x, s->stage_x, NX);
    order8_stage(s, ORDER8_END, h, x, s->next_x);

    double fifth = 0, third = 0;
    for (int i = 0; i < NX; ++i) {
        double weight = error_weight(s, i, x[i], s->next_x[i]);
        double e5 = h * order8_sum(s, order8_fifth, 8, i), e3 = h * order8_sum(s, order8_third, 8, i) / weight;
        s->stage_x[i] = e5;
        e5 /= weight;
        fifth += e5 * e5;
        third += e3 * e3;
    }
    double share = fifth > 0 ? sqrt(fifth / (fifth + 0.01 * third)) : 0;
    for (int i = 0; i < NX; ++i) s->stage_x[i] = s->next_x[i] - share * s->stage_x[i];
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
    double h = head->length, *d = s->dense;
    COPY(s->stage[ORDER8_END], s->next_k, NX);
    for (int stage = ORDER8_END + 1; stage < STAGES; ++stage) {
        order8_stage(s, stage, h, x, s->stage_x);
        Outcome outcome = right_hand_side(s, t + order8_time[stage - 1] * h, s->stage_x, s->inside, s->moved_w,
                                          s->stage[stage]);
        if (outcome) return outcome;
    }
    for (int i = 0; i < NX; ++i) {
        double change = s->next_x[i] - x[i], bend = h * s->stage[0][i] - change;
        d[i] = x[i];
        d[NX + i] = change;
        d[2 * NX + i] = bend;
        d[3 * NX + i] = change - h * s->next_k[i] - bend;
        for (int row = 0; row < 4; ++row) d[(4 + row) * NX + i] = h * order8_sum(s, order8_dense[row], 12, i);
    }
    return DONE;
}
