/* Steps of the adaptive integration: control of their size, events in them, and the choice of the method. Step control
   and starting step: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.4. The error norm
   is the root mean square of error / (atol + rtol |x|), atol = rtol. */

#include "integrator.h"

#include "method.h"
#include "dop853.h"
#include "enclose.h"
#include "evaluate.h"
#include "functions.h"
#include "history.h"
#include "impacts.h"
#include "initialise.h"
#include "iterate.h"
#include "log.h"
#include "optimize.h"
#include "passages.h"
#include "project.h"
#include "rodas5p.h"
#include "switches.h"
#include "vectors.h"

SMALL

INTERNAL const Method *next_method(const Instance *s)
{
    if (solver(s->model) != SOLVER_EXPLICIT && s->now->head.implicit) return &rodas5p;
    return s->now->tolerance <= DOP853_TOLERANCE && !s->step.wide_gap ? &dop853 : &dopri5;
}

/* Control of the step's length (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.4 and IV.2): the
   part of what the error allows that is taken, how much the last error counts, by how much a step may shrink and grow,
   errors below which a smaller one says no more about the next step, and about the one after it. */
#define SAFETY 0.9
#define STEADYING 0.04
#define LEAST_GROWTH 0.2
#define MOST_GROWTH 10
#define LEAST_ERROR 1e-10
#define LEAST_LAST_ERROR 1e-4

/* What the next step should be as a multiple of the one just made, of length h: PI control. Steps of order 8 are so long
   that what makes them hard changes from one to the next: what has grown is taken to grow on (Gustafsson, ACM
   Transactions on Mathematical Software 20, 1994). */
static double growth(const Instance *s, double h, double error)
{
    const Head *head = &s->now->head;
    double power = 1 / next_method(s)->order;
    error = fmax(error, LEAST_ERROR);
    double factor = SAFETY * pow(error, 0.75 * STEADYING - power) * pow(head->error, STEADYING);
    if (!next_method(s)->long_steps || !(head->last > 0)) return factor;
    return fmin(factor, 0.8 * pow(error, -power) * h / head->last * pow(head->error / error, power));
}

/* A first step size from the sizes of the first two derivatives; long enough to be a step, also where rounding errors are
   all that there is of x. */
static double first_step(Instance *s, double t, const double *x, const double *m)
{
    double d0 = 0, d1 = 0, d2 = 0, longest = s->now->longest_step;
    const double *k = s->step.stage[0];
    if (!nx(s->model)) return longest;
    for (int i = 0; i < nx(s->model); ++i) {
        double weight = error_weight(s, i, x[i], x[i]);
        d0 += x[i] / weight * (x[i] / weight);
        d1 += k[i] / weight * (k[i] / weight);
    }
    d0 = sqrt(d0 / nx(s->model));
    d1 = sqrt(d1 / nx(s->model));
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h = fmin(h, longest);
    for (int i = 0; i < nx(s->model); ++i) s->step.x[i] = x[i] + h * k[i];
    if (right_hand_side(s, t + h, s->step.x, m, s->step.w, s->step.stage[1])) return 1e-3 * h;
    for (int i = 0; i < nx(s->model); ++i) {
        double change = (s->step.stage[1][i] - k[i]) / error_weight(s, i, x[i], x[i]);
        d2 += change * change;
    }
    d2 = sqrt(d2 / nx(s->model)) / h;
    double most = fmax(d1, d2);
    double next = most <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / most, 1 / next_method(s)->order);
    double least = 1e3 * ROUNDING * fabs(t);
    return fmin(fmax(fmin(100 * h, next), least), longest);
}

/* How far ahead the next flip is looked for while switches chatter. What moves slowly past its crossing is there for so
   long that rounding errors make it flip again and again: the more often it has, the further, until it is past. */
static double patience(const Instance *s)
{
    enum { FEW = 50 };
    double more = s->now->head.chatter - FEW;
    return more > 0 ? 2e-15 * more * more * s->now->longest_step : 0;
}

/* Do watched switches disagree at a time within the step just made, with the crossings there in c_trial? -1: they have no
   values. Off the constraints, what crosses together would cross one after the other, and perhaps back again. Where no
   crossing knows accelerations there are none to find, unless projections use the factors of A. */
