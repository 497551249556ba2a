/* Iteration variables: the last `niterations` inputs of the equations, unknowns of equations that have no closed
   solution. They are solved for wherever the rest of u is known, block by block, from what they were at the last
   accepted point: the end of a step, an event, the latch. Trials and observers leave that as it is, so that they
   change no bit of a run.

   Newton's method with exact Jacobians is damped by the natural monotonicity test, which judges a step by the next
   correction: that does not know how residuals are scaled, as those of a diode are, over many powers of ten
   (Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 3.3.2, algorithm NLEQ-ERR). Where it stalls, the
   size of the residuals judges. */

#include "iterate.h"

#include <string.h>

#include "evaluate.h"
#include "freshness.h"
#include "functions.h"
#include "linear.h"
#include "optimize.h"
#include "vectors.h"

SMALL

/* Evaluations of the residuals that one attempt may take: from above, Newton's method goes down an exponential
   function by one of its exponents at a time. */
enum { ITERATION_EVALUATIONS = 1000 };

/* Size of a correction, beside the variables and their nominal values, that rounding errors have; one that has become
   small, where rounding errors may be what keeps it from shrinking; and the least part of a correction that is tried. */
#define CORRECTION_ROUNDING 1e-15
#define CORRECTION_SMALL 1e-7
#define LEAST_DAMPING 1e-9

/* What judges a step; WHOLE_STEPS takes no other than whole steps that converge. */
typedef enum { WHOLE_STEPS, CORRECTIONS, RESIDUALS } Judge;

INTERNAL int unsolved(const Instance *s,
                      const double *u) { return niterations(s->model) > 0
                                        && !(u[nu(s->model) - 1] == u[nu(s->model) - 1]); }

/* Evaluate residuals and Jacobian, the latter with w held; 0 where the residuals from `begin` to `end` are not finite. */
static int evaluate_iterations(Instance *s, double t, const double *x, const double *u, const double *m, int begin,
                               int end)
{
    Iterations *it = &s->iterations;
    if (iterations_need_w(s->model) && accelerations(s, t, x, u, m, it->w)) return 0;
    return !eval_iterations(s, t, x, u, m, it->w, it->r, it->J) && finite_all(it->r + begin, end - begin);
}

/* Where residuals know w, which follows the iteration variables, make the Jacobian the whole one, right after
   `evaluate_iterations` or `accelerations` at this point. */
static int complete_jacobian(Instance *s, double t, const double *x, const double *u, const double *m, const double *w)
{
    Iterations *it = &s->iterations;
    if (!iterations_need_w(s->model)) return 1;
    clear_direction(s, &it->along);
    for (int j = 0; j < niterations(s->model); ++j) {
        it->along.u[iterations_begin(s->model) + j] = 1;
        if (acceleration_direction(s, t, x, u, m, w, &it->along, it->dw)
            || eval_iterations_tangent(s, t, x, u, m, w, 0, it->along.x, it->along.u, it->dw,
                                       it->J + (size_t)j * niterations(s->model)))
            return 0;
        it->along.u[iterations_begin(s->model) + j] = 0;
    }
    return 1;
}

/* Factorise the part of the Jacobian that belongs to these variables, its rows of size 1; 0 where it is singular. */
static int factorise_jacobian(Instance *s, int begin, int end)
{
    Iterations *it = &s->iterations;
    const double *nominals = s->tables->iteration_nominals;
    int n = end - begin;
    for (int i = begin; i < end; ++i) {
        it->rows[i] = 0;
        for (int j = begin; j < end; ++j)
            it->rows[i] = fmax(it->rows[i], fabs(it->J[i + (size_t)j * niterations(s->model)]) * nominals[j]);
        if (!(it->rows[i] > 0 && it->rows[i] <= IMMENSE)) return 0;
        for (int j = begin; j < end; ++j)
            it->factors[i - begin + (size_t)(j - begin) * n] =
                it->J[i + (size_t)j * niterations(s->model)] * nominals[j] / it->rows[i];
    }
    return lu_factorise(n, it->factors, it->pivots, it->column_norms) == n;
}

