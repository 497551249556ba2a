/* Derivatives where a mechanism passes a position in which branches of its motion cross, as integrators of importers
   ask for them: anywhere, and off the constraints by what they tolerate.

   The constraints of such a position hardly tell the branches apart. At a distance d from it, rounding errors eps
   move a position that meets them by eps / d, its speeds by eps / d^2, and its accelerations by eps / d^3, while the
   motion along each branch is as smooth as anywhere. So derivatives near it are interpolated from places before it
   and behind it on the same branch, to which the present speeds lead. */

#include "branch_points.h"

#include "evaluate.h"
#include "functions.h"
#include "optimize.h"
#include "project.h"
#include "singular.h"
#include "vectors.h"

SMALL

/* Regularity of the constraints, relative to the largest so far, below which derivatives are interpolated, and that
   of the places from which they are; and below which constraints are met to rounding errors. */
#define INTERPOLATED_BELOW 4e-3
#define INTERPOLATED_FROM 1.2e-2
#define SHARPENED_BELOW 0.2

/* The fewest places at each side. */
enum { LEAST_PLACES = 3 };

/* Meet the constraints to rounding errors: Newton steps from states that are projected. */
static Outcome sharpen_states(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 2 };
    if (!sharpen(s, t, x, m)) return NOT_PROJECTED;
    const double *u = constraint_inputs_at(s, t, x, m);
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        if (eval_constraints(s, t, x, u, m, s->constraints.g, s->constraints.c, s->constraints.G)) return NOT_FINITE;
        if (!iteration && factorise_constraints(s, t, x, m, nl(s->model))) return NOT_PROJECTED;
        constraint_step(s, s->constraints.c, nl(s->model), s->constraints.dv);
        for (int i = 0; i < nv(s->model); ++i) x[nq(s->model) + i] += s->constraints.dv[i];
    }
    return DONE;
}

/* Where the speeds of x lead in the time `later`: states `there` that meet the constraints, with their derivatives.
   Returns how regular the constraints are, 0 where they cannot be met. */
static double look_along(Instance *s, double t, const double *x, const double *m, double later, double *there,
                         double *derivatives)
{
    int weakest;
    for (int i = 0; i < nv(s->model); ++i) s->constraints.dv[i] = later * x[nq(s->model) + i];
    COPY(there, x, nx(s->model));
    eval_displacement(s, t, x, s->constraints.dv, s->constraints.dq);
    for (int i = 0; i < nq(s->model); ++i) there[i] += s->constraints.dq[i];
    if (project(s, t + later, there, m) || sharpen_states(s, t + later, there, m)) return 0;
    return right_hand_side(s, t + later, there, m, s->step.w, derivatives) ? 0 : regularity(s, &weakest);
}

/* How long to follow the speeds of x to either side for constraints of the regularity `wanted`, where it is `regular` at
   x: it changes in proportion to the way. 0 where they lead to no such place nearby. */
static double way_to_regular(Instance *s, double t, const double *x, const double *m, double regular, double wanted)
{
    enum { TRIALS = 8 };
    double speed = largest(x + nq(s->model), nv(s->model)), way = 1e-3 / speed, longest = 0.1 / speed, growth, next;
    if (!(speed > 0)) return 0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        double before = look_along(s, t, x, m, -way, s->step.stage[1], s->step.stage[2]);
        double behind = look_along(s, t, x, m, way, s->step.stage[1], s->step.stage[2]), least = fmin(before, behind);
        if (least > wanted && least < 3 * wanted) return way;
        growth = fmax(fabs(before - regular), fabs(behind - regular)) / way;
        next = (regular + 1.5 * wanted) / growth;
        if (least == 0 || !(next < longest)) return 0;
        way = fmin(fmax(next, 0.1 * way), 10 * way);
    }
    return 0;
}

/* States that meet the constraints near x, their derivatives and w (s->step.w), from what places to both sides of x
   tell: forces, too, cannot be solved for where branches cross. Each is the value in the middle of the polynomial
   through all. The way to them begins at x itself: here its own speeds, but for the tolerance of an integrator, lead
   along the branch, and those that meet the constraints perhaps not. Returns 0 where there are too few places. */
