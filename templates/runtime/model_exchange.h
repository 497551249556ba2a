/* Model exchange, and event mode. */

#ifndef MODEL_EXCHANGE_H
#define MODEL_EXCHANGE_H

#include "runtime.h"
#include "access.h"

/* What an importer is told after an event. */
typedef struct {
    int states_changed, terminate, has_next_time;
    double next_time;
} EventInfo;

/* Where state derivatives and event indicators can be asked for. */
enum { MAY_EVALUATE = INITIALIZATION | EVENT_MODE | CONTINUOUS_TIME | TERMINATED };

INTERNAL Status enter_event_mode(Instance *s, const char *name);
INTERNAL Status new_discrete_states(Instance *s, const char *name, EventInfo *info);

/* From event mode of co-simulation to the next step. */
INTERNAL Status enter_step_mode(Instance *s, const char *name);

INTERNAL Status enter_continuous_time_mode(Instance *s, const char *name);

/* Asks for an event where the states have drifted far off their constraints, and for the end where an assertion fails. */
INTERNAL Status completed_integrator_step(Instance *s, const char *name, int *enter_event, int *stop);

INTERNAL Status set_time(Instance *s, const char *name, double time);
INTERNAL Status set_continuous_states(Instance *s, const char *name, const double *x, size_t n);

/* The same that variables show, derivatives of states among them. */
INTERNAL Status get_derivatives(Instance *s, const char *name, double *derivatives, size_t n);

INTERNAL Status get_event_indicators(Instance *s, const char *name, double *values, size_t ni);
INTERNAL Status get_continuous_states(Instance *s, const char *name, double *x, size_t n);
INTERNAL Status get_nominals(Instance *s, const char *name, double *x_nominal, size_t n);

#endif
