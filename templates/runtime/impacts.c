/* Impacts and closed points: impulses, or forces, that push and never pull, with Coulomb's friction.

   Over an instant, A w = b says A [jumps of speeds; impulses of constraints] = 0 but in the rows of impulses, whose
   values are given. So its factors tell how all speeds answer to an impulse of 1 at each point, and with velocities
   V v of points how all velocities do: `across`. Forces of closed points do the same to the rates of these velocities.

   Impulses f >= 0 of points, velocities y = free + across f >= 0, one of them 0 at each, with friction in its cone, are
   found by principal pivoting, the least index first (Murty, Linear Algebra and its Applications 7 (1974), 65-108): a
   point is free or held along its normal, and sticks or slides in a direction along its surface. Where no order of
   pivots ends, there is no solution, or none that is found. Points give way a little, so that those that say the same
   share what there is.

   An impact goes on as normal impulses grow (Routh; Stronge, Impact Mechanics, 2000): a point slides in the direction in
   which it does, until it stops, and then sticks or slides elsewhere. So what is solved for is taken up to where some
   point stops or has turned, and is solved for again (Uchida, Sherman and Delp, Proc. R. Soc. A 471 (2015) 20140859).

   Vectors of points have three elements for each, also where nothing rubs. */

#include "impacts.h"

#include <math.h>
#include <string.h>

#include "evaluate.h"
#include "functions.h"
#include "iterate.h"
#include "linear.h"
#include "log.h"
#include "optimize.h"
#include "project.h"
#include "vectors.h"

SMALL

/* What points give way by, relative to what they move, so that those that say the same share; what counts as 0 beside the
   greatest impulse and velocity: more than points that give way differ by. */
#define GIVES 1e-8
#define NOTHING 1e-11
/* Where points that stick share what leaves a cone: part of the greatest friction up to which they then take, and a change
   of forces, beside what was asked for, that shows that they share nothing. */
#define WELL_WITHIN 0.99
#define UNSHARED 1e-6
/* What points give way by, as a part of that, where forces stay as they are with it, to this part of the greatest: where
   points share nothing, rounding moves them by 1e-16, else by 1e-16 / (GIVES STIFFER), and hardly ever by less than 1e-8.
   What rounding may move forces by that points share. */
#define STIFFER 1e-4
#define UNCHANGED 1e-12
#define ROUNDED 1e-6
/* Forces that are none [N], and rates at which points at rest do not come nearer [m/s2]. */
#define PRESSING 1e-12
#define NEARING 1e-9
/* Part of that rate up to which a force is none that moves anything: an event opens a point that presses with less, and
   lets slide what sticks with less to spare. This must be more than rounding: what watches points between events says
   once that a force has come to its end. */
#define LET_GO 0.1
/* Part of the greatest friction by which it may be exceeded. */
#define WITHIN 1e-9
/* Forces by which a point may pull, or exceed its greatest friction, also by this part of that, where an event has left it:
   half of what is an event once more. */
#define LEFT 5e-8
#define LEFT_PART 5e-7
/* During an impact, which is exact, a point slides where it is faster than so many times the speed below which nothing is
   struck. */
#define STRUCK_AT_REST 4
/* Below so many times that speed (v_min of RigidContact) the direction in which a point slides is held; a point has stopped
   that goes back by this part of it. Where that is less than steps may be wrong by, directions are held up to a greater
   speed: they would turn by what is noise. */
#define REST 1000
#define BACK 0.1
/* What closed points drift by is taken back where they are so far apart [m], or faster than so many times that speed: less
   than what counts as touching, and at rest. */
#define APART 5e-11
#define DRIFTED 0.5
/* Directions of points that begin to slide are right to this; by how much others turn in a part of an impact. */
#define DIRECTED 1e-13
/* What begins to slide with less than this part of the rates that there would be without forces keeps its direction, as where
   other points all but hold it: directions of such do not converge, and friction follows its velocity when it has one. */
#define CREEPS 1e-6
#define TURN 5e-3
/* A direction that is held for a point that slides is given up where the point has turned away from it: its cosine. */
#define TURNED 0.9
/* By how much directions differ that are the same but for rounding. */
#define SAME 1e-6
/* Part of the velocities before an impact that is none. */
#define UNMOVED 1e-9
/* Energy that an impact may gain, as a part of what flows. */
#define GAINED 1e-12

/* What is solved for: see above. */
typedef struct {
    const double *free;             /* [nstruck] y without impulses */
    const double *least;            /* [npoints] impulses that there are in any case */
    const int *touching;            /* [npoints] points that take part */
    double pull;                    /* what is less is no impulse */
    double scale;                   /* velocities beside which others are nothing */
    const double *slow;             /* [npoints] velocities with which points do not approach */
    int forces;                     /* it is forces that are sought: what is held presses */
    const int *loose;               /* points that slide at first, in the directions `along`; NULL: none */
    const double *before;           /* held values, which are right if they can be; what they say is open presses twice as
                                       much; NULL: none */
} Problem;

static int rubs(const Instance *s, int point) { return s->tables->point_sliding[point]; }

