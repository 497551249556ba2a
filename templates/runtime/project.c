/* Projection of states onto the constraints: positions in the least norm of displacements, then speeds. In large
   loops the least norm is that of kinetic energy: displacements are along the forces of the constraints, for which the
   factors of A serve, so that no other matrix is needed. */

#include "project.h"

#include "evaluate.h"
#include "functions.h"
#include "iterate.h"
#include "linear.h"
#include "log.h"
#include "vectors.h"

/* Constraints are met where their residuals are this small beside positions; or this small, where rounding errors keep a
   further iteration from making them much smaller: more is lost where constraint forces show the way. */
#define MET_AT_ONCE 1e-14
#define MET_POSITIONS 1e-11
#define MET_ALONG_FORCES 1e-9

INTERNAL void normalise_quaternions(const Instance *s, double *q)
{
    for (int i = 0; i < nquaternions(s->model); ++i) {
        double *Q = q + s->tables->quaternions[i];
        double scale = 1 / sqrt(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
        for (int j = 0; j < 4; ++j) Q[j] *= scale;
    }
}

/* Keep the constraint that is met least as the cause. The first velocity rows belong to the position rows. */
static void explain_unmet(Instance *s, const double *residuals, int n)
{
    int worst = 0;
    for (int i = 1; i < n; ++i) if (!(fabs(residuals[i]) <= fabs(residuals[worst]))) worst = i;
    because(s, "the constraint '%s' cannot be met, it is off by %.3g: the mechanism may have reached a position where it "
            "locks or comes apart", s->tables->velocity_names[worst], residuals[worst]);
}

INTERNAL Outcome factorise_constraints(Instance *s, double t, const double *x, const double *m, int rows)
{
    if (projects_along_forces(s->model)) return accelerations(s, t, x, inputs_at(s, t, x, m), m, s->constraints.w);
    least_norm_factorise(&s->constraints.factors, rows,
                         rows - (rows < nl(s->model) ? nposition_redundancies(s->model) : nredundancies(s->model)),
                             s->constraints.G, nl(s->model));
    return DONE;
}

INTERNAL void constraint_step(Instance *s, const double *residuals, int rows, double *dv)
{
    if (!projects_along_forces(s->model)) {
        least_norm_step(&s->constraints.factors, residuals, dv);
        return;
    }
    double *w = s->constraints.w;
    for (int i = 0; i < nw(s->model); ++i)
        w[i] = i < nv(s->model) || i >= nv(s->model) + rows ? 0 : -residuals[i - nv(s->model)];
    substitute_blocks(s, w);
    COPY(dv, w, nv(s->model));
}

INTERNAL Outcome project(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 10, PATIENCE = 4 };
    for (int j = 0; j < nv(s->model); ++j) s->constraints.led[j] = 0;
    normalise_quaternions(s, x);
    if (!is_constrained(s->model)) return finite_all(x, nx(s->model)) ? DONE : NOT_FINITE;
    const double *u = constraint_inputs_at(s, t, x, m);
    double *v = x + nq(s->model), last = INFINITY;
    /* At a point close by: it does as a first one. */
    int factorised = projects_along_forces(s->model) && s->system.factors_time == t;
    for (int iteration = 0;; ++iteration) {
        if (constraints_need_s(s->model) && iteration) u = inputs_at(s, t, x, m);
        if (unsolved(s, u)) return UNSOLVED;
        if (eval_constraints(s, t, x, u, m, s->constraints.g, s->constraints.c, s->constraints.G)) return NOT_FINITE;
        double scale = 1 + largest(x, nq(s->model)), worst = largest(s->constraints.g, ng(s->model));
        if (worst <= MET_AT_ONCE * scale || (worst <= MET_POSITIONS * scale && worst > 0.25 * last)) break;
        if (!(worst < IMMENSE) || iteration == ITERATIONS) {
            explain_unmet(s, s->constraints.g, ng(s->model));
            return NOT_PROJECTED;
        }
        /* The matrix changes little: factorise again only where the first one does not do, or not soon enough. */
        if (!factorised || worst > 0.1 * last || iteration >= PATIENCE) {
            if (factorise_constraints(s, t, x, m, ng(s->model))) return NOT_PROJECTED;
            factorised = 1;
        }
        last = worst;
        constraint_step(s, s->constraints.g, ng(s->model), s->constraints.dv);
        eval_displacement(s, t, x, s->constraints.dv, s->constraints.dq);
        for (int i = 0; i < nq(s->model); ++i) x[i] += s->constraints.dq[i];
        for (int j = 0; j < nv(s->model); ++j) s->constraints.led[j] += s->constraints.dv[j];
        normalise_quaternions(s, x);
    }
    /* Velocity residuals are linear in v: a factorisation of slightly different positions converges quickly too. */
    if (((ng(s->model) < nl(s->model) && !projects_along_forces(s->model)) || !factorised)
        && factorise_constraints(s, t, x, m, nl(s->model))) return NOT_PROJECTED;
    last = INFINITY;
    for (int iteration = 0;; ++iteration) {
        double scale = 1 + largest(v, nv(s->model)), worst = largest(s->constraints.c, nl(s->model));
        if (worst <= MET_AT_ONCE * scale || (worst <= MET_ALONG_FORCES * scale && worst > 0.25 * last)) break;
        if (!(worst < IMMENSE) || iteration == ITERATIONS) {
            explain_unmet(s, s->constraints.c, nl(s->model));
            return NOT_PROJECTED;
        }
        if ((worst > 0.1 * last || iteration >= PATIENCE) && factorise_constraints(s, t, x, m, nl(s->model)))
            return NOT_PROJECTED;
        last = worst;
        constraint_step(s, s->constraints.c, nl(s->model), s->constraints.dv);
        for (int j = 0; j < nv(s->model); ++j) v[j] += s->constraints.dv[j];
        if (projects_along_forces(s->model)) {
            if (eval_constraints(s, t, x, u, m, s->constraints.g, s->constraints.c, NULL)) return NOT_FINITE;
            continue;
        }
        for (int j = 0; j < nv(s->model); ++j)
            for (int i = 0; i < nl(s->model); ++i)
                s->constraints.c[i] += s->constraints.G[i + j * nl(s->model)] * s->constraints.dv[j];
    }
    return finite_all(x, nx(s->model)) ? DONE : NOT_FINITE;
}