/* The correction that takes residuals r away. */
static void correct(const Instance *s, int begin, int end, const double *r, double *correction)
{
    const Iterations *it = &s->iterations;
    for (int i = begin; i < end; ++i) correction[i] = -r[i] / it->rows[i];
    lu_substitute(end - begin, it->factors, it->pivots, correction + begin);
    for (int i = begin; i < end; ++i) correction[i] *= s->tables->iteration_nominals[i];
}

/* Size of a correction less `factor` times another one, beside the variables that it belongs to. */
static double correction_size(const Instance *s, int begin, int end, const double *correction, double factor,
                              const double *other)
{
    double most = 0;
    for (int i = begin; i < end; ++i) {
        double change = fabs(correction[i] - factor * other[i])
            / (s->tables->iteration_nominals[i] + fabs(s->iterations.from[i]));
        if (!(change <= most)) most = change;
    }
    return most;
}

static double residual_size(const Instance *s, int begin, int end)
{
    double most = 0;
    for (int i = begin; i < end; ++i) most = fmax(most, fabs(s->iterations.r[i]) / s->iterations.rows[i]);
    return most;
}

/* Are the residuals what rounding errors of their terms are? Accelerations share theirs: all have those of the greatest. */
static int residuals_at_rounding(const Instance *s, int begin, int end, const double *tail)
{
    const Iterations *it = &s->iterations;
    double w = iterations_need_w(s->model) ? largest(it->w, nw(s->model)) : 0;
    for (int i = begin; i < end; ++i) {
        double terms = 0;
        for (int j = begin; j < end; ++j)
            terms += fabs(it->J[i + (size_t)j * niterations(s->model)])
                * (fabs(tail[j]) + s->tables->iteration_nominals[j] + w);
        if (!(fabs(it->r[i]) <= 1e-13 * terms)) return 0;
    }
    return 1;
}

/* Go on from `from` by a part of the step to where the judge agrees: `part` is what was tried last. Leaves residuals
   and Jacobian there, and the correction that is left with the same factors. 0 where there is none, -1 where rounding
   errors are all that is left. */
static int try_parts(Instance *s, double t, const double *x, double *u, const double *m, int begin, int end,
                     Judge judge,
                     double size, double *part, int *evaluations)
{
    Iterations *it = &s->iterations;
    double *tail = u + iterations_begin(s->model), before = residual_size(s, begin, end);
    for (int less = 0;; *part = fmin(*part, 1)) {
        if (*part < LEAST_DAMPING || ++*evaluations > ITERATION_EVALUATIONS) return 0;
        for (int i = begin; i < end; ++i) tail[i] = it->from[i] + *part * it->step[i];
        if (!evaluate_iterations(s, t, x, u, m, begin, end)) {
            if (judge == WHOLE_STEPS) return 0;
            *part *= 0.25;
            less = 1;
            continue;
        }
        correct(s, begin, end, it->r, it->left);
        double left = correction_size(s, begin, end, it->left, 0, it->left);
        double bend = correction_size(s, begin, end, it->left, 1 - *part, it->step);
        double next = bend > 0 ? 0.5 * size * *part * *part / bend : INFINITY; /* the part that curvature allows */
        int better = judge == RESIDUALS ? residual_size(s, begin, end) < (1 - 1e-4 * *part) * before
                                        : left < (1 - 0.25 * *part) * size;
        if (better) {
            if (judge != CORRECTIONS || less || !(*part < 1) || !(next >= 4 * *part)) return 1;
            *part = next;
            less = 1;
            continue;
        }
        if (size < CORRECTION_SMALL && residuals_at_rounding(s, begin, end, tail)) return -1;
        if (judge == WHOLE_STEPS) return 0;
        *part = judge == RESIDUALS ? 0.5 * *part : fmax(0.1 * *part, fmin(next, 0.5 * *part));
        less = 1;
    }
}

/* Solve for the variables from `begin` to `end`, from where they are; 0 where that fails, *evaluations being 1 where
   there is no direction to go in at once. */