static int is_stuck(const Instance *s, int point, const double *modes)
{
    return rubs(s, point) >= 0 && is_on(modes[STICKS]);
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double norm3(const double *a) { return sqrt(dot3(a, a)); }

/* What impulses f add to the velocity of a row. */
static double moved(const Instance *s, int row, const double *f)
{
    int rows = nstruck(s->model);
    double sum = 0;
    for (int j = 0; j < rows; ++j) sum += s->impacts.across[row + (size_t)j * rows] * f[j];
    return sum;
}

/* How velocities answer to impulses. */
static Outcome find_answers(Instance *s)
{
    Impacts *it = &s->impacts;
    const Tables *tables = s->tables;
    int n = nw(s->model), speeds = nv(s->model), rows = nstruck(s->model);
    for (int k = 0; k < nimpulses(s->model); ++k) {
        int row = tables->impulse_speeds[k];
        for (int j = 0; j < n; ++j) it->M[row + (size_t)j * n] = j == row;
    }
    COPY(it->factors, it->M, n * n);
    if (lu_factorise(n, it->factors, it->pivots, it->norms) < n) {
        because(s, "speeds after an impact do not follow from those before: some motion has no mass");
        return SINGULAR;
    }
    for (int k = 0; k < rows; ++k) {
        double *answer = it->answers + (size_t)k * n;
        for (int i = 0; i < n; ++i) answer[i] = i == tables->struck_speeds[k];
        lu_substitute(n, it->factors, it->pivots, answer);
        for (int i = 0; i < n; ++i) it->load[i] = i == tables->struck_speeds[k]; /* refined once */
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) it->load[i] -= it->M[i + (size_t)j * n] * answer[j];
        lu_substitute(n, it->factors, it->pivots, it->load);
        for (int i = 0; i < n; ++i) answer[i] += it->load[i];
        for (int r = 0; r < rows; ++r) {
            double sum = 0;
            for (int j = 0; j < speeds; ++j) sum += it->V[r + (size_t)j * rows] * answer[j];
            it->across[r + (size_t)k * rows] = sum;
        }
    }
    return finite_all(it->across, rows * rows) ? DONE : NOT_FINITE;
}

static Outcome look_at_points(Instance *s, double t, const double *x, const double *u, const double *m, const double *w)
{
    Impacts *it = &s->impacts;
    if (eval_impacts(s, t, x, u, m, w, it->M, it->V, it->gap, it->velocity, it->rate, it->normal, it->touching, it->resting,
                     it->restitution, it->slow, it->fixed, it->kinetic)
        || !finite_all(it->velocity, nstruck(s->model)) || !finite_all(it->rate, nstruck(s->model)))
        return NOT_FINITE;
    return DONE;
}

INTERNAL int is_sticking(const Instance *s, const double *m)
{
    int sticks = 0;
    for (int i = 0; i < npoints(s->model); ++i) {
        const double *modes = m + nm(s->model) + s->tables->point_modes[i];
        sticks |= is_stuck(s, i, modes);
    }
    return sticks;
}

INTERNAL double least_speed(Instance *s, double t, const double *x, const double *u, const double *m, const double *w)
{
    double least = INFINITY;
    if (npoints(s->model) == 0 || look_at_points(s, t, x, u, m, w)) return least;
    for (int i = 0; i < npoints(s->model); ++i)
        if (s->impacts.slow[i] > 0) least = fmin(least, s->impacts.slow[i]);
    return least;
}

/* The force in a row that is nearest to what there was before, or that it is asked to have, and what it gives way by where
   it differs. */
static void hold_row(Instance *s, const Problem *p, int keep, int i, int row, double give)
{
    Impacts *it = &s->impacts;
    const double *modes = keep ? p->before + s->tables->point_modes[i] : NULL;
    int along = row - rubs(s, i);
    it->gives[row] = keep ? modes[GIVEN_WAY] : give;
    it->shares[row] = !keep ? 0 : row == i ? modes[SHARE] : modes[SHARE_ALONG + along];
}

/* Forces f as near to `shares` as the equations of points let them be, and what they make of y. */
static void share(Instance *s, const Problem *p, double *f)
{
    Impacts *it = &s->impacts;
    int rows = nstruck(s->model);
    COPY(it->left, it->wanted, rows);
    for (int j = 0; j < rows; ++j)
        for (int i = 0; i < rows; ++i) it->left[i] -= it->balance[i + (size_t)j * rows] * it->shares[j];
    lu_substitute(rows, it->system, it->places, it->left);
    for (int i = 0; i < rows; ++i) f[i] = it->shares[i] + it->left[i];
    for (int i = 0; i < rows; ++i) {
        double sum = p->free[i];
        for (int j = 0; j < rows; ++j) sum += it->across[i + (size_t)j * rows] * f[j];
        it->y[i] = sum;
    }
}

/* A force along some rows of a point that moves it by next to nothing. */
static double lets_go(const Instance *s, int row, int count)
{
    double sum = 0;
    for (int i = row; i < row + count; ++i) sum += s->impacts.across[i + (size_t)i * nstruck(s->model)] / count;
    return sum > 0 ? LET_GO * NEARING / sum : 0;
}

/* Does a point stick that has more friction than it can have, less `spare`? */
static int is_outside(const Instance *s, const Problem *p, const double *f, int i, double spare)
{
    const Impacts *it = &s->impacts;
    if (rubs(s, i) < 0 || !it->stuck[i]) return 0;
    double most = it->fixed[i] * fmax(f[i], 0), size = norm3(f + rubs(s, i));
    if (!p->forces) return size > most * (1 + WITHIN) + NOTHING * largest(f, npoints(s->model));
    return size > most - fmin(0.5 * most, lets_go(s, rubs(s, i), 3) + spare) + 0.5 * PRESSING;
}

/* Take friction of a point that sticks to the nearest place well within its cone. Returns 0 where it is there. */
static int take_within(const Instance *s, int i, double *f)
{
    const Impacts *it = &s->impacts;
    double *along = f + rubs(s, i), mu = WELL_WITHIN * it->fixed[i], size = norm3(along), most;
    if (size <= mu * f[i]) return 0;
    if (it->held[i]) f[i] = fmax(f[i] + mu * size, 0) / (1 + mu * mu);
    most = mu * fmax(f[i], 0);
    for (int k = 0; k < 3; ++k) along[k] *= size > 0 ? most / size : 0;
    return 1;
}

/* Is a point that sticks outside its cone, less `spare`? */
static int some_are_outside(const Instance *s, const Problem *p, const double *f, double spare)
{
    int outside = 0;
    for (int i = 0; i < npoints(s->model); ++i) outside |= is_outside(s, p, f, i, spare);
    return outside;
}

/* Where points that stick leave their cones: do others share forces with them such that none does? Then these are f, well
   within the cones where they can be, so that none leaves them again at once (projections onto the cones and onto the
   equations in turn: von Neumann 1950). */