static int flips_at(Instance *s, const int *watched, double t)
{
    if (states_within(s, t, s->step.x)
        || unsolved(s, inputs_at(s, t, s->step.x, s->head.inside))
        || ((crossings_need_w(s->model) || projects_along_forces(s->model))
            && accelerations(s, t, s->step.x, inputs_at(s, t, s->step.x, s->head.inside), s->head.inside, s->step.w))
        || eval_crossings(s, t, s->step.x, inputs_at(s, t, s->step.x, s->head.inside), s->head.inside, s->step.w,
                          s->search.c_trial))
        return -1;
    int flips = 0;
    for (int i = 0; i < nm(s->model); ++i) flips |= watched[i] && disagrees(s->search.c_trial[i], s->head.inside[i]);
    return flips;
}

/* How well the dense output of the step just made keeps the equations at a time within it: by how much derivatives differ,
   over the whole step, as an error relative to the tolerance. */
#define LEAST_DEFECT 100 /* what is less is no error of the step */
static Outcome defect_at(Instance *s, double t, double *defect)
{
    double h = s->now->head.length, shift = 1e-4 * h, sum = 0;
    double *x = s->step.stage[1], *before = s->step.stage[2], *k = s->step.stage[3];
    *defect = 0;
    interpolate(s, t, x);
    Outcome outcome = right_hand_side(s, t, x, s->head.inside, s->step.inner_w, k);
    if (outcome) return outcome;
    interpolate(s, t - shift, before);
    interpolate(s, t + shift, x);
    for (int i = 0; i < nx(s->model); ++i) {
        double e = h * ((x[i] - before[i]) / (2 * shift) - k[i]) / error_weight(s, i, s->head.x[i], s->step.next_x[i]);
        sum += e * e;
    }
    if (nx(s->model)) *defect = sqrt(sum / nx(s->model));
    return DONE;
}

/* Find the first flip of a switch on the step just made, where `watched` marks those that agreed at its begin:
   bisection and secants in turn on the dense output. All are watched, not only those that disagree at the end: one
   may cross, and cross back once another one has flipped. Returns the time just past the crossing and leaves
   s->events.flipped = STAYS for what flips there. */
static double locate_crossing(Instance *s, const int *watched, double end)
{
    enum { ITERATIONS = 120 };
    Head *head = &s->now->head;
    double low = head->begin, high = end, *c_low = s->search.c_low, *c_high = s->search.c_high;
    COPY(c_low, s->head.c, nm(s->model));
    COPY(c_high, s->search.c_next, nm(s->model));
    double ahead = low + patience(s);
    if (ahead > low && ahead < high) {
        int flips = flips_at(s, watched, ahead);
        if (flips >= 0) {
            low = ahead;
            COPY(flips ? c_high : c_low, s->search.c_trial, nm(s->model));
        }
        if (flips > 0) high = ahead;
    }
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        double gap = high - low, resolution = 4e-16 * fmax(fabs(low), fabs(high)) + 1e-14 * head->length, t = high;
        if (gap <= resolution) break;
        if (iteration % 3 == 2) {
            t = low + 0.5 * gap;
        } else {
            for (int i = 0; i < nm(s->model); ++i)
                if (watched[i] && disagrees(c_high[i], s->head.inside[i]))
                    t = fmin(t, low + gap * c_low[i] / (c_low[i] - c_high[i]));
            /* Aim a little past the root, so that the bracket closes from both sides. */
            t += iteration % 3 ? resolution : 0;
            t = fmin(fmax(t, low + 0.25 * resolution), high - 0.25 * resolution);
        }
        int flips = flips_at(s, watched, t);
        if (flips < 0) break;
        if (flips) {
            high = t;
            COPY(c_high, s->search.c_trial, nm(s->model));
        } else {
            low = t;
            COPY(c_low, s->search.c_trial, nm(s->model));
        }
    }
    for (int i = 0; i < nm(s->model); ++i)
        s->events.flipped[i] = watched[i] && disagrees(c_high[i], s->head.inside[i]) ? STAYS : AS_BEFORE;
    return high;
}

/* Crossings at a time within the step just made. */
static int crossings_within(Instance *s, double t, double *c)
{
    interpolate(s, t, s->step.x);
    const double *u = inputs_at(s, t, s->step.x, s->head.inside);
    if (unsolved(s, u) || (crossings_need_w(s->model)
                           && accelerations(s, t, s->step.x, u, s->head.inside, s->step.inner_w)))
        return 1;
    return eval_crossings(s, t, s->step.x, u, s->head.inside, s->step.inner_w, c) || !finite_all(c, nm(s->model));
}

