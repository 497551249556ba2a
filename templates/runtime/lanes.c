/* Trials of LANES instances of a model at once, each in a lane of vectors: with its own time, states, inputs, parameters
   and discrete states. Every lane sees the operations that `dopri5_step` and `dop853_step` make of its numbers, in
   their order, and functions of the math library one lane after the other: results are the same to the last bit. What
   goes wrong in a lane - a singular matrix, a number that is none - is left to a trial of that instance alone.

   lane_library.c includes this file once for each number of lanes, LANES. */

#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#include "dop853.h"
#include "dopri5.h"
#include "evaluate.h"
#include "linear.h"
#include "memory.h"
#include "sparse.h"
#include "tape.h"
#include "vectors.h"

#ifndef LANES
#define LANES 4                     /* read alone, as editors do */
#endif

#define LANE_NAME(name, lanes) name##_##lanes
#define LANE_EXPANDED(name, lanes) LANE_NAME(name, lanes)
#define LANE(name) LANE_EXPANDED(name, LANES)

#define V LANE(Vector)
#define I LANE(Mask)

typedef double V __attribute__((vector_size(8 * LANES), may_alias));
typedef long long I __attribute__((vector_size(8 * LANES), may_alias));

/* A trial in the making. Vectors are named as those of an instance. */
typedef struct {
    const Model *model;
    const Tables *tables;
    void *memory;
    I failed;                       /* lanes in which something is other than it should be */
    char prepared[FUNCTIONS];       /* results of preparations that hold for the present parameters */
    V u_time, ramps;                /* `ramps` is 1 in lanes that have any */
    V *x, *P, *u, *du, *u_now, *m;
    V *stage[STAGES], *stage_x, *next_x, *next_k, *last_stage_x, *w;
    V *work;                        /* in front of it, results of preparations */
    V *A, *factors, *block, *column_norms;
    I *pivots;
    V *entries, *load, *sparse, *solution, *correction, *residual;
} LANE(Lanes);

static V LANE(select)(I mask, V yes, V no) { return (V)(((I)yes & mask) | ((I)no & ~mask)); }

static V LANE(magnitude)(V a) { return (V)((I)a & 0x7fffffffffffffff); }

static V LANE(larger)(V a, V b) { return LANE(select)(a > b, a, b); }

static V LANE(root)(V a)
{
    double *each = (double *)&a;
    for (int l = 0; l < LANES; ++l) each[l] = sqrt(each[l]);
    return a;
}

static int LANE(any)(I mask)
{
    long long any = 0;
    for (int l = 0; l < LANES; ++l) any |= mask[l];
    return any != 0;
}

/* Lanes in which some of n values are not finite. */
static I LANE(not_finite)(const V *values, int n)
{
    V sum = {0};
    for (int i = 0; i < n; ++i) sum += values[i] * 0;
    return sum != 0;
}

static void LANE(fill)(V *to, const double *constants, unsigned n)
{
    for (unsigned i = 0; i < n; ++i)
        for (int l = 0; l < LANES; ++l) to[i][l] = constants[i];
}

