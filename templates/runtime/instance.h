/* Instances, and the way through the phases. */

#ifndef INSTANCE_H
#define INSTANCE_H

#include "runtime.h"

/* Refuse a call in a phase that the state machine does not allow it in. */
INTERNAL Status check_phase(const Instance *s, const char *function, unsigned allowed);

/* The same for a function of one interface only. */
INTERNAL Status check_interface(const Instance *s, const char *function, Interface interface, unsigned allowed);

/* An instance of a model, in one block of memory; NULL, and a log line, where there is none. */
INTERNAL Instance *instantiate(const Model *model, const Host *host, const char *function, const char *name,
                               Interface interface, int logging);

INTERNAL void free_instance(Instance *s);
INTERNAL Status set_logging(Instance *s, const char *function, int on, size_t n, const char *const categories[]);
INTERNAL Status set_up_experiment(Instance *s, const char *function, int has_tolerance, double tolerance,
                                  double start_time, int has_stop_time, double stop_time);

/* Configuration mode, of models that have a structural parameter. */
INTERNAL Status enter_configuration(Instance *s, const char *function);
INTERNAL Status exit_configuration(Instance *s, const char *function);

INTERNAL Status enter_initialization(Instance *s, const char *function);
INTERNAL Status exit_initialization(Instance *s, const char *function);
INTERNAL Status terminate(Instance *s, const char *function);
INTERNAL Status reset(Instance *s);

#endif
