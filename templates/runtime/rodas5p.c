/* Rodas5P: a linearly implicit method of order 5 with an embedded one of order 4 and dense output of order 4, for stiff
   models. Coefficients: Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within
   the Julia Differential Equations package, BIT 63 (2023), in the form without products of the Jacobian: Hairer and
   Wanner, Solving Ordinary Differential Equations II, section IV.7. */

#include "rodas5p.h"

#include "method.h"
#include "evaluate.h"
#include "history.h"
#include "iterate.h"
#include "linear.h"
#include "optimize.h"
#include "vectors.h"

SMALL

enum { ROSENBROCK_STAGES = 8 };

static const double rosenbrock_gamma = 0.21193756319429014;

/* The last two stages begin where the one before ends. */
static const double rosenbrock_a[6][5] = {
    {0},
    {3.0},
    {2.849394379747939, 0.45842242204463923},
    {-6.954028509809101, 2.489845061869568, -10.358996098473584},
    {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946},
};

static const double rosenbrock_c[ROSENBROCK_STAGES][7] = {
    {0},
    {-14.155112264123755},
    {-17.97296035885952, -2.859693295451294},
    {147.12150275711716, -1.41221402718213, 71.68940251302358},
    {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
    {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
    {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
     -28.087943162872662},
    {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
     -54.66780262877968, -9.48861652309627},
};

static const double rosenbrock_time[ROSENBROCK_STAGES] = {0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716,
                                                          0.4288403609558664, 1, 1, 1};

static const double rosenbrock_drift[ROSENBROCK_STAGES] = {0.21193756319429014, -0.42387512638858027,
                                                           -0.3384627126235924, 1.8046452872882734, 2.325825639765069};

static const double rosenbrock_dense[3][ROSENBROCK_STAGES] = {
    {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
     1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
    {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
     15.98066361424651, -6.789040303419874, -6.710236069923372},
    {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
     -59.78993625266729, -0.15582684282751913, 4.883087185713722},
};

static int each_column(Instance *s, double t, const double *x, const double *u, const double *m)
{
    Direction *along = &s->tangent.along;
    for (int j = 0; j < nx(s->model); ++j) {
        along->x[j] = 1;
        if (direction(s, t, x, u, m, s->step.w, along, s->tangent.dw, s->implicit.jacobian + (size_t)j * nx(s->model)))
            return 1;
        along->x[j] = 0;
    }
    return 0;
}

/* Columns that share no row come from one direction. */
static int grouped_columns(Instance *s, double t, const double *x, const double *u, const double *m)
{
    int n = nx(s->model);
    Direction *along = &s->tangent.along;
    const int *group_of = s->tables->column_groups, *starts = s->tables->column_starts, *rows = s->tables->column_rows;
    for (size_t i = 0; i < (size_t)n * n; ++i) s->implicit.jacobian[i] = 0;
    for (int group = 0; group < ngroups(s->model); ++group) {
        for (int j = 0; j < n; ++j) along->x[j] = group_of[j] == group;
        if (direction(s, t, x, u, m, s->step.w, along, s->tangent.dw, s->implicit.drift)) return 1;
        for (int j = 0; j < n; ++j)
            for (int k = starts[j]; group_of[j] == group && k < starts[j + 1]; ++k)
                s->implicit.jacobian[rows[k] + (size_t)j * n] = s->implicit.drift[rows[k]];
    }
    for (int j = 0; j < n; ++j) along->x[j] = 0;
    return 0;
}

/* Jacobian of the derivatives, and their drift in time while inputs go on as they do, at the beginning of a step. */
static Outcome linearise(Instance *s, double t, const double *x, const double *m)
{
    const double *u = inputs_at(s, t, x, m);
    Direction *along = &s->tangent.along;
    Outcome outcome = accelerations(s, t, x, u, m, s->step.w);
    if (!outcome) outcome = linearise_iterations(s, t, x, u, m, s->step.w);
    if (outcome) return outcome;
    clear_direction(s, along);
    if (ngroups(s->model) ? grouped_columns(s, t, x, u, m) : each_column(s, t, x, u, m)) return NOT_FINITE;
    along->t = 1;
    COPY(along->u, s->given.du, nu(s->model));
    take_delayed_rates(s, t, x, m, along->u);
    if (direction(s, t, x, u, m, s->step.w, along, s->tangent.dw, s->implicit.drift)) return NOT_FINITE;
    s->now->jacobians += 1;
    s->implicit.linearised = 1;
    return DONE;
}

/* The error is the distance of the solution of order 4, s->step.x. */
static Outcome rodas5p_step(Instance *s, double t, double h, double end, const double *x, const double *m,
                             double *error)
{
    double *y = s->step.x;
    Outcome outcome = s->implicit.linearised ? DONE : linearise(s, t, x, m);
    if (outcome) return outcome;
    for (int i = 0; i < nx(s->model) * nx(s->model); ++i) s->implicit.system[i] = -s->implicit.jacobian[i];
    for (int i = 0; i < nx(s->model); ++i)
        s->implicit.system[i + (size_t)i * nx(s->model)] += 1 / (h * rosenbrock_gamma);
    if (lu_factorise(nx(s->model), s->implicit.system, s->implicit.pivots, s->implicit.column_norms) < nx(s->model)) {
        s->system.open_column = -1;
        return SINGULAR;
    }

    for (int stage = 0; stage < ROSENBROCK_STAGES; ++stage) {
        double *increment = s->implicit.increment[stage];
        if (stage == 0) {
            COPY(increment, s->step.stage[0], nx(s->model));
        } else {
            if (stage < 6) {
                COPY(y, x, nx(s->model));
                for (int j = 0; j < stage; ++j)
                    for (int i = 0; i < nx(s->model); ++i) y[i] += rosenbrock_a[stage][j] * s->implicit.increment[j][i];
            } else {
                for (int i = 0; i < nx(s->model); ++i) y[i] += s->implicit.increment[stage - 1][i];
            }
            double at = stage < 5 ? t + rosenbrock_time[stage] * h : end;
            if ((outcome = right_hand_side(s, at, y, m, s->step.w, increment))) return outcome;
        }
        for (int i = 0; i < nx(s->model); ++i) increment[i] += h * rosenbrock_drift[stage] * s->implicit.drift[i];
        for (int j = 0; j < stage; ++j)
            for (int i = 0; i < nx(s->model); ++i)
                increment[i] += rosenbrock_c[stage][j] / h * s->implicit.increment[j][i];
        lu_substitute(nx(s->model), s->implicit.system, s->implicit.pivots, increment);
    }

    double sum = 0;
    for (int i = 0; i < nx(s->model); ++i) {
        s->step.next_x[i] = y[i] + s->implicit.increment[7][i];
        double e = s->implicit.increment[7][i] / error_weight(s, i, x[i], s->step.next_x[i]);
        sum += e * e;
    }
    *error = nx(s->model) ? sqrt(sum / nx(s->model)) : 0;
    return *error <= IMMENSE ? DONE : NOT_FINITE;
}

static Outcome rodas5p_dense(Instance *s, double t, const double *x)
{
    (void)t;
    double *d = s->head.dense;
    for (int i = 0; i < nx(s->model); ++i) {
        double k[3] = {0};
        for (int row = 0; row < 3; ++row)
            for (int j = 0; j < ROSENBROCK_STAGES; ++j)
                k[row] += rosenbrock_dense[row][j] * s->implicit.increment[j][i];
        d[i] = x[i];
        d[nx(s->model) + i] = s->step.next_x[i] - x[i];
        d[2 * nx(s->model) + i] = k[0];
        d[3 * nx(s->model) + i] = k[1] + k[2];
        d[4 * nx(s->model) + i] = -k[2];
    }
    return DONE;
}

INTERNAL const Method rodas5p = {"implicit", 5, 1, 0, 0, 5, 0, {0, 0}, rodas5p_step, NULL, rodas5p_dense};

INTERNAL double spectral_radius(Instance *s)
{
    enum { PRODUCTS = 12, SETTLING = 4 };
    double *v = s->implicit.increment[0], *next = s->implicit.increment[1], growth = 0;
    for (int i = 0; i < nx(s->model); ++i) v[i] = 1 + 0.1 * (i % 7);
    for (int product = 0; product < PRODUCTS; ++product) {
        double before = 0, after = 0;
        for (int i = 0; i < nx(s->model); ++i) next[i] = 0;
        for (int j = 0; j < nx(s->model); ++j)
            for (int i = 0; i < nx(s->model); ++i) next[i] += s->implicit.jacobian[i + (size_t)j * nx(s->model)] * v[j];
        for (int i = 0; i < nx(s->model); ++i) {
            before += v[i] * v[i];
            after += next[i] * next[i];
        }
        if (!(after > 0)) return 0;
        if (product >= SETTLING) growth += 0.5 * log(after / before);
        double scale = 1 / sqrt(after);
        for (int i = 0; i < nx(s->model); ++i) v[i] = next[i] * scale;
    }
    return exp(growth / (PRODUCTS - SETTLING));
}

QUICK