/* A switch without bounds may cross and cross back between two times at which crossings are known. Where a parabola
   through these and one between comes close to zero, its lowest point is looked at, and so on with that one and its
   neighbours. Returns a time at which a watched switch disagrees and leaves the crossings there in c_trial; `end` where
   there is none. */
static double find_dip_between(Instance *s, const int *watched, double begin, const double *c_begin, double end,
                               const double *c_end)
{
    enum { SAMPLES = 5 };
    double *c_middle = s->search.c_middle, middle = 0.5 * (begin + end), margin = 1e-3 * (end - begin);
    if (crossings_within(s, middle, c_middle)) return end;
    COPY(s->search.c_trial, c_middle, nm(s->model));
    for (int i = 0; i < nm(s->model); ++i)
        if (watched[i] && disagrees(c_middle[i], s->head.inside[i])) return middle;
    for (int i = 0; i < nm(s->model); ++i) {
        if (!watched[i] || disagrees(c_end[i], s->head.inside[i])) continue;
        double sign = is_on(s->head.inside[i]) ? 1 : -1;
        double t[3] = {begin, middle, end};
        double y[3] = {sign * c_begin[i], sign * c_middle[i], sign * c_end[i]};
        for (int sample = 0; sample < SAMPLES; ++sample) {
            double most = fmax(y[0], fmax(y[1], y[2])), lowest = middle, least = vertex(t, y, &lowest);
            if (!(least < 0.2 * (most - fmin(y[0], fmin(y[1], y[2]))))) break;
            int own = lowest > t[1] ? 2 : 0;
            if (fmin(fabs(lowest - t[1]), fabs(lowest - t[own])) < margin) break;
            if (crossings_within(s, lowest, s->search.c_trial)) break;
            double height = sign * s->search.c_trial[i];
            if (height < -1e-9 * most) return lowest;
            lowest_of_four(t, y, lowest, height);
        }
    }
    return end;
}

/* The same within the step just made, in each half of it: one parabola does not follow the least of several distances,
   as that of bodies that turn and come near with one corner after the other. */
static double find_dip(Instance *s, const int *watched, double end)
{
    double begin = s->now->head.begin, middle = 0.5 * (begin + end), *c_middle = s->search.c_low;
    if (crossings_within(s, middle, c_middle)) return end;
    for (int i = 0; i < nm(s->model); ++i)
        if (watched[i] && disagrees(c_middle[i], s->head.inside[i])) {
            COPY(s->search.c_trial, c_middle, nm(s->model));
            return middle;
        }
    double dip = find_dip_between(s, watched, begin, s->head.c, middle, c_middle);
    return dip < middle ? dip : find_dip_between(s, watched, middle, c_middle, end, s->search.c_next);
}

/* The same of switches that have bounds: nothing that is longer than the shortest pulse is passed over, but for what
   the constraints move the dense output by. */
static double find_enclosed(Instance *s, const int *watched, double end)
{
    enum { TRIALS = 8 };
    double begin = s->now->head.begin, before;
    for (int trial = 0; trial < TRIALS && nenclosed(s->model) && begin < end; ++trial) {
        begin = find_crossing(s, begin, end, s->head.inside, watched, OF_STATES, &before);
        if (begin < end && flips_at(s, watched, begin) > 0) return begin;
    }
    return end;
}

/* Is a flip so soon after the begin of a step hardly one? Dense output of the implicit method does not begin with the
   derivatives there: where the step passes over what dies away quickly, a switch that has just flipped may seem to flip
   back at once, and again in its other mode, whereas the derivatives lead away. A shorter step tells. */
static int is_doubtful(const Instance *s, double begin, double past)
{
    const Head *head = &s->now->head;
    return next_method(s)->implicit && past - begin < head->length / 16 && head->length > 100 * time_margin(begin);
}

/* Is the step just made wrong, since it goes far beyond the crossing at `past`? What the modes there stand for need not go
   on smoothly: the force of a contact, a power of its depth, has no derivatives of higher orders where it ends. Stages
   beyond it spoil the step, and its error may come out small by chance; where dense output meets the equations at the
   crossing, it is right. Then a step that ends just behind the crossing is to be made. Steps of the implicit method damp
   what dies away quickly, which makes a defect of any size. */