static int newton(Instance *s, double t, const double *x, double *u, const double *m, int begin, int end, Judge judge,
                  int *evaluations)
{
    Iterations *it = &s->iterations;
    double *tail = u + iterations_begin(s->model), part = 1, before = 0, left = 0;
    *evaluations = 1;
    if (!evaluate_iterations(s, t, x, u, m, begin, end)) return 0;
    for (int first = 1;; first = 0) {
        COPY(it->from + begin, tail + begin, end - begin);
        if (!complete_jacobian(s, t, x, u, m, it->w)) return 0;
        if (!factorise_jacobian(s, begin, end)) return residuals_at_rounding(s, begin, end, tail);
        correct(s, begin, end, it->r, it->step);
        double size = correction_size(s, begin, end, it->step, 0, it->step);
        if (!(size <= IMMENSE)) return 0;
        if (size <= CORRECTION_ROUNDING) return 1;
        int whole = !first && part == 1;
        if (whole && size < CORRECTION_SMALL && size > 0.5 * before && residuals_at_rounding(s, begin, end, tail))
            return 1;
        double bend = first ? 0 : correction_size(s, begin, end, it->left, 1, it->step);
        part = judge == CORRECTIONS && bend > 0 ? fmin(1, left * before / (bend * size) * part) : 1;
        int found = try_parts(s, t, x, u, m, begin, end, judge, size, &part, evaluations);
        if (found <= 0) return found < 0;
        left = correction_size(s, begin, end, it->left, 0, it->left);
        /* With these factors each further correction is smaller by as much as this one is. */
        if (part == 1 && size < CORRECTION_SMALL && left * (left / size) <= 0.1 * CORRECTION_ROUNDING) {
            for (int i = begin; i < end; ++i) tail[i] += it->left[i];
            return 1;
        }
        before = size;
    }
}

/* Beside a guess that has no residuals or a singular Jacobian: near it, then as far as what counts as 1, from where
   steps are shorter. */
enum { PLACES_BESIDE = 5 };
static const double BESIDE[PLACES_BESIDE] = {0, 1e-3, -1e-3, 1, -1};

/* Solve for the variables of a block, from the guess in it->u; where there is no direction to go in from there, as for
   the square of a variable that begins at 0, from beside it. */
static int solve_block(Instance *s, double t, const double *x, double *u, const double *m, int begin, int end)
{
    const double *guess = s->iterations.u + iterations_begin(s->model);
    int stuck = 0;
    for (int beside = 0; beside < PLACES_BESIDE; ++beside) {
        for (int judge = CORRECTIONS; judge <= RESIDUALS; ++judge) {
            int evaluations;
            for (int i = begin; i < end; ++i)
                u[iterations_begin(s->model) + i] =
                    guess[i] + BESIDE[beside] * (1 + 0.1 * (i % 7)) * s->tables->iteration_nominals[i];
            if (newton(s, t, x, u, m, begin, end, (Judge)judge, &evaluations)) return 1;
            stuck |= beside == 0 && evaluations == 1;
        }
        if (!stuck) return 0;
    }
    return 0;
}

/* Keep what is known of a block without solution, for the log. */
static void keep_unsolved(Instance *s, int block, const double *tail)
{
    Iterations *it = &s->iterations;
    int begin = s->tables->iteration_starts[block], end = s->tables->iteration_starts[block + 1];
    it->block = block;
    it->residual = largest(it->r + begin, end - begin);
    COPY(it->last, tail, niterations(s->model));
}

