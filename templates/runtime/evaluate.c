/* What is made from the model's functions: accelerations, the right-hand side, directional derivatives. */

#include "evaluate.h"

#include <stdio.h>
#include <string.h>

#include "freshness.h"
#include "functions.h"
#include "history.h"
#include "iterate.h"
#include "linear.h"
#include "log.h"
#include "redundancy.h"
#include "sparse.h"
#include "vectors.h"

INTERNAL void forget_preparations(Instance *s)
{
    memset(s->functions.prepared, 0, sizeof s->functions.prepared);
    s->iterations.known = 0;
    s->bounds.boxed = 0;
}

INTERNAL void derive(Instance *s)
{
    forget_preparations(s);
    if (nd(s->model)) eval_derived(s, s->given.P + npar(s->model));
}

INTERNAL const double *known_inputs_at(Instance *s, double t, const double *x, const double *m)
{
    if (!s->now->ramps && !ndelays(s->model)) return s->given.u;
    for (int i = 0; i < ninputs(s->model); ++i)
        s->step.u[i] = s->now->ramps ? s->given.u[i] + s->given.du[i] * (t - s->now->u_time) : s->given.u[i];
    take_delayed(s, t, x, m, s->step.u);
    if (niterations(s->model))
        COPY(s->step.u + nu(s->model) - niterations(s->model), s->given.u + nu(s->model) - niterations(s->model),
             niterations(s->model));
    return s->step.u;
}

INTERNAL const double *inputs_at(Instance *s, double t, const double *x, const double *m)
{
    const double *u = known_inputs_at(s, t, x, m);
    if (!niterations(s->model)) return u;
    if (u != s->step.u) COPY(s->step.u, u, nu(s->model));
    solve_iterations(s, t, x, m, s->given.u + nu(s->model) - niterations(s->model), s->step.u);
    return s->step.u;
}

INTERNAL const double *constraint_inputs_at(Instance *s, double t, const double *x, const double *m)
{
    return (constraints_need_s(s->model) ? inputs_at : known_inputs_at)(s, t, x, m);
}

/* Solve A s = b with the sparse factors, or with the dense ones where the pivots of the order failed. */
static void substitute_sparse(Instance *s, const double *b, double *unknowns)
{
    if (s->system.repivoted) {
        COPY(unknowns, b, nsystem(s->model));
        lu_substitute(nsystem(s->model), s->system.A, s->system.pivots, unknowns);
    } else {
        sparse_substitute(s, b, unknowns);
    }
}

INTERNAL void spread_entries(Instance *s)
{
    const int *rows = s->tables->entry_rows, *columns = s->tables->entry_columns;
    for (size_t i = 0; i < (size_t)nsystem(s->model) * nsystem(s->model); ++i) s->system.A[i] = 0;
    for (int e = 0; e < nentries(s->model); ++e)
        s->system.A[rows[e] + (size_t)columns[e] * nsystem(s->model)] = s->system.entries[e];
}

/* Factorise the sparse A by partial pivoting, as a dense matrix; 0 where it is singular. */
static int factorise_densely(Instance *s)
{
    spread_entries(s);
    s->system.repivoted = 1;
    s->system.open_column = lu_factorise(nsystem(s->model), s->system.A, s->system.pivots, s->system.column_norms);
    if (s->system.open_column == nsystem(s->model)) return 1;
    if (s->system.open_column >= nw(s->model)) s->system.open_column = -1;
    return 0;
}

/* Solve the sparse A s = b for `load`, along the pivots of the model. What they are worth here the backward error says:
   where it is more than rounding leaves, and refining the solution once does not help, partial pivoting takes over. */
static Outcome solve_sparse(Instance *s)
{
    s->system.repivoted = 0;
    sparse_factorise(s);
    substitute_sparse(s, s->system.load, s->system.unknowns);
    double error = sparse_residual(s, s->system.residual);
    if (error <= backward_error_met(s->model)) return DONE;
    if (error < REFINABLE) {
        substitute_sparse(s, s->system.residual, s->system.residual);
        for (int i = 0; i < nsystem(s->model); ++i) s->system.unknowns[i] += s->system.residual[i];
        for (int k = 0; k < nsystem(s->model); ++k)
            s->system.solution[k] = s->system.unknowns[s->tables->pivot_columns[k]];
        if (sparse_residual(s, s->system.residual) <= backward_error_refined(s->model)) return DONE;
    }
    if (!finite_all(s->system.entries, nentries(s->model))) return NOT_FINITE;
    if (!factorise_densely(s)) return SINGULAR;
    substitute_sparse(s, s->system.load, s->system.unknowns);
    return DONE;
}