static Outcome spoils(Instance *s, double begin, double past, double end, int *wrong)
{
    double defect, shorter = past - begin;
    *wrong = 0;
    if (next_method(s)->implicit || end - past < 0.1 * shorter || shorter <= 100 * time_margin(begin)) return DONE;
    Outcome outcome = defect_at(s, past, &defect);
    *wrong = !outcome && defect > LEAST_DEFECT;
    return outcome;
}

/* What a search for flips of switches finds: none, some, or that the step is too long to tell. */
typedef enum { NO_EVENT, EVENT, DOUBTFUL_EVENT } Found;

/* Look for flips of switches in the step just made from x at `begin` to s->step.next_x at *end. Where there is one,
   the step is cut to end just past the first, and s->events.flipped is STAYS for what flips there. */
static Outcome find_event(Instance *s, double begin, const double *x, double *end, Found *found)
{
    int any = 0, at_begin = 0, sampled = 0;
    const double *u = inputs_at(s, *end, s->step.next_x, s->head.m);
    if (unsolved(s, u)) return UNSOLVED;
    if (eval_crossings(s, *end, s->step.next_x, u, s->head.m, s->step.w, s->search.c_next)) return NOT_FINITE;
    for (int i = 0; i < nm(s->model); ++i) {
        int flips = !s->tables->time_switches[i] && disagrees(s->search.c_next[i], s->head.m[i]);
        s->search.watched[i] = !s->tables->time_switches[i] && !disagrees(s->head.c[i], s->head.m[i]);
        s->search.sampled[i] = s->search.watched[i];
        any |= flips && s->search.watched[i];
        /* Wrong at both ends: the switch began on its crossing and went the other way, so it flips at the begin. */
        if (flips && !s->search.watched[i]) {
            at_begin = 1;
            s->events.flipped[i] = STAYS;
        }
    }
    if (at_begin) {
        *end = begin;
        COPY(s->step.next_x, x, nx(s->model));
    } else {
        double past = find_enclosed(s, s->search.watched, *end);
        if (past < *end) {
            any = 1;
            COPY(s->search.c_next, s->search.c_trial, nm(s->model));
        }
        for (int k = 0; k < nenclosed(s->model); ++k) s->search.sampled[s->tables->enclosed[k]] = 0;
        for (int i = 0; i < nm(s->model); ++i) sampled |= s->search.sampled[i];
        double dip = sampled ? find_dip(s, s->search.sampled, past) : past;
        if (dip < past) {
            any = 1;
            past = dip;
            COPY(s->search.c_next, s->search.c_trial, nm(s->model));
        }
        if (any) past = locate_crossing(s, s->search.watched, past);
        if (any && is_doubtful(s, begin, past)) {
            *found = DOUBTFUL_EVENT;
            s->now->head.h = LEAST_GROWTH * s->now->head.length;
            return DONE;
        }
        if (past < *end) {
            int wrong;
            Outcome outcome = spoils(s, begin, past, *end, &wrong);
            if (outcome) return outcome;
            if (wrong) {
                *found = DOUBTFUL_EVENT;
                s->now->head.h = 1.02 * (past - begin);
                return DONE;
            }
            Outcome projected = states_within(s, past, s->step.next_x);
            if (projected) return projected;
            *end = past;
        }
    }
    if (any || at_begin) *found = EVENT;
    COPY(s->head.c, s->search.c_next, nm(s->model));
    return DONE;
}

/* Modes changed at the end of the step, or a kink of some order came out of a delay. */
static Outcome finish_event(Instance *s, double kink)
{
    Head *head = &s->now->head;
    int last = 0, flips = 0;
    for (int i = 0; i < nm(s->model); ++i)
        if (s->events.flipped[i] == STAYS) s->head.m[i] = 1 - s->head.m[i];
    Outcome outcome = settle_events(s, head->end, s->head.x, s->head.m, s->head.c, s->head.inside);
    if (outcome) return outcome;
    for (int i = 0; i < nm(s->model); ++i)
        if (s->events.flipped[i]) {
            say_flip(s, i, s->head.m[i], head->end);
            last = i;
            flips = 1;
        }
    outcome = mark_kink(s, head->end, s->head.x, s->head.m, flips ? 1 : kink);
    if (outcome) return outcome;
    s->now->events += 1;
    /* Where there are discrete states, settling them leaves the accelerations at the end. */
    head->k_known = 0;
    if (ndiscrete(s->model)) know_derivatives(s);
    outcome = accept_iterations(s);
    if (outcome) return outcome;
    int soon = head->end - head->begin < 1e-10 * s->now->longest_step + 2 * patience(s);
    head->chatter = soon ? head->chatter + 1 : 0;
    if (head->chatter < 1000) return DONE;
    if (!flips || s->tables->time_switches[last])
        because(s, "%s flips at instants that follow each other after %.3g s, at time %.9g: a run of so many events has no "
                "end; choose a longer period or time between them",
                flips ? s->tables->switch_names[last] : "what depends on time, or sets states anew,",
                    head->end - head->begin, head->end);
    else
        because(s, "switches flip back and forth without end at time %.9g (%s): friction, a stop or a comparison that "
                "should hold still needs a hysteresis or a width", head->end, s->tables->switch_names[last]);
    return CHATTERING;
}

