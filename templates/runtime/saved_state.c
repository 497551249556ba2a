/* Saved states: copies of the block of memory that holds all that changes. Serialized, a state stands behind a header
   that tells the model it belongs to, and a checksum. */

#include "saved_state.h"

#include <string.h>

#include "descriptor.h"
#include "evaluate.h"
#include "freshness.h"
#include "instance.h"
#include "log.h"
#include "memory.h"
#include "optimize.h"

SMALL

/* What stands in front of a state. */
static StateHeader state_header(const Instance *s, const void *state)
{
    StateHeader header;
    const char *guid = s->tables->identity[1];
    header.model = checksum(guid, strlen(guid));
    header.size = s->state_size;
    header.checksum = checksum(state, s->state_size);
    return header;
}

/* States that are given out, by all instances that this library has: an importer may pass one on from one to another.
   Before a state is looked into, its address is looked up here, so that any other pointer is told from it. In front
   of each state stands its link to the next one in the same bucket. */
typedef struct SavedState {
    struct SavedState *next;
    unsigned long long model;       /* of whom it is */
    size_t size;
    size_t padding;                 /* what follows is aligned to 16 bytes, wherever pointers have 8 */
} SavedState;

enum { STATE_BUCKETS = 256 };

static SavedState *given_states[STATE_BUCKETS];

/* Guards the table, for some instructions at a time. */
static char states_lock;

static void lock_states(void) { while (__atomic_test_and_set(&states_lock, __ATOMIC_ACQUIRE)) continue; }
static void unlock_states(void) { __atomic_clear(&states_lock, __ATOMIC_RELEASE); }

static SavedState **bucket_of(const void *state)
{
    size_t address = (size_t)state;
    return given_states + (address / 16 ^ address / 4096) % STATE_BUCKETS;
}

/* Is this a state of the model of this instance that has been given out? With `remove`, it is none from here on. */
static int is_given(const Instance *s, const void *state, int remove)
{
    SavedState **at = bucket_of(state), *found;
    lock_states();
    while (*at && (const void *)(*at + 1) != state) at = &(*at)->next;
    found = *at;
    const char *guid = s->tables->identity[1];
    if (found && (found->size != s->state_size || found->model != checksum(guid, strlen(guid)))) found = NULL;
    if (found && remove) *at = found->next;
    unlock_states();
    return found != NULL;
}

/* Memory for a state, which belongs to those that are given out; NULL where there is none. */
static void *new_state(Instance *s)
{
    const char *guid = s->tables->identity[1];
    SavedState *saved = host_allocate(&s->caller.host, sizeof *saved + s->state_size);
    if (!saved) return NULL;
    saved->model = checksum(guid, strlen(guid));
    saved->size = s->state_size;
    SavedState **bucket = bucket_of(saved + 1);
    lock_states();
    saved->next = *bucket;
    *bucket = saved;
    unlock_states();
    return saved + 1;
}

/* Refuse, before it is looked into, what is no state of this model. */
static Status check_given(const Instance *s, const char *function, const void *state)
{
    if (!state) return say(s, STATUS_ERROR, "%s: no state given", function);
    if (is_given(s, state, 0)) return STATUS_OK;
    return say(s, STATUS_ERROR, "%s: the pointer is no state of this model that has been given out and not freed",
               function);
}

INTERNAL Status get_state(Instance *s, const char *function, void **state)
{
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (!state) return say(s, STATUS_ERROR, "%s: no place for the state", function);
    if (*state && check_given(s, function, *state)) return STATUS_ERROR;
    if (!*state) *state = new_state(s);
    if (!*state) return say(s, STATUS_ERROR, "%s: no memory for %lu bytes", function, (unsigned long)s->state_size);
    memcpy(*state, s->now, s->state_size);
    return STATUS_OK;
}

INTERNAL Status set_state(Instance *s, const char *function, const void *state)
{
    State scalars;
    if (check_phase(s, function, ANY_PHASE) || check_given(s, function, state)) return STATUS_ERROR;
    memcpy(&scalars, state, sizeof scalars);
    if (scalars.interface != s->now->interface)
        return say(s, STATUS_ERROR,
                   "%s: the state belongs to the other interface: co-simulation and model exchange have "
                   "states of their own", function);
    memcpy(s->now, state, s->state_size);
    forget_preparations(s);
    latch_moved(s, s->now->latch_solved);
    forget_factors(s);
    return STATUS_OK;
}

INTERNAL Status free_state(Instance *s, const char *function, void **state)
{
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (!state || !*state) return STATUS_OK;
    if (!is_given(s, *state, 1)) return check_given(s, function, *state);
    host_release(&s->caller.host, (SavedState *)*state - 1);
    *state = NULL;
    return STATUS_OK;
}

INTERNAL Status serialized_size(Instance *s, const char *function, const void *state, size_t *size)
{
    if (check_phase(s, function, ANY_PHASE) || check_given(s, function, state)) return STATUS_ERROR;
    if (!size) return say(s, STATUS_ERROR, "%s: no place for its size", function);
    *size = sizeof(StateHeader) + s->state_size;
    return STATUS_OK;
}

INTERNAL Status write_state(Instance *s, const char *function, const void *state, char *bytes, size_t size)
{
    if (!bytes) return say(s, STATUS_ERROR, "%s: no buffer", function);
    if (size < sizeof(StateHeader) + s->state_size)
        return say(s, STATUS_ERROR, "%s: the buffer has %lu bytes, the state needs %lu", function, (unsigned long)size,
                   (unsigned long)(sizeof(StateHeader) + s->state_size));
    StateHeader header = state_header(s, state);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, state, s->state_size);
    return STATUS_OK;
}

INTERNAL Status serialize_state(Instance *s, const char *function, const void *state, char *bytes, size_t size)
{
    if (check_phase(s, function, ANY_PHASE) || check_given(s, function, state)) return STATUS_ERROR;
    return write_state(s, function, state, bytes, size);
}

INTERNAL Status deserialize_state(Instance *s, const char *function, const char *bytes, size_t size, void **state)
{
    StateHeader header, intact;
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (!bytes || !state) return say(s, STATUS_ERROR, "%s: no buffer or no place", function);
    if (size < sizeof(StateHeader) + s->state_size)
        return say(s, STATUS_ERROR, "%s: %lu bytes are too few, a state of this model has %lu", function,
                   (unsigned long)size, (unsigned long)(sizeof(StateHeader) + s->state_size));
    memcpy(&header, bytes, sizeof header);
    intact = state_header(s, bytes + sizeof header);
    if (header.model != intact.model || header.size != intact.size)
        return say(s, STATUS_ERROR, "%s: the state belongs to another model or build", function);
    if (header.checksum != intact.checksum) return say(s, STATUS_ERROR, "%s: the state is damaged", function);
    /* The standard does not say what stands there before: what is no state is not used as one. */
    if (!*state || !is_given(s, *state, 0)) *state = new_state(s);
    if (!*state) return say(s, STATUS_ERROR, "%s: no memory", function);
    memcpy(*state, bytes + sizeof header, s->state_size);
    return STATUS_OK;
}

QUICK
