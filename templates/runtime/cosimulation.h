/* Communication steps, and inputs and outputs over time. */

#ifndef COSIMULATION_H
#define COSIMULATION_H

#include "runtime.h"
#include "model_exchange.h"

enum { MAY_ASK = STEP_COMPLETE | STEP_FAILED | TERMINATED | INTERMEDIATE };

INTERNAL Status set_input_derivatives(Instance *s, const char *name, const unsigned *vr, size_t nvr, const int *order,
                                      const double *value);

/* Derivatives of states are exact, others are central differences along the trajectory. */
INTERNAL Status get_output_derivatives(Instance *s, const char *name, const unsigned *vr, size_t nvr, const int *order,
                                       double *value);

/* Begin a step from `point` of length `h`: trials of the integrator follow (`next_trial`), then its end. */
INTERNAL Status begin_do_step(Instance *s, const char *name, double point, double h);

/* End a step. */
INTERNAL Status end_do_step(Instance *s, const char *name);

/* A step from `point` of length `h`. */
INTERNAL Status do_step(Instance *s, const char *name, double point, double h);

#endif