INTERNAL void substitute_blocks(Instance *s, double *w)
{
    if (is_explicit(s->model)) return;
    if (is_sparse(s->model)) {
        COPY(s->system.load, w, nw(s->model));
        for (int i = nw(s->model); i < nsystem(s->model); ++i) s->system.load[i] = 0;
        substitute_sparse(s, s->system.load, s->system.residual);
        COPY(w, s->system.residual, nw(s->model));
        return;
    }
    if (nblocks(s->model) == 1) {
        lu_substitute(nw(s->model), s->system.A, s->system.pivots, w);
        return;
    }
    const double *factors = s->system.factors;
    const int *starts = s->tables->block_starts;
    for (int block = 0; block < nblocks(s->model); ++block) {
        const int *rows = s->tables->block_rows + starts[block];
        int n = starts[block + 1] - starts[block];
        for (int i = 0; i < n; ++i) s->system.block[i] = w[rows[i]];
        lu_substitute(n, factors, s->system.pivots + starts[block], s->system.block);
        for (int i = 0; i < n; ++i) w[rows[i]] = s->system.block[i];
        factors += (size_t)n * n;
    }
}

/* Factorise A, block by block; 0 where it is singular. */
static int factorise_blocks(Instance *s)
{
    if (nblocks(s->model) == 1) {
        s->system.open_column = lu_factorise(nw(s->model), s->system.A, s->system.pivots, s->system.column_norms);
        return s->system.open_column == nw(s->model);
    }
    double *factors = s->system.factors;
    const int *starts = s->tables->block_starts;
    for (int block = 0; block < nblocks(s->model); ++block) {
        const int *rows = s->tables->block_rows + starts[block];
        int n = starts[block + 1] - starts[block];
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                factors[i + (size_t)j * n] = s->system.A[rows[i] + (size_t)rows[j] * nw(s->model)];
        int reached = lu_factorise(n, factors, s->system.pivots + starts[block], s->system.column_norms);
        if (reached < n) {
            s->system.open_column = rows[reached];
            return 0;
        }
        factors += (size_t)n * n;
    }
    return 1;
}

INTERNAL Outcome accelerations(Instance *s, double t, const double *x, const double *u, const double *m, double *w)
{
    if (unsolved(s, u)) return UNSOLVED;
    if (nw(s->model) == 0) return DONE;
    s->system.open_column = -1;
    if (is_sparse(s->model)) {
        forget_factors(s);
        if (eval_dynamics(s, t, x, u, m, s->system.entries, s->system.load)) return NOT_FINITE;
        Outcome outcome = solve_sparse(s);
        if (outcome) return outcome;
        s->system.factors_time = t;
        COPY(w, s->system.unknowns, nw(s->model));
        return finite_all(w, nw(s->model)) ? DONE : NOT_FINITE;
    }
    if (eval_dynamics(s, t, x, u, m, s->system.A, w)) return NOT_FINITE;
    if (!is_explicit(s->model)) {
        if (nredundancies(s->model) && !determine_multipliers(s))
            return finite_all(s->system.A, nw(s->model) * nw(s->model)) ? SINGULAR : NOT_FINITE;
        if (!factorise_blocks(s)) return finite_all(s->system.A, nw(s->model) * nw(s->model)) ? SINGULAR : NOT_FINITE;
        substitute_blocks(s, w);
    }
    if (finite_all(w, nw(s->model))) return DONE;
    for (s->system.open_column = 0; fabs(w[s->system.open_column]) <= DBL_MAX;) ++s->system.open_column;
    return NOT_FINITE;
}

INTERNAL void clear_direction(const Instance *s, Direction *along)
{
    along->t = 0;
    for (int i = 0; i < nx(s->model); ++i) along->x[i] = 0;
    for (int i = 0; i < nu(s->model); ++i) along->u[i] = 0;
}

