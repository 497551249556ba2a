/* Initialisation: fixed start values hold, guesses give way in the least norm. */

#include "initialise.h"

#include <string.h>

#include "evaluate.h"
#include "freshness.h"
#include "functions.h"
#include "iterate.h"
#include "linear.h"
#include "log.h"
#include "optimize.h"
#include "parts.h"
#include "project.h"
#include "singular.h"
#include "switches.h"
#include "vectors.h"

SMALL

/* Equations of initialisation are met where residuals are this small beside their terms. They are solved on, to what
   rounding errors are, but in stages that leave some out: later ones solve these again. */
#define START_MET 1e-9
#define START_ROUNDING 1e-16

/* What constraints that were dropped as dependent may be off by, beside positions: a tenth of a micrometre in a metre. */
#define REDUNDANT_MET 1e-7

/* So near, relatively, are the starts with either mode of a switch that starts on its crossing. */
#define SAME_START 1e-6

static int norm_finite(const Instance *s, const double *r, double *norm)
{
    double sum = 0;
    for (int i = first_row(s); i < rows_end(s); ++i) sum += r[i] * r[i];
    *norm = sqrt(sum);
    return sum <= IMMENSE;
}

INTERNAL int start_residual(Instance *s, const double *X, double *r, double *J, double *norm)
{
    double t = s->now->latch_t;
    if (eval_initial(s, t, X, known_inputs_at(s, t, X, s->latch.m), s->latch.m, r, J)) return 0;
    if (s->initial.left_out) leave_out(s, r);
    return norm_finite(s, r, norm);
}

static int residuals_below(const Instance *s, double tolerance)
{
    for (int i = first_row(s); i < rows_end(s); ++i)
        if (!(fabs(s->initial.r[i]) <= tolerance * s->initial.r_scale[i])) return 0;
    return 1;
}

/* Try X + alpha dX for alpha = 1, 1/2, ... until the residuals shrink. */
static int line_search(Instance *s, double *norm, int halvings)
{
    double alpha = 1;
    for (int trial = 0; trial <= halvings; ++trial, alpha *= 0.5) {
        double next;
        for (int j = 0; j < nunknowns(s->model); ++j)
            s->initial.X_trial[j] = s->initial.X[j] + alpha * s->initial.dX[j];
        normalise_quaternions(s, s->initial.X_trial);
        if (start_residual(s, s->initial.X_trial, s->initial.r_trial, s->initial.J, &next)
            && next < (1 - 1e-4 * alpha) * *norm) {
            COPY(s->initial.X, s->initial.X_trial, nunknowns(s->model));
            COPY(s->initial.r, s->initial.r_trial, nequations(s->model));
            *norm = next;
            return 1;
        }
    }
    return 0;
}

/* The step in unknowns as they are; what holds does not move, by rounding neither. A search for positions goes no further
   than about a radian or a metre at once: beyond that, what it goes along says nothing of where a loop closes. */
static void unscale_step(Instance *s)
{
    double most = 1;
    for (int j = 0; j < nunknowns(s->model); ++j)
        s->initial.dX[j] = holds(s, j) ? 0 : s->initial.dX[j] / s->tables->weights[j];
    if (s->initial.left_out < LAST_STAGE) return;
    for (int j = 0; j < nq(s->model); ++j)
        most = fmax(most, fabs(s->initial.dX[j]) / fmax(1, 0.1 * fabs(s->initial.X[j])));
    for (int j = 0; j < nunknowns(s->model); ++j) s->initial.dX[j] /= most;
}

