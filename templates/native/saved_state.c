/* FMI 2.0.4, section 2.1.8: saved states. A saved state is a copy of State; serialized, it stands behind a header that
   tells the model it belongs to, and a checksum. */

typedef struct {
    char guid[sizeof MODEL_GUID];
    unsigned long long size, checksum;
} Header;

enum { 
    ANY_PHASE = INSTANTIATED | INITIALIZATION | STEP_COMPLETE | STEP_FAILED | TERMINATED | EVENT_MODE | CONTINUOUS_TIME
};

/* FNV-1a, 64 bits. */
static unsigned long long checksum(const void *data, size_t size)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211ULL;
    return hash;
}

/* What stands in front of a state; padding is zero. */
static void make_header(Header *header, const void *state)
{
    memset(header, 0, sizeof *header);
    memcpy(header->guid, MODEL_GUID, sizeof MODEL_GUID);
    header->size = sizeof(State);
    header->checksum = checksum(state, sizeof(State));
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    Instance *s = c;
    if (check_phase(s, "fmi2GetFMUstate", ANY_PHASE)) return fmi2Error;
    if (!FMUstate) return say(s, fmi2Error, "fmi2GetFMUstate: no place for the state");
    if (!*FMUstate) *FMUstate = allocate(&s->callbacks, sizeof(State));
    if (!*FMUstate) return say(s, fmi2Error, "fmi2GetFMUstate: no memory for %lu bytes", (unsigned long)sizeof(State));
    memcpy(*FMUstate, &s->now, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate)
{
    Instance *s = c;
    if (check_phase(s, "fmi2SetFMUstate", ANY_PHASE)) return fmi2Error;
    if (!FMUstate) return say(s, fmi2Error, "fmi2SetFMUstate: no state given");
    if (((const State *)FMUstate)->type != s->now.type)
        return say(s, fmi2Error, "fmi2SetFMUstate: the state belongs to the other interface: co-simulation and model "
                   "exchange have states of their own");
    memcpy(&s->now, FMUstate, sizeof(State));
    s->w_fresh = s->y_fresh = 0;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    Instance *s = c;
    if (check_phase(s, "fmi2FreeFMUstate", ANY_PHASE)) return fmi2Error;
    if (FMUstate && *FMUstate) {
        release(&s->callbacks, *FMUstate);
        *FMUstate = NULL;
    }
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
{
    Instance *s = c;
    if (check_phase(s, "fmi2SerializedFMUstateSize", ANY_PHASE)) return fmi2Error;
    if (!FMUstate || !size) return say(s, fmi2Error, "fmi2SerializedFMUstateSize: no state or no place for its size");
    *size = sizeof(Header) + sizeof(State);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size)
{
    Instance *s = c;
    if (check_phase(s, "fmi2SerializeFMUstate", ANY_PHASE)) return fmi2Error;
    if (!FMUstate || !serializedState) return say(s, fmi2Error, "fmi2SerializeFMUstate: no state or no buffer");
    if (size < sizeof(Header) + sizeof(State))
        return say(s, fmi2Error, "fmi2SerializeFMUstate: the buffer has %lu bytes, the state needs %lu",
                   (unsigned long)size, (unsigned long)(sizeof(Header) + sizeof(State)));
    Header header;
    make_header(&header, FMUstate);
    memcpy(serializedState, &header, sizeof header);
    memcpy(serializedState + sizeof header, FMUstate, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate)
{
    Instance *s = c;
    if (check_phase(s, "fmi2DeSerializeFMUstate", ANY_PHASE)) return fmi2Error;
    if (!serializedState || !FMUstate) return say(s, fmi2Error, "fmi2DeSerializeFMUstate: no buffer or no place");
    if (size < sizeof(Header) + sizeof(State))
        return say(s, fmi2Error, "fmi2DeSerializeFMUstate: %lu bytes are too few, a state of this model has %lu",
                   (unsigned long)size, (unsigned long)(sizeof(Header) + sizeof(State)));
    Header header, intact;
    memcpy(&header, serializedState, sizeof header);
    make_header(&intact, serializedState + sizeof header);
    if (memcmp(header.guid, MODEL_GUID, sizeof MODEL_GUID) != 0 || header.size != sizeof(State))
        return say(s, fmi2Error, "fmi2DeSerializeFMUstate: the state belongs to another model or build");
    if (memcmp(&header, &intact, sizeof header) != 0)
        return say(s, fmi2Error, "fmi2DeSerializeFMUstate: the state is damaged");
    if (!*FMUstate) *FMUstate = allocate(&s->callbacks, sizeof(State));
    if (!*FMUstate) return say(s, fmi2Error, "fmi2DeSerializeFMUstate: no memory");
    memcpy(*FMUstate, serializedState + sizeof header, sizeof(State));
    return fmi2OK;
}