static void share_within_cones(Instance *s, const Problem *p, double *f)
{
    enum { ROUNDS = 100 };
    Impacts *it = &s->impacts;
    int points = npoints(s->model), rows = nstruck(s->model);
    double spare = ROUNDED * largest(f, points);
    if (!some_are_outside(s, p, f, spare)) return;
    COPY(it->kept, f, rows);
    COPY(it->kept_shares, it->shares, rows);
    for (int round = 0; round < ROUNDS; ++round) {
        int taken = 0;
        double asked = 0, shared = 0;
        COPY(it->shares, f, rows);
        for (int i = 0; i < points; ++i)
            if (rubs(s, i) >= 0 && it->stuck[i]) taken |= take_within(s, i, it->shares);
        if (!taken) break;
        for (int i = 0; i < rows; ++i) asked = fmax(asked, fabs(it->shares[i] - f[i]));
        COPY(it->others, f, rows);
        share(s, p, f);
        for (int i = 0; i < rows; ++i) shared = fmax(shared, fabs(it->others[i] - f[i]));
        if (shared <= UNSHARED * asked) break;
    }
    if (!some_are_outside(s, p, f, spare)) {
        COPY(it->shares, f, rows);
        share(s, p, f);
        return;
    }
    COPY(it->shares, it->kept_shares, rows);
    COPY(f, it->kept, rows);
    share(s, p, f);
}

/* Solve the equations of points as they are held, stick and slide for impulses f, and see what they make of y. */
static int solve_as_held(Instance *s, const Problem *p, int keep, double *f)
{
    enum { ROUNDS = 3 };
    Impacts *it = &s->impacts;
    int points = npoints(s->model), rows = nstruck(s->model);
    double size = 0, give;
    for (int i = 0; i < rows; ++i) size += it->across[i + (size_t)i * rows] / rows;
    give = GIVES * size;
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows; ++j) it->system[i + (size_t)j * rows] = i == j;
        it->wanted[i] = it->gives[i] = it->shares[i] = 0;
    }
    for (int i = 0; i < points; ++i) {
        int at = rubs(s, i);
        if (it->held[i]) {
            for (int j = 0; j < rows; ++j) it->system[i + (size_t)j * rows] = it->across[i + (size_t)j * rows];
            hold_row(s, p, keep, i, i, give);
            it->wanted[i] = -p->free[i];
        } else if (p->touching[i]) it->wanted[i] = p->least[i];
        if (at < 0) continue;
        const double *n = it->normal + at - points, *along = it->along + 3 * i;
        for (int k = 0; k < 3; ++k) {
            int row = at + k;
            if (!p->touching[i] || !(it->held[i] || p->least[i] > 0)) continue;
            if (it->stuck[i]) {
                for (int j = 0; j < rows; ++j) it->system[row + (size_t)j * rows] = it->across[row + (size_t)j * rows];
                hold_row(s, p, keep, i, row, give);
                /* Across the surface there is nothing: of the size of what is along it, so that it stays nothing. */
                for (int j = 0; j < 3; ++j)
                    it->system[row + (size_t)(at + j) * rows] += n[k] * n[j] * size;
                it->wanted[row] = -p->free[row];
            } else it->system[row + (size_t)i * rows] = it->friction[i] * along[k];
        }
    }
    COPY(it->balance, it->system, rows * rows);
    for (int i = 0; i < rows; ++i) it->system[i + (size_t)i * rows] += it->gives[i];
    if (lu_factorise(rows, it->system, it->places, it->norms) < rows) return 0;
    share(s, p, f);
    /* What points give way by is taken back, but for what they share. */
    for (int round = 1; round < ROUNDS && !keep; ++round) {
        COPY(it->shares, f, rows);
        share(s, p, f);
    }
    return finite_all(f, rows) && finite_all(it->y, rows);
}

/* Turn the directions of points that begin to slide towards where they do. Returns 0 where all of them are right. */
static int turn(Instance *s, const Problem *p, const double *f)
{
    Impacts *it = &s->impacts;
    int rows = nstruck(s->model), turns = 0;
    double nothing = (p->forces ? CREEPS : NOTHING) * p->scale;
    for (int i = 0; i < npoints(s->model); ++i) {
        int at = rubs(s, i);
        if (at < 0 || !p->touching[i] || it->stuck[i] || it->slides[i] || !(f[i] > p->pull)) continue;
        double *along = it->along + 3 * i, *y = it->y + at, next[3], give = 0, most = it->friction[i] * f[i];
        if (!(norm3(y) > nothing) || !(most > 0) || !(dot3(y, along) > 0)) continue;
        for (int k = 0; k < 3; ++k) give += it->across[at + k + (size_t)(at + k) * rows];
        for (int k = 0; k < 3; ++k) next[k] = most * along[k] + y[k] / give;
        double length = norm3(next), change = 0;
        for (int k = 0; k < 3; ++k) {
            next[k] /= length;
            change = fmax(change, fabs(next[k] - along[k]));
        }
        COPY(along, next, 3);
        turns |= change > DIRECTED;
    }
    return turns;
}

/* Does a point that sticks leave the cone of friction? Then it slides. */
static int breaks_away(Instance *s, const Problem *p, const double *f, int i)
{
    Impacts *it = &s->impacts;
    if (!is_outside(s, p, f, i, 0)) return 0;
    const double *along = f + rubs(s, i);
    for (int k = 0; k < 3; ++k) it->along[3 * i + k] = -along[k] / norm3(along);
    it->stuck[i] = 0;
    return 1;
}

