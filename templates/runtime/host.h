/* Models and instances for a program in this process. */

#ifndef HOST_H
#define HOST_H

#include "runtime.h"

/* What a library exports, for programs. */
#ifdef _WIN32
#define HOST_EXPORT __declspec(dllexport)
#else
#define HOST_EXPORT __attribute__((visibility("default")))
#endif

/* The values at n places (store << INDEX_BITS | index), at the latch. */
INTERNAL int read_places(Instance *s, const int *places, size_t n, double *values);

/* Number of the contract that this library was compiled with. */
HOST_EXPORT unsigned mbfmu_contract(void);

/* Read a model from its descriptor, of which a copy is kept. NULL where it is refused: `wrong` says why. */
HOST_EXPORT Model *mbfmu_load(const void *data, size_t size, const char **wrong);
HOST_EXPORT void mbfmu_unload(Model *model);

/* Evaluate a function of the contract; vectors have the lengths that the contract gives. */
HOST_EXPORT int mbfmu_evaluate(const Model *model, int function, const double **arg, double **res);

#ifndef __wasm__
/* Call a function, compiled for 1, 4 or 8 lanes, in place of the interpreter from now on, in running instances, too. */
HOST_EXPORT void mbfmu_use(Model *model, int function, int lanes, Compiled *compiled);
#endif

/* A new instance; lines of its log go to `log`, where that is not NULL. */
HOST_EXPORT Instance *mbfmu_instantiate(const Model *model, const char *name, int interface, int logging,
                                        void (*log)(void *, const char *, Status, const char *, const char *),
                                        void *environment);
HOST_EXPORT void mbfmu_free(Instance *s);

/* The functions of FMI, with the name under which they log. */
HOST_EXPORT int mbfmu_set_up_experiment(Instance *s, const char *name, int has_tolerance, double tolerance,
                                        double start_time, int has_stop_time, double stop_time);
HOST_EXPORT int mbfmu_set_logging(Instance *s, const char *name, int on);
HOST_EXPORT int mbfmu_enter_initialization(Instance *s, const char *name);
HOST_EXPORT int mbfmu_exit_initialization(Instance *s, const char *name);
HOST_EXPORT int mbfmu_terminate(Instance *s, const char *name);
HOST_EXPORT int mbfmu_reset(Instance *s);
HOST_EXPORT int mbfmu_get_reals(Instance *s, const char *name, const unsigned *vr, size_t n, double *value);
HOST_EXPORT int mbfmu_get_integers(Instance *s, const char *name, const unsigned *vr, size_t n, int *value);
HOST_EXPORT int mbfmu_get_booleans(Instance *s, const char *name, const unsigned *vr, size_t n, int *value);
HOST_EXPORT int mbfmu_get_strings(Instance *s, const char *name, const unsigned *vr, size_t n, const char **value);
HOST_EXPORT int mbfmu_set_reals(Instance *s, const char *name, const unsigned *vr, size_t n, const double *value);
HOST_EXPORT int mbfmu_set_integers(Instance *s, const char *name, const unsigned *vr, size_t n, const int *value);
HOST_EXPORT int mbfmu_set_booleans(Instance *s, const char *name, const unsigned *vr, size_t n, const int *value);
HOST_EXPORT int mbfmu_set_strings(Instance *s, const char *name, const unsigned *vr, size_t n,
                                  const char *const *value);
HOST_EXPORT int mbfmu_do_step(Instance *s, const char *name, double point, double h);
HOST_EXPORT double mbfmu_time(const Instance *s);

/* Serialized states: `size` bytes. */
HOST_EXPORT size_t mbfmu_state_size(const Instance *s);
HOST_EXPORT int mbfmu_save_state(Instance *s, const char *name, char *bytes, size_t size);
HOST_EXPORT int mbfmu_restore_state(Instance *s, const char *name, const char *bytes, size_t size);

/* Set what lies at an index: an input, or a parameter (until initialisation ends, or tunable). */
HOST_EXPORT int mbfmu_set_input(Instance *s, int index, double value);
HOST_EXPORT int mbfmu_set_parameter(Instance *s, int index, double value);

/* Has the model ended the run, as it should? */
HOST_EXPORT int mbfmu_ended(const Instance *s);

/* The discrete states at the latch. */
HOST_EXPORT void mbfmu_modes(const Instance *s, double *modes);
HOST_EXPORT int mbfmu_get_places(Instance *s, const char *name, const int *places, size_t n, double *values);

/* What initialisation has chosen: a mark and a value for each of its unknowns. Asked right after it. Returns how many. */
HOST_EXPORT int mbfmu_choices(Instance *s, int *marks, double *values);

/* Solve for the start, and stay there even where it is singular. */
HOST_EXPORT int mbfmu_assemble(Instance *s, const char *name);

/* Move positions of x onto the constraints and its speeds with them, with the modes and parameters that the instance has;
   0 where that succeeds. */
HOST_EXPORT int mbfmu_project(Instance *s, double t, double *x);

/* Steps, rejected steps, events, evaluations, implicit steps, Jacobians so far. */
HOST_EXPORT void mbfmu_statistics(const Instance *s, unsigned long long *counts);

#endif