static int interpolate_along(Instance *s, double t, const double *x, const double *m, double regular, double *met,
                             double *derivatives)
{
    double *there = s->step.stage[1], *k = s->step.stage[2], **sums_x = s->step.stage + 3,
        **sums = s->step.stage + 3 + PLACES;
    double wanted = INTERPOLATED_FROM * s->now->head.regularity;
    double way = way_to_regular(s, t, x, m, regular, wanted), weight;
    int n = 0, found = way > 0;
    for (; n < PLACES && found; n += found) {
        double *sum_w = s->branches.places_w + (size_t)n * nw(s->model);
        for (int i = 0; i < nx(s->model); ++i) sums_x[n][i] = sums[n][i] = 0;
        for (int i = 0; i < nw(s->model); ++i) sum_w[i] = 0;
        for (int side = -1; side <= 1 && found; side += 2) {
            found = look_along(s, t, x, m, side * (n + 1) * way, there, k) > 0.5 * wanted;
            for (int i = 0; i < nx(s->model); ++i) {
                sums_x[n][i] += there[i];
                sums[n][i] += k[i];
            }
            for (int i = 0; i < nw(s->model); ++i) sum_w[i] += s->step.w[i];
        }
    }
    if (n < LEAST_PLACES) return 0;
    for (int i = 0; i < nx(s->model); ++i) met[i] = derivatives[i] = 0;
    for (int i = 0; i < nw(s->model); ++i) s->step.w[i] = 0;
    weight = n / (n + 1.0);
    for (int place = 0; place < n; ++place) {
        for (int i = 0; i < nx(s->model); ++i) {
            met[i] += weight * sums_x[place][i];
            derivatives[i] += weight * sums[place][i];
        }
        for (int i = 0; i < nw(s->model); ++i)
            s->step.w[i] += weight * s->branches.places_w[(size_t)place * nw(s->model) + i];
        weight *= -(n - place - 1) / (n + place + 2.0);
    }
    return 1;
}

/* How quick the pull is beside the motion. Without it drift adds up; a stronger one makes the derivatives stiffer. */
#define PULL 1.0

/* States near x that meet the constraints, the derivatives and w (s->step.w) there: the nearest ones, or those on the
   branch. s->constraints.pull is the displacement that leads to them. */
static Outcome derivatives_on_constraints(Instance *s, double t, const double *x, const double *m, double *met,
                                          double *derivatives)
{
    Head *head = &s->now->head;
    int weakest;
    COPY(met, x, nx(s->model));
    Outcome outcome = project(s, t, met, m);
    for (int j = 0; j < nv(s->model); ++j) s->constraints.pull[j] = outcome ? 0 : s->constraints.led[j];
    if (is_constrained(s->model) && (!outcome || outcome == NOT_PROJECTED)) {
        double regular = outcome ? 0 : regularity(s, &weakest);
        head->regularity = fmax(head->regularity, regular);
        if (regular < INTERPOLATED_BELOW * head->regularity
            && interpolate_along(s, t, x, m, regular, met, derivatives)) {
            /* Here the nearest position may be on another branch, and far: speeds alone are led back. */
            for (int j = 0; j < nv(s->model); ++j) s->constraints.pull[j] = 0;
            return DONE;
        }
        if (!outcome && regular < SHARPENED_BELOW * head->regularity) outcome = sharpen_states(s, t, met, m);
    }
    return outcome ? outcome : right_hand_side(s, t, met, m, s->step.w, derivatives);
}

INTERNAL Outcome exchanged_accelerations(Instance *s, double t, const double *x, const double *u, const double *m,
                                         double *w)
{
    if (!nl(s->model) && !nquaternions(s->model)) return accelerations(s, t, x, u, m, w);
    /* As quick as positions change, but never slower than a tenth of the experiment, so that it is smooth at rest,
       too. */
    double least = 10 / fmax(default_stop_time(s->model) - default_start_time(s->model), 1e-6), rate = least * least;
    double *met = s->step.next_x, *derivatives = s->step.stage[0];
    Outcome outcome = derivatives_on_constraints(s, t, x, m, met, derivatives);
    if (outcome) return outcome;
    COPY(w, s->step.w, nw(s->model));
    for (int i = 0; i < nq(s->model); ++i) rate += derivatives[i] * derivatives[i] / (1 + met[i] * met[i]);
    rate = PULL * sqrt(rate);
    for (int j = 0; j < nv(s->model); ++j)
        w[j] = derivatives[nq(s->model) + j] + rate
            * (2 * (met[nq(s->model) + j] - x[nq(s->model) + j]) + rate * s->constraints.pull[j]);
    return finite_all(w, nw(s->model)) ? DONE : NOT_FINITE;
}

QUICK
