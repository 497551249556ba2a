/* Crossings within a step, told by bounds: a switch that crosses and crosses back between two looks at it goes unseen
   by samples, however many there are. Where bounds of a crossing over an interval of time exclude zero, there is none;
   where its slope has one sign, the ends of the interval tell; else the interval is split, from the left. Bounds of
   states are those of the dense output. Those of crossings are functions of the model (mbfmu/runtime/enclosures.py),
   sharpened by the value in its middle and the slope (the mean value form; Neumaier, Interval Methods for Systems of
   Equations, 1990, section 2.3). */

#include "enclose.h"

#include <math.h>

#include "functions.h"
#include "optimize.h"
#include "switches.h"
#include "vectors.h"

SMALL

/* Intervals are split down to this length, s, beside time or 1 s, and to this part of a step. */
#define SHORTEST_PULSE 1e-9
#define SHORTEST_PART 1e-5

/* How many intervals are looked at before those that are left open are taken as they are. What time and inputs decide
   is exact; of states the dense output has errors, and where a crossing stays within them no interval tells. */
enum { MOST_INTERVALS = 4096, MOST_OF_STATES = 256 };

/* A factor of at least `low` and at most `high`, not negative, times bounds. */
static double least_product(double low, double high, double least) { return (least < 0 ? high : low) * least; }
static double greatest_product(double low, double high, double most) { return (most < 0 ? low : high) * most; }

/* Bounds of states that crossings depend on, by the dense output from t to `until`. Sharp ones come with those of their
   rates. */
static void bound_states(Instance *s, double t, double until, int sharp)
{
    const Head *head = &s->now->head;
    double a = (t - head->begin) / head->length, b = (until - head->begin) / head->length;
    int top = head->dense_vectors > 5 ? 7 : 4;
    for (int k = 0; k < nenclosed_states(s->model); ++k) {
        int i = s->tables->enclosed_states[k];
        const double *d = s->head.dense + i;
        double least = d[(size_t)top * nx(s->model)], most = least;
        for (int j = top - 1; j >= 0; --j) {
            int falls = j % 2; /* the factor is theta, or what it leaves of 1 */
            double low = falls ? 1 - b : a, high = falls ? 1 - a : b, at = d[(size_t)j * nx(s->model)];
            least = at + least_product(low, high, least);
            most = at + greatest_product(low, high, most);
        }
        s->bounds.x[0][i] = least;
        s->bounds.x[1][i] = most;
    }
    for (int k = 0; k < nenclosed_states(s->model) && sharp; ++k) {
        int i = s->tables->enclosed_states[k];
        const double *d = s->head.dense + i;
        double value = d[(size_t)top * nx(s->model)], least = value, most = value, slowest = 0, fastest = 0;
        double theta = 0.5 * (a + b);
        for (int j = top - 1; j >= 0; --j) {
            int falls = j % 2;
            double low = falls ? 1 - b : a, high = falls ? 1 - a : b, at = d[(size_t)j * nx(s->model)];
            double slower = (falls ? -most : least) + least_product(low, high, slowest);
            double faster = (falls ? -least : most) + greatest_product(low, high, fastest);
            least = at + least_product(low, high, least);
            most = at + greatest_product(low, high, most);
            value = at + (falls ? 1 - theta : theta) * value;
            slowest = slower;
            fastest = faster;
        }
        double apart = 0.5 * (b - a) * fmax(fabs(slowest), fabs(fastest));
        s->bounds.x[0][i] = fmax(least, value - apart);
        s->bounds.x[1][i] = fmin(most, value + apart);
        s->bounds.rates[0][i] = slowest / head->length;
        s->bounds.rates[1][i] = fastest / head->length;
    }
}

/* Bounds of the crossings that are enclosed, from t to `until`. */
static int bound_crossings(Instance *s, double t, double until, const double *m, int sharp, const double *look,
                           double *least, double *most)
{
    Bounds *at = &s->bounds;
    bound_states(s, t, until, sharp);
    for (int i = 0; i < ninputs(s->model); ++i) {
        double change = s->given.du[i] * (until - t), u = s->given.u[i];
        if (s->now->ramps) u += s->given.du[i] * (t - s->now->u_time);
        at->u[0][i] = fmin(u, u + change);
        at->u[1][i] = fmax(u, u + change);
    }
    return eval_crossing_bounds(s, t, until, at->x[0], at->x[1], at->u[0], at->u[1], m, look, least, most);
}

/* Bounds of their slopes, right after sharp bounds of the same interval. */
static int bound_slopes(Instance *s, double t, double until, const double *m)
{
    Bounds *at = &s->bounds;
    return eval_crossing_slopes(s, t, until, at->x[0], at->x[1], at->rates[0], at->rates[1], at->u[0], at->u[1],
                                s->given.du, m, at->open, at->slowest, at->fastest);
}

