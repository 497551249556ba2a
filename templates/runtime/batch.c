/* Runs over a list of times, for programs in this process: one of them, or many in lanes (lanes.c). */

#include "batch.h"

#include <stdio.h>
#include <string.h>

#include "advance.h"
#include "cosimulation.h"
#include "freshness.h"
#include "host.h"
#include "instance.h"
#include "integrator.h"
#include "log.h"
#include "vectors.h"

static void take_knot(Instance *s, const Drive *drive, size_t knot)
{
    for (size_t i = 0; i < drive->ninputs; ++i) {
        int index = drive->inputs[i];
        double value = drive->values[knot * drive->ninputs + i], slope = drive->slopes[knot * drive->ninputs + i];
        if (s->given.u[index] == value && s->given.du[index] == slope) continue;
        s->given.u[index] = value;
        s->given.du[index] = slope;
        input_changed(s);
    }
    s->now->ramps = largest(s->given.du, nu(s->model)) > 0;
}

/* Give inputs what they have from the last knot on that is not after `t`; the first one where all are. Returns the
   next. */
static size_t take_first_knot(Instance *s, const Drive *drive, double t)
{
    size_t next = 1;
    if (!drive || !drive->nknots) return 0;
    while (next < drive->nknots && drive->knots[next] <= t) ++next;
    take_knot(s, drive, next - 1);
    for (size_t i = 0; i < drive->ninputs; ++i)
        if (drive->knots[next - 1] < t)
            s->given.u[drive->inputs[i]] += s->given.du[drive->inputs[i]] * (t - drive->knots[next - 1]);
    return next;
}

HOST_EXPORT void mbfmu_start_drive(Instance *s, const Drive *drive) { take_first_knot(s, drive, s->now->start_time); }

/* A run to each of some times, with inputs that follow `drive` (NULL: they stay); the places are read there, one row for
   each time. */
typedef struct {
    const double *times;            /* [ntimes] */
    size_t ntimes;
    const int *places;              /* [nplaces] */
    size_t nplaces;
    double *rows;                   /* [ntimes x nplaces] */
    const Drive *drive;
    size_t row, knot;               /* the next ones */
    int stepping;                   /* a communication step is under way */
} Course;

static Course begin_course(const Instance *s, const double *times, size_t ntimes, const int *places, size_t nplaces,
                           double *rows, const Drive *drive)
{
    Course course = {times, ntimes, places, nplaces, rows, drive, 0, 0, 0};
    while (drive && course.knot < drive->nknots && drive->knots[course.knot] < s->now->latch_t) ++course.knot;
    return course;
}

/* Go on with a run until the integrator has a trial to make, 1; 0 where the run is over, with `row` complete rows: less
   than `ntimes` where a step fails, and the log says why. */
