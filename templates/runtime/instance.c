/* Creation and destruction of instances, logging, and the way through the phases. `function` is the name under which the
   host has called, for the log. */

#include "instance.h"

#include <string.h>

#include "access.h"
#include "advance.h"
#include "cosimulation.h"
#include "evaluate.h"
#include "freshness.h"
#include "history.h"
#include "initialise.h"
#include "log.h"
#include "memory.h"
#include "model_exchange.h"
#include "optimize.h"
#include "parts.h"
#include "undetermined_start.h"
#include "vectors.h"

SMALL

static const char *phase_name(Phase phase)
{
    switch (phase) {
    case INSTANTIATED: return "after instantiation";
    case CONFIGURATION: return "in configuration mode";
    case INITIALIZATION: return "in initialisation mode";
    case STEP_COMPLETE: return "between steps";
    case STEP_FAILED: return "after a step that failed";
    case EVENT_MODE: return "in event mode";
    case CONTINUOUS_TIME: return "in continuous-time mode";
    case INTERMEDIATE: return "within a step";
    case ASKED: return "while inputs are asked for";
    default: return "after termination";
    }
}

INTERNAL Status check_phase(const Instance *s, const char *function, unsigned allowed)
{
    if (!s) return STATUS_ERROR;
    if (s->now->phase & allowed) return STATUS_OK;
    return say(s, STATUS_ERROR, "%s is not allowed %s", function, phase_name(s->now->phase));
}

INTERNAL Status check_interface(const Instance *s, const char *function, Interface interface, unsigned allowed)
{
    if (s && s->now->interface != interface)
        return say(s, STATUS_ERROR, "%s: this instance is for %s", function,
                   s->now->interface == CO_SIMULATION ? "co-simulation" : "model exchange");
    return check_phase(s, function, allowed);
}

/* The tolerance that steps are made with. Errors of 10 % in each step would feed a motion with energy until it is none of
   the model's; below 1e-14 there are rounding errors only. */
static double usable_tolerance(double tolerance)
{
    return fmin(fmax(tolerance, 1e-14), 1e-2);
}

/* The values that an instance starts with. */
static void set_defaults(Instance *s)
{
    State *now = s->now;
    Interface interface = now->interface;
    memset(now, 0, s->state_size);
    now->interface = interface;
    now->phase = INSTANTIATED;
    start_changed(s);
    now->start_time = default_start_time(s->model);
    now->stop_time = INFINITY;
    now->tolerance = usable_tolerance(default_tolerance(s->model));
    now->head.implicit = solver(s->model) == SOLVER_IMPLICIT;
    COPY(s->given.start, s->tables->default_parameters, npar(s->model));
    COPY(s->given.u, s->tables->default_inputs, nu(s->model));
    COPY(s->given.P, s->tables->default_parameters, npar(s->model));
    forget_preparations(s);
    forget_latch(s);
    forget_factors(s);
}

INTERNAL Instance *instantiate(const Model *model, const Host *host, const char *function, const char *name,
                               Interface interface, int logging)
{
    Instance plan, *s = &plan;
    Area area = {NULL, 0};
    size_t length = strlen(name) + 1;
    memset(s, 0, sizeof *s);
    s->model = model;
    s->tables = &model->tables;
    take(&area, 1, sizeof *s);
    take(&area, length, 1);
    lay_out(s, &area);
    char *memory = host_allocate(host, area.used);
    if (!memory) {
        refuse(host, name, "%s: no memory for %lu bytes", function, (unsigned long)area.used);
        return NULL;
    }
    area.at = memory;
    area.used = 0;
    s = take(&area, 1, sizeof *s);
    s->model = model;
    s->tables = &model->tables;
    s->caller.host = *host;
    s->caller.name = memcpy(take(&area, length, 1), name, length);
    s->log.categories = logging ? LOG_ALL : LOG_ALL & ~(unsigned)LOG_EVENTS;
    s->log.asked = logging;
    lay_out(s, &area);
    place_state(s);
    s->step.leaning = INFINITY;
    look_at_parts(s, 0, nparts(s->model));
    s->now->interface = interface;
    set_defaults(s);
    return s;
}

INTERNAL void free_instance(Instance *s)
{
    Host host;
    if (!s) return;
    host = s->caller.host;
    host_release(&host, s);
}