/* Damped Gauss-Newton from the present X, for the parts that are looked at. Returns 1 where all equations are met. */
static int solve_equations(Instance *s)
{
    enum { ITERATIONS = 100, HALVINGS = 8, DAMPINGS = 12 };
    double norm;
    if (!start_residual(s, s->initial.X, s->initial.r, s->initial.J, &norm)) return 0;
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        double moved = 0;
        /* A line search leaves the Jacobian of its last trial behind. */
        if (iteration && !start_residual(s, s->initial.X, s->initial.r, s->initial.J, &norm)) return 0;
        scale_residuals(s);
        if (residuals_below(s, s->initial.left_out ? START_MET : START_ROUNDING)) return 1;
        scale_columns(s);
        least_norm_steps(s);
        unscale_step(s);
        for (int j = 0; j < nunknowns(s->model); ++j)
            moved = fmax(moved, fabs(s->initial.dX[j]) / (1 + fabs(s->initial.X[j])));
        int met = residuals_below(s, START_MET);
        if (line_search(s, &norm, met ? 0 : HALVINGS)) {
            if (moved < 1e-15) return residuals_below(s, START_MET);
            continue;
        }
        if (met) return 1;
        int better = 0;
        double mu = 1e-6;
        for (int damping = 0; damping < DAMPINGS && !better; ++damping, mu *= 10) {
            if (!start_residual(s, s->initial.X, s->initial.r, s->initial.J, &norm)) return 0;
            scale_columns(s);
            if (!damped_step(s, mu)) continue;
            unscale_step(s);
            better = line_search(s, &norm, 0);
        }
        if (!better) return 0;
    }
    scale_residuals(s);
    return residuals_below(s, START_MET);
}

/* The greatest of n entries that is not marked yet, or -1 where none exceeds `least`; it is marked. */
static int next_greatest(const double *values, int n, double least, int *marks)
{
    int best = -1;
    for (int i = 0; i < n; ++i)
        if (!marks[i] && !(values[i] <= least) && (best < 0 || values[i] > values[best])) best = i;
    if (best >= 0) marks[best] = 1;
    return best;
}


INTERNAL const char *violated_assertion(Instance *s)
{
    double t = s->now->latch_t;
    for (int i = 0; i < nw(s->model); ++i) s->step.w[i] = NAN;
    const double *u = inputs_at(s, t, s->latch.x, s->latch.m);
    if (!nh(s->model) || eval_assertions(s, t, s->latch.x, u, s->latch.m, s->step.w, s->checks.h)) return NULL;
    for (int i = 0; i < nh(s->model); ++i) if (s->checks.h[i] < 0) return assertion_text(s, i);
    return NULL;
}

INTERNAL double next_random(unsigned long long *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

/* Where X ends with iteration variables, let them agree with the rest of it, if they can. */
static void start_iterations(Instance *s)
{
    if (!nstart_iterations(s->model)) return;
    const int first = nunknowns(s->model) - niterations(s->model);
    const double *u = inputs_at(s, s->now->latch_t, s->initial.X, s->latch.m);
    if (unsolved(s, u)) return;
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k)
            if (part.unknowns[k] >= first)
                s->initial.X[part.unknowns[k]] = u[iterations_begin(s->model) + part.unknowns[k] - first];
}

/* A fixed start value that is no orientation would become one that nobody gave. */
static int fixed_quaternions_are_units(Instance *s)
{
    for (int k = 0; k < nquaternions(s->model); ++k) {
        int first = s->tables->quaternions[k], held = 1;
        const double *Q = s->initial.X + first;
        for (int j = 0; j < 4; ++j) held &= s->tables->fixed[first + j];
        double length = sqrt(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
        if (!held || fabs(length - 1) <= 1e-4) continue;
        because(s, "the fixed start values of the quaternion from '%s' on have the length %.6g: divide them by it, an "
                "orientation has the length 1", s->tables->unknown_names[first], length);
        return 0;
    }
    return 1;
}

/* Put the unknowns of the parts that are looked at where an attempt begins: first at the guess, then around it. */
static void begin_attempt(Instance *s, int attempt, unsigned long long *seed)
{
    if (eval_guess(s, s->initial.dX)) return;
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k) {
            int j = part.unknowns[k];
            double random = attempt ? next_random(seed) : 0;
            s->initial.X[j] = s->initial.dX[j];
            if (attempt && !holds(s, j))
                s->initial.X[j] += random * (0.2 + 0.1 * attempt) * (1 + fabs(s->initial.X[j]));
        }
    normalise_quaternions(s, s->initial.X);
    start_iterations(s);
}

