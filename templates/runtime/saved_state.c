/* Saved states: copies of the block of memory that holds all that changes. Serialized, a state stands behind a header
   that tells the model it belongs to, and a checksum. */

typedef struct {
    unsigned long long model, size, checksum;
} StateHeader;

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

static Status get_state(Instance *s, const char *function, void **state)
{
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (!state) return say(s, STATUS_ERROR, "%s: no place for the state", function);
    if (!*state) *state = host_allocate(&s->host, s->state_size);
    if (!*state) return say(s, STATUS_ERROR, "%s: no memory for %lu bytes", function, (unsigned long)s->state_size);
    memcpy(*state, s->now, s->state_size);
    return STATUS_OK;
}

static Status set_state(Instance *s, const char *function, const void *state)
{
    State scalars;
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (!state) return say(s, STATUS_ERROR, "%s: no state given", function);
    memcpy(&scalars, state, sizeof scalars);
    if (scalars.interface != s->now->interface)
        return say(s, STATUS_ERROR, "%s: the state belongs to the other interface: co-simulation and model exchange have "
                   "states of their own", function);
    memcpy(s->now, state, s->state_size);
    forget_preparations(s);
    s->w_fresh = s->y_fresh = 0;
    s->factors_time = NAN;
    return STATUS_OK;
}

static Status free_state(Instance *s, const char *function, void **state)
{
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (state && *state) {
        host_release(&s->host, *state);
        *state = NULL;
    }
    return STATUS_OK;
}

static Status serialized_size(Instance *s, const char *function, const void *state, size_t *size)
{
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (!state || !size) return say(s, STATUS_ERROR, "%s: no state or no place for its size", function);
    *size = sizeof(StateHeader) + s->state_size;
    return STATUS_OK;
}

static Status serialize_state(Instance *s, const char *function, const void *state, char *bytes, size_t size)
{
    if (check_phase(s, function, ANY_PHASE)) return STATUS_ERROR;
    if (!state || !bytes) return say(s, STATUS_ERROR, "%s: no state or no buffer", function);
    if (size < sizeof(StateHeader) + s->state_size)
        return say(s, STATUS_ERROR, "%s: the buffer has %lu bytes, the state needs %lu", function, (unsigned long)size,
                   (unsigned long)(sizeof(StateHeader) + s->state_size));
    StateHeader header = state_header(s, state);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, state, s->state_size);
    return STATUS_OK;
}

static Status deserialize_state(Instance *s, const char *function, const char *bytes, size_t size, void **state)
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
    if (!*state) *state = host_allocate(&s->host, s->state_size);
    if (!*state) return say(s, STATUS_ERROR, "%s: no memory", function);
    memcpy(*state, bytes + sizeof header, s->state_size);
    return STATUS_OK;
}