/* Is a point contradicted as it is? Then it becomes something else. What sticks and would be pulled may slide first. */
static int pivot(Instance *s, const Problem *p, const double *f, int i, double pull, double fast)
{
    Impacts *it = &s->impacts;
    int at = rubs(s, i);
    if (!it->held[i]) {
        if (it->y[i] < -p->slow[i] - fast) {
            it->held[i] = 1;
            it->stuck[i] = at >= 0 && !it->slides[i];
            return 1;
        }
    } else {
        if (breaks_away(s, p, f, i)) return 1;
        int was_open = p->before && !is_on(p->before[s->tables->point_modes[i]]);
        double none = p->pull * (1 + was_open) + p->forces * lets_go(s, i, 1), least = p->least[i] > 0 ? p->least[i] : none;
        if (f[i] < least - pull + 2 * pull * p->forces) {
            it->held[i] = 0;
            if (!(p->least[i] > 0)) it->stuck[i] = 0;
            return 1;
        }
    }
    if (at < 0 || it->slides[i] || !(it->held[i] || p->least[i] > 0)) return 0;
    if (it->stuck[i]) return breaks_away(s, p, f, i);
    if (dot3(it->y + at, it->along + 3 * i) >= -p->slow[i] - fast) return 0;
    it->stuck[i] = 1;
    return 1;
}

/* Solve for impulses f, with points held, stuck and sliding as they are, and see whether that contradicts one of them, which
   then becomes something else: *changed. Points are looked at in different orders. Returns 0 where there is no solution. */
static int solve_and_pivot(Instance *s, const Problem *p, int keep, int order, double *f, int *changed)
{
    enum { TURNS = 400 };
    int points = npoints(s->model);
    for (int turns = 0;; ++turns) {
        if (!solve_as_held(s, p, keep, f)) return 0;
        if (!keep) share_within_cones(s, p, f);
        if (turns == TURNS || !turn(s, p, f)) break;
    }
    double pull = NOTHING * largest(f, points), fast = (p->forces ? 1e-14 : NOTHING) * p->scale;
    *changed = 0;
    for (int k = 0; k < points && !*changed; ++k) {
        int i = ((order & 1 ? points - 1 - k : k) + order / 2) % points;
        if (p->touching[i]) *changed = pivot(s, p, f, i, pull, fast);
    }
    return 1;
}

/* Are points as they were right, with the forces that they share, and do the equations say so, in which these are w? */
static int stay_as_before(Instance *s, const Problem *p, const double *w, double *f)
{
    Impacts *it = &s->impacts;
    int changed;
    for (int i = 0; i < npoints(s->model); ++i) {
        const double *modes = p->before + s->tables->point_modes[i];
        it->held[i] = p->touching[i] && is_on(modes[CLOSED]);
        it->stuck[i] = it->held[i] && is_stuck(s, i, modes) && !it->slides[i];
    }
    if (!solve_and_pivot(s, p, 1, 0, f, &changed) || changed) return 0;
    for (int i = 0; i < nstruck(s->model); ++i) it->others[i] = w[s->tables->struck_speeds[i]];
    for (int i = 0; i < npoints(s->model); ++i)
        if (it->held[i] && (it->others[i] < p->pull || is_outside(s, p, it->others, i, 0))) return 0;
    return 1;
}

/* Find impulses f, with points that slide already in the directions `along` and others that stick or begin to. Returns 0
   where none are found. */
static int solve_points(Instance *s, const Problem *p, double *f)
{
    Impacts *it = &s->impacts;
    int points = npoints(s->model), most = 50 + 10 * points * points;
    for (int order = 0; order < 4 * points; ++order) {
        for (int i = 0; i < points; ++i) {
            /* All are held at first, so that those that say the same share; then none. */
            it->held[i] = p->touching[i] && !order;
            it->stuck[i] = p->touching[i] && (!order || p->least[i] > 0) && rubs(s, i) >= 0 && !it->slides[i]
                && !(p->loose && p->loose[i]);
        }
        for (int pivots = 0; pivots < most; ++pivots) {
            /* Another order for each attempt: from another point on, forwards or backwards. */
            int changed;
            if (!solve_and_pivot(s, p, 0, order, f, &changed)) return 0;
            if (!changed) return 1;
        }
    }
    return 0;
}

/* By how much a point that slides holds itself off per impulse along its normal; not positive: it wedges itself. */
static double holds_off(const Instance *s, int i)
{
    const Impacts *it = &s->impacts;
    int rows = nstruck(s->model), at = rubs(s, i);
    double sum = it->across[i + (size_t)i * rows];
    for (int k = 0; at >= 0 && k < 3; ++k)
        sum -= it->kinetic[i] * it->across[i + (size_t)(at + k) * rows] * it->along[3 * i + k];
    return sum;
}

/* Does a point slide that is so fast along its surface, faster than `rest`? Then in that direction. */
static void see_point(Impacts *it, int i, const double *velocity, double rest)
{
    double size = norm3(velocity);
    it->slides[i] = size > rest * it->slow[i];
    for (int k = 0; it->slides[i] && k < 3; ++k) it->along[3 * i + k] = velocity[k] / size;
}

/* Points that are faster than nothing slide in the direction of their velocities. Returns how many. */
static int see_sliding(Instance *s, const double *velocity)
{
    Impacts *it = &s->impacts;
    int count = 0;
    for (int i = 0; i < npoints(s->model); ++i) {
        int at = rubs(s, i);
        it->slides[i] = 0;
        it->friction[i] = it->kinetic[i];
        if (at < 0) continue;
        see_point(it, i, velocity + at, STRUCK_AT_REST);
        count += it->slides[i];
    }
    return count;
}

/* Speed along its surface up to which a point may be at rest, and a new direction is held: of states that are near 1, steps
   may be wrong by the tolerance. */
static double rest_of(const Instance *s, int i) { return fmax(REST * s->impacts.slow[i], s->now->tolerance / BACK); }

/* The direction in which friction sees a point slide with a velocity v, where D is the direction that is held of it: v with
   its part along D taken for REST slow |D| at least. That is v / |v| of all that is not at rest, and D of what is; equations
   have the same (`Modes` of mbfmu/dynamics/reading/events.py). Returns the part of v along D, over the least of it. */
static double sees(const Instance *s, int i, const double *v, const double *held, double *along)
{
    double length = norm3(held), least = REST * s->impacts.slow[i] * length, part = dot3(v, held) / length;
    for (int k = 0; k < 3; ++k) along[k] = v[k] + fmax(least - part, 0) / length * held[k];
    double size = norm3(along);
    for (int k = 0; k < 3; ++k) along[k] = size > 0 ? along[k] / size : held[k] / length;
    return least > 0 ? part / least : part > 0 ? INFINITY : 0;
}