/* Change of w with (t, x, u) in a direction, by central differences. */
static Outcome difference(Instance *s, double t, const double *x, const double *u, const double *m,
                          const Direction *along, double *dw)
{
    double size = fmax(1, fmax(largest(x, nx(s->model)), largest(u, nu(s->model))));
    double far = fmax(fabs(along->t), fmax(largest(along->x, nx(s->model)), largest(along->u, nu(s->model))));
    for (int i = 0; i < nw(s->model); ++i) dw[i] = 0;
    if (!(far > 0)) return DONE;
    double distance = DIFFERENCE_DISTANCE * size / far;
    for (int sign = 1; sign >= -1; sign -= 2) {
        double step = sign * distance;
        for (int i = 0; i < nx(s->model); ++i) s->tangent.moved.x[i] = x[i] + step * along->x[i];
        for (int i = 0; i < nu(s->model); ++i) s->tangent.moved.u[i] = u[i] + step * along->u[i];
        Outcome outcome = accelerations(s, t + step * along->t, s->tangent.moved.x, s->tangent.moved.u, m,
                                        s->tangent.moved_w);
        if (outcome) return outcome;
        for (int i = 0; i < nw(s->model); ++i) dw[i] += s->tangent.moved_w[i] / (2 * step);
    }
    return DONE;
}

INTERNAL int acceleration_direction(Instance *s, double t, const double *x, const double *u, const double *m,
                                    const double *w, const Direction *along, double *dw)
{
    if (takes_differences(s->model)) {
        if (difference(s, t, x, u, m, along, dw)) return 1;
    } else if (is_sparse(s->model)) {
        if (eval_dynamics_tangent(s, t, x, u, m, s->system.unknowns, along->t, along->x, along->u, s->system.load))
            return 1;
        substitute_sparse(s, s->system.load, s->system.residual);
        COPY(dw, s->system.residual, nw(s->model));
    } else if (nw(s->model) > 0) {
        if (eval_dynamics_tangent(s, t, x, u, m, w, along->t, along->x, along->u, dw)) return 1;
        substitute_blocks(s, dw);
    }
    return 0;
}

INTERNAL int direction(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                       Direction *along, double *dw, double *change)
{
    if (niterations(s->model) && !solved_outside(s) && iteration_direction(s, t, x, u, m, w, along)) return 1;
    if (acceleration_direction(s, t, x, u, m, w, along, dw)) return 1;
    return nx(s->model) && eval_derivatives_tangent(s, t, x, u, m, w, along->t, along->x, along->u, dw, change);
}

INTERNAL int exposed_direction(Instance *s, double t, const double *x, const double *u, const double *m,
                               const double *w,
                               const Direction *along, const double *dw, double *dy)
{
    return nexposed(s->model) && eval_exposed_tangent(s, t, x, u, m, w, along->t, along->x, along->u, dw, dy);
}

INTERNAL Outcome right_hand_side(Instance *s, double t, const double *x, const double *m, double *w, double *dx)
{
    const double *u = inputs_at(s, t, x, m);
    Outcome outcome = accelerations(s, t, x, u, m, w);
    if (outcome) return outcome;
    s->now->evaluations += 1;
    if (nx(s->model)) {
        if (eval_derivatives(s, t, x, u, m, w, dx) || !finite_all(dx, nx(s->model))) return NOT_FINITE;
    }
    return DONE;
}

INTERNAL void know_derivatives(Instance *s)
{
    Head *head = &s->now->head;
    const double *u = inputs_at(s, head->end, s->head.x, s->head.m);
    head->k_known = nx(s->model) > 0 && !eval_derivatives(s, head->end, s->head.x, u, s->head.m, s->step.w, s->head.k)
        && finite_all(s->head.k, nx(s->model));
}

/* Assertions hold to what constraints are met to: a piston at its dead centre may be there, and not beyond by
   rounding. */
#define ASSERTION_MARGIN 1e-11

INTERNAL const char *assertion_text(Instance *s, int i)
{
    const char *message = s->tables->assertion_messages[i], *gap = strstr(message, "{}");
    if (!gap) return message;
    snprintf(s->checks.text, sizeof s->checks.text, "%.*s%.3g%s", (int)(gap - message), message, -s->checks.h[i],
             gap + 2);
    return s->checks.text;
}

INTERNAL Outcome check_assertions(Instance *s, double t, const double *x, const double *m, const double *w)
{
    if (nh(s->model)) {
        const double *u = inputs_at(s, t, x, m);
        if (unsolved(s, u)) return UNSOLVED;
        eval_assertions(s, t, x, u, m, w, s->checks.h);
        int end = -1;
        for (int i = 0; i < nh(s->model); ++i) {
            if (s->checks.h[i] >= -ASSERTION_MARGIN) continue;
            if (s->tables->endings[i]) {
                end = i;
                continue;
            }
            because(s, "assertion violated: %s", assertion_text(s, i));
            return ASSERTION;
        }
        if (end >= 0) {
            because(s, "the model ends the simulation: %s", assertion_text(s, end));
            return ENDED;
        }
    }
    return DONE;
}
