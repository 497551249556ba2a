/* Saved states. */

#ifndef SAVED_STATE_H
#define SAVED_STATE_H

#include "runtime.h"

typedef struct {
    unsigned long long model, size, checksum;
} StateHeader;

INTERNAL Status get_state(Instance *s, const char *function, void **state);
INTERNAL Status set_state(Instance *s, const char *function, const void *state);
INTERNAL Status free_state(Instance *s, const char *function, void **state);
INTERNAL Status serialized_size(Instance *s, const char *function, const void *state, size_t *size);

/* The bytes of a state, or of what the instance is in. */
INTERNAL Status write_state(Instance *s, const char *function, const void *state, char *bytes, size_t size);

INTERNAL Status serialize_state(Instance *s, const char *function, const void *state, char *bytes, size_t size);
INTERNAL Status deserialize_state(Instance *s, const char *function, const char *bytes, size_t size, void **state);

#endif
