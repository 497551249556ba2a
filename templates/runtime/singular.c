/* Starts in singular positions, where branches of motion cross: a parallelogram whose bars lie on one line can go on as a
   parallelogram or with its bars crossed. The constraints do not say there which speeds lead along a branch (their
   Jacobian loses rank), and leave accelerations open. Both follow from the branch itself: it is found by short ways to
   either side, and the start is put on it, as close to the singular position as numbers allow. */

#include "singular.h"

#include "evaluate.h"
#include "freshness.h"
#include "functions.h"
#include "initialise.h"
#include "log.h"
#include "optimize.h"
#include "parts.h"
#include "project.h"
#include "vectors.h"

SMALL

/* Regularity of the constraints at which a position counts as singular. */
#define SINGULAR_BELOW 1e-6

static double product(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

INTERNAL double norm_of(const double *values, int n)
{
    return sqrt(product(values, values, n));
}

static double regularity_at_latch(Instance *s, int *weakest)
{
    return regularity_at(s, s->now->latch_t, s->latch.x, s->latch.m, weakest);
}

/* Solve for all but the positions, which stay: steps of least norm from the present X. */
static int solve_speeds(Instance *s)
{
    enum { ITERATIONS = 4 }; /* one would do where start values depend linearly on speeds */
    double norm;
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        if (!start_residual(s, s->initial.X, s->initial.r, s->initial.J, &norm)) return 0;
        scale_columns(s);
        for (Part part = {0}; next_part(s, &part);)
            for (int k = 0; k < part.cols && part.unknowns[k] < nq(s->model); ++k)
                for (int i = 0; i < part.rows; ++i) part.J[i + (size_t)k * part.rows] = 0;
        least_norm_steps(s);
        for (int j = 0; j < nunknowns(s->model); ++j) s->initial.X[j] += s->initial.dX[j] / s->tables->weights[j];
    }
    return 1;
}

INTERNAL int sharpen(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 2 };
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        const double *u = constraint_inputs_at(s, t, x, m);
        if (eval_constraints(s, t, x, u, m, s->constraints.g, s->constraints.c, s->constraints.G)) return 0;
        if (factorise_constraints(s, t, x, m, ng(s->model))) return 0;
        constraint_step(s, s->constraints.g, ng(s->model), s->constraints.dv);
        eval_displacement(s, t, x, s->constraints.dv, s->constraints.dq);
        for (int i = 0; i < nq(s->model); ++i) x[i] += s->constraints.dq[i];
        normalise_quaternions(s, x);
    }
    return 1;
}

/* Go a short way from the singular start along a direction of speeds to where the constraints are met and `regular`:
   unknowns in s->initial.X, states in the latch, accelerations in w. Returns 0 where there is no such position. */
static int go_along(Instance *s, const double *start, const double *direction, double way, double regular, double *w)
{
    double t = s->now->latch_t, *moved = s->initial.way;
    int weakest;
    COPY(s->initial.X, start, nunknowns(s->model));
    take_start(s);
    for (int i = 0; i < nv(s->model); ++i) s->constraints.dv[i] = way * direction[i];
    eval_displacement(s, t, s->latch.x, s->constraints.dv, s->constraints.dq);
    for (int i = 0; i < nq(s->model); ++i) s->latch.x[i] += s->constraints.dq[i];
    if (project(s, t, s->latch.x, s->latch.m) || !sharpen(s, t, s->latch.x, s->latch.m)) return 0;
    for (int i = 0; i < nq(s->model); ++i) moved[i] = s->latch.x[i] - start[i];
    double distance = norm_of(moved, nq(s->model)) / fabs(way);
    if (!(distance > 0.1 && distance < 10)) return 0;
    if (regularity_at_latch(s, &weakest) < regular) return 0;
    COPY(s->initial.X, s->latch.x, nq(s->model));
    if (!solve_speeds(s)) return 0;
    take_start(s);
    const double *u = inputs_at(s, t, s->latch.x, s->latch.m);
    if (eval_constraints(s, t, s->latch.x, u, s->latch.m, s->constraints.g, s->constraints.c, s->constraints.G))
        return 0;
    if (!(largest(s->constraints.c, nl(s->model)) <= 1e-9 * (1 + largest(s->latch.x + nq(s->model), nv(s->model)))))
        return 0;
    return !accelerations(s, t, s->latch.x, u, s->latch.m, w);
}

/* The branch through the singular start that is nearest to a direction; 0 where it cannot be followed to both sides.
   The error of its own direction is about the square of the reach. */