/* Positions first, then speeds with these held, then all: so loops are closed in the same way whatever the speeds
   are. What a stage alone cannot meet is left to the next one. Returns 1 where all equations are met. */
static int solve_in_stages(Instance *s)
{
    for (int left_out = LAST_STAGE; left_out > 0; --left_out) {
        int some = 0;
        for (int i = first_row(s); i < rows_end(s); ++i) some |= s->tables->equation_stages[i] == LAST_STAGE - left_out;
        if (!some) continue;
        COPY(s->initial.X_before, s->initial.X, nunknowns(s->model));
        s->initial.left_out = left_out;
        int met = solve_equations(s);
        s->initial.left_out = 0;
        if (!met) COPY(s->initial.X, s->initial.X_before, nunknowns(s->model));
    }
    return solve_equations(s);
}

/* Attempts from this one to the last; where all fail, go as near as may be from the guess itself. */
static int solve_part(Instance *s, int attempt, int last)
{
    unsigned long long seed = 88172645463325252ULL;
    for (; attempt <= last; ++attempt) {
        begin_attempt(s, attempt, &seed);
        if (solve_in_stages(s)) return 1;
    }
    begin_attempt(s, 0, &seed);
    solve_equations(s);
    return 0;
}

/* Say why the equations have no value where the search begins. */
static void blame_start(Instance *s)
{
    for (int i = 0; i < nx(s->model); ++i)
        if (!(fabs(s->initial.X[i]) <= IMMENSE)) {
            because(s, "the start value of '%s' is not finite: check start values and parameters",
                    s->tables->unknown_names[i]);
            return;
        }
    take_start(s);
    const char *violated = violated_assertion(s);
    if (violated) { /* such as a parameter that must not be 0 */
        because(s, "assertion violated: %s", violated);
        return;
    }
    because(s, "initialisation fails: the equations have no finite value; check start values and parameters");
    for (int i = 0; i < nequations(s->model); ++i)
        if (!(fabs(s->initial.r[i]) <= IMMENSE)) {
            append(s, ", first in '%s'", s->tables->equation_names[i]);
            return;
        }
}

/* Is a part among those that are not met? */
static int is_unmet(const Instance *s, int part)
{
    for (int i = s->tables->part_rows[part]; i < s->tables->part_rows[part + 1]; ++i) if (s->initial.unmet[i]) return 1;
    return 0;
}

/* Can the parts that are not met be met, from X as it is, or with attempts from the guess? Of a start value that is
   let go, only the part that it belongs to counts. */
static int can_be_met(Instance *s, int attempts)
{
    int met = 1;
    for (int k = 0; k < nparts(s->model) && met; ++k) {
        int counts = is_unmet(s, k), belongs = s->initial.released <= 0;
        for (int i = s->tables->part_columns[k]; i < s->tables->part_columns[k + 1]; ++i)
            belongs |= s->tables->part_unknowns[i] == s->initial.released - 1;
        if (!counts || !belongs) continue;
        look_at_parts(s, k, k + 1);
        met = attempts ? solve_part(s, 0, attempts) : solve_equations(s);
    }
    look_at_parts(s, 0, nparts(s->model));
    return met;
}

/* Would the equations be met if the start value of an unknown, or each of them, were a guess? */
static int meets_without(Instance *s, int released)
{
    enum { RESTARTS = 2 };
    s->initial.released = released;
    int met = can_be_met(s, RESTARTS);
    s->initial.released = 0;
    return met;
}