/* What an interval is: without crossings, or with one at most in each switch, or left open, by what depends on
   states. */
typedef enum { CLEAR, ENDS_TELL, OPEN, OPEN_BY_STATES } Interval;

static int excludes(double mode, double least, double most) { return is_on(mode) ? least >= 0 : most < 0; }

/* Which crossings of those in `look` do bounds leave open, of watched switches? Returns whether there are any. */
static int leave_open(Instance *s, const double *m, const int *watched, int most_kind, const double *look)
{
    Bounds *at = &s->bounds;
    int any = 0;
    for (int k = 0; k < nenclosed(s->model); ++k) {
        int i = s->tables->enclosed[k], kind = s->tables->enclosed_kinds[k];
        int open = look[k] > 0 && watched[i] && kind <= most_kind && !excludes(m[i], at->least[k], at->most[k]);
        at->open[k] = open;
        any |= open;
    }
    return any;
}

static Interval look_at(Instance *s, double t, double until, const double *m, const int *watched, int most_kind)
{
    const Bounds *at = &s->bounds;
    double centre = 0.5 * (t + until);
    Interval found = CLEAR;
    int known = 0;
    if (bound_crossings(s, t, until, m, 0, at->look, at->least, at->most)) return OPEN_BY_STATES;
    if (!leave_open(s, m, watched, most_kind, at->look)) return CLEAR;
    if (nenclosed_states(s->model)) {
        if (bound_crossings(s, t, until, m, 1, at->open, at->least, at->most)) return OPEN_BY_STATES;
        if (!leave_open(s, m, watched, most_kind, at->open)) return CLEAR;
    }
    if (bound_slopes(s, t, until, m)) return OPEN_BY_STATES;
    for (int k = 0; k < nenclosed(s->model); ++k) {
        int i = s->tables->enclosed[k], kind = s->tables->enclosed_kinds[k];
        if (!(at->open[k] > 0)) continue;
        if (at->slowest[k] > 0 || at->fastest[k] < 0) {
            if (found == CLEAR) found = ENDS_TELL;
            continue;
        }
        if (!known && bound_crossings(s, centre, centre, m, 0, at->open, at->middle, at->middle_most)) return OPEN_BY_STATES;
        known = 1;
        double away = 0.5 * (until - t) * fmax(fabs(at->slowest[k]), fabs(at->fastest[k]));
        if (excludes(m[i], at->middle[k] - away, at->middle_most[k] + away)) continue;
        if (kind == OF_STATES) return OPEN_BY_STATES;
        found = OPEN;
    }
    return found;
}

/* Does a watched switch disagree at t, as the bounds of a single instant have it? */
static int disagrees_at(Instance *s, double t, const double *m, const int *watched, int most_kind)
{
    const Bounds *here = &s->bounds;
    if (bound_crossings(s, t, t, m, 0, here->look, here->middle, here->middle_most)) return 0;
    for (int k = 0; k < nenclosed(s->model); ++k) {
        int i = s->tables->enclosed[k];
        if (!(here->look[k] > 0)) continue;
        if (watched[i] && s->tables->enclosed_kinds[k] <= most_kind && disagrees(here->middle[k], m[i])) return 1;
    }
    return 0;
}

/* A box for a state that has left its own, as large as to last for some steps: that grows where it did not last, and
   shrinks where it lasted for long, for in large boxes more is left open. */
static void make_box(Instance *s, int k)
{
    enum { SHORT = 4, LONG = 32 };
    Bounds *at = &s->bounds;
    int i = s->tables->enclosed_states[k];
    double moved = at->x[1][i] - at->x[0][i], *size = at->size + i;
    long long lasted = at->steps - at->since[k];
    if (!at->boxed) *size = SHORT * moved;
    else if (lasted < SHORT) *size *= 2;
    else if (lasted > LONG) *size *= 0.5;
    if (!(*size > SHORT * moved)) *size = SHORT * moved;
    at->box[0][i] = at->x[0][i] - *size;
    at->box[1][i] = at->x[1][i] + *size;
    at->since[k] = at->steps;
}

/* Which crossings are looked at from t to `until`: those that are watched, but for what stays on the side of zero that
   agrees with its mode wherever states are in their boxes. Bounds over what lies within others lie within theirs, so
   that nothing is found in another way. */
