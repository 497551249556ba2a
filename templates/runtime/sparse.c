/* LU of a sparse matrix along an order of pivots that the model brings: what fills in is known when it is read, so
   that all there is to do are lists of products, without any search (Davis, Direct Methods for Sparse Linear Systems,
   chapter 6). */

#include "sparse.h"

#include <stdlib.h>
#include <string.h>

#include "linear.h"
#include "memory.h"
#include "optimize.h"

/* Small eliminations are written out (mbfmu/export/elimination.py): the same operations in the same order. */
#ifdef WRITTEN_OUT

INTERNAL const char *plan_elimination(Model *model, const int *entry_rows, const int *entry_columns, int entries,
                                      const int *pivot_rows, const int *pivot_columns, int n)
{
    (void)model, (void)entry_rows, (void)entry_columns, (void)entries, (void)pivot_rows, (void)pivot_columns, (void)n;
    return NULL;                    /* there is nothing to plan */
}

#include "elimination.h"

#else

SMALL
/* More products than this are too many for a model that is meant to run. */
#define MOST_PRODUCTS (1 << 27)

/* Mark in `at` [n, n] what the factors have, row by row, and count them and the products that make them. Returns 0 where
   there are too many. */
static int fill_in(int n, int *at, size_t *factors, size_t *products)
{
    *factors = *products = 0;
    for (int k = 0; k < n; ++k) {
        const int *pivot_row = at + (size_t)k * n;
        int after = 0;
        at[(size_t)k * n + k] = 1;
        for (int j = k + 1; j < n; ++j) after += pivot_row[j];
        for (int i = k + 1; i < n; ++i) {
            int *row = at + (size_t)i * n;
            if (!row[k]) continue;
            for (int j = k + 1; j < n; ++j) row[j] |= pivot_row[j];
            *products += (size_t)after;
        }
        if (*products > MOST_PRODUCTS) return 0;
    }
    for (size_t i = 0; i < (size_t)n * n; ++i) *factors += (size_t)at[i];
    return 1;
}

INTERNAL const char *plan_elimination(Model *model, const int *entry_rows, const int *entry_columns, int entries,
                                      const int *pivot_rows, const int *pivot_columns, int n)
{
    Elimination *plan = &model->elimination;
    const char *wrong = "no memory";
    size_t factors, products, m = (size_t)n;
    int *row_places = calloc(3 * m, sizeof(int)), *column_places = row_places + n, *next = column_places + n;
    int *at = calloc(m * m, sizeof(int)); /* first what there is, then where it stands */
    if (!row_places || !at) goto finish;

    wrong = "the pivots are damaged";
    for (int k = 0; k < n; ++k) row_places[k] = column_places[k] = -1;
    for (int k = 0; k < n; ++k) {
        if (row_places[pivot_rows[k]] >= 0 || column_places[pivot_columns[k]] >= 0) goto finish;
        row_places[pivot_rows[k]] = column_places[pivot_columns[k]] = k;
    }
    for (int e = 0; e < entries; ++e) at[row_places[entry_rows[e]] * m + column_places[entry_columns[e]]] = 1;
    if (!fill_in(n, at, &factors, &products)) goto finish;

    wrong = "no memory";
    plan->n = n;
    plan->row_starts = model_allocate(model, (m + 1) * sizeof(int));
    plan->columns = model_allocate(model, (size_t)entries * sizeof(int));
    plan->values = model_allocate(model, (size_t)entries * sizeof(int));
    plan->places = model_allocate(model, (size_t)entries * sizeof(int));
    plan->starts = model_allocate(model, (m + 1) * sizeof(int));
    plan->diagonal = model_allocate(model, m * sizeof(int));
    plan->factor_columns = model_allocate(model, factors * sizeof(int));
    plan->scaled_starts = model_allocate(model, (m + 1) * sizeof(int));
    plan->scaled = model_allocate(model, factors * sizeof(int));
    plan->targets = model_allocate(model, products * sizeof(int));
    if (!plan->row_starts || !plan->columns || !plan->values || !plan->places || !plan->starts || !plan->diagonal
        || !plan->factor_columns || !plan->scaled_starts || !plan->scaled || !plan->targets)
        goto finish;
    wrong = NULL;

    for (int e = 0; e < entries; ++e) ++next[row_places[entry_rows[e]]];
    for (int k = 0, start = 0; k <= n; ++k) {
        plan->row_starts[k] = start;
        if (k == n) break;
        start += next[k];
        next[k] = plan->row_starts[k];
    }
    int place = 0;
    for (int i = 0; i < n; ++i) {
        plan->starts[i] = place;
        for (int j = 0; j < n; ++j) {
            if (!at[i * m + j]) continue;
            if (i == j) plan->diagonal[i] = place;
            plan->factor_columns[place] = j;
            at[i * m + j] = ++place; /* from 1 on: 0 is nothing */
        }
    }
    plan->starts[n] = place;
    for (int e = 0; e < entries; ++e) {
        int i = row_places[entry_rows[e]], j = column_places[entry_columns[e]], to = next[i]++;
        plan->columns[to] = j;
        plan->values[to] = e;
        plan->places[e] = at[i * m + j] - 1;
    }
    int scaled = 0, *targets = plan->targets;
    for (int k = 0; k < n; ++k) {
        plan->scaled_starts[k] = scaled;
        for (int i = k + 1; i < n; ++i)
            if (at[i * m + k]) plan->scaled[scaled++] = at[i * m + k] - 1;
        for (int first = plan->diagonal[k] + 1; first < plan->starts[k + 1]; first += WIDTH)
            for (int i = k + 1; i < n; ++i)
                for (int upper = first; at[i * m + k] && upper < first + WIDTH && upper < plan->starts[k + 1]; ++upper)
                    *targets++ = at[i * m + plan->factor_columns[upper]] - 1;
    }
    plan->scaled_starts[n] = scaled;
finish:
    free(row_places);
    free(at);
    return wrong;
}
QUICK