/* Work through runs. */
static int LANE(interpret)(const unsigned *code, const V **arg, V **res, V *w, const Tape *called, V *spare)
{
    for (;;) {
        unsigned operation = code[0], n = code[1];
        V *to = w + code[2];
        if (operation == RUN_END) return 0;
        code += 3;
        switch (operation) {
        case TAPE_INPUT: {
            const V *from = arg[*code++];
            for (unsigned i = 0; i < n; ++i) to[i] = from[code[i]];
            code += n;
            break;
        }
        case TAPE_OUTPUT: {
            V *result = res[*code++];
            for (unsigned i = 0; i < n; ++i) result[code[2 * i]] = w[code[2 * i + 1]];
            code += 2 * (size_t)n;
            break;
        }
        case RUN_SINCOS:
            for (unsigned i = 0; i < n; ++i) {
                const double *from = (const double *)(w + code[i]);
                double *sine = (double *)(to + 2 * i), *cosine = (double *)(to + 2 * i + 1);
                for (int l = 0; l < LANES; ++l) {
                    const double a = from[l];
                    sine[l] = sin(a);
                    cosine[l] = cos(a);
                }
            }
            code += n;
            break;
        case TAPE_CALL: {
            const Tape *last = NULL;
            for (unsigned i = 0; i < n; ++i) {
                const Tape *tape = called + code[0];
                const unsigned *operands = code + 2;
                V *results = w + code[1], *arguments = spare + tape->nconstants;
                code += 2 + tape->narguments;
                if (tape->guard >= 0 && !LANE(any)(w[operands[tape->guard]] != 0)) {
                    for (unsigned k = 0; k < tape->nresults; ++k) results[k] = (V){0};
                    continue;
                }
                if (tape != last) LANE(fill)(spare, tape->constants, tape->nconstants);
                last = tape;
                for (unsigned k = 0; k < tape->narguments; ++k) arguments[k] = w[operands[k]];
                if (LANE(interpret)(tape->code, NULL, &results, spare, called, spare + tape->work)) return 1;
            }
            break;
        }
#define OPERAND(k, operands) w[code[(operands) > (k) ? (k) : 0]]
#define RUN(operation, operands, expression) \
        case operation: \
            for (unsigned i = 0; i < n; ++i, code += operands) { \
                const V a = w[code[0]], b = OPERAND(1, operands), c = OPERAND(2, operands), d = OPERAND(3, operands), \
                        e = OPERAND(4, operands), f = OPERAND(5, operands), g = OPERAND(6, operands); \
                (void)b; (void)c; (void)d; (void)e; (void)f; (void)g; \
                to[i] = expression; \
            } \
            break;
#define FUNCTION(operation, operands, expression) \
        case operation: \
            for (unsigned i = 0; i < n; ++i, code += operands) { \
                const double *first = (const double *)(w + code[0]), *second = (const double *)&OPERAND(1, operands); \
                double *result = (double *)(to + i); \
                for (int l = 0; l < LANES; ++l) { \
                    const double a = first[l], b = second[l]; \
                    (void)b; \
                    result[l] = expression; \
                } \
            } \
            break;
        RUNS
#undef RUN
#undef FUNCTION
#undef OPERAND
        default: return 1;
        }
    }
}

/* Evaluate a function, as `run_tape` does. */
static int LANE(run_tape)(const Model *model, const Tape *tape, const V **arg, V **res, V *work, char *prepared)
{
    Compiled *compiled = compiled_of(tape->compiled_lanes + (LANES == 8));
    V *w = work - tape->begin;
    if (compiled) return compiled((const double **)arg, (double **)res);
    if (!*prepared) {
        LANE(fill)(work, tape->constants, tape->nconstants);
        if (LANE(interpret)(tape->preparation, arg, res, w, model->called, work + tape->work)) return 1;
        *prepared = 1;
    }
    return LANE(interpret)(tape->code, arg, res, w, model->called, work + tape->work);
}

#include "lane_functions.c"

/* Factorise A as `lu_factorise` does; lanes where it is singular fail. */
static void LANE(lu_factorise)(LANE(Lanes) *s, int n, V *A, I *pivots)
{
    V *before = s->column_norms;
    for (int k = 0; k < n; ++k) {
        const V *column = A + (size_t)k * n;
        V most = {0};
        for (int i = 0; i < n; ++i) most = LANE(larger)(LANE(magnitude)(column[i]), most);
        before[k] = most;
    }
    for (int k = 0; k < n; ++k) {
        V *column = A + (size_t)k * n, most = {0};
        I pivot = {0};
        pivot += k;
        for (int i = k; i < n; ++i) {
            V size = LANE(magnitude)(column[i]);
            I here = {0};
            I larger = size > most;
            here += i;
            most = LANE(select)(larger, size, most);
            pivot = (larger & here) | (~larger & pivot);
        }
        s->failed |= ~((most > PIVOT_ROUNDING * before[k]) & (most <= IMMENSE));
        pivots[k] = pivot;
        for (int i = k + 1; i < n; ++i) {
            I swaps = pivot == i;
            if (!LANE(any)(swaps)) continue;
            for (int j = 0; j < n; ++j) {
                V *one = A + k + (size_t)j * n, *other = A + i + (size_t)j * n, kept = *one;
                *one = LANE(select)(swaps, *other, kept);
                *other = LANE(select)(swaps, kept, *other);
            }
        }
        V reciprocal = column[k] = 1 / column[k];
        for (int i = k + 1; i < n; ++i) column[i] *= reciprocal;
        for (int j = k + 1; j < n; ++j) {
            V *restrict other = A + (size_t)j * n, factor = other[k];
            I counts = factor != 0;
            for (int i = k + 1; i < n; ++i) other[i] = LANE(select)(counts, other[i] - column[i] * factor, other[i]);
        }
    }
}