INTERNAL Outcome project_along_forces(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 2 };
    double *w = s->step.w, last = INFINITY;
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->constraints.g, s->constraints.c,
                             s->constraints.G)) return NOT_FINITE;
        double worst = largest(s->constraints.g, ng(s->model));
        if (!(worst < last)) break;
        last = worst;
        for (int i = 0; i < nw(s->model); ++i)
            w[i] = i < nv(s->model) || i >= nv(s->model) + ng(s->model) ? 0 : -s->constraints.g[i - nv(s->model)];
        substitute_blocks(s, w);
        eval_displacement(s, t, x, w, s->constraints.dq);
        for (int i = 0; i < nq(s->model); ++i) x[i] += s->constraints.dq[i];
        normalise_quaternions(s, x);
    }
    last = INFINITY;
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->constraints.g, s->constraints.c,
                             s->constraints.G)) return NOT_FINITE;
        double worst = largest(s->constraints.c, nl(s->model));
        if (!(worst < last)) break;
        last = worst;
        for (int i = 0; i < nw(s->model); ++i) w[i] = i < nv(s->model) ? 0 : -s->constraints.c[i - nv(s->model)];
        substitute_blocks(s, w);
        for (int i = 0; i < nv(s->model); ++i) x[nq(s->model) + i] += w[i];
    }
    return DONE;
}

/* The same where no jacobian is known, from the factors of A: speeds that take away residuals of about 1, of all
   constraints, are the larger the less one of them adds to the others. `weakest` becomes the one on which the
   greatest impulse acts. */
static double regularity_along_forces(Instance *s, int *weakest)
{
    double *w = s->constraints.w;
    *weakest = 0;
    for (int i = 0; i < nw(s->model); ++i) w[i] = i < nv(s->model) ? 0 : (i % 2 ? 1 : -1) * (1 + 0.1 * (i % 7));
    substitute_blocks(s, w);
    for (int i = 1; i < nl(s->model); ++i)
        if (fabs(w[nv(s->model) + i]) > fabs(w[nv(s->model) + *weakest])) *weakest = i;
    double most = largest(w, nv(s->model));
    return most > 0 && most <= IMMENSE ? 1 / most : 0;
}

INTERNAL double regularity(Instance *s, int *weakest)
{
    if (projects_along_forces(s->model)) return regularity_along_forces(s, weakest);
    const LeastNorm *f = &s->constraints.factors;
    double least = INFINITY, most = 0;
    int independent = f->rows - (f->rows < nl(s->model) ? nposition_redundancies(s->model) : nredundancies(s->model));
    if (f->rank < independent) {
        *weakest = f->pivot[f->rank];
        return 0;
    }
    for (int k = 0; k < independent; ++k) {
        double added = fabs(f->qr[(size_t)k * f->cols + k]) / f->scale[f->pivot[k]];
        if (added < least) {
            least = added;
            *weakest = f->pivot[k];
        }
        most = fmax(most, added);
    }
    return least / most;
}

INTERNAL double regularity_at(Instance *s, double t, const double *x, const double *m, int *weakest)
{
    *weakest = 0;
    if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->constraints.g, s->constraints.c,
                         s->constraints.G)) return INFINITY;
    if (factorise_constraints(s, t, x, m, nl(s->model))) return 0;
    return regularity(s, weakest);
}