/* Error of the step just tried without the part that projecting removes, which does not count (Eich, SIAM Journal on
   Numerical Analysis 30, 1993). Along forces it stays apart from the rest also where a mechanism passes a position in
   which branches of motion cross: there constraint forces are all but undetermined, and small steps only come closer to
   that position. Leaves next_x close to the constraints. */
static double tangential_error(Instance *s, double end, const double *x, const double *m)
{
    double sum = 0;
    if (project_along_forces(s, end, s->step.x, m) || project_along_forces(s, end, s->step.next_x, m)) return INFINITY;
    for (int i = 0; i < nx(s->model); ++i) {
        double e = (s->step.next_x[i] - s->step.x[i]) / error_weight(s, i, x[i], s->step.next_x[i]);
        sum += e * e;
    }
    return sqrt(sum / nx(s->model));
}

static int reads_dense(const Instance *s,
                       double end) { return nm(s->model) || ndelays(s->model) || end > s->step.dense_after; }

/* Could branches of the motion cross within a trial step? Not where the constraints stay far from dependent ones at
   both of its ends, and further than regularity has changed lately. */
static int may_branch(const Instance *s)
{
    const Head *head = &s->now->head;
    double begin = head->regular, end = s->trial.regular, least = fmin(begin, end);
    double change = fmax(fabs(end - begin), fabs(begin - head->before));
    return !(least > 0.25 * head->regularity && least > 2 * change);
}

/* Dense output of order 8 of a trial step, and how well it keeps the equations in its middle, as an error relative to
   the tolerance. Its own stages have no share in the error of the step: where one of them meets a position in which
   branches of motion cross, nothing else tells. A passage keeps the position away from them. */
static Outcome dense_defect(Instance *s, double h, double *error)
{
    Head *head = &s->now->head;
    double begin = head->end, defect;
    head->begin = begin;
    head->length = h;
    head->dense_vectors = next_method(s)->dense_vectors;
    COPY(s->head.inside, s->head.m, ndiscrete(s->model));
    Outcome outcome = next_method(s)->dense_output(s, begin, s->head.x);
    if (outcome || s->trial.passes || !may_branch(s)) return outcome;
    outcome = defect_at(s, begin + 0.5 * h, &defect);
    *error = fmax(*error, defect / LEAST_DEFECT);
    return outcome;
}

INTERNAL Outcome make_stages(Instance *s)
{
    return next_method(s)->step(
        s, s->now->head.end, s->trial.h, s->trial.end, s->head.x, s->head.m, &s->trial.error);
}

INTERNAL Outcome complete_trial(Instance *s, Outcome outcome)
{
    const Method *method = next_method(s);
    int stale = !method->ends_known, moved;
    double h = s->trial.h, end = s->trial.end, allowed = s->trial.allowed, *error = &s->trial.error;
    if (outcome) return outcome;
    if (is_constrained(s->model) && *error > 1) {
        *error = fmin(*error, tangential_error(s, end, s->head.x, s->head.m));
        stale = 1;
    }
    if (*error > allowed) return DONE;
    /* The least norm of displacements would cost energy. */
    if (s->trial.passes && !projects_along_forces(s->model)) {
        outcome = project_along_forces(s, end, s->step.next_x, s->head.m);
        if (outcome) return outcome;
        stale = 1;
    }
    outcome = project(s, end, s->step.next_x, s->head.m);
    if (outcome) return outcome;
    outcome = settle_points(s, end, s->step.next_x, s->head.m, s->step.w, 0, &moved);
    if (outcome) return outcome;
    stale |= moved;
    if (stale) outcome = right_hand_side(s, end, s->step.next_x, s->head.m, s->step.w, s->step.next_k);
    if (outcome) return outcome;
    if (is_constrained(s->model)) s->trial.regular = regularity(s, &s->trial.weakest);
    if (method->stiffness) method->stiffness(s, h);
    if (method->dense_stages && is_constrained(s->model) && reads_dense(s, end)) outcome = dense_defect(s, h, error);
    if (*error <= allowed) *error = fmin(*error, 1);
    return outcome;
}