static int go_on(Instance *s, const char *name, Course *course)
{
    const Drive *drive = course->drive;
    while (course->row < course->ntimes) {
        int turns = drive && course->knot < drive->nknots && drive->knots[course->knot] < course->times[course->row];
        double t = s->now->latch_t, next = turns ? drive->knots[course->knot] : course->times[course->row];
        if (next > t || course->stepping) {
            if (!course->stepping && begin_do_step(s, name, t, next - t)) return 0;
            course->stepping = next_trial(s);
            if (course->stepping) return 1;
            if (end_do_step(s, name)) return 0;
        }
        if (turns) {
            take_knot(s, drive, course->knot++);
        } else {
            if (!read_places(s, course->places, course->nplaces, course->rows + course->row * course->nplaces)) {
                say(s, STATUS_DISCARD, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
                return 0;
            }
            ++course->row;
        }
    }
    return 0;
}

HOST_EXPORT size_t mbfmu_run(Instance *s, const char *name, const double *times, size_t ntimes, const int *places,
                             size_t nplaces, double *rows, const Drive *drive)
{
    Course course = begin_course(s, times, ntimes, places, nplaces, rows, drive);
    while (go_on(s, name, &course)) take_trial(s, make_stages(s));
    return course.row;
}

/* Begin the run of a batch with this number; 0 where it is over at once. */
static int begin_run(Instance *s, const Batch *batch, size_t run, Course *course)
{
    const double *values = batch->values + run * batch->nsettings;
    char *message = batch->messages + run * batch->message_size;
    batch->complete[run] = 0;
    message[0] = 0;
    reset(s);
    s->log.cause[0] = 0;
    if (set_up_experiment(s, "batch", batch->tolerance > 0, batch->tolerance, batch->start_time, 1, batch->stop_time)
        || enter_initialization(s, "batch")) {
        snprintf(message, batch->message_size, "the times or the tolerance are impossible");
        return 0;
    }
    for (size_t i = 0; i < batch->nsettings; ++i) {
        int index = batch->settings[i];
        if (index < 0) s->given.u[-1 - index] = values[i];
        else s->given.start[index] = values[i];
    }
    take_first_knot(s, batch->drive, batch->start_time);
    start_changed(s);
    if (exit_initialization(s, "batch")) {
        snprintf(message, batch->message_size, "%s", s->log.cause);
        return 0;
    }
    *course = begin_course(s, batch->times, batch->ntimes, batch->places, batch->nplaces,
                           batch->rows + run * batch->ntimes * batch->nplaces, batch->drive);
    return 1;
}

static void end_run(const Instance *s, const Batch *batch, size_t run, const Course *course)
{
    batch->complete[run] = course->row;
    if (course->row < batch->ntimes)
        snprintf(batch->messages + run * batch->message_size, batch->message_size, "the run ends at %.9g s: %s",
                 s->now->latch_t, s->log.cause);
}

/* An instance that makes runs of a batch, one after the other. */
typedef struct {
    size_t run;
    int running, changed;           /* `changed`: it has begun a run, with parameters of its own */
    Course course;
} Runner;

/* Go on until there is a trial to make, 1; 0 where no run is left. */
static int next_trial_of_batch(Instance *s, const Batch *batch, Runner *runner, size_t *next)
{
    for (;;) {
        if (runner->running) {
            if (go_on(s, "batch", &runner->course)) return 1;
            end_run(s, batch, runner->run, &runner->course);
            runner->running = 0;
        }
        if (*next == batch->nruns) return 0;
        runner->run = (*next)++;
        runner->running = begin_run(s, batch, runner->run, &runner->course);
        runner->changed = 1;
    }
}

/* Methods that make trials in lanes. */
enum { IN_LANES = 2 };
static const Method *const methods_in_lanes[IN_LANES] = {&dopri5, &dop853};

static int method_in_lanes(const Method *method)
{
    int number = 0;
    while (number < IN_LANES && methods_in_lanes[number] != method) ++number;
    return number;
}

HOST_EXPORT void mbfmu_batch(Instance *const *instances, int n, const Batch *batch)
{
    const Instance *s = instances[0];
    const LaneKind *kind = batch->lanes;
    Runner runners[MOST_LANES];
    size_t next = 0;
    int joins = batch->nruns > 1 && nx(s->model) && !ndelays(s->model) && !niterations(s->model)
        && !nredundancies(s->model);
    void *lanes = kind && kind->lanes == n && joins ? kind->make(s->model) : NULL;
    if (!lanes) n = 1;
    memset(runners, 0, sizeof runners);
    /* Of what is chosen, a warning: once would do, each time is too much. */
    for (int l = 0; l < n; ++l) instances[l]->log.categories &= ~(unsigned)LOG_WARNING;
    for (;;) {
        unsigned alone = 0, takes[IN_LANES + 1] = {0}; /* who has a trial to make; by method, the last for all others */
        for (int l = 0; l < n; ++l) {
            if (!next_trial_of_batch(instances[l], batch, runners + l, &next)) continue;
            alone |= 1u << l;
            takes[method_in_lanes(next_method(instances[l]))] |= 1u << l;
        }
        if (!alone) break;
        for (int method = 0; method < IN_LANES; ++method) {
            unsigned changed = 0, done;
            if (!(takes[method] & (takes[method] - 1))) continue; /* not two of them */
            for (int l = 0; l < n; ++l) {
                changed |= (unsigned)runners[l].changed << l;
                runners[l].changed = 0;
            }
            done = kind->make_stages(lanes, instances, takes[method], changed, methods_in_lanes[method]->order == 8);
            for (int l = 0; l < n; ++l)
                if (done >> l & 1) take_trial(instances[l], DONE);
            alone &= ~done;
        }
        for (int l = 0; l < n; ++l)
            if (alone >> l & 1) take_trial(instances[l], make_stages(instances[l]));
    }
    if (lanes) kind->release(lanes);
}
