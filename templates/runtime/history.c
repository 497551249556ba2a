/* Delayed signals: the last ndelays inputs of the equations. What the signals were is kept as a history of segments,
   each with the values of all signals at Chebyshev points, one segment or more for each step of the integrator.
   Memory is bounded: what no delay reaches any more is dropped, and where there are still too many segments,
   neighbours that are as good as one are joined.

   Steps are never longer than the least delay, so that nothing is read that has not been. Where a signal jumps or
   kinks, fixed delays have an event one delay later; the smoother what arrives there, the less it matters, and after
   KINKS of them it is no event any more. */

#include "history.h"

#include <string.h>

#include "method.h"
#include "evaluate.h"
#include "functions.h"
#include "iterate.h"
#include "log.h"
#include "optimize.h"
#include "switches.h"
#include "vectors.h"

SMALL

enum { KINKS = 8, SMOOTH = 99 };

typedef struct {
    double begin, length;           /* where its points lie */
    double end;                     /* where it is left; the end of `length`, or earlier */
    double kink;                    /* of which order the kink at `end` is, 0 for a jump; SMOOTH where there is none */
} Segment;

enum { SEGMENT_DOUBLES = sizeof(Segment) / sizeof(double) };

INTERNAL size_t history_size(const Instance *s)
{
    return ndelays(s->model) > 0 ? SEGMENTS * (SEGMENT_DOUBLES + (size_t)POINTS * ndelays(s->model)) : 0;
}

/* Points in 0 ... 1 and weights of barycentric interpolation (Berrut and Trefethen, SIAM Review 46, 2004). */
static const double history_points[POINTS] = {0, 0.03806023374435663, 0.14644660940672624, 0.3086582838174551, 0.5,
                                              0.6913417161825449, 0.8535533905932737, 0.9619397662556434, 1};
static const double history_weights[POINTS] = {0.5, -1, 1, -1, 1, -1, 1, -1, 0.5};

/* The segments are a ring. */
static double *segment_place(const Instance *s, int k)
{
    size_t at = (size_t)((s->now->history_first + k) % SEGMENTS);
    return s->delays.history + at * (SEGMENT_DOUBLES + (size_t)POINTS * ndelays(s->model));
}

static Segment *segment_at(const Instance *s, int k) { return (Segment *)segment_place(s, k); }

/* Values of a signal at the points of a segment. */
static double *segment_values(const Instance *s, int k, int signal)
{
    return segment_place(s, k) + SEGMENT_DOUBLES + (size_t)POINTS * signal;
}

/* The polynomial through `count` values, of which every `stride`-th counts. */
static double through_points(const double *values, int stride, double theta)
{
    double above = 0, below = 0;
    for (int j = 0; j < POINTS; j += stride) {
        double distance = theta - history_points[j];
        if (distance == 0) return values[j];
        /* The weights of every second point are those of a rule of their own. */
        double weight = stride == 1 ? history_weights[j] : (j % 4 ? -1 : 1) * (j == 0 || j == POINTS - 1 ? 0.5 : 1);
        above += weight / distance * values[j];
        below += weight / distance;
    }
    return above / below;
}

