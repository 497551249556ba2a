/* Getting and setting variables by value reference. */

#ifndef ACCESS_H
#define ACCESS_H

#include "runtime.h"
#include "cosimulation.h"
#include "model_exchange.h"

enum {
    MAY_GET = INITIALIZATION | STEP_COMPLETE | STEP_FAILED | TERMINATED | EVENT_MODE | CONTINUOUS_TIME | INTERMEDIATE,
    MAY_SET = INSTANTIATED | INITIALIZATION | STEP_COMPLETE | EVENT_MODE | CONTINUOUS_TIME
};

INTERNAL Status check_references(const Instance *s, const char *function, unsigned allowed, const unsigned *vr,
                                 size_t nvr, const void *values, int known);
INTERNAL Status get_reals(Instance *s, const char *function, const unsigned *vr, size_t nvr, double *value);
INTERNAL Status get_integers(Instance *s, const char *function, const unsigned *vr, size_t nvr, int *value);
INTERNAL Status get_booleans(Instance *s, const char *function, const unsigned *vr, size_t nvr, int *value);
INTERNAL Status get_strings(Instance *s, const char *function, const unsigned *vr, size_t nvr, const char **value);
INTERNAL Status set_reals(Instance *s, const char *function, const unsigned *vr, size_t nvr, const double *value);
INTERNAL Status set_integers(Instance *s, const char *function, const unsigned *vr, size_t nvr, const int *value);
INTERNAL Status set_booleans(Instance *s, const char *function, const unsigned *vr, size_t nvr, const int *value);

/* Strings are structural choices, all of them. */
INTERNAL Status set_strings(Instance *s, const char *function, const unsigned *vr, size_t nvr,
                            const char *const *value);

#endif