static void LANE(lu_substitute)(int n, const V *restrict A, const I *restrict pivots, V *restrict b)
{
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i) {
            I swaps = pivots[k] == i;
            V kept = b[k];
            b[k] = LANE(select)(swaps, b[i], kept);
            b[i] = LANE(select)(swaps, kept, b[i]);
        }
    for (int k = 0; k < n; ++k) {
        const V *column = A + (size_t)k * n;
        V factor = b[k];
        for (int i = k + 1; i < n; ++i) b[i] -= column[i] * factor;
    }
    for (int k = n - 1; k >= 0; --k) {
        const V *column = A + (size_t)k * n;
        V factor = b[k] *= column[k];
        for (int i = 0; i < k; ++i) b[i] -= column[i] * factor;
    }
}

/* Solve A w = b, where w holds b before: as `factorise_blocks` and `substitute_blocks`. */
static void LANE(solve_blocks)(LANE(Lanes) *s, V *w)
{
    if (nblocks(s->model) == 1) {
        LANE(lu_factorise)(s, nw(s->model), s->A, s->pivots);
        LANE(lu_substitute)(nw(s->model), s->A, s->pivots, w);
        return;
    }
    V *factors = s->factors;
    const int *starts = s->tables->block_starts;
    for (int block = 0; block < nblocks(s->model); ++block) {
        const int *rows = s->tables->block_rows + starts[block];
        int n = starts[block + 1] - starts[block];
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) factors[i + (size_t)j * n] = s->A[rows[i] + (size_t)rows[j] * nw(s->model)];
        LANE(lu_factorise)(s, n, factors, s->pivots + starts[block]);
        for (int i = 0; i < n; ++i) s->block[i] = w[rows[i]];
        LANE(lu_substitute)(n, factors, s->pivots + starts[block], s->block);
        for (int i = 0; i < n; ++i) w[rows[i]] = s->block[i];
        factors += (size_t)n * n;
    }
}

/* Factorise the sparse A as `sparse_factorise` does. */
static void LANE(sparse_factorise)(LANE(Lanes) *s)
{
    const Elimination *plan = &s->model->elimination;
    const int *targets = plan->targets, *scaled = plan->scaled;
    V *x = s->sparse;
    for (int i = 0; i < plan->starts[plan->n]; ++i) x[i] = (V){0};
    for (int e = 0; e < nentries(s->model); ++e) x[plan->places[e]] = s->entries[e];
    for (int k = 0; k < plan->n; ++k) {
        int rows = plan->scaled_starts[k + 1] - plan->scaled_starts[k],
            left = plan->starts[k + 1] - plan->diagonal[k] - 1;
        const V *upper = x + plan->diagonal[k] + 1;
        V reciprocal = x[plan->diagonal[k]] = 1 / x[plan->diagonal[k]];
        for (int r = 0; r < rows; ++r) x[scaled[r]] *= reciprocal;
        for (; left > 0; left -= WIDTH, upper += WIDTH)
            for (int r = 0; r < rows; ++r) {
                V lower = x[scaled[r]];
                for (int f = 0; f < WIDTH && f < left; ++f) x[*targets++] -= lower * upper[f];
            }
        scaled += rows;
    }
}

/* z = solution of A s = b with the sparse factors, in the order of pivots. */
static void LANE(sparse_substitute)(const LANE(Lanes) *s, const V *b, V *z)
{
    const Elimination *plan = &s->model->elimination;
    const int *rows = s->tables->pivot_rows, *columns = plan->factor_columns;
    const V *x = s->sparse;
    for (int k = 0; k < plan->n; ++k) {
        V sum = b[rows[k]];
        for (int e = plan->starts[k]; e < plan->diagonal[k]; ++e) sum -= x[e] * z[columns[e]];
        z[k] = sum;
    }
    for (int k = plan->n - 1; k >= 0; --k) {
        V sum = z[k];
        for (int e = plan->starts[k + 1] - 1; e > plan->diagonal[k]; --e) sum -= x[e] * z[columns[e]];
        z[k] = sum * x[plan->diagonal[k]];
    }
}