static int find_branch(Instance *s, const double *start, const double *direction, double before, double *found,
                       double *growth)
{
    const double reach = 1e-4, away = 1e-7, regular = fmax(1e-2 * reach, 100 * before);
    double t = s->now->latch_t, *const *ends = s->initial.ends, *const *w = s->initial.end_w, bend = 0;
    for (int side = 0; side < 2; ++side) {
        if (!go_along(s, start, direction, side ? -reach : reach, regular, w[side])) return 0;
        COPY(ends[side], s->initial.X, nunknowns(s->model));
    }
    for (int i = 0; i < nunknowns(s->model); ++i) {
        double mean = 0.5 * (ends[0][i] + ends[1][i]);
        ends[1][i] = 0.5 * (ends[0][i] - ends[1][i]);
        ends[0][i] = mean;
    }
    const double *v = ends[0] + nq(s->model), *a = w[0];
    for (int i = 0; i < nv(s->model); ++i) {
        w[0][i] = 0.5 * (w[0][i] + w[1][i]);
        bend = fmax(bend, fabs(ends[1][nq(s->model) + i]));
    }
    if (bend > 0.1 * fmax(1, largest(v, nv(s->model)))) return 0;
    double along = product(v, direction, nv(s->model));
    if (!(fabs(along) > 1e-6 * norm_of(v, nv(s->model)))) along = product(a, direction, nv(s->model));
    double part = (along >= 0 ? away : -away) / reach;
    for (int i = 0; i < nunknowns(s->model); ++i)
        found[i] = (i < nq(s->model) ? start[i] + part * part * (ends[0][i] - start[i]) : ends[0][i]) + part
            * ends[1][i];
    normalise_quaternions(s, found);
    *growth = product(a, a, nv(s->model));
    /* The mass matrix is spread over A: the size of accelerations has to do. */
    if (projects_along_forces(s->model)) return 1;
    /* The mass matrix is a part of A, which the factors have replaced. */
    forget_factors(s);
    if (eval_dynamics(s, t, s->latch.x, inputs_at(s, t, s->latch.x, s->latch.m), s->latch.m,
                      is_sparse(s->model) ? s->system.entries : s->system.A,
                      is_sparse(s->model) ? s->system.load : s->step.w))
        return 0;
    if (is_sparse(s->model)) spread_entries(s);
    *growth = 0;
    for (int j = 0; j < nv(s->model); ++j)
        *growth += a[j] * product(s->system.A + (size_t)j * nw(s->model), a, nv(s->model));
    return 1;
}

INTERNAL void leave_singular_position(Instance *s)
{
    enum { DIRECTIONS = 12 };
    int weakest;
    if (!is_constrained(s->model)) return;
    double before = regularity_at_latch(s, &weakest);
    if (before > SINGULAR_BELOW) return;
    double *start = s->initial.X_start, *direction = s->initial.direction, growth, best = 0;
    int found = 0;
    unsigned long long seed = 88172645463325252ULL;
    COPY(start, s->initial.X, nunknowns(s->model));
    const double *v = start + nq(s->model);
    double speed = norm_of(v, nv(s->model));
    for (int trial = speed > 0 ? 0 : 1; trial <= DIRECTIONS; ++trial) {
        for (int i = 0; trial && i < nv(s->model); ++i) direction[i] = next_random(&seed);
        double length = trial ? norm_of(direction, nv(s->model)) : 1;
        for (int i = 0; i < nv(s->model); ++i)
            direction[i] = (trial ? direction[i] / length : 0) + (speed > 0 ? v[i] / speed : 0);
        length = norm_of(direction, nv(s->model));
        for (int i = 0; i < nv(s->model); ++i) direction[i] /= length;
        if (find_branch(s, start, direction, before, s->initial.X_branch, &growth) && (!found || growth > best)) {
            best = growth;
            COPY(s->initial.X_best, s->initial.X_branch, nunknowns(s->model));
            found = 1;
        }
        if (found && speed > 0) break;
    }
    COPY(s->initial.X, found ? s->initial.X_best : start, nunknowns(s->model));
    take_start(s);
}

/* Is an assertion violated whatever the accelerations are? Then it is the cause: it says what to change. */
static int blame_assertion(Instance *s)
{
    const char *violated = violated_assertion(s);
    if (violated) because(s, "assertion violated: %s", violated);
    return violated != NULL;
}

INTERNAL void explain_start(Instance *s, Outcome outcome)
{
    int weakest;
    if (blame_assertion(s)) return;
    explain(s, outcome);
    if (outcome == SINGULAR && is_constrained(s->model) && regularity_at_latch(s, &weakest) <= SINGULAR_BELOW)
        because(s, "the mechanism is in a singular position, in which branches of its motion cross or end, and the start "
                "values of speeds lead along none of them ('%s' depends on the other constraints there): change them, or "
                "start beside it", s->tables->velocity_names[weakest]);
}

QUICK