/* Has a closed point that slid come to rest, or not gone off yet, and is no faster than `rest`? */
static int is_at_rest(const Instance *s, int i, const double *modes, double rest)
{
    double along[3], *v = s->impacts.velocity + rubs(s, i);
    return norm3(v) <= rest && sees(s, i, v, modes + DIRECTION, along) <= BACK;
}

/* The same between impacts. What sticks has not begun to slide by drifting, and what slides does so in the direction that
   its friction has; the direction that is held stays (`keeps`) unless the point has turned away from it. */
static void see_motion(Instance *s, const double *before)
{
    Impacts *it = &s->impacts;
    see_sliding(s, it->velocity);
    for (int i = 0; i < npoints(s->model); ++i) {
        const double *modes = before + s->tables->point_modes[i];
        int at = rubs(s, i);
        it->keeps[i] = 0;
        if (at < 0 || !is_on(modes[CLOSED])) continue;
        if (is_on(modes[STICKS])) {
            it->slides[i] &= norm3(it->velocity + at) > REST * it->slow[i];
            continue;
        }
        if (!(norm3(modes + DIRECTION) > 0.5)) continue;
        it->slides[i] = !is_at_rest(s, i, modes, REST * it->slow[i]);
        if (!it->slides[i]) continue;
        double *along = it->along + 3 * i, part = sees(s, i, it->velocity + at, modes + DIRECTION, along);
        it->keeps[i] = part > 0 && dot3(along, modes + DIRECTION) > TURNED * norm3(modes + DIRECTION);
        if (!it->keeps[i]) see_point(it, i, it->velocity + at, 0);
    }
}

/* The direction to hold of a point, such that friction sees `along`: as long as it is to be held. Where a point begins to
   slide that has drifted, that is until the drift is less than what tells of a stop. */
static void direction_from(Instance *s, int i, double *direction)
{
    Impacts *it = &s->impacts;
    const double *along = it->along + 3 * i, *v = it->velocity + rubs(s, i);
    double slow = REST * it->slow[i], drift = it->slides[i] ? 0 : norm3(v), most = rest_of(s, i) + 2 / BACK * drift;
    for (int k = 0; k < 3; ++k) direction[k] = most * along[k] - (drift > 0 ? v[k] : 0);
    double length = norm3(direction), part = drift > 0 ? dot3(v, direction) / length : 0;
    for (int k = 0; k < 3; ++k) direction[k] *= slow > 0 ? (length + part) / (length * slow) : 1 / length;
}

/* Does friction see a point at rest slide in the direction in which it does, as its direction was held before? */
static int sees_along(const Instance *s, int i, const double *held)
{
    const double *along = s->impacts.along + 3 * i;
    double seen[3], away = 0;
    if (!(norm3(held) > 0.5) || sees(s, i, s->impacts.velocity + rubs(s, i), held, seen) < -0.5 * BACK) return 0;
    for (int k = 0; k < 3; ++k) away = fmax(away, fabs(seen[k] - along[k]));
    return away < SAME;
}

/* Keep why points have no solution, or more than one. */
static Outcome explain_wedged(Instance *s, double t, int from)
{
    Impacts *it = &s->impacts;
    for (int i = from; i < npoints(s->model); ++i)
        if (it->takes_part[i] && it->slides[i] && holds_off(s, i) <= 0) {
            because(s, "%s slides where friction wedges it at time %.9g: with mu_k = %.6g, a normal force of 1 N draws the "
                    "surfaces together by %.3g m/s2, so that rigid bodies have no motion, or more than one (Painleve); "
                    "give a smaller mu_k, or a Contact, which gives way",
                    s->tables->point_names[i], t, it->kinetic[i], -holds_off(s, i));
            return CHATTERING;
        }
    for (int i = from; i < npoints(s->model); ++i)
        if (it->takes_part[i]) {
            because(s, "%s: no impulses of rigid bodies are found at time %.9g that neither pull nor leave the cone of "
                    "friction; give less friction, or a Contact, which gives way", s->tables->point_names[i], t);
            return CHATTERING;
        }
    return CHATTERING;
}

/* Has a point slid that is at rest? Then it slides in that direction. */
static int is_loose(Instance *s, const double *before, int i)
{
    Impacts *it = &s->impacts;
    const double *modes = before + s->tables->point_modes[i];
    if (rubs(s, i) < 0 || !it->takes_part[i] || it->slides[i] || !is_on(modes[CLOSED]) || is_on(modes[STICKS])) return 0;
    if (!(norm3(modes + DIRECTION) > 0.5)) return 0;
    sees(s, i, it->velocity + rubs(s, i), modes + DIRECTION, it->along + 3 * i);
    return 1;
}

/* Where closed points do not work against each other, let them give way less, which is less that they creep. */
static void stiffen(Instance *s, const Problem *p, const double *f)
{
    Impacts *it = &s->impacts;
    int rows = nstruck(s->model);
    double most = 0, change = 0;
    COPY(it->system, it->balance, rows * rows);
    for (int i = 0; i < rows; ++i) it->system[i + (size_t)i * rows] += STIFFER * it->gives[i];
    if (lu_factorise(rows, it->system, it->places, it->norms) < rows) return;
    COPY(it->kept_shares, it->shares, rows);
    COPY(it->shares, f, rows);
    share(s, p, it->others);
    for (int i = 0; i < rows; ++i) {
        most = fmax(most, fabs(f[i]));
        change = fmax(change, fabs(it->others[i] - f[i]));
    }
    if (!(change <= UNCHANGED * most)) COPY(it->shares, it->kept_shares, rows);
    else for (int i = 0; i < rows; ++i) it->gives[i] *= STIFFER;
}

/* Do points as the event leaves them pull, or leave their cones, with the forces w that the equations have? Crossings tell of
   the end of a force once, so the run would go on like that. */