/* As `sparse_residual`, of the solution z. */
static V LANE(sparse_residual)(const LANE(Lanes) *s, const V *z, V *residual)
{
    const Elimination *plan = &s->model->elimination;
    const int *rows = s->tables->pivot_rows;
    V worst = {0};
    const V infinity = 1 / worst;
    for (int k = 0; k < plan->n; ++k) {
        V sum = s->load[rows[k]], size = LANE(magnitude)(sum);
        for (int e = plan->row_starts[k]; e < plan->row_starts[k + 1]; ++e) {
            V term = s->entries[plan->values[e]] * z[plan->columns[e]];
            sum -= term;
            size += LANE(magnitude)(term);
        }
        V error = LANE(magnitude)(sum), share = LANE(select)((size > 0) & (size <= IMMENSE), error / size, infinity);
        residual[rows[k]] = sum;
        worst = LANE(select)(error <= worst * size, worst, share);
    }
    return worst;
}

/* Solve the sparse A s = b for `load`, as `solve_sparse` does where the order of pivots suits. */
static void LANE(solve_sparse)(LANE(Lanes) *s, V *w)
{
    const int n = nsystem(s->model), *columns = s->tables->pivot_columns;
    V *z = s->solution, *correction = s->correction;
    LANE(sparse_factorise)(s);
    LANE(sparse_substitute)(s, s->load, z);
    V error = LANE(sparse_residual)(s, z, s->residual);
    I refined = ~(error <= backward_error_met(s->model));
    if (LANE(any)(refined)) {
        s->failed |= ~(error < REFINABLE);
        LANE(sparse_substitute)(s, s->residual, correction);
        for (int k = 0; k < n; ++k) z[k] = LANE(select)(refined, z[k] + correction[k], z[k]);
        s->failed |= refined & ~(LANE(sparse_residual)(s, z, s->residual) <= backward_error_refined(s->model));
    }
    for (int k = 0; k < n; ++k)
        if (columns[k] < nw(s->model)) w[columns[k]] = z[k];
}

static void LANE(right_hand_side)(LANE(Lanes) *s, V t, const V *x, V *dx)
{
    const V *u = s->u;
    if (LANE(any)(s->ramps != 0)) {
        for (int i = 0; i < ninputs(s->model); ++i)
            s->u_now[i] = LANE(select)(s->ramps != 0, s->u[i] + s->du[i] * (t - s->u_time), s->u[i]);
        u = s->u_now;
    }
    int failed = nw(s->model)
        && LANE(eval_dynamics)(s, t, x, u, s->m, is_sparse(s->model) ? s->entries : s->A,
                               is_sparse(s->model) ? s->load : s->w);
    if (is_sparse(s->model)) LANE(solve_sparse)(s, s->w);
    else if (nw(s->model) && !is_explicit(s->model)) LANE(solve_blocks)(s, s->w);
    failed |= LANE(eval_derivatives)(s, t, x, u, s->m, s->w, dx);
    s->failed |= LANE(not_finite)(s->w, nw(s->model)) | LANE(not_finite)(dx, nx(s->model));
    if (failed) s->failed = ~(s->failed & 0);
}

static V LANE(error_weight)(const LANE(Lanes) *s, double tolerance, int i, V a, V b)
{
    return tolerance * (fmin(1, s->tables->nominals[i]) + LANE(larger)(LANE(magnitude)(a), LANE(magnitude)(b)));
}

/* As `dopri5_step`; returns what tells of stiffness. */
static V LANE(dopri5_step)(LANE(Lanes) *s, double tolerance, V t, V h, V end, V *error)
{
    const V *k1 = s->stage[0], *k2 = s->stage[1], *k3 = s->stage[2], *k4 = s->stage[3], *k5 = s->stage[4],
            *k6 = s->stage[5], *k7 = s->next_k, *x = s->x;
    V *y = s->stage_x, sum = {0}, bend = {0}, gap = {0};
#define STAGE(number, time, sum) \
    for (int i = 0; i < nx(s->model); ++i) y[i] = x[i] + h * (sum); \
    LANE(right_hand_side)(s, time, y, s->stage[number]);
    DOPRI5_STAGES
#undef STAGE
    for (int i = 0; i < nx(s->model); ++i) s->next_x[i] = x[i] + h * DOPRI5_RESULT;
    LANE(right_hand_side)(s, end, s->next_x, s->next_k);
    for (int i = 0; i < nx(s->model); ++i) {
        bend += (k7[i] - k6[i]) * (k7[i] - k6[i]);
        gap += (s->next_x[i] - y[i]) * (s->next_x[i] - y[i]);
        V e = h * DOPRI5_ERROR;
        y[i] = s->next_x[i] - e;
        e /= LANE(error_weight)(s, tolerance, i, x[i], s->next_x[i]);
        sum += e * e;
    }
    *error = LANE(root)(sum / (double)nx(s->model));
    return LANE(select)(gap > 0, h * LANE(root)(bend / gap) / 3.25, gap * 0);
}