/* Mark the unknowns that have an effect on equations that are not met, with modes as they are. */
static void mark_effects(const Instance *s, int *marks)
{
    for (int j = 0; j < nunknowns(s->model); ++j) marks[j] = 0;
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k)
            for (int i = 0; i < part.rows; ++i)
                if (s->initial.unmet[part.row + i] && fabs(part.J[i + (size_t)k * part.rows]) > 1e-12)
                    marks[part.unknowns[k]] = 1;
}

/* A switch that keeps what is sought from having an effect on equations that are not met, such as that of a limiter at
   its limit: in its other mode they would be met. What it hides is said. */
static int blame_switch(Instance *s)
{
    double norm;
    mark_effects(s, s->initial.effects);
    for (int k = 0; k < nm(s->model); ++k) {
        double mode = s->latch.m[k];
        int shown = -1, met = 0;
        s->latch.m[k] = 1 - mode;
        COPY(s->initial.X, s->initial.X_blamed, nunknowns(s->model));
        if (start_residual(s, s->initial.X, s->initial.r, s->initial.J, &norm)) {
            mark_effects(s, s->initial.choices);
            for (int j = nunknowns(s->model) - 1; j >= 0; --j)
                if (s->initial.choices[j] && !s->initial.effects[j] && !s->tables->fixed[j]) shown = j;
        }
        if (shown >= 0) met = can_be_met(s, 0);
        s->latch.m[k] = mode;
        if (!met) continue;
        append(s, "; '%s' is in the way: in its other mode %s = %.6g would meet them, and as it is this has no effect; "
               "change its limits, what is asked for, or start closer", s->tables->switch_names[k],
               s->tables->unknown_names[shown], without_rounding(s->initial.X[shown]));
        return 1;
    }
    return 0;
}

/* Say which equations are not met at the best point, X, by how much, and what is in their way. At the best point the
   residual is orthogonal to whatever may move: only what is fixed, and has a part along it, can make it less. */