/* Dense output of the step just made from x, where anybody reads between its ends: those who look for events, and those
   who want values before its end. */
static Outcome keep_dense(Instance *s, double end, const double *x)
{
    Head *head = &s->now->head;
    const Method *method = next_method(s);
    head->dense_vectors = method->dense_vectors;
    if (!reads_dense(s, end)) return DONE;
    /* Where branches of motion may cross, it has been made already, with the trial. */
    if (method->dense_stages && is_constrained(s->model)) return DONE;
    return method->dense_output(s, head->begin, x);
}

/* Change the method where steps in a row say that the other one is quicker: the explicit one where stability keeps its
   steps short, the implicit one where its steps would be stable for the explicit one too. */
static void choose_method(Instance *s, double h)
{
    enum { DOUBTS = 15, RELIEF = 6 };
    if (solver(s->model) != SOLVER_AUTO) return;
    Head *head = &s->now->head;
    int doubtful = head->implicit ? h * spectral_radius(s) < 1 : s->step.stiffness > 1;
    if (doubtful) {
        head->doubts += 1;
        head->relief = 0;
    } else if (++head->relief == RELIEF) {
        head->doubts = 0;
    }
    if (head->doubts < DOUBTS) return;
    head->doubts = head->relief = 0;
    head->implicit = !head->implicit;
    say(s, STATUS_OK, "the %s method goes on at time %.9g", next_method(s)->name, head->begin + h);
}

INTERNAL Outcome begin_step(Instance *s)
{
    Head *head = &s->now->head;
    s->implicit.linearised = 0;
    if (!head->k_known) {
        Outcome outcome = right_hand_side(s, head->end, s->head.x, s->head.m, s->step.w, s->head.k);
        if (outcome) return outcome;
        head->k_known = 1;
    }
    COPY(s->step.stage[0], s->head.k, nx(s->model));
    return DONE;
}

