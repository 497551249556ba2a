/* The linear algebra of initialisation. Its equations fall apart into parts that share no unknown, such as mechanisms
   side by side on the ground: rows of a part follow each other, and J are the blocks of the parts, one after the
   other. What a step of least norm does to one part does not depend on the others. */

#include "parts.h"

#include <stdlib.h>

#include "linear.h"
#include "optimize.h"
#include "vectors.h"

SMALL

INTERNAL void look_at_parts(Instance *s, int first, int end)
{
    s->initial.first_part = first;
    s->initial.parts_end = end;
}

INTERNAL int first_row(const Instance *s) { return s->tables->part_rows[s->initial.first_part]; }
INTERNAL int rows_end(const Instance *s) { return s->tables->part_rows[s->initial.parts_end]; }

INTERNAL int next_part(const Instance *s, Part *part)
{
    const int *rows = s->tables->part_rows, *columns = s->tables->part_columns;
    double *J = part->next ? part->J + (size_t)part->rows * (size_t)part->cols : s->initial.J;
    int k = part->next;
    for (; k < s->initial.first_part; ++k) J += (size_t)(rows[k + 1] - rows[k]) * (size_t)(columns[k + 1] - columns[k]);
    if (k >= s->initial.parts_end) return 0;
    part->next = k + 1;
    part->row = rows[k];
    part->rows = rows[k + 1] - rows[k];
    part->cols = columns[k + 1] - columns[k];
    part->unknowns = s->tables->part_unknowns + columns[k];
    part->J = J;
    return 1;
}

INTERNAL double without_rounding(double value) { return fabs(value) < 1e-12 ? 0 : value; }

INTERNAL int holds(const Instance *s, int j)
{
    /* Speeds follow positions. */
    if (s->initial.left_out == 1 && (j < nq(s->model) || (j >= nx(s->model) && j < nx(s->model) + nfree(s->model))))
        return 1;
    return s->tables->fixed[j] && s->initial.released != ALL_RELEASED && s->initial.released != j + 1;
}

INTERNAL void leave_out(Instance *s, double *r)
{
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) {
            if (s->tables->equation_stages[part.row + i] <= LAST_STAGE - s->initial.left_out) continue;
            r[part.row + i] = 0;
            for (int k = 0; k < part.cols; ++k) part.J[i + (size_t)k * part.rows] = 0;
        }
}

INTERNAL void scale_residuals(Instance *s)
{
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) {
            double *scale = s->initial.r_scale + part.row + i;
            *scale = 0.1;
            for (int k = 0; k < part.cols; ++k)
                *scale += fabs(part.J[i + (size_t)k * part.rows] * s->initial.X[part.unknowns[k]]);
        }
}

INTERNAL void scale_columns(Instance *s)
{
    const double rounding = 1e-14;
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) {
            double all = 0, free = 0;
            for (int k = 0; k < part.cols; ++k) {
                double *entry = part.J + i + (size_t)k * part.rows;
                *entry /= s->tables->weights[part.unknowns[k]];
                all += fabs(*entry);
                if (holds(s, part.unknowns[k])) *entry = 0;
                else free += fabs(*entry);
            }
            if (!(free <= rounding * all && all <= IMMENSE)) continue;
            for (int k = 0; k < part.cols; ++k) part.J[i + (size_t)k * part.rows] = 0;
        }
}

static double squared_row(const Part *part, int i)
{
    double sum = 0;
    for (int k = 0; k < part->cols; ++k)
        sum += part->J[i + (size_t)k * part->rows] * part->J[i + (size_t)k * part->rows];
    return sum;
}

static void no_step(Instance *s)
{
    for (int j = 0; j < nunknowns(s->model); ++j) s->initial.dX[j] = 0;
}

INTERNAL void least_norm_steps(Instance *s)
{
    LeastNorm *f = &s->initial.least_norm;
    f->longest = 0;
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) f->longest = fmax(f->longest, sqrt(squared_row(&part, i)));
    no_step(s);
    for (Part part = {0}; next_part(s, &part);) {
        f->cols = part.cols;
        least_norm_factorise(f, part.rows, part.rows, part.J, part.rows);
        least_norm_step(f, s->initial.r + part.row, s->initial.part_step);
        for (int k = 0; k < part.cols; ++k) s->initial.dX[part.unknowns[k]] = s->initial.part_step[k];
    }
}

INTERNAL int damped_step(Instance *s, double mu)
{
    double trace = 0;
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) trace += squared_row(&part, i);
    no_step(s);
    for (Part part = {0}; next_part(s, &part);) {
        int n = part.rows;
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k) {
                double sum = 0;
                for (int j = 0; j < part.cols; ++j) sum += part.J[i + (size_t)j * n] * part.J[k + (size_t)j * n];
                s->initial.JJ[i + (size_t)k * n] = sum;
            }
            s->initial.JJ[i + (size_t)i * n] += mu * (trace / (rows_end(s) - first_row(s)) + 1e-30);
            s->initial.s[i] = -s->initial.r[part.row + i];
        }
        if (lu_factorise(n, s->initial.JJ, s->initial.JJ_pivots, s->initial.column_norms) < n) return 0;
        lu_substitute(n, s->initial.JJ, s->initial.JJ_pivots, s->initial.s);
        for (int j = 0; j < part.cols; ++j)
            for (int i = 0; i < n; ++i) s->initial.dX[part.unknowns[j]] += part.J[i + (size_t)j * n] * s->initial.s[i];
    }
    return 1;
}

INTERNAL double along_residuals(Instance *s, double norm)
{
    double influence = 0;
    no_step(s);
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k) {
            const double *column = part.J + (size_t)k * part.rows;
            double sum = 0;
            for (int i = 0; i < part.rows; ++i) {
                sum += column[i] * s->initial.r[part.row + i];
                influence = fmax(influence, fabs(column[i]));
            }
            s->initial.dX[part.unknowns[k]] = sum / norm;
        }
    return influence;
}

QUICK