static Outcome check_forces(Instance *s, double t, const double *before, const double *held, const double *w)
{
    Impacts *it = &s->impacts;
    const Tables *tables = s->tables;
    for (int i = 0; i < npoints(s->model); ++i) {
        size_t count = (rubs(s, i) < 0 ? MODES : MODES_OF_RUBBING) * sizeof *held;
        if (memcmp(before + tables->point_modes[i], held + tables->point_modes[i], count)) return DONE; /* not the last */
    }
    for (int i = 0; i < nstruck(s->model); ++i) it->others[i] = w[tables->struck_speeds[i]];
    for (int i = 0; i < npoints(s->model); ++i) {
        if (!it->takes_part[i] || !it->held[i]) continue;
        double f = it->others[i], most = it->fixed[i] * f;
        double size = is_stuck(s, i, held + tables->point_modes[i]) ? norm3(it->others + rubs(s, i)) : 0;
        if (f >= -LEFT && size <= (1 + LEFT_PART) * fmax(most, 0) + LEFT) continue;
        because(s, "%s: no forces of rigid bodies are found at time %.9g that neither pull nor leave the cone of friction: "
                "it would press with %.6g N, and have %.6g N of friction, at most %.6g N; give less friction, fewer points "
                "that share a load, or a Contact, which gives way", tables->point_names[i], t, f, size, most);
        return CHATTERING;
    }
    return DONE;
}

INTERNAL Outcome choose_modes(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                              double *held)
{
    Impacts *it = &s->impacts;
    const Tables *tables = s->tables;
    int points = npoints(s->model), rows = nstruck(s->model), some = 0, stays = 1;
    const double *before = m + nm(s->model);
    Outcome outcome = look_at_points(s, t, x, u, m, w);
    if (outcome) return outcome;
    for (int i = 0; i < points; ++i) {
        it->takes_part[i] = is_on(it->resting[i]);
        some |= it->takes_part[i];
        it->base[i] = 0;
        it->nearing[i] = 0.5 * NEARING;
    }
    if (some) {
        outcome = find_answers(s);
        if (outcome) return outcome;
        see_motion(s, before);
        for (int i = 0; i < rows; ++i) {
            it->unmoved[i] = it->rate[i];
            for (int j = 0; j < rows; ++j)
                it->unmoved[i] -= it->across[i + (size_t)j * rows] * w[tables->struck_speeds[j]];
        }
        double scale = 0;
        for (int i = 0; i < points; ++i) if (it->takes_part[i]) scale = fmax(scale, fabs(it->unmoved[i]));
        for (int i = 0; i < points; ++i) it->loose[i] = is_loose(s, before, i);
        Problem p = {it->unmoved, it->base, it->takes_part, PRESSING, scale, it->nearing, 1, it->loose, before};
        for (int i = 0; i < points; ++i) {
            int was = is_on(before[tables->point_modes[i]]);
            if (!it->takes_part[i] || !it->slides[i] || holds_off(s, i) > 0) continue;
            if (was || it->unmoved[i] < -0.5 * NEARING) return explain_wedged(s, t, i);
        }
        stays = stay_as_before(s, &p, w, it->f);
        if (!stays) {
            if (!solve_points(s, &p, it->f)) return explain_wedged(s, t, 0);
            stiffen(s, &p, it->f);
        }
    }
    for (int i = 0; i < points; ++i) {
        int place = tables->point_modes[i];
        int closed = it->takes_part[i] && it->held[i];
        held[place] = closed;
        held[place + GIVEN_WAY] = !closed ? 0 : stays ? before[place + GIVEN_WAY] : it->gives[i];
        held[place + SHARE] = !closed ? 0 : stays ? before[place + SHARE] : it->shares[i];
        if (rubs(s, i) < 0) continue;
        int sticks = closed && it->stuck[i];
        held[place + STICKS] = sticks;
        for (int k = SHARE_ALONG, row = rubs(s, i); row < rubs(s, i) + 3; ++k, ++row)
            held[place + k] = !sticks ? 0 : stays ? before[place + k] : it->shares[row];
        const double *old = before + place + DIRECTION;
        int slid = is_on(before[place]) && !is_on(before[place + STICKS]);
        if (!closed || sticks || (slid && (it->slides[i] ? it->keeps[i] : sees_along(s, i, old))))
            COPY(held + place + DIRECTION, old, 3);
        else direction_from(s, i, held + place + DIRECTION);
    }
    return stays ? DONE : check_forces(s, t, before, held, w);
}

/* Are closed points apart, or in each other, by more than is left to their equations? */
static int are_apart(const Instance *s)
{
    const Impacts *it = &s->impacts;
    for (int i = 0; i < npoints(s->model); ++i) if (it->held[i] && fabs(it->gap[i]) > APART) return 1;
    return 0;
}

/* Are closed points, or those that stick, off by more than is left to their equations? */
static int have_drifted(const Instance *s)
{
    const Impacts *it = &s->impacts;
    for (int i = 0; i < npoints(s->model); ++i) {
        double most = DRIFTED * it->slow[i], along = it->held[i] && it->stuck[i] ? norm3(it->velocity + rubs(s, i)) : 0;
        if (it->held[i] && (fabs(it->velocity[i]) > most || along > most)) return 1;
    }
    return are_apart(s);
}

/* Impulses at closed points, as they are held, that take `free` away, and what they add to all speeds. */
static int take_away(Instance *s, const double *free, double *dv)
{
    Impacts *it = &s->impacts;
    int n = nw(s->model);
    for (int i = 0; i < npoints(s->model); ++i) it->base[i] = it->friction[i] = 0;
    Problem p = {free, it->base, it->takes_part, 0, 0, it->slow, 0, NULL, NULL};
    if (!solve_as_held(s, &p, 0, it->f)) return 0;
    for (int j = 0; j < nv(s->model); ++j) {
        dv[j] = 0;
        for (int k = 0; k < nstruck(s->model); ++k) dv[j] += it->answers[j + (size_t)k * n] * it->f[k];
    }
    return 1;
}

