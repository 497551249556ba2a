/* Models and instances for a program in this process, by ctypes (mbfmu/runtime/library.py). Plain C types only. */

#include "host.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "cosimulation.h"
#include "descriptor.h"
#include "evaluate.h"
#include "freshness.h"
#include "initialise.h"
#include "instance.h"
#include "iterate.h"
#include "log.h"
#include "project.h"
#include "saved_state.h"
#include "tape.h"
#include "undetermined_start.h"
#include "values.h"
#include "vectors.h"

HOST_EXPORT unsigned mbfmu_contract(void) { return CONTRACT; }

HOST_EXPORT Model *mbfmu_load(const void *data, size_t size, const char **wrong)
{
    Host host = {NULL, NULL, NULL, NULL};
    void *copy = malloc(size ? size : 1);
    Model *model;
    *wrong = "no memory";
    if (!copy) return NULL;
    memcpy(copy, data, size);
    model = load_model(&host, copy, size, wrong);
    if (!model) free(copy);
    else model->descriptor = copy;
    return model;
}

HOST_EXPORT void mbfmu_unload(Model *model)
{
    if (!model) return;
    free(model->descriptor);
    free_model(model);
}

HOST_EXPORT int mbfmu_evaluate(const Model *model, int function, const double **arg, double **res)
{
    const Tape *tape;
    double *work;
    char prepared = 0;
    int failed;
    if (function < 0 || function >= FUNCTIONS || !model->tapes[function].code) return 1;
    tape = model->tapes + function;
    work = malloc(sizeof *work * ((size_t)tape->begin + tape->depth + 1));
    if (!work) return 1;
    failed = run_tape(model, tape, arg, res, work + tape->begin, &prepared);
    free(work);
    return failed;
}

#ifndef __wasm__
HOST_EXPORT void mbfmu_use(Model *model, int function, int lanes, Compiled *compiled)
{
    if (function < 0 || function >= FUNCTIONS) return;
    Tape *tape = model->tapes + function;
    Compiled **place = lanes > 1 ? tape->compiled_lanes + (lanes == 8) : &tape->compiled;
    __atomic_store_n(place, compiled, __ATOMIC_RELEASE);
}
#endif

#ifdef __wasm__
/* WebAssembly modules cannot call a function that a program made later: they import it. */
__attribute__((import_module("mbfmu"), import_name("log")))
void imported_log(void *environment, const char *instance, Status status, const char *category, const char *text);
#define LOG_FUNCTION(log) ((log) ? imported_log : NULL)
#else
#define LOG_FUNCTION(log) log
#endif

HOST_EXPORT Instance *mbfmu_instantiate(const Model *model, const char *name, int interface, int logging,
                                        void (*log)(void *, const char *, Status, const char *, const char *),
                                        void *environment)
{
    Host host = {LOG_FUNCTION(log), NULL, NULL, environment};
    return instantiate(model, &host, "instantiate", name, interface ? CO_SIMULATION : MODEL_EXCHANGE, logging);
}

HOST_EXPORT void mbfmu_free(Instance *s) { free_instance(s); }

HOST_EXPORT int mbfmu_set_up_experiment(Instance *s, const char *name, int has_tolerance, double tolerance,
                                        double start_time, int has_stop_time, double stop_time)
{
    return set_up_experiment(s, name, has_tolerance, tolerance, start_time, has_stop_time, stop_time);
}

HOST_EXPORT int mbfmu_set_logging(Instance *s, const char *name, int on) { return set_logging(s, name, on, 0, NULL); }
HOST_EXPORT int mbfmu_enter_initialization(Instance *s, const char *name) { return enter_initialization(s, name); }
HOST_EXPORT int mbfmu_exit_initialization(Instance *s, const char *name) { return exit_initialization(s, name); }
HOST_EXPORT int mbfmu_terminate(Instance *s, const char *name) { return terminate(s, name); }
HOST_EXPORT int mbfmu_reset(Instance *s) { return reset(s); }