/* As `dop853_step`. */
static void LANE(dop853_step)(LANE(Lanes) *s, double tolerance, V t, V h, V end, V *error)
{
    V *const *k = s->stage, *const x = s->x, *const y = s->stage_x;
#define STAGE(number, time, sum) \
    for (int i = 0; i < nx(s->model); ++i) y[i] = x[i] + h * (sum); \
    LANE(right_hand_side)(s, time, y, s->stage[number]);
    DOP853_STAGES
#undef STAGE
    for (int i = 0; i < nx(s->model); ++i) s->last_stage_x[i] = y[i];

    V fifth = {0}, third = {0};
    for (int i = 0; i < nx(s->model); ++i) {
        V next = s->next_x[i] = x[i] + h * DOP853_RESULT, weight = LANE(error_weight)(s, tolerance, i, x[i], next);
        V e5 = h * DOP853_FIFTH, e3 = h * DOP853_THIRD / weight;
        y[i] = e5;
        e5 /= weight;
        fifth += e5 * e5;
        third += e3 * e3;
    }
    V share = LANE(select)(fifth > 0, LANE(root)(fifth / (fifth + 0.01 * third)), fifth * 0);
    for (int i = 0; i < nx(s->model); ++i) y[i] = s->next_x[i] - share * y[i];
    *error = share * LANE(root)(fifth / (double)nx(s->model));
}

/* Vectors of an instance into a lane, and back. */
static void LANE(put)(V *to, int lane, const double *from, int n)
{
    for (int i = 0; i < n; ++i) to[i][lane] = from[i];
}

static void LANE(get)(double *to, const V *from, int lane, int n)
{
    for (int i = 0; i < n; ++i) to[i] = from[i][lane];
}

/* Hand over what a trial has left in a lane, as if the instance had made it alone. */
static void LANE(hand_over)(const LANE(Lanes) *s, Instance *to, int lane, int stages)
{
    for (int k = 1; k < stages; ++k) LANE(get)(to->step.stage[k], s->stage[k], lane, nx(s->model));
    LANE(get)(to->step.x, s->stage_x, lane, nx(s->model));
    LANE(get)(to->step.next_x, s->next_x, lane, nx(s->model));
    LANE(get)(to->step.w, s->w, lane, nw(s->model));
    if (stages == DOP853_END) LANE(get)(to->step.last_stage_x, s->last_stage_x, lane, nx(s->model));
    else LANE(get)(to->step.next_k, s->next_k, lane, nx(s->model));
    if (!is_constrained(s->model) || is_explicit(s->model)) return;
    /* The factors of A, too: projections use them. */
    if (is_sparse(s->model)) {
        const Elimination *plan = &s->model->elimination;
        LANE(get)(to->system.sparse, s->sparse, lane, plan->starts[plan->n]);
        to->system.repivoted = 0;
        to->system.factors_time = to->trial.end;
        return;
    }
    for (int i = 0; i < nw(s->model); ++i) to->system.pivots[i] = (int)s->pivots[i][lane];
    if (nblocks(s->model) == 1) {
        LANE(get)(to->system.A, s->A, lane, nw(s->model) * nw(s->model));
        return;
    }
    int size = 0;
    for (int block = 0; block < nblocks(s->model); ++block) {
        int n = s->tables->block_starts[block + 1] - s->tables->block_starts[block];
        size += n * n;
    }
    LANE(get)(to->system.factors, s->factors, lane, size);
}

/* Make the stages of a trial in the lanes of which `takes` is set, by the method of order 5 or 8. `changed` says which
   have other parameters than in the last trial. Returns those that have succeeded. */