static int choose_crossings(Instance *s, double t, double until, const double *m, const int *watched, int most_kind)
{
    Bounds *at = &s->bounds;
    int outside = 0;
    for (int k = 0; k < nenclosed(s->model); ++k) at->look[k] = 0;
    if (most_kind >= OF_STATES && nenclosed_states(s->model)) {
        bound_states(s, t, until, 0);
        ++at->steps;
        for (int k = 0; k < nenclosed_states(s->model); ++k) {
            int i = s->tables->enclosed_states[k];
            if (at->boxed && at->x[0][i] >= at->box[0][i] && at->x[1][i] <= at->box[1][i]) continue;
            make_box(s, k);
            outside = 1;
            for (int j = s->tables->enclosed_starts[k]; j < s->tables->enclosed_starts[k + 1]; ++j) {
                int row = s->tables->enclosed_rows[j];
                at->look[row] = s->tables->boxed[row];
            }
        }
        at->boxed = 1;
        if (outside) {
            if (eval_crossing_bounds(s, t, until, at->box[0], at->box[1], at->u[0], at->u[1], m, at->look, at->least,
                                     at->most)) {
                at->boxed = 0;
                return 0;
            }
            for (int k = 0; k < nenclosed(s->model); ++k)
                if (at->look[k] > 0) at->side[k] = at->least[k] >= 0 ? 1 : at->most[k] < 0 ? -1 : 0;
        }
    }
    for (int k = 0; k < nenclosed(s->model); ++k) {
        int i = s->tables->enclosed[k], asked = watched[i] && s->tables->enclosed_kinds[k] <= most_kind;
        int far = s->tables->boxed[k] && at->boxed && at->side[k] == (is_on(m[i]) ? 1 : -1);
        at->look[k] = asked && !far;
    }
    return 1;
}

INTERNAL double find_crossing(Instance *s, double begin, double end, const double *m, const int *watched, int most_kind,
                              double *before)
{
    enum { DEPTH = 64 };
    double ends[DEPTH], low = begin, last = fmax(fabs(begin), fabs(end));
    double shortest = fmax(fmin(SHORTEST_PULSE * fmax(1, last), SHORTEST_PART * (end - begin)), 4e-16 * last);
    int n = 1, intervals = 0;
    ends[0] = end;
    if (!choose_crossings(s, begin, end, m, watched, most_kind))
        for (int k = 0; k < nenclosed(s->model); ++k) s->bounds.look[k] = 1;
    while (n) {
        double high = ends[n - 1], width = high - low;
        Interval found = look_at(s, low, high, m, watched, most_kind);
        /* What bounds over all of it exclude is not looked at in its parts. */
        if (!intervals++ && found != CLEAR) COPY(s->bounds.look, s->bounds.open, nenclosed(s->model));
        if (found >= OPEN && n < DEPTH) {
            int most = found == OPEN ? MOST_INTERVALS : MOST_OF_STATES;
            if (width > (intervals < most ? shortest : fmax(shortest, (end - begin) / most))) {
                ends[n++] = low + 0.5 * width;
                continue;
            }
        }
        if (found != CLEAR && disagrees_at(s, high, m, watched, most_kind)) {
            *before = low;
            return high;
        }
        low = high;
        --n;
    }
    *before = end;
    return end;
}

INTERNAL double next_pulse(Instance *s, double t, const double *m)
{
    int any = 0;
    for (int i = 0; i < nm(s->model); ++i) s->search.watched[i] = 0;
    if (!nenclosed(s->model)) return INFINITY;
    for (int k = 0; k < nenclosed(s->model); ++k) s->bounds.look[k] = s->tables->enclosed_kinds[k] == OF_TIME;
    if (bound_crossings(s, t, t, m, 0, s->bounds.look, s->bounds.middle, s->bounds.middle_most)) return INFINITY;
    for (int k = 0; k < nenclosed(s->model); ++k) {
        int i = s->tables->enclosed[k];
        if (!(s->bounds.look[k] > 0)) continue;
        s->search.watched[i] = s->tables->enclosed_kinds[k] == OF_TIME && !disagrees(s->bounds.middle[k], m[i]);
        any |= s->search.watched[i];
    }
    if (!any) return INFINITY;
    double length = default_stop_time(s->model) - default_start_time(s->model);
    double stop = s->now->stop_time, horizon = stop, low;
    if (!(stop < t + length)) horizon = t + length;
    if (!(horizon > t)) return INFINITY;
    double high = find_crossing(s, t, horizon, m, s->search.watched, OF_TIME, &low);
    if (!(low < high)) return horizon < stop ? horizon : INFINITY;
    while (high - low > 4e-16 * fmax(fabs(low), fabs(high))) {
        double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) break;
        if (disagrees_at(s, middle, m, s->search.watched, OF_TIME)) high = middle;
        else low = middle;
    }
    return high;
}

QUICK