/* Scale factors, and take the products of them and of some that follow the pivot in its row off others; returns the
   targets that are left. `width` is a constant wherever this is called. */
ALWAYS_INLINE const int *take_off(double *x, const int *scaled, int rows, double scale, const double *upper,
                                  const int width,
                                  const int *targets)
{
    double u[WIDTH];
    UNROLL_8 for (int f = 0; f < width; ++f) u[f] = upper[f];
    for (int r = 0; r < rows; ++r, targets += width) {
        double lower = x[scaled[r]] *= scale;
        UNROLL_8 for (int f = 0; f < width; ++f) x[targets[f]] -= lower * u[f];
    }
    return targets;
}

INTERNAL void sparse_factorise(const Instance *s)
{
    const Elimination *plan = &s->model->elimination;
    const int *targets = plan->targets, *scaled = plan->scaled;
    double *x = s->system.sparse;
    memset(x, 0, (size_t)plan->starts[plan->n] * sizeof *x);
    for (int e = 0; e < nentries(s->model); ++e) x[plan->places[e]] = s->system.entries[e];
    for (int k = 0; k < plan->n; ++k) {
        int rows = plan->scaled_starts[k + 1] - plan->scaled_starts[k],
            left = plan->starts[k + 1] - plan->diagonal[k] - 1;
        const double *upper = x + plan->diagonal[k] + 1;
        double scale = x[plan->diagonal[k]] = 1 / x[plan->diagonal[k]];
        do {
            switch (left) {
            case 0: targets = take_off(x, scaled, rows, scale, upper, 0, targets); break;
            case 1: targets = take_off(x, scaled, rows, scale, upper, 1, targets); break;
            case 2: targets = take_off(x, scaled, rows, scale, upper, 2, targets); break;
            case 3: targets = take_off(x, scaled, rows, scale, upper, 3, targets); break;
            case 4: targets = take_off(x, scaled, rows, scale, upper, 4, targets); break;
            case 5: targets = take_off(x, scaled, rows, scale, upper, 5, targets); break;
            case 6: targets = take_off(x, scaled, rows, scale, upper, 6, targets); break;
            case 7: targets = take_off(x, scaled, rows, scale, upper, 7, targets); break;
            default: targets = take_off(x, scaled, rows, scale, upper, WIDTH, targets);
            }
            scale = 1; /* they are scaled */
            upper += WIDTH;
            left -= WIDTH;
        } while (left > 0);
        scaled += rows;
    }
}

INTERNAL void sparse_substitute(const Instance *s, const double *b, double *unknowns)
{
    const Elimination *plan = &s->model->elimination;
    const int *columns = plan->factor_columns, *rows = s->tables->pivot_rows;
    const double *x = s->system.sparse;
    double *restrict z = s->system.solution;
    for (int k = 0; k < plan->n; ++k) {
        double sum = b[rows[k]];
        for (int e = plan->starts[k]; e < plan->diagonal[k]; ++e) sum -= x[e] * z[columns[e]];
        z[k] = sum;
    }
    for (int k = plan->n - 1; k >= 0; --k) {
        double sum = z[k];
        for (int e = plan->starts[k + 1] - 1; e > plan->diagonal[k]; --e) sum -= x[e] * z[columns[e]];
        z[k] = sum * x[plan->diagonal[k]];
        unknowns[s->tables->pivot_columns[k]] = z[k];
    }
}

INTERNAL double sparse_residual(const Instance *s, double *residual)
{
    const Elimination *plan = &s->model->elimination;
    const int *rows = s->tables->pivot_rows;
    double worst = 0;
    for (int k = 0; k < plan->n; ++k) {
        double sum = s->system.load[rows[k]], size = fabs(sum);
        for (int e = plan->row_starts[k]; e < plan->row_starts[k + 1]; ++e) {
            double term = s->system.entries[plan->values[e]] * s->system.solution[plan->columns[e]];
            sum -= term;
            size += fabs(term);
        }
        residual[rows[k]] = sum;
        worst = worse(worst, sum, size);
    }
    return worst;
}

#endif
