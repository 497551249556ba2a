/* What initialisation has chosen: start values that neither fixed ones nor equations determine. */

#include "undetermined_start.h"

#include "evaluate.h"
#include "functions.h"
#include "initialise.h"
#include "log.h"
#include "optimize.h"
#include "parts.h"
#include "singular.h"
#include "vectors.h"

SMALL

/* Of the open unknowns of a part, those that its equations determine are open no more. */
static void close_unknowns(Instance *s, const Part *part)
{
    const double dependent = 1e-8, rounding = 1e-12;
    int *open = s->initial.choices, rows = part->rows, rank = 0, used = 0;
    double *order = s->initial.part_step;
    /* Rows of length 1, of those that are not zero. */
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < part->cols; ++j)
            if (open[part->unknowns[j]]) sum += part->J[i + (size_t)j * rows] * part->J[i + (size_t)j * rows];
        if (!(sum > 0)) continue;
        for (int j = 0; j < part->cols; ++j)
            part->J[used + (size_t)j * rows] = part->J[i + (size_t)j * rows] / sqrt(sum);
        ++used;
    }
    for (int j = 0; j < part->cols; ++j)
        order[j] = open[part->unknowns[j]] ? s->tables->weights[part->unknowns[j]] : INFINITY;
    while (rank < used) {
        int next = -1;
        for (int j = part->cols - 1; j >= 0; --j)
            if (order[j] < INFINITY && (next < 0 || order[j] < order[next])) next = j;
        if (next < 0) break;
        order[next] = INFINITY;
        double *column = part->J + (size_t)next * rows, before = norm_of(column, used), held, after = before;
        do { /* twice is enough for orthogonality, and once where little goes */
            held = after;
            for (int k = 0; k < rank; ++k) {
                const double *known = s->initial.JJ + (size_t)k * rows;
                double along = 0;
                for (int i = 0; i < used; ++i) along += known[i] * column[i];
                if (along == 0) continue;
                for (int i = 0; i < used; ++i) column[i] -= along * known[i];
            }
            after = norm_of(column, used);
        } while (after < 0.5 * held && after > rounding);
        if (!(after > dependent * before && after > rounding)) continue;
        for (int i = 0; i < used; ++i) s->initial.JJ[i + (size_t)rank * rows] = column[i] / after;
        ++rank;
        open[part->unknowns[next]] = 0;
    }
}

/* Mark, in s->initial.choices, as many unfixed unknowns as the equations of initialisation leave open at
   s->initial.X; the others follow from them. Those that give way first count as following, and of equals the later
   ones: an elimination that takes the columns of the Jacobian in this order (modified Gram-Schmidt, in place) finds
   which depend on those before. */
static int find_open_unknowns(Instance *s)
{
    double norm;
    for (int j = 0; j < nunknowns(s->model); ++j) s->initial.choices[j] = !s->tables->fixed[j];
    if (!nequations(s->model)) return 1;
    if (!start_residual(s, s->initial.X, s->initial.r, s->initial.J, &norm)) return 0;
    for (Part part = {0}; next_part(s, &part);) close_unknowns(s, &part);
    return 1;
}

INTERNAL int find_choices(Instance *s)
{
    int count = 0, known;
    COPY(s->initial.X, s->latch.x, nx(s->model));
    for (int i = 0; i < nfree(s->model); ++i)
        s->initial.X[nx(s->model) + i] = s->given.P[s->tables->free_parameters[i]];
    if (nunknowns(s->model) > nx(s->model) + nfree(s->model) + nstart_iterations(s->model))
        COPY(s->initial.X + nx(s->model) + nfree(s->model), s->latch.w, nw(s->model));
    COPY(s->initial.X + nunknowns(s->model) - nstart_iterations(s->model),
         s->latch.u + nu(s->model) - niterations(s->model),
         nstart_iterations(s->model));
    if (!find_open_unknowns(s)) return 0;
    COPY(s->given.P, s->tables->default_parameters, npar(s->model));
    derive(s);
    known = !eval_guess(s, s->initial.X_trial);
    COPY(s->given.P, s->given.start, npar(s->model));
    derive(s);
    known = known && !eval_guess(s, s->initial.dX);
    take_start(s);
    for (int j = 0; j < nunknowns(s->model); ++j) {
        int given = s->tables->given[j] || s->initial.X_trial[j] != s->initial.dX[j];
        int moved = !(fabs(s->initial.X[j] - s->initial.dX[j]) <= 1e-6 * (1 + fabs(s->initial.X[j])));
        if (known && !moved) s->initial.X[j] = s->initial.dX[j];
        s->initial.choices[j] = known && s->initial.choices[j] && (!given || moved);
        count += s->initial.choices[j];
    }
    return count;
}

INTERNAL void warn_of_choices(Instance *s, const char *function)
{
    enum { SHOWN = 6 };
    int count, shown = 0;
    if (!s->caller.host.log || !s->log.asked || !(s->log.categories & LOG_WARNING)) return;
    if (!(count = find_choices(s))) return;
    because(s, "nobody gave these start values, and nothing determines them, so that they were chosen:");
    for (int j = 0; j < nunknowns(s->model) && shown < SHOWN; ++j)
        if (s->initial.choices[j])
            append(s, "%s %s = %.6g", shown++ ? "," : "", s->tables->unknown_names[j],
                   without_rounding(s->initial.X[j]));
    if (count > shown) append(s, " and %d more", count - shown);
    append(s, "; fix what is meant to hold");
    say(s, STATUS_WARNING, "%s: %s", function, s->log.cause);
    s->log.cause[0] = 0;
}

QUICK
