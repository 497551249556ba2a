/* FMI 2.0.4, sections 2.1.4 to 2.1.6: versions, creation and destruction, logging, and the way through the phases. */

static const char *phase_name(Phase phase)
{
    switch (phase) {
    case INSTANTIATED: return "after instantiation";
    case INITIALIZATION: return "in initialisation mode";
    case STEP_COMPLETE: return "between steps";
    case STEP_FAILED: return "after a discarded step";
    case EVENT_MODE: return "in event mode";
    case CONTINUOUS_TIME: return "in continuous-time mode";
    default: return "after termination";
    }
}

/* Refuse a call in a phase that the state machine does not allow it in. */
static fmi2Status check_phase(const Instance *s, const char *function, unsigned allowed)
{
    if (!s) return fmi2Error;
    if (s->now.phase & allowed) return fmi2OK;
    return say(s, fmi2Error, "%s is not allowed %s", function, phase_name(s->now.phase));
}

/* The same for a function of one interface only. */
static fmi2Status check_interface(const Instance *s, const char *function, fmi2Type type, unsigned allowed)
{
    if (s && s->now.type != type)
        return say(s, fmi2Error, "%s: this instance is for %s", function,
                   s->now.type == fmi2CoSimulation ? "co-simulation" : "model exchange");
    return check_phase(s, function, allowed);
}

/* The values that an instance starts with. */
static void set_defaults(Instance *s)
{
    State *now = &s->now;
    fmi2Type type = now->type;
    memset(now, 0, sizeof *now);
    now->type = type;
    now->phase = INSTANTIATED;
    now->start_stale = 1;
    now->start_time = START_TIME;
    now->stop_time = INFINITY;
    now->tolerance = TOLERANCE;
    now->head.implicit = SOLVER == SOLVER_IMPLICIT;
    COPY(now->start, default_parameters, NPAR);
    COPY(now->u, default_inputs, NU);
    COPY(now->P, default_parameters, NPAR);
    s->w_fresh = s->y_fresh = 0;
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }

const char *fmi2GetVersion(void) { return fmi2Version; }

/* Log before there is an instance. */
static void refuse(const fmi2CallbackFunctions *callbacks, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    emit(callbacks, name, fmi2Error, "logStatusError", format, arguments);
    va_end(arguments);
}

/* Zeroed, by the importer's own function too (FMI 2.0.4, section 2.1.5). */
static void *allocate(const fmi2CallbackFunctions *callbacks, size_t size)
{
    return callbacks->allocateMemory ? callbacks->allocateMemory(1, size) : calloc(1, size);
}

static void release(const fmi2CallbackFunctions *callbacks, void *memory)
{
    if (callbacks->freeMemory) callbacks->freeMemory(memory);
    else if (!callbacks->allocateMemory) free(memory);
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    (void)fmuResourceLocation, (void)visible;
    if (!functions) return NULL;
    if (!instanceName || !*instanceName) {
        refuse(functions, "", "fmi2Instantiate: the instance has no name");
        return NULL;
    }
    if (fmuType != fmi2CoSimulation && fmuType != fmi2ModelExchange) {
        refuse(functions, instanceName, "fmi2Instantiate: this FMU has no interface of the type %d", (int)fmuType);
        return NULL;
    }
    if (!fmuGUID || strcmp(fmuGUID, MODEL_GUID) != 0) {
        refuse(functions, instanceName,
               "fmi2Instantiate: the GUID of modelDescription.xml is '%s', that of the binary '" MODEL_GUID
               "': they belong to different builds", fmuGUID ? fmuGUID : "");
        return NULL;
    }
    size_t length = strlen(instanceName) + 1;
    Instance *s = allocate(functions, sizeof *s + length);
    if (!s) {
        refuse(functions, instanceName, "fmi2Instantiate: no memory for %lu bytes", (unsigned long)(sizeof *s + length));
        return NULL;
    }
    s->callbacks = *functions;
    s->name = (char *)(s + 1);
    memcpy(s->name, instanceName, length);
    s->categories = loggingOn ? LOG_ALL : LOG_ALL & ~(unsigned)LOG_EVENTS;
    least_norm_setup(&s->projection, NL, NV, s->projection_pivots, s->projection_data);
    least_norm_setup(&s->start, NEQUATIONS, NUNKNOWNS, s->start_pivots, s->start_data);
    s->now.type = fmuType;
    set_defaults(s);
    return s;
}

void fmi2FreeInstance(fmi2Component c)
{
    Instance *s = c;
    if (s) release(&s->callbacks, s);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories, const fmi2String categories[])
{
    Instance *s = c;
    if (!s || (nCategories && !categories)) return fmi2Error;
    unsigned mask = nCategories ? 0 : LOG_ALL;
    for (size_t i = 0; i < nCategories; ++i) {
        unsigned known = 0;
        for (int k = 0; k < NLOG_CATEGORIES; ++k)
            if (categories[i] && strcmp(categories[i], log_categories[k].name) == 0) known = log_categories[k].mask;
        if (!known)
            return say(s, fmi2Error, "fmi2SetDebugLogging: there is no log category '%s'",
                       categories[i] ? categories[i] : "");
        mask |= known;
    }
    s->categories = loggingOn ? s->categories | mask : s->categories & ~mask;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    Instance *s = c;
    if (check_phase(s, "fmi2SetupExperiment", INSTANTIATED)) return fmi2Error;
    if (!(fabs(startTime) <= 1e300)) return say(s, fmi2Error, "fmi2SetupExperiment: start time %g", startTime);
    if (stopTimeDefined && !(stopTime >= startTime))
        return say(s, fmi2Error, "fmi2SetupExperiment: stop time %g is before start time %g", stopTime, startTime);
    if (toleranceDefined && !(tolerance > 0 && tolerance <= 1))
        return say(s, fmi2Error, "fmi2SetupExperiment: tolerance %g is not between 0 and 1", tolerance);
    s->now.start_time = startTime;
    s->now.stop_time = stopTimeDefined ? stopTime : INFINITY;
    s->now.tolerance = toleranceDefined ? fmax(tolerance, 1e-14) : TOLERANCE;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    Instance *s = c;
    if (check_phase(s, "fmi2EnterInitializationMode", INSTANTIATED)) return fmi2Error;
    s->now.phase = INITIALIZATION;
    s->now.start_stale = 1;
    s->now.latch.t = s->now.start_time;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Instance *s = c;
    if (check_phase(s, "fmi2ExitInitializationMode", INITIALIZATION)) return fmi2Error;
    if (s->now.start_stale && !initialise(s))
        return say(s, fmi2Error, "fmi2ExitInitializationMode: %s", s->cause);
    place_head(s);
    s->now.head.h = 0;
    s->now.touched = 0;
    s->now.phase = s->now.type == fmi2CoSimulation ? STEP_COMPLETE : EVENT_MODE;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    Instance *s = c;
    if (check_phase(s, "fmi2Terminate", STEP_COMPLETE | STEP_FAILED | EVENT_MODE | CONTINUOUS_TIME)) return fmi2Error;
    const State *now = &s->now;
    say(s, fmi2OK, "%lu steps, %lu rejected, %lu events, %lu evaluations of the right-hand side; %lu implicit steps, "
        "%lu Jacobians", now->steps, now->rejections, now->events, now->evaluations, now->implicit_steps,
        now->jacobians);
    s->now.phase = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    Instance *s = c;
    if (!s) return fmi2Error;
    set_defaults(s);
    return fmi2OK;
}