INTERNAL Status set_logging(Instance *s, const char *function, int on, size_t n, const char *const categories[])
{
    if (!s) return STATUS_ERROR;
    if (n && !categories) return say(s, STATUS_ERROR, "%s: no categories", function);
    unsigned mask = n ? 0 : LOG_ALL;
    for (size_t i = 0; i < n; ++i) {
        unsigned known = log_category(categories[i]);
        if (!known)
            return say(s, STATUS_ERROR, "%s: there is no log category '%s'", function,
                       categories[i] ? categories[i] : "");
        mask |= known;
    }
    if (mask & LOG_WARNING) s->log.asked = on;
    s->log.categories = on ? s->log.categories | mask : s->log.categories & ~mask;
    return STATUS_OK;
}

INTERNAL Status set_up_experiment(Instance *s, const char *function, int has_tolerance, double tolerance,
                                  double start_time,
                                  int has_stop_time, double stop_time)
{
    if (check_phase(s, function, INSTANTIATED)) return STATUS_ERROR;
    if (!(fabs(start_time) <= IMMENSE)) return say(s, STATUS_ERROR, "%s: start time %g", function, start_time);
    if (has_stop_time && !(stop_time >= start_time))
        return say(s, STATUS_ERROR, "%s: stop time %g is before start time %g", function, stop_time, start_time);
    if (has_tolerance && !(tolerance > 0 && tolerance <= 1))
        return say(s, STATUS_ERROR, "%s: tolerance %g is not between 0 and 1", function, tolerance);
    s->now->start_time = start_time;
    s->now->stop_time = has_stop_time ? stop_time : INFINITY;
    s->now->tolerance = usable_tolerance(has_tolerance ? tolerance : default_tolerance(s->model));
    return STATUS_OK;
}

INTERNAL Status enter_configuration(Instance *s, const char *function)
{
    if (!s) return STATUS_ERROR;
    for (int i = 0; i < nboolean_settables(s->model); ++i) {
        if (s->tables->boolean_settings[i] != SET_CONFIGURATION) continue;
        if (check_phase(s, function, INSTANTIATED)) return STATUS_ERROR;
        s->now->phase = CONFIGURATION;
        return STATUS_OK;
    }
    return say(s, STATUS_ERROR, "%s: this FMU has no structural parameters", function);
}

INTERNAL Status exit_configuration(Instance *s, const char *function)
{
    if (check_phase(s, function, CONFIGURATION)) return STATUS_ERROR;
    s->now->phase = INSTANTIATED;
    return STATUS_OK;
}

INTERNAL Status enter_initialization(Instance *s, const char *function)
{
    if (check_phase(s, function, INSTANTIATED)) return STATUS_ERROR;
    s->now->phase = INITIALIZATION;
    start_changed(s);
    s->now->latch_t = s->now->start_time;
    return STATUS_OK;
}

INTERNAL Status exit_initialization(Instance *s, const char *function)
{
    if (check_phase(s, function, INITIALIZATION)) return STATUS_ERROR;
    if (s->now->start_stale && !initialise(s)) return say(s, STATUS_ERROR, "%s: %s", function, s->log.cause);
    warn_of_choices(s, function);
    place_head(s);
    begin_history(s);
    s->now->head.h = 0;
    s->now->touched = 0;
    s->now->phase = s->now->interface == CO_SIMULATION && !s->caller.master.event_mode ? STEP_COMPLETE : EVENT_MODE;
    if (s->now->interface == CO_SIMULATION) prepare_first_step(s);
    return STATUS_OK;
}

INTERNAL Status terminate(Instance *s, const char *function)
{
    if (check_phase(s, function, STEP_COMPLETE | STEP_FAILED | EVENT_MODE | CONTINUOUS_TIME)) return STATUS_ERROR;
    const State *now = s->now;
    say(s, STATUS_OK, "%llu steps, %llu rejected, %llu events, %llu evaluations of the right-hand side; %llu implicit "
        "steps, %llu Jacobians", now->steps, now->rejections, now->events, now->evaluations, now->implicit_steps,
        now->jacobians);
    s->now->phase = TERMINATED;
    return STATUS_OK;
}

INTERNAL Status reset(Instance *s)
{
    if (check_phase(s, "reset", ANY_PHASE)) return STATUS_ERROR;
    set_defaults(s);
    return STATUS_OK;
}

QUICK
