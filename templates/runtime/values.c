/* Variables by value reference: where each value lives, and what setting it changes. */

#include "values.h"

#include <string.h>

#include "access.h"
#include "branch_points.h"
#include "evaluate.h"
#include "freshness.h"
#include "functions.h"
#include "initialise.h"
#include "iterate.h"
#include "log.h"
#include "optimize.h"
#include "vectors.h"

SMALL

/* By so much indicators of switches on their border are moved off it. */
#define INDICATOR_MARGIN 1e-10

INTERNAL unsigned store_of(int place) { return (unsigned)place >> INDEX_BITS; }
INTERNAL unsigned index_of(int place) { return (unsigned)place & ((1u << INDEX_BITS) - 1); }

INTERNAL int is_inner(const Instance *s, unsigned index)
{
    return niterations(s->model) > 0 && (int)index >= iterations_begin(s->model);
}

INTERNAL int refresh(Instance *s, int with_y)
{
    double t = s->now->latch_t;
    if (s->now->phase == INITIALIZATION && s->now->start_stale) {
        if (!initialise(s)) return 0;
        t = s->now->latch_t;
    }
    if (!s->latch.w_fresh) {
        solve_latch(s);
        int exchanged = s->now->interface == MODEL_EXCHANGE && s->now->phase != INITIALIZATION;
        Outcome outcome = (exchanged ? exchanged_accelerations : accelerations)(
            s, t, s->latch.x, s->latch.u, s->latch.m, s->latch.w);
        if (outcome) {
            explain(s, outcome);
            return 0;
        }
        s->latch.w_fresh = 1;
    }
    if (with_y && !s->latch.y_fresh) {
        if (ny(s->model) && eval_variables(s, t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, s->latch.y)) {
            explain(s, NOT_FINITE);
            return 0;
        }
        s->latch.y_fresh = 1;
    }
    return 1;
}

INTERNAL int refresh_indicators(Instance *s)
{
    if (!refresh(s, 0)) return 0;
    if (nm(s->model) && (eval_crossings(s, s->now->latch_t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, s->latch.c)
               || !finite_all(s->latch.c, nm(s->model)))) {
        because(s, "the indicators are not finite");
        return 0;
    }
    for (int i = 0; i < nindicators(s->model); ++i) {
        int which = s->tables->indicators[i];
        s->latch.indicators[i] = s->latch.c[which] + (is_on(s->latch.m[which]) ? INDICATOR_MARGIN : -INDICATOR_MARGIN);
    }
    return 1;
}

INTERNAL int prepare(Instance *s, const int *places, const unsigned *references, size_t n)
{
    if (s->now->phase == INITIALIZATION && s->now->start_stale && !refresh(s, 0)) return 0;
    int need_w = 0, need_y = 0, need_indicators = 0, need_residuals = 0;
    for (size_t i = 0; i < n; ++i) {
        unsigned store = store_of(places[references[i]]);
        need_residuals |= store == STORE_RESIDUAL;
        need_w |= store == STORE_W || store == STORE_RESIDUAL || (store == STORE_U && is_inner(s, index_of(places[references[i]])));
        need_y |= store == STORE_Y;
        need_indicators |= store == STORE_INDICATOR;
    }
    if (need_indicators && !refresh_indicators(s)) return 0;
    if ((need_w | need_y) && !refresh(s, need_y)) return 0;
    if (!need_residuals || refresh_residuals(s)) return 1;
    because(s, "the residuals of the iteration variables are not finite");
    return 0;
}

INTERNAL const char *name_of(Instance *s, const char *names, unsigned reference)
{
    char *shown = s->log.shown;
    do {
        size_t shared = (unsigned char)*names++, rest = strlen(names) + 1, room = sizeof s->log.shown - 1 - shared;
        memcpy(shown + shared, names, rest < room ? rest : room);
        names += rest;
    } while (reference--);
    return shown;
}

INTERNAL double value_at(const Instance *s, int place)
{
    unsigned index = index_of(place);
    switch (store_of(place)) {
    case STORE_TIME: return s->now->latch_t;
    case STORE_X: return s->latch.x[index];
    case STORE_U: return is_inner(s, index) ? s->latch.u[index] : s->given.u[index];
    case STORE_P: return s->given.P[index];
    case STORE_W: return s->latch.w[index];
    case STORE_Y: return s->latch.y[index];
    case STORE_INDICATOR: return s->latch.indicators[index];
    case STORE_RESIDUAL: return s->iterations.r[index];
    case STORE_CONFIGURATION: return s->now->solved_outside;
    default: return s->tables->constants[index];
    }
}

INTERNAL Settables real_settables(const Instance *s)
{
    const Tables *t = s->tables;
    return (Settables){nreal_settables(s->model), t->real_references, t->real_settings, t->real_indices, t->real_least,
                       t->real_most, t->real_names};
}

INTERNAL Settables integer_settables(const Instance *s)
{
    const Tables *t = s->tables;
    return (Settables){ninteger_settables(s->model), t->integer_references, t->integer_settings, t->integer_indices,
                       t->integer_least,
                       t->integer_most, t->integer_names};
}

INTERNAL Settables boolean_settables(const Instance *s)
{
    const Tables *t = s->tables;
    return (Settables){nboolean_settables(s->model), t->boolean_references, t->boolean_settings, t->boolean_indices,
                       t->boolean_least,
                       t->boolean_most, t->boolean_names};
}