/* A number for the modes at the head, and its place among those that are remembered. */
static unsigned long long mode_hash(const Instance *s)
{
    unsigned long long hash = 14695981039346656037u;
    for (int i = 0; i < nm(s->model); ++i) hash = (hash ^ (is_on(s->head.m[i]) ? 2u : 1u)) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Propose a length that does not follow from the step before. */
static void begin_lengths(Head *head, double h)
{
    head->h = h;
    head->error = LEAST_LAST_ERROR;
    head->last = 0;
}

/* A size for the step from the head, where there is none yet or modes changed after it was proposed. A set of modes
   that was there before, as that of a contact that closes again, begins with the step that was right then. Other
   events change little as a rule: what was proposed stands unless it is far from a first step's size. */
static void propose_step(Instance *s)
{
    Head *head = &s->now->head;
    int changed = 0;
    for (int i = 0; i < ndiscrete(s->model); ++i) changed |= s->head.inside[i] != s->head.m[i];
    if (head->h > 0 && !changed) return;
    head->entering = nm(s->model) > 0;
    unsigned long long hash = mode_hash(s);
    double known = nm(s->model) && head->entered[hash % ENTRIES] == hash ? head->entry_h[hash % ENTRIES] : 0;
    if (known > 0) {
        begin_lengths(head, known);
        return;
    }
    double first = first_step(s, head->end, s->head.x, s->head.m);
    if (head->h >= 0.1 * first && head->h <= 4 * first) return;
    begin_lengths(head, first);
}

/* Keep the length that the first step in its set of modes should have had. */
static void remember_entry(Instance *s, double h, double error)
{
    Head *head = &s->now->head;
    if (!head->entering) return;
    unsigned long long hash = mode_hash(s);
    head->entering = 0;
    head->entered[hash % ENTRIES] = hash;
    head->entry_h[hash % ENTRIES] = h * fmin(0.7 * pow(fmax(error, LEAST_ERROR), -1 / next_method(s)->order), 5);
}

/* Keep what is fastest as the cause: the state whose derivative is largest beside its own size. */
static Outcome explain_exhaustion(Instance *s, double t)
{
    int fastest = 0;
    for (int i = 1; i < nx(s->model); ++i)
        if (fabs(s->head.k[i]) / (1 + fabs(s->head.x[i])) > fabs(s->head.k[fastest]) / (1 + fabs(s->head.x[fastest])))
            fastest = i;
    because(s, "more than %u evaluations of the right-hand side, and time came to %.9g only: '%s' changes by %.3g per "
            "second; a motion that fast needs a shorter communication step, a larger tolerance, or another model",
            EVALUATIONS_OF_A_STEP, t, s->tables->unknown_names[fastest], s->head.k[fastest]);
    return EXHAUSTED;
}

/* The longest explicit step while a point sticks [s]: what it drifts by is drawn back at 20/s, which longer ones would make
   grow up to the tolerance, so that it creeps. */
#define LONGEST_STICKING 0.1

INTERNAL Outcome begin_trials(Instance *s, double limit)
{
    const State *now = s->now;
    Trial *trial = &s->trial;
    double begin = now->head.end, instant = next_instant(s, begin, s->head.m), least, passing;
    Outcome outcome = check_delays(s, begin, s->head.x, s->head.m, &least);
    if (outcome) return outcome;
    double coming = next_kink(s, begin, &passing);
    trial->begin = begin;
    trial->kink = coming < instant - time_margin(begin) ? passing + 1 : 1;
    trial->instant = fmin(instant, coming);
    trial->limit = fmin(limit, trial->instant);
    trial->longest = fmin(now->longest_step, least); /* nothing is read that has not been */
    if (!now->head.implicit && is_sticking(s, s->head.m)) trial->longest = fmin(trial->longest, LONGEST_STICKING);
    trial->rejected = trial->branchings = trial->leapt = 0;
    trial->cause = INACCURATE;
    outcome = begin_step(s);
    if (outcome) return outcome;
    propose_step(s);
    trial->ahead = time_to_branches(s, now->head.h, fmin(trial->longest, trial->limit - begin));
    trial->near = is_near_branches(s, trial->ahead);
    return DONE;
}

INTERNAL Outcome choose_length(Instance *s)
{
    Trial *trial = &s->trial;
    double begin = trial->begin, remaining = trial->limit - begin, h = fmin(s->now->head.h, trial->longest);
    const Leap *over = trial->near && trial->leapt < LEAPS ? &leaps[trial->leapt] : NULL;
    s->step.wide_gap = over && over->order5;
    double leap = trial->ahead / next_method(s)->gaps[0]; /* infinite for the implicit method */
    trial->leaps = over && leap < 0.9 * fmin(remaining, trial->longest);
    s->step.wide_gap = trial->leaps && over->order5;
    trial->cut = 0;
    trial->allowed = 1;
    if (trial->leaps) {
        h = leap;
        trial->allowed = fmax(1, over->tolerance / s->now->tolerance);
    } else if (h >= remaining * (1 - 1e-6)) {
        h = remaining;
        trial->cut = 1;
    } else if (2 * h > remaining) {
        /* Two equal steps rather than a long and a tiny one. */
        h = 0.5 * remaining;
        trial->cut = 1;
    }
    if (!trial->leaps && trial->ahead < FURTHEST * h) {
        double length = length_of_passage(next_method(s), trial->ahead, h, remaining);
        if (length < h) trial->cut = !(trial->ahead < length);
        h = length;
    }
    double end = h == remaining ? trial->limit : begin + h;
    if (!(h > 8 * ROUNDING * fmax(fabs(begin), fabs(end)) || h == remaining) || !(h > 1e-290)) return trial->cause;
    if (s->now->evaluations >= s->communication.budget) return explain_exhaustion(s, begin);
    trial->h = h;
    trial->end = end;
    trial->error = 0;
    trial->passes = trial->ahead < 0.9 * h;
    /* One that has to end near the position meets what rounding errors grow to there. */
    if (trial->near && h == remaining && fabs(trial->ahead - h) < 0.1 * h)
        trial->allowed = fmax(1, ENDING_TOLERANCE / s->now->tolerance);
    s->step.leaning = begin + 0.5 * h;
    return DONE;
}

INTERNAL Outcome judge(Instance *s, Outcome outcome)
{
    enum { BRANCHINGS = 8 };
    State *now = s->now;
    Head *head = &now->head;
    Trial *trial = &s->trial;
    double begin = trial->begin, end = trial->end, h = trial->h, error = trial->error, least;
    int leaping = is_constrained(s->model) && trial->leaps, rejected = trial->rejected, cut = trial->cut;
    /* A step that ends where branches of motion cross is made shorter, to end well before, and the next one passes. */
    trial->leapt += leaping;
    double regular = is_constrained(s->model) && !outcome && error <= 1 ? trial->regular : INFINITY;
    if (leaping && (outcome || error > 1 || regular < 0.1 * head->regular)) {
        now->rejections += 1;
        return DONE;
    }
    if (is_constrained(s->model)
        && regular < (trial->branchings ? BRANCHES_CROSS_NEAR : BRANCHES_CROSS) * head->regularity) {
        outcome = BRANCHING;
        because(s, "branches of the motion cross where the step has to end, and which one it takes is open ('%s' "
                "depends on the other constraints there): let the step, or the run, end elsewhere, start with other "
                "values, or choose a greater tolerance",
                s->tables->velocity_names[trial->weakest]);
        if (++trial->branchings > BRANCHINGS) return outcome;
    }
    if (outcome || error > 1) {
        now->rejections += 1;
        if (outcome) trial->cause = outcome;
        head->h = h * (outcome == BRANCHING ? 0.7 : outcome ? 0.25
                       : fmax(LEAST_GROWTH, SAFETY * pow(error, -1 / next_method(s)->order)));
        trial->rejected = 1;
        /* Nothing is left to shorten where a step of rounding length fails. */
        return h <= 8 * ROUNDING * fmax(fabs(begin), fabs(end)) ? trial->cause : DONE;
    }

    /* Delays that vary may come to reach into the step. */
    outcome = check_delays(s, end, s->step.next_x, s->head.m, &least);
    if (outcome) return outcome;
    if (ndelays(s->model) && end - least > begin + time_margin(begin) && h > 1e-9 * now->longest_step) {
        now->rejections += 1;
        head->h = fmin(0.7 * h, least);
        trial->rejected = 1;
        return DONE;
    }

    double *x = s->step.begin_x;
    Found found = NO_EVENT;
    COPY(x, s->head.x, nx(s->model));
    head->begin = begin;
    head->length = h;
    head->passed = trial->passes;
    COPY(s->head.inside, s->head.m, ndiscrete(s->model));
    outcome = keep_dense(s, end, x);
    forget_flips(s);
    if (!outcome && nm(s->model)) outcome = find_event(s, begin, x, &end, &found);
    if (outcome) return outcome;
    if (found == DOUBTFUL_EVENT) {
        now->rejections += 1;
        trial->rejected = 1;
        return DONE;
    }

    /* A step cut short says little about longer ones, so it never makes the proposal smaller. */
    trial->under_way = 0;
    double next = h * fmin(fmax(growth(s, h, error), LEAST_GROWTH), rejected ? 1 : MOST_GROWTH);
    head->h = cut && !rejected ? fmax(head->h, next) : next;
    head->error = fmax(error, LEAST_LAST_ERROR);
    head->last = h;
    if (!cut) remember_entry(s, h, error);
    if (is_constrained(s->model)) {
        head->fall = head->regular > 0 ? (head->regular - regular) / h : 0;
        head->before = head->regular;
        head->regular = regular;
        head->regularity = fmax(head->regularity, regular);
    }
    now->steps += 1;
    now->implicit_steps += head->implicit;
    choose_method(s, h);

    int event = end == trial->instant || found == EVENT;
    outcome = record(s, begin, end);
    if (outcome) return outcome;
    s->step.leaning = INFINITY;
    head->end = end;
    head->event = event;
    COPY(s->head.x, s->step.next_x, nx(s->model));
    COPY(s->head.k, s->step.next_k, nx(s->model));
    outcome = accept_iterations(s);
    if (outcome) return outcome;
    COPY(s->head.s, s->given.u + nu(s->model) - niterations(s->model), niterations(s->model));
    if (event) {
        outcome = finish_event(s, trial->kink);
        if (outcome) return outcome;
    }
    outcome = check_still_redundant(s, end, s->head.x, s->head.m);
    return outcome ? outcome : check_assertions(s, end, s->head.x, s->head.m, s->step.w);
}

QUICK