static unsigned LANE(make_stages)(void *lanes, Instance *const *instances, unsigned takes, unsigned changed, int order8)
{
    LANE(Lanes) *s = lanes;
    V t, h, end, error, stiffness = {0};
    double tolerance = 0;
    unsigned done = 0;
    for (int l = 0; l < LANES; ++l) {
        const Instance *from = instances[l];
        if (changed >> l & 1) LANE(put)(s->P, l, from->given.P, np(s->model));
        /* A lane that takes no part goes along with one that does. */
        if (!(takes >> l & 1)) from = instances[__builtin_ctz(takes)];
        tolerance = from->now->tolerance;
        t[l] = from->now->head.end;
        h[l] = from->trial.h;
        end[l] = from->trial.end;
        s->ramps[l] = from->now->ramps;
        s->u_time[l] = from->now->u_time;
        LANE(put)(s->x, l, from->head.x, nx(s->model));
        LANE(put)(s->u, l, from->given.u, nu(s->model));
        LANE(put)(s->du, l, from->given.du, nu(s->model));
        LANE(put)(s->m, l, from->head.m, ndiscrete(s->model));
        LANE(put)(s->stage[0], l, from->step.stage[0], nx(s->model));
    }
    if (changed) memset(s->prepared, 0, sizeof s->prepared);
    s->failed &= 0;
    if (order8) LANE(dop853_step)(s, tolerance, t, h, end, &error);
    else stiffness = LANE(dopri5_step)(s, tolerance, t, h, end, &error);
    s->failed |= ~(error <= IMMENSE);
    for (int l = 0; l < LANES; ++l) {
        Instance *to = instances[l];
        if (!(takes >> l & 1) || s->failed[l]) continue;
        LANE(hand_over)(s, to, l, order8 ? DOP853_END : 6);
        to->trial.error = error[l];
        if (!order8) to->step.stiffness = stiffness[l];
        to->now->evaluations += order8 ? DOP853_END - 1 : 6;
        done |= 1u << l;
    }
    return done;
}

/* Lay out the vectors, as `lay_out` does those of an instance. */
static void LANE(lay_out)(LANE(Lanes) *s, Area *area)
{
    const Tape *dynamics = s->model->tapes + FUNCTION_dynamics, *derivatives = s->model->tapes + FUNCTION_derivatives;
    size_t states = nx(s->model), forces = nw(s->model), n = nsystem(s->model);
    size_t begin = dynamics->begin > derivatives->begin ? dynamics->begin : derivatives->begin;
    size_t work = dynamics->depth > derivatives->depth ? dynamics->depth : derivatives->depth;
#define VECTORS(count) take(area, count, sizeof(V))
    s->x = VECTORS(states);
    s->P = VECTORS(np(s->model));
    s->u = VECTORS(nu(s->model));
    s->du = VECTORS(nu(s->model));
    s->u_now = VECTORS(nu(s->model));
    s->m = VECTORS(ndiscrete(s->model));
    for (int i = 0; i < STAGES; ++i) s->stage[i] = VECTORS(states);
    s->stage_x = VECTORS(states);
    s->next_x = VECTORS(states);
    s->next_k = VECTORS(states);
    s->last_stage_x = VECTORS(states);
    s->w = VECTORS(forces);
    s->work = VECTORS(begin + work);
    if (s->work) s->work += begin;
    s->A = VECTORS(is_explicit(s->model) || is_sparse(s->model) ? 0 : forces * forces);
    s->factors = VECTORS(nblocks(s->model) == 1 || is_explicit(s->model) || is_sparse(s->model) ? 0 : forces * forces);
    s->block = VECTORS(s->model->largest_block);
    s->column_norms = VECTORS(forces);
    s->pivots = VECTORS(forces);
    if (!is_sparse(s->model)) return;
    const Elimination *plan = &s->model->elimination;
    s->entries = VECTORS(nentries(s->model));
    s->load = VECTORS(n);
    s->sparse = VECTORS((size_t)plan->starts[n]);
    s->solution = VECTORS(n);
    s->correction = VECTORS(n);
    s->residual = VECTORS(n);
#undef VECTORS
}

/* Lanes for instances of a model; NULL where there is no memory. */
static void *LANE(make_lanes)(const Model *model)
{
    LANE(Lanes) plan, *s = &plan;
    Area area = {NULL, 0};
    memset(s, 0, sizeof *s);
    s->model = model; /* which has all that lengths follow from */
    take(&area, 1, sizeof *s);
    LANE(lay_out)(s, &area);
    void *memory = calloc(1, area.used + sizeof(V));
    if (!memory) return NULL;
    area.at = (char *)memory + (sizeof(V) - (size_t)memory % sizeof(V));
    area.used = 0;
    s = take(&area, 1, sizeof *s);
    s->model = model;
    s->tables = &model->tables;
    s->memory = memory;
    LANE(lay_out)(s, &area);
    return s;
}

static void LANE(free_lanes)(void *lanes)
{
    if (lanes) free(((LANE(Lanes) *)lanes)->memory);
}

#undef V
#undef I
#undef LANE
#undef LANE_EXPANDED
#undef LANE_NAME