INTERNAL Settables string_settables(const Instance *s)
{
    const Tables *t = s->tables;
    return (Settables){nstring_settables(s->model), t->string_references, t->string_settings, t->string_indices,
                       t->string_least,
                       t->string_most, t->string_names};
}

INTERNAL int find_settable(const Settables *table, unsigned reference)
{
    int low = 0, high = table->n;
    while (low < high) {
        int middle = (low + high) / 2;
        if ((unsigned)table->references[middle] < reference) low = middle + 1;
        else high = middle;
    }
    return low < table->n && (unsigned)table->references[low] == reference ? low : -1;
}

/* Is this a state in continuous-time mode? Some importers set states as variables there; they set no more than with the
   function for all states. Returns its place among the states, or -1. */
static int state_to_set(const Instance *s, const Settables *table, unsigned reference)
{
    if (s->now->phase != CONTINUOUS_TIME || table->names != s->tables->real_names) return -1;
    int place = s->tables->real_places[reference];
    return store_of(place) == STORE_X ? (int)index_of(place) : -1;
}

/* Is this an iteration variable that the importer solves for? Returns its place in u, or -1. In event mode, in which it
   is solved for here, what is set is of no effect. */
static int iteration_to_set(const Instance *s, const Settables *table, unsigned reference)
{
    if (!s->now->solved_outside || !(s->now->phase & (EVENT_MODE | CONTINUOUS_TIME))
        || table->names != s->tables->real_names) return -1;
    int place = s->tables->real_places[reference];
    return store_of(place) == STORE_U && is_inner(s, index_of(place)) ? (int)index_of(place) : -1;
}

INTERNAL Status check_settable(Instance *s, const char *function, const Settables *table, unsigned reference)
{
    if (state_to_set(s, table, reference) >= 0 || iteration_to_set(s, table, reference) >= 0) return STATUS_OK;
    int which = find_settable(table, reference), setting = which < 0 ? SET_STRUCTURE : table->settings[which];
    Phase phase = s->now->phase;
    const char *why = NULL;
    if (which < 0) why = "is calculated by the model and cannot be set";
    else if (setting == SET_CONFIGURATION && s->now->interface == CO_SIMULATION) why = "is for model exchange only";
    else if (setting == SET_CONFIGURATION) why = phase == CONFIGURATION ? NULL : "can be set in configuration mode only";
    else if (phase == CONFIGURATION) why = "is no structural parameter: set it after configuration mode";
    else if (setting == SET_INPUT) return STATUS_OK;
    else if (setting == SET_STRUCTURE) why = "is part of the model's structure: rebuild the FMU with the value wanted";
    else if (phase == ASKED) why = "is no input, and inputs are asked for";
    else if (phase == CONTINUOUS_TIME) why = "cannot be set in continuous-time mode: enter event mode first";
    else if ((phase & (STEP_COMPLETE | EVENT_MODE)) && setting != SET_TUNABLE)
        why = "can be set until initialisation ends only: reset the instance first";
    return why ? say(s, STATUS_ERROR, "%s: %s %s", function, name_of(s, table->names, reference), why) : STATUS_OK;
}

INTERNAL Status check_value(Instance *s, const char *function, const Settables *table, unsigned reference, double value)
{
    Status status = check_settable(s, function, table, reference);
    if (status) return status;
    int which = find_settable(table, reference);
    /* Integrators try states beyond bounds, too. */
    int bounded = which >= 0 && state_to_set(s, table, reference) < 0;
    double least = bounded ? table->least[which] : -INFINITY, most = bounded ? table->most[which] : INFINITY;
    if (!(fabs(value) <= DBL_MAX))
        return say(s, STATUS_DISCARD, "%s: %s is given the value %g; the values before are kept", function,
                   name_of(s, table->names, reference), value);
    if (value < least || value > most)
        return say(s, STATUS_DISCARD, "%s: %s is given the value %.9g, its %s is %.9g; the values before are kept",
                   function,
                   name_of(s, table->names, reference), value, value < least ? "least" : "greatest",
                   value < least ? least : most);
    return STATUS_OK;
}

INTERNAL void set_value(Instance *s, const Settables *table, unsigned reference, double value)
{
    State *now = s->now;
    int state = state_to_set(s, table, reference);
    if (state >= 0) {
        s->latch.x[state] = value;
        forget_latch(s);
        return;
    }
    int iteration = iteration_to_set(s, table, reference);
    if (iteration >= 0) {
        s->latch.u[iteration] = value;
        forget_latch(s);
        return;
    }
    int which = find_settable(table, reference), setting = table->settings[which], index = table->indices[which];
    if (setting == SET_CONFIGURATION) {
        now->solved_outside = value > 0.5;
        return;
    }
    double *to = (setting == SET_INPUT ? s->given.u : s->given.start) + index;
    if (memcmp(to, &value, sizeof value) == 0) return;
    *to = value;
    if (now->phase & (INSTANTIATED | INITIALIZATION)) {
        start_changed(s);
        return;
    }
    now->touched = 1;
    if (setting == SET_TUNABLE) {
        s->given.P[index] = value;
        derive(s);
    } else if (now->interface == MODEL_EXCHANGE || now->phase == EVENT_MODE) {
        s->latch.u[index] = value;
    } else {
        return;
    }
    forget_latch(s);
}

QUICK