INTERNAL Outcome settle_points(Instance *s, double t, double *x, const double *m, const double *w, int event, int *moved)
{
    enum { ROUNDS = 4 }; /* Newton's: far gaps, which long steps leave between their ends, curve */
    Impacts *it = &s->impacts;
    int some = 0;
    *moved = 0;
    for (int i = 0; i < npoints(s->model); ++i) {
        const double *modes = m + nm(s->model) + s->tables->point_modes[i];
        it->held[i] = it->takes_part[i] = is_on(modes[CLOSED]);
        it->stuck[i] = it->held[i] && is_stuck(s, i, modes);
        some |= it->held[i];
    }
    if (!some) return DONE;
    Outcome outcome = look_at_points(s, t, x, inputs_at(s, t, x, m), m, w);
    if (outcome) return outcome;
    for (int i = 0; i < npoints(s->model) && event; ++i) {
        const double *modes = m + nm(s->model) + s->tables->point_modes[i];
        if (rubs(s, i) < 0 || !it->held[i] || it->stuck[i] || !(norm3(modes + DIRECTION) > 0.5)) continue;
        it->stuck[i] = is_at_rest(s, i, modes, rest_of(s, i));
    }
    if (!have_drifted(s)) return DONE;
    outcome = find_answers(s);
    if (outcome) return outcome;
    for (int round = 0; round < ROUNDS && (!round || are_apart(s)); ++round) {
        for (int i = 0; i < nstruck(s->model); ++i) it->unmoved[i] = i < npoints(s->model) ? it->gap[i] : 0;
        if (!take_away(s, it->unmoved, s->constraints.dv)) return DONE; /* it will do later */
        eval_displacement(s, t, x, s->constraints.dv, s->constraints.dq);
        for (int i = 0; i < nq(s->model); ++i) x[i] += s->constraints.dq[i];
        normalise_quaternions(s, x);
        *moved = 1;
        outcome = look_at_points(s, t, x, inputs_at(s, t, x, m), m, w);
        if (outcome) return outcome;
    }
    if (!take_away(s, it->velocity, s->constraints.dv)) return outcome;
    for (int j = 0; j < nv(s->model); ++j) x[nq(s->model) + j] += s->constraints.dv[j];
    return DONE;
}

/* How far impulses f may grow until a point that slides stops or has turned, as a part of them, at most 1. *stops: the
   point that stops there, or -1. */
static double until_turned(Instance *s, const double *velocity, const double *f, int *stops)
{
    Impacts *it = &s->impacts;
    double part = 1;
    *stops = -1;
    for (int i = 0; i < npoints(s->model); ++i) {
        int at = rubs(s, i);
        if (at < 0 || !it->slides[i]) continue;
        double change[3], aside = 0, speed = norm3(velocity + at);
        for (int k = 0; k < 3; ++k) change[k] = moved(s, at + k, f);
        double along = dot3(change, it->along + 3 * i);
        for (int k = 0; k < 3; ++k) aside = fmax(aside, fabs(change[k] - along * it->along[3 * i + k]));
        int turns = aside > 1e-9 * fabs(along) + NOTHING * speed;
        double stop = along < 0 ? -speed / along : INFINITY, far = turns ? TURN * speed / aside : INFINITY;
        if (stop <= far && stop <= part) {
            part = stop;
            *stops = i;
        } else if (far < part) {
            part = far;
            *stops = -1;
        }
    }
    return part;
}

/* Let impulses grow by `part` of f: velocities, sums of impulses and works follow. */
static void grow(Instance *s, double part, const double *f, int stops)
{
    Impacts *it = &s->impacts;
    int points = npoints(s->model), rows = nstruck(s->model);
    COPY(it->last, it->u, rows);
    for (int j = 0; j < rows; ++j) {
        double impulse = part * f[j];
        if (impulse == 0) continue;
        it->sum[j] += impulse;
        for (int i = 0; i < rows; ++i) it->u[i] += it->across[i + (size_t)j * rows] * impulse;
    }
    for (int i = 0; i < points; ++i) it->work[i] += 0.5 * part * f[i] * (it->last[i] + it->u[i]);
    if (stops >= 0) for (int k = 0; k < 3; ++k) it->u[rubs(s, stops) + k] = 0;
}

/* One point alone, as its normal impulse grows: where it wedges itself, it comes nearer until it stops sliding. Returns
   0 where it does not. */
static int wedge(Instance *s)
{
    Impacts *it = &s->impacts;
    int points = npoints(s->model), rows = nstruck(s->model), stops;
    for (int i = 0; i < points; ++i) {
        if (!it->takes_part[i] || !it->slides[i] || holds_off(s, i) > 0 || !(it->u[i] <= 0)) continue;
        int at = rubs(s, i);
        for (int j = 0; j < rows; ++j) it->f[j] = 0;
        it->f[i] = 1;
        for (int k = 0; k < 3; ++k) it->f[at + k] = -it->kinetic[i] * it->along[3 * i + k];
        /* So much that it stops, or turns. */
        double slower = 0;
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < rows; ++j)
                slower -= it->along[3 * i + k] * it->across[at + k + (size_t)j * rows] * it->f[j];
        if (!(slower > 0)) return 0;
        for (int j = 0; j < rows; ++j) it->f[j] *= 2 * norm3(it->u + at) / slower;
        double part = until_turned(s, it->u, it->f, &stops);
        grow(s, part, it->f, stops);
        return 1;
    }
    return 0;
}

/* The greatest velocity that impulses f bring. */
static double most_moved(const Instance *s, const double *f)
{
    double most = 0;
    for (int i = 0; i < nstruck(s->model); ++i) most = fmax(most, fabs(moved(s, i, f)));
    return most;
}

/* Let impulses grow until no point approaches beyond what `target` adds to its velocity, from `least` impulses on. Where
   `works` is given, a point that has done that much work gets no more of these. Returns 0 where there are none. */