static void blame_equations(Instance *s)
{
    enum { SHOWN = 6 };
    const double met = START_MET;
    double norm, influence;
    static const char of_start[] = "start value of ";
    int unmet = 0, held = 0, shown = 0, starts = 0, which, suspects[SHOWN], guilty = 0;
    if (!start_residual(s, s->initial.X, s->initial.r, s->initial.J, &norm)) {
        blame_start(s);
        return;
    }
    scale_residuals(s);
    for (int i = 0; i < nequations(s->model); ++i) {
        s->initial.r_trial[i] = fabs(s->initial.r[i]) / s->initial.r_scale[i];
        s->initial.unmet[i] = !(s->initial.r_trial[i] <= met);
        unmet += s->initial.unmet[i];
        starts += s->initial.unmet[i] && !strncmp(s->tables->equation_names[i], of_start, sizeof of_start - 1);
        s->initial.marks[i] = 0;
    }
    because(s, "initialisation fails: %d of %d equations cannot be met", unmet, nequations(s->model));
    while (shown < SHOWN
           && (which = next_greatest(s->initial.r_trial, nequations(s->model), met, s->initial.marks)) >= 0)
        append(s, "%s '%s' is off by %.3g", shown++ ? "," : ":", s->tables->equation_names[which],
               fabs(s->initial.r[which]) * s->tables->equation_sizes[which]);
    if (unmet > shown) append(s, " and %d more", unmet - shown);
    influence = along_residuals(s, norm);
    for (int k = 0; k < nquaternions(s->model); ++k) { /* a quaternion's length is no start value */
        const double *Q = s->initial.X + s->tables->quaternions[k];
        double *part = s->initial.dX + s->tables->quaternions[k], along = 0;
        for (int i = 0; i < 4; ++i) along += part[i] * Q[i];
        for (int i = 0; i < 4; ++i) part[i] -= along * Q[i];
    }
    for (int j = 0; j < nunknowns(s->model); ++j) {
        s->initial.dX[j] = s->tables->fixed[j] ? fabs(s->initial.dX[j]) : 0;
        held += s->initial.dX[j] > 1e-6 * (1 + influence);
    }
    for (int i = 0; i < held && i < SHOWN; ++i) {
        which = 0;
        for (int j = 1; j < nunknowns(s->model); ++j) if (s->initial.dX[j] > s->initial.dX[which]) which = j;
        suspects[i] = which;
        s->initial.dX[which] = 0;
    }
    take_start(s);
    const char *violated = violated_assertion(s);
    if (violated) append(s, "; %s", violated);
    if (!held && violated) return;
    COPY(s->initial.X_blamed, s->initial.X, nunknowns(s->model));
    if (blame_switch(s)) return;
    if (!held) {
        if (starts) append(s, "; what is prescribed contradicts %s, let %s be a guess, or change it",
                           starts > 1 ? "these start values" : "this start value", starts > 1 ? "them" : "it");
        else append(s, "; no start value is in the way: check the parameters in these equations, or start closer");
        return;
    }
    for (int i = 0; i < held && i < SHOWN; ++i)
        if (meets_without(s, suspects[i] + 1)) suspects[guilty++] = suspects[i];
    int several = !guilty;
    if (several && !meets_without(s, ALL_RELEASED)) {
        if (!violated)
            append(s, "; no fixed start value is in the way, they cannot be met with all of these as guesses either: check "
                      "lengths and other parameters in these equations, or start closer");
        return;
    }
    if (several) guilty = held < SHOWN ? held : SHOWN;
    append(s, "; these fixed start values over-determine it, let %s, or change %s",
           several ? "several of them be guesses" : "one of them be a guess", several ? "them" : "it");
    if (eval_guess(s, s->initial.X)) return;
    for (int i = 0; i < guilty; ++i)
        append(s, "%s %s = %.9g", i ? "," : ":", s->tables->unknown_names[suspects[i]],
               without_rounding(s->initial.X[suspects[i]]));
    if (several && held > guilty) append(s, " and %d more", held - guilty);
}

/* All parts from the guess; where that fails each for itself, so that none has to wait for another one, and those that
   cannot be met leave the others alone. */
static int solve_from_guess(Instance *s)
{
    enum { RESTARTS = 20 };
    unsigned long long seed = 0;
    int unmet = 0;
    if (eval_guess(s, s->initial.X) || !fixed_quaternions_are_units(s)) return 0;
    begin_attempt(s, 0, &seed);
    if (!nequations(s->model) || solve_in_stages(s)) return 1;
    for (int k = 0; k < nparts(s->model); ++k) {
        look_at_parts(s, k, k + 1);
        unmet += !solve_part(s, nparts(s->model) == 1, RESTARTS);
    }
    look_at_parts(s, 0, nparts(s->model));
    if (unmet) blame_equations(s);
    return !unmet;
}

INTERNAL void take_start(Instance *s)
{
    COPY(s->latch.x, s->initial.X, nx(s->model));
    for (int i = 0; i < nfree(s->model); ++i)
        s->given.P[s->tables->free_parameters[i]] = s->initial.X[nx(s->model) + i];
    derive(s);
    COPY(s->given.u + nu(s->model) - nstart_iterations(s->model),
         s->initial.X + nunknowns(s->model) - nstart_iterations(s->model),
         nstart_iterations(s->model));
}

/* Do so many of the constraints as ever follow from the others? */
static Outcome check_rank(Instance *s, double t, const double *x, const double *m)
{
    LeastNorm *f = &s->constraints.factors;
    int rank = nl(s->model) - nredundancies(s->model);
    if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->constraints.g, s->constraints.c,
                         s->constraints.G)) return NOT_FINITE;
    least_norm_factorise(f, nl(s->model), nl(s->model), s->constraints.G, nl(s->model));
    double added = f->rank > rank ? fabs(f->qr[(size_t)rank * f->cols + rank]) : 0;
    if (added <= REDUNDANT_MET) return DONE;
    because(s, "%d of the constraints were redundant when the FMU was built, but '%s' is not with the present parameters "
            "(%.3g of it does not follow from the others): rebuild the FMU with these", nredundancies(s->model),
            s->tables->velocity_names[f->pivot[rank]], added);
    return ASSERTION;
}