/* The first segment that ends after t; the last one, where none does. */
static int find_segment(const Instance *s, double t)
{
    int low = 0, high = s->now->history_count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (segment_at(s, middle)->end > t) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* What a signal was at `then`, seen from t. Where a step begins or ends just one delay after a jump, the side counts on
   which the step lies: s->step.leaning is a time in it, or infinite where it is what follows. */
static double history_at(const Instance *s, int signal, double then, double t)
{
    double margin = time_margin(t), near = then + (s->step.leaning < t ? -margin : margin);
    if (!s->now->history_count || near < s->now->history_begin) return s->given.u[ninputs(s->model) + signal];
    int k = find_segment(s, near);
    const Segment *segment = segment_at(s, k);
    return through_points(segment_values(s, k, signal), 1, (then - segment->begin) / segment->length);
}

INTERNAL void take_delayed(Instance *s, double t, const double *x, const double *m, double *u)
{
    if (!ndelays(s->model)) return;
    COPY(u + ninputs(s->model), s->given.u + ninputs(s->model), ndelays(s->model));
    if (!s->now->history_known) return;
    eval_delays(s, t, x, u, m, s->delays.values, s->delays.longest);
    for (int i = 0; i < ndelays(s->model); ++i) u[ninputs(s->model) + i] = history_at(s, i, t - s->delays.values[i], t);
}

INTERNAL void take_delayed_rates(Instance *s, double t, const double *x, const double *m, double *du)
{
    if (!ndelays(s->model)) return;
    for (int i = 0; i < ndelays(s->model); ++i) du[ninputs(s->model) + i] = 0;
    double distance = 1e-3 * (fixed_step_length(s->model) > 0 ? fixed_step_length(s->model) : s->now->head.h);
    if (!s->now->history_known || !(distance > 0)) return;
    static const double weights[3] = {-1.5, 2, -0.5}; /* of differences that look ahead, away from a kink that is here */
    for (int k = 0; k < 3; ++k) {
        double then = t + k * distance;
        for (int i = 0; i < ninputs(s->model); ++i)
            s->delays.u[i] = s->given.u[i] + (s->now->ramps ? s->given.du[i] * (then - s->now->u_time) : 0);
        take_delayed(s, then, x, m, s->delays.u);
        for (int i = 0; i < ndelays(s->model); ++i)
            du[ninputs(s->model) + i] += weights[k] / distance * s->delays.u[ninputs(s->model) + i];
    }
}

INTERNAL Outcome check_delays(Instance *s, double t, const double *x, const double *m, double *least)
{
    *least = INFINITY;
    if (!ndelays(s->model)) return DONE;
    if (eval_delays(s, t, x, known_inputs_at(s, t, x, m), m, s->delays.values, s->delays.longest)
        || !finite_all(s->delays.values, ndelays(s->model)))
        return NOT_FINITE;
    for (int i = 0; i < ndelays(s->model); ++i) {
        const char *name = s->tables->delay_names[i];
        if (!(s->delays.values[i] > 64 * time_margin(t))) {
            because(s, "%s delays its signal by %.9g s at time %.9g: a delay has to be positive; without one, connect the "
                    "signal itself", name, s->delays.values[i], t);
            return ASSERTION;
        }
        if (s->delays.values[i] > s->delays.longest[i] * (1 + 1e-9)) {
            because(s, "%s delays its signal by %.9g s at time %.9g, longer than the longest delay of %.9g s that it is "
                    "given", name, s->delays.values[i], t, s->delays.longest[i]);
            return ASSERTION;
        }
        if (s->delays.values[i] < fixed_step_length(s->model) * (1 - 1e-9)) {
            because(s, "%s delays its signal by %.9g s, which is shorter than the fixed steps of %.9g s: build it with "
                    "shorter steps", name, s->delays.values[i], fixed_step_length(s->model));
            return ASSERTION;
        }
        *least = fmin(*least, s->delays.values[i]);
    }
    return DONE;
}

INTERNAL double next_kink(Instance *s, double t, double *kink)
{
    double next = INFINITY, margin = time_margin(t);
    *kink = SMOOTH;
    if (!ndelays(s->model) || !s->now->history_known) return next;
    for (int i = 0; i < ndelays(s->model); ++i) {
        if (!s->tables->fixed_delays[i]) continue;
        double then = t + margin - s->delays.values[i];
        int at_begin = s->now->history_begin > then;
        for (int k = at_begin ? -1 : find_segment(s, then); k < s->now->history_count; ++k) {
            double at = k < 0 ? s->now->history_begin : segment_at(s, k)->end, out = at + s->delays.values[i];
            double order = k < 0 ? s->now->history_kink : segment_at(s, k)->kink;
            if (order > KINKS || !(out > t + margin)) continue;
            if (out < next + margin) *kink = fabs(out - next) <= margin ? fmin(*kink, order) : order;
            next = fmin(next, out);
            break;
        }
    }
    return next;
}

/* The signals at (t, x); with `w` to be found where they depend on it. */
static Outcome signals_at(Instance *s, double t, const double *x, const double *m, double *w, double *signals)
{
    const double *u = inputs_at(s, t, x, m);
    if (unsolved(s, u)) return UNSOLVED;
    if (delayed_need_w(s->model)) {
        Outcome outcome = accelerations(s, t, x, u, m, w);
        if (outcome) return outcome;
    }
    return eval_delayed(s, t, x, u, m, w, signals) || !finite_all(signals, ndelays(s->model)) ? NOT_FINITE : DONE;
}

static int join_segments(Instance *s);

/* The number of a new segment behind the last one, or -1 where there is no room. */
static int new_segment(Instance *s)
{
    State *now = s->now;
    double longest = 0;
    for (int i = 0; i < ndelays(s->model); ++i) longest = fmax(longest, s->delays.longest[i]);
    while (now->history_count && segment_at(s, 0)->end < now->latch_t - longest * (1 + 1e-9)) {
        now->history_begin = segment_at(s, 0)->end;
        now->history_kink = segment_at(s, 0)->kink;
        now->history_first = (now->history_first + 1) % SEGMENTS;
        now->history_count -= 1;
    }
    if (now->history_count == SEGMENTS && !join_segments(s)) return -1;
    return now->history_count++;
}

/* Is the polynomial of all points, by what every second one leaves of the others, good enough? The error of order 9 is
   about the one of order 5 to the power of 9/5. */
static int resolves(const Instance *s, const double *values)
{
    double most = largest(values, POINTS), error = 0;
    for (int j = 1; j < POINTS; j += 2)
        error = fmax(error, fabs(through_points(values, 2, history_points[j]) - values[j]));
    return error <= (1 + most) * pow(0.1 * s->now->tolerance, 5.0 / 9);
}

INTERNAL Outcome record(Instance *s, double begin, double end)
{
    enum { PARTS = 4096 };
    if (!ndelays(s->model) || !(end > begin)) return DONE;
    double at = begin, length = end - begin;
    for (int parts = 0; at < end;) {
        int k = new_segment(s);
        if (k < 0 || ++parts > PARTS) {
            because(s, "the history of delayed signals is full at time %.9g: they change too often within their delay (%d "
                    "pieces are kept); jumps of inputs at every communication step are such changes", at, SEGMENTS);
            return EXHAUSTED;
        }
        Segment *segment = segment_at(s, k);
        segment->begin = at;
        segment->length = length;
        segment->end = at + length;
        segment->kink = SMOOTH;
        /* Another step at the end for what rounding leaves. */
        if (end - segment->end <= 1e-9 * length) {
            segment->end = end;
            segment->length = length = end - at;
        }
        int good = 1;
        for (int j = 0; j < POINTS; ++j) {
            double t = j == POINTS - 1 ? segment->end : at + history_points[j] * length;
            interpolate(s, t, s->delays.x);
            Outcome outcome = signals_at(s, t, s->delays.x, s->head.inside, s->delays.w, s->delays.signals);
            if (outcome) {
                s->now->history_count = k;
                return outcome;
            }
            for (int i = 0; i < ndelays(s->model); ++i) segment_values(s, k, i)[j] = s->delays.signals[i];
        }
        for (int i = 0; i < ndelays(s->model) && fixed_step_length(s->model) == 0; ++i)
            good &= resolves(s, segment_values(s, k, i));
        if (!good && length > 1e-3 * (end - begin) && length > 1e3 * time_margin(at)) {
            s->now->history_count = k;
            length *= 0.5;
            continue;
        }
        at = segment->end;
        length = fmin(2 * length, end - at);
    }
    return DONE;
}

/* Join neighbours that one polynomial tells as well; says whether there is room now. Each is joined once at most. */
static int join_segments(Instance *s)
{
    State *now = s->now;
    int kept = 0, count = now->history_count;
    double joined[POINTS];
    for (int k = 0; k < count; ++kept) {
        Segment here = *segment_at(s, k);
        double *to = segment_place(s, kept), *from = segment_place(s, k);
        size_t size = SEGMENT_DOUBLES + (size_t)POINTS * ndelays(s->model);
        int joins = 0;
        /* What reaches beyond the latch may have to be dropped again. */
        if (k + 1 < count && here.kink == SMOOTH && segment_at(s, k + 1)->end < now->latch_t) {
            const Segment next = *segment_at(s, k + 1);
            double length = next.end - here.begin;
            joins = 1;
            for (int pass = 0; pass < 2 && joins; ++pass) {
                for (int i = 0; i < ndelays(s->model) && joins; ++i) {
                    const double *values[2] = {segment_values(s, k, i), segment_values(s, k + 1, i)};
                    for (int j = 0; j < POINTS; ++j) {
                        double t = here.begin + history_points[j] * length;
                        joined[j] = t <= here.end ? through_points(values[0], 1, (t - here.begin) / here.length)
                                                  : through_points(values[1], 1, (t - next.begin) / next.length);
                    }
                    if (!pass) joins = resolves(s, joined);
                    else COPY(s->delays.joined + (size_t)POINTS * i, joined, POINTS);
                }
            }
            if (joins) {
                Segment whole = {here.begin, length, next.end, next.kink};
                memcpy(to, &whole, sizeof whole);
                COPY(to + SEGMENT_DOUBLES, s->delays.joined, (size_t)POINTS * ndelays(s->model));
            }
        }
        if (!joins && to != from) memmove(to, from, size * sizeof(double));
        k += 1 + joins;
    }
    now->history_count = kept;
    return kept < SEGMENTS;
}

INTERNAL Outcome mark_kink(Instance *s, double t, const double *x, const double *m, double order)
{
    if (!ndelays(s->model) || !s->now->history_known) return DONE;
    Outcome outcome = signals_at(s, t, x, m, s->delays.w, s->delays.signals);
    if (outcome) return outcome;
    int last = s->now->history_count - 1;
    for (int i = 0; i < ndelays(s->model); ++i) {
        double before = s->given.u[ninputs(s->model) + i];
        if (last >= 0) {
            const Segment *segment = segment_at(s, last);
            before = through_points(segment_values(s, last, i), 1, (segment->end - segment->begin) / segment->length);
        }
        if (fabs(s->delays.signals[i] - before) > 1e-9 * (1 + fabs(before))) order = 0;
    }
    double *kink = last >= 0 ? &segment_at(s, last)->kink : &s->now->history_kink;
    *kink = fmin(*kink, order);
    return DONE;
}

INTERNAL void cut_history(Instance *s, double t)
{
    if (!ndelays(s->model)) return;
    while (s->now->history_count) {
        Segment *last = segment_at(s, s->now->history_count - 1);
        if (last->end <= t) return;
        if (last->begin < t) {
            last->end = t;
            last->kink = SMOOTH;
            return;
        }
        s->now->history_count -= 1;
    }
}

INTERNAL void begin_history(Instance *s)
{
    if (!ndelays(s->model)) return;
    State *now = s->now;
    now->history_known = 1;
    now->history_first = now->history_count = 0;
    now->history_begin = now->latch_t;
    now->history_kink = 1;
}

QUICK