HOST_EXPORT int mbfmu_get_reals(Instance *s, const char *name, const unsigned *vr, size_t n, double *value)
{
    return get_reals(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_get_integers(Instance *s, const char *name, const unsigned *vr, size_t n, int *value)
{
    return get_integers(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_get_booleans(Instance *s, const char *name, const unsigned *vr, size_t n, int *value)
{
    return get_booleans(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_get_strings(Instance *s, const char *name, const unsigned *vr, size_t n, const char **value)
{
    return get_strings(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_set_reals(Instance *s, const char *name, const unsigned *vr, size_t n, const double *value)
{
    return set_reals(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_set_integers(Instance *s, const char *name, const unsigned *vr, size_t n, const int *value)
{
    return set_integers(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_set_booleans(Instance *s, const char *name, const unsigned *vr, size_t n, const int *value)
{
    return set_booleans(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_set_strings(Instance *s, const char *name, const unsigned *vr, size_t n, const char *const *value)
{
    return set_strings(s, name, vr, n, value);
}

HOST_EXPORT int mbfmu_do_step(Instance *s, const char *name, double point,
                              double h) { return do_step(s, name, point, h); }

HOST_EXPORT double mbfmu_time(const Instance *s) { return s->now->latch_t; }

HOST_EXPORT size_t mbfmu_state_size(const Instance *s) { return sizeof(StateHeader) + s->state_size; }

HOST_EXPORT int mbfmu_save_state(Instance *s, const char *name, char *bytes, size_t size)
{
    if (check_phase(s, name, ANY_PHASE)) return STATUS_ERROR;
    return write_state(s, name, s->now, bytes, size);
}

HOST_EXPORT int mbfmu_restore_state(Instance *s, const char *name, const char *bytes, size_t size)
{
    void *state = NULL;
    int status = deserialize_state(s, name, bytes, size, &state);
    if (status == STATUS_OK) status = set_state(s, name, state);
    if (state) free_state(s, name, &state);
    return status;
}

HOST_EXPORT int mbfmu_set_input(Instance *s, int index, double value)
{
    if (index < 0 || index >= ninputs(s->model)) return STATUS_ERROR;
    s->given.u[index] = value;
    input_changed(s);
    return STATUS_OK;
}

HOST_EXPORT int mbfmu_set_parameter(Instance *s, int index, double value)
{
    if (index < 0 || index >= npar(s->model)) return STATUS_ERROR;
    s->given.start[index] = value;
    if (s->now->phase & (INSTANTIATED | INITIALIZATION)) {
        start_changed(s);
        return STATUS_OK;
    }
    s->given.P[index] = value;
    s->now->touched = 1;
    derive(s);
    forget_latch(s);
    return STATUS_OK;
}

HOST_EXPORT int mbfmu_ended(const Instance *s) { return s->now->ended; }

HOST_EXPORT void mbfmu_modes(const Instance *s, double *modes) { COPY(modes, s->latch.m, ndiscrete(s->model)); }

INTERNAL int read_places(Instance *s, const int *places, size_t n, double *values)
{
    int need_w = 0, need_y = 0;
    for (size_t i = 0; i < n; ++i) {
        need_w |= store_of(places[i]) == STORE_W
            || (store_of(places[i]) == STORE_U && is_inner(s, index_of(places[i])));
        need_y |= store_of(places[i]) == STORE_Y;
    }
    if ((need_w | need_y || (s->now->phase == INITIALIZATION && s->now->start_stale)) && !refresh(s, need_y)) return 0;
    for (size_t i = 0; i < n; ++i) values[i] = value_at(s, places[i]);
    return 1;
}

HOST_EXPORT int mbfmu_get_places(Instance *s, const char *name, const int *places, size_t n, double *values)
{
    if (check_phase(s, name, MAY_GET)) return STATUS_ERROR;
    if (read_places(s, places, n, values)) return STATUS_OK;
    return say(s, STATUS_ERROR, "%s at time %.9g: %s", name, s->now->latch_t, s->log.cause);
}

HOST_EXPORT int mbfmu_choices(Instance *s, int *marks, double *values)
{
    int count = find_choices(s);
    for (int i = 0; i < nunknowns(s->model); ++i) {
        marks[i] = s->initial.choices[i];
        values[i] = s->initial.X[i];
    }
    return count;
}

HOST_EXPORT int mbfmu_assemble(Instance *s, const char *name)
{
    if (check_phase(s, name, INITIALIZATION)) return STATUS_ERROR;
    return find_start(s, 0) ? STATUS_OK : say(s, STATUS_ERROR, "%s: %s", name, s->log.cause);
}

HOST_EXPORT int mbfmu_project(Instance *s, double t, double *x) { return project(s, t, x, s->latch.m); }

HOST_EXPORT void mbfmu_statistics(const Instance *s, unsigned long long *counts)
{
    const State *now = s->now;
    counts[0] = now->steps;
    counts[1] = now->rejections;
    counts[2] = now->events;
    counts[3] = now->evaluations;
    counts[4] = now->implicit_steps;
    counts[5] = now->jacobians;
}