/* The first dropped constraint that does not hold, -1 where all do. */
static int violated_redundant(Instance *s, double t, const double *x, const double *m)
{
    if (ne(s->model)) eval_redundant(s, t, x, inputs_at(s, t, x, m), m, s->checks.e);
    for (int i = 0; i < ne(s->model); ++i)
        if (!(fabs(s->checks.e[i]) <= REDUNDANT_MET * (1 + largest(x, nq(s->model))))) return i;
    return -1;
}

INTERNAL Outcome check_redundant(Instance *s, double t, const double *x, const double *m)
{
    int i = violated_redundant(s, t, x, m);
    if (i >= 0) {
        because(s, "'%s' was dropped as redundant when the FMU was built, but does not hold with the present "
                "parameters (off by %.3g): rebuild the FMU with these", s->tables->redundant_names[i], s->checks.e[i]);
        return ASSERTION;
    }
    return nredundancies(s->model) ? check_rank(s, t, x, m) : DONE;
}

INTERNAL Outcome check_still_redundant(Instance *s, double t, const double *x, const double *m)
{
    int i = violated_redundant(s, t, x, m);
    if (i < 0) return DONE;
    because(s, "'%s' does not hold any more (off by %.3g): what it ties is moved from two sides that contradict each "
            "other; leave one of them to a force", s->tables->redundant_names[i], s->checks.e[i]);
    return ASSERTION;
}

/* A switch that has changed there and back starts on its crossing where rounding decides: then the start is the same with
   either mode. Returns one that does not, -1 where all do. */
static int find_unsettled(const Instance *s)
{
    int same = 1;
    for (int j = 0; j < nunknowns(s->model); ++j)
        if (!(fabs(s->initial.X[j] - s->initial.X_last[j]) <= SAME_START * (1 + fabs(s->initial.X[j])))) same = 0;
    for (int i = 0; !same && i < nm(s->model); ++i)
        if (s->initial.mode_changes[i] > 1 && disagrees(s->head.c[i], s->latch.m[i])) return i;
    return -1;
}

/* Solve for consistent states at the start time, with delayed signals as they are known; where the states are singular,
   `leaving` puts them on a branch. */