static int drive(Instance *s, const double *target, double *least, const double *works)
{
    enum { PARTS = 20000 };
    Impacts *it = &s->impacts;
    int points = npoints(s->model), rows = nstruck(s->model), stops;
    for (int round = 0; round < PARTS; ++round) {
        double scale = 0, left = 0;
        int approaching = 0;
        see_sliding(s, it->u);
        for (int i = 0; i < rows; ++i) it->unmoved[i] = it->u[i] + (i < points ? target[i] : 0);
        for (int i = 0; i < points; ++i) {
            if (it->takes_part[i]) scale = fmax(scale, fabs(it->velocity[i]));
            left = fmax(left, least[i]);
            approaching |= it->takes_part[i] && it->unmoved[i] < -it->slow[i];
        }
        /* A point that would wedge itself has an impulse then, too, but none that it needs. */
        if (!approaching && !(left > 0)) return 1;
        Problem p = {it->unmoved, least, it->takes_part, 0, scale, it->slow, 0, NULL, NULL};
        if (!solve_points(s, &p, it->f)) {
            if (!wedge(s)) return 0;
            continue;
        }
        /* Friction that holds the one way that a point has lets restitution do no work. */
        if (works && most_moved(s, it->f) <= UNMOVED * scale) return 1;
        double part = until_turned(s, it->u, it->f, &stops);
        if (part < 1 && stops < 0) { /* of those that turn, directions in the middle are nearer to what they have */
            COPY(it->middle, it->u, rows);
            for (int j = 0; j < rows; ++j)
                for (int i = 0; i < rows; ++i)
                    it->middle[i] += it->across[i + (size_t)j * rows] * 0.5 * part * it->f[j];
            int sliding = see_sliding(s, it->u);
            if (see_sliding(s, it->middle) < sliding) see_sliding(s, it->u); /* but not where they all but stop */
            if (!solve_points(s, &p, it->f)) return 0;
        }
        int finished = -1;
        for (int i = 0; works && i < points; ++i) {
            if (!(least[i] > 0) || !(it->f[i] > 0)) continue;
            double rise = moved(s, i, it->f);
            /* part f (u + part rise / 2) is the work that is left */
            double work = fmax(works[i] - it->work[i], 0) / it->f[i], u = it->u[i];
            double root = u * u + 2 * rise * work;
            double end = root < 0 ? INFINITY : rise != 0 ? (sqrt(root) - u) / rise : u > 0 ? work / u : INFINITY;
            if (end >= 0 && end < part) {
                part = end;
                finished = i;
                stops = -1;
            }
        }
        grow(s, part, it->f, stops);
        for (int i = 0; i < points; ++i)
            if (!works) least[i] *= 1 - part;
        if (finished >= 0) least[finished] = 0;
        if (part == 1 && !(works && left > 0)) return 1;
    }
    return 0;
}

/* An impact with `share` of the coefficients of restitution. Returns 0 where there are no impulses for it. */
static int go_through(Instance *s, double share)
{
    Impacts *it = &s->impacts;
    const Tables *tables = s->tables;
    int points = npoints(s->model), rows = nstruck(s->model), again = 0;
    COPY(it->u, it->velocity, rows);
    for (int i = 0; i < rows; ++i) it->sum[i] = 0;
    for (int i = 0; i < points; ++i) {
        int newton = tables->point_laws[i] == NEWTON;
        it->work[i] = it->base[i] = 0;
        it->target[i] = newton && it->takes_part[i] ? share * it->restitution[i] * fmin(it->velocity[i], 0) : 0;
    }
    if (!drive(s, it->target, it->base, NULL)) return 0;
    for (int law = POISSON; law <= STRONGE; ++law) {
        again = 0;
        for (int i = 0; i < points; ++i) {
            double e = share * it->restitution[i];
            int has = tables->point_laws[i] == law && it->takes_part[i] && e > 0 && it->sum[i] > 0;
            it->base[i] = !has ? 0 : law == POISSON ? e * it->sum[i] : it->sum[i];
            it->works[i] = has ? it->work[i] + e * e * fabs(it->work[i]) : 0;
            again |= has;
        }
        if (again && !drive(s, it->target, it->base, law == STRONGE ? it->works : NULL)) return 0;
    }
    return 1;
}

/* Energy that an impact has brought, beyond rounding. */
static int gains(const Instance *s)
{
    const Impacts *it = &s->impacts;
    double gain = 0, flow = 0;
    for (int i = 0; i < nstruck(s->model); ++i) {
        gain += 0.5 * it->sum[i] * (it->velocity[i] + it->u[i]);
        flow += 0.5 * fabs(it->sum[i]) * (fabs(it->velocity[i]) + fabs(it->u[i]));
    }
    return gain > GAINED * flow;
}

INTERNAL Outcome strike(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                        double *x_event, int *struck)
{
    enum { HALVES = 30 };
    Impacts *it = &s->impacts;
    int points = npoints(s->model), rows = nstruck(s->model), n = nw(s->model);
    *struck = 0;
    Outcome outcome = look_at_points(s, t, x, u, m, w);
    if (outcome) return outcome;
    for (int i = 0; i < points; ++i) {
        it->takes_part[i] = is_on(it->touching[i]);
        *struck |= it->takes_part[i] && (1 + it->restitution[i]) * it->velocity[i] < -it->slow[i];
    }
    if (!*struck) return DONE;
    outcome = find_answers(s);
    if (outcome) return outcome;
    int found = go_through(s, 1);
    if (found && gains(s)) {
        double least = 0, most = 1;
        for (int k = 0; k < HALVES && found; ++k) {
            double share = 0.5 * (least + most);
            found = go_through(s, share);
            if (gains(s)) most = share;
            else least = share;
        }
        found = found && go_through(s, least);
        if (found)
            say(s, STATUS_OK, "an impact at time %.9g would gain energy by friction: bodies part with %.6g of the restitution "
                "that they have", t, least);
    }
    if (!found) return explain_wedged(s, t, 0);
    for (int k = 0; k < rows; ++k)
        for (int j = 0; j < nv(s->model); ++j)
            x_event[nq(s->model) + j] += it->answers[j + (size_t)k * n] * it->sum[k];
    return DONE;
}

QUICK