INTERNAL int solve_iterations(Instance *s, double t, const double *x, const double *m, const double *guess, double *u)
{
    Iterations *it = &s->iterations;
    const int *starts = s->tables->iteration_starts;
    int evaluations, block = 0;
    if (solved_outside(s)) {
        if (u != s->latch.u)
            COPY(u + iterations_begin(s->model), s->latch.u + iterations_begin(s->model), niterations(s->model));
        return 1;
    }
    size_t x_size = nx(s->model) * sizeof *x, m_size = ndiscrete(s->model) * sizeof *m,
        u_size = nu(s->model) * sizeof *u;
    COPY(u + iterations_begin(s->model), guess, niterations(s->model));
    if (!it->known || it->t != t || memcmp(it->x, x, x_size) || memcmp(it->m, m, m_size) || memcmp(it->u, u, u_size)) {
        it->t = t;
        memcpy(it->x, x, x_size);
        memcpy(it->m, m, m_size);
        memcpy(it->u, u, u_size);
        if (!newton(s, t, x, u, m, 0, niterations(s->model), WHOLE_STEPS, &evaluations)) {
            COPY(u + iterations_begin(s->model), guess, niterations(s->model));
            while (block < niteration_blocks(s->model) && solve_block(s, t, x, u, m, starts[block], starts[block + 1]))
                ++block;
            if (block < niteration_blocks(s->model)) {
                keep_unsolved(s, block, u + iterations_begin(s->model));
                for (int i = iterations_begin(s->model); i < nu(s->model); ++i) u[i] = NAN;
            }
        }
        COPY(it->solution, u + iterations_begin(s->model), niterations(s->model));
        it->known = 1;
        if (iterations_need_w(s->model)) forget_factors(s);
    }
    COPY(u + iterations_begin(s->model), it->solution, niterations(s->model));
    return !unsolved(s, u);
}

INTERNAL int refresh_residuals(Instance *s)
{
    Iterations *it = &s->iterations;
    return !eval_iterations(s, s->now->latch_t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, it->r, it->J)
        && finite_all(it->r, niterations(s->model));
}

INTERNAL int residual_direction(Instance *s, const Direction *along, const double *dw)
{
    return eval_iterations_tangent(s, s->now->latch_t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, along->t,
                                   along->x, along->u, dw, s->iterations.r);
}

INTERNAL void begin_iterations(Instance *s)
{
    if (niterations(s->model) && eval_iteration_guess(s, s->given.u + iterations_begin(s->model)))
        for (int i = iterations_begin(s->model); i < nu(s->model); ++i) s->given.u[i] = 0;
}

INTERNAL Outcome accept_iterations(Instance *s)
{
    if (!niterations(s->model)) return DONE;
    const double *u = inputs_at(s, s->now->head.end, s->head.x, s->head.m);
    if (unsolved(s, u)) return UNSOLVED;
    COPY(s->given.u + iterations_begin(s->model), u + iterations_begin(s->model), niterations(s->model));
    return DONE;
}

INTERNAL Outcome solve_latch(Instance *s)
{
    if (!niterations(s->model) || s->now->latch_solved) return DONE;
    const double *guess = s->now->latch_inside ? s->head.s : s->given.u + iterations_begin(s->model);
    s->now->latch_solved = solve_iterations(s, s->now->latch_t, s->latch.x, s->latch.m, guess, s->latch.u);
    return s->now->latch_solved ? DONE : UNSOLVED;
}

INTERNAL Outcome accept_latch(Instance *s)
{
    Outcome outcome = solve_latch(s);
    if (niterations(s->model) && !outcome)
        COPY(s->given.u + iterations_begin(s->model), s->latch.u + iterations_begin(s->model), niterations(s->model));
    return outcome;
}

INTERNAL Outcome linearise_iterations(Instance *s, double t, const double *x, const double *u, const double *m,
                                      const double *w)
{
    Iterations *it = &s->iterations;
    if (!niterations(s->model) || solved_outside(s)) return DONE;
    if (eval_iterations(s, t, x, u, m, w, it->r, it->J) || !complete_jacobian(s, t, x, u, m, w)) return NOT_FINITE;
    return factorise_jacobian(s, 0, niterations(s->model)) ? DONE : NOT_FINITE;
}

INTERNAL int iteration_direction(Instance *s, double t, const double *x, const double *u, const double *m,
                                 const double *w,
                                 Direction *along)
{
    Iterations *it = &s->iterations;
    for (int i = iterations_begin(s->model); i < nu(s->model); ++i) along->u[i] = 0;
    for (int i = 0; i < nw(s->model); ++i) it->dw[i] = 0;
    if (iterations_need_w(s->model) && acceleration_direction(s, t, x, u, m, w, along, it->dw)) return 1;
    if (eval_iterations_tangent(s, t, x, u, m, w, along->t, along->x, along->u, it->dw, it->r)) return 1;
    correct(s, 0, niterations(s->model), it->r, along->u + iterations_begin(s->model));
    return 0;
}

QUICK