static int find_start_once(Instance *s, int leaving)
{
    enum { ROUNDS = 20 };
    State *now = s->now;
    double t = now->latch_t;
    COPY(s->given.P, s->given.start, npar(s->model));
    derive(s);
    begin_iterations(s);
    now->u_time = t;
    for (int i = 0; i < nm(s->model); ++i) s->latch.m[i] = 0;
    if (nheld(s->model) && eval_held(s, s->latch.m + nm(s->model))) return 0;
    COPY(s->events.m_before, s->latch.m, ndiscrete(s->model));
    /* Modes at the guess. Accelerations may not exist there: then the first round does with modes 0. */
    if (nm(s->model) && !eval_guess(s, s->initial.X)) {
        take_start(s);
        normalise_quaternions(s, s->latch.x);
        forget_flips(s);
        if (update_modes(s, t, s->latch.x, s->latch.m, s->head.c))
            for (int i = 0; i < nm(s->model); ++i) s->latch.m[i] = 0;
    }
    int settled = 0;
    for (int i = 0; i < nm(s->model); ++i) s->initial.mode_changes[i] = 0;
    for (int round = 0; round < ROUNDS && !settled; ++round) {
        COPY(s->given.P, s->given.start, npar(s->model));
        derive(s);
        begin_iterations(s);
        COPY(s->initial.X_last, s->initial.X, nunknowns(s->model));
        if (!solve_from_guess(s)) return 0;
        take_start(s);
        if (leaving) leave_singular_position(s);
        COPY(s->initial.m_last, s->latch.m, ndiscrete(s->model));
        if (nheld(s->model)) {
            if (eval_held(s, s->events.m_before + nm(s->model))) return 0;
            for (int i = 0; i < nw(s->model); ++i) s->events.w_before[i] = 0;
        }
        forget_flips(s);
        /* A switch that has changed there and back stays, if it starts on its crossing: see find_unsettled. */
        for (int i = 0; i < nm(s->model); ++i)
            if (s->initial.mode_changes[i] > 1) s->events.flipped[i] = STAYS;
        Outcome outcome = agree(s, t, s->latch.x, s->latch.m, s->head.c);
        for (int i = 0; i < nm(s->model); ++i) s->initial.mode_changes[i] += s->initial.m_last[i] != s->latch.m[i];
        if (outcome) {
            explain_start(s, outcome);
            return 0;
        }
        int unsettled = find_unsettled(s);
        if (unsettled >= 0) {
            because(s, "no start is found in which %s settles: with either mode the other one applies; give other start "
                    "values", s->tables->switch_names[unsettled]);
            return 0;
        }
        settled = !memcmp(s->initial.m_last, s->latch.m, (size_t)ndiscrete(s->model) * sizeof(double));
    }
    if (!settled) {
        because(s, "the switches of the model do not settle: with either mode the other one applies; start away from the "
                "point where they change");
        return 0;
    }
    /* Events of the start follow its initialisation. */
    forget_flips(s);
    Outcome outcome = nheld(s->model) ? settle_events(s, t, s->latch.x, s->latch.m, s->head.c, s->latch.m) : DONE;
    if (!outcome)
        outcome = accelerations(s, t, s->latch.x, inputs_at(s, t, s->latch.x, s->latch.m), s->latch.m, s->latch.w);
    if (outcome || !finite_all(s->latch.x, nx(s->model))) {
        explain_start(s, outcome ? outcome : NOT_FINITE);
        return 0;
    }
    if (check_redundant(s, t, s->latch.x, s->latch.m)) return 0;
    if (check_assertions(s, t, s->latch.x, s->latch.m, s->latch.w)) return 0;
    COPY(s->latch.u, inputs_at(s, t, s->latch.x, s->latch.m), nu(s->model));
    COPY(s->given.u + iterations_begin(s->model), s->latch.u + iterations_begin(s->model), niterations(s->model));
    now->start_stale = 0;
    latch_moved(s, 1);
    s->latch.w_fresh = 1;
    return 1;
}

INTERNAL int find_start(Instance *s, int leaving)
{
    enum { ROUNDS = 100 };
    if (!ndelays(s->model)) return find_start_once(s, leaving);
    s->now->history_known = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        if (!find_start_once(s, leaving)) return 0;
        start_changed(s);
        if (eval_delayed(s, s->now->latch_t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, s->delays.signals))
            return 0;
        int same = 1;
        for (int i = 0; i < ndelays(s->model); ++i) {
            double *known = s->given.u + ninputs(s->model) + i, change = fabs(s->delays.signals[i] - *known);
            if (!(change <= 1e-13 * (1 + fabs(*known)))) same = 0;
            *known = s->delays.signals[i];
        }
        if (!finite_all(s->delays.signals, ndelays(s->model))) break;
        if (!same) continue;
        s->now->start_stale = 0;
        return 1;
    }
    because(s, "a signal that is delayed follows from itself at the start ('%s'): before the start it is what it is then; "
            "let a state lie in the loop, or let the loop begin with a value of its own", s->tables->delay_names[0]);
    return 0;
}

INTERNAL int initialise(Instance *s) { return find_start(s, 1); }

QUICK
