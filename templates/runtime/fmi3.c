/* FMI 3.0: the functions of the standard, as a face of the version-neutral runtime. Nothing below this file knows of
   it.

   Values have positions in the tables of variables, those of Float64 first, then Int32, Boolean and String. An array
   takes as many positions as it has elements, in the order of the standard. A value reference is the number of a
   variable, from 1 on, in this order, which is that of modelDescription.xml: importers that take references for
   indices are right. */

#include "fmi3Functions.h"

#include <stdint.h>
#include <string.h>

#include "access.h"
#include "cosimulation.h"
#include "descriptor.h"
#include "directional.h"
#include "instance.h"
#include "library.h"
#include "log.h"
#include "memory.h"
#include "model_exchange.h"
#include "optimize.h"
#include "saved_state.h"
#include "values.h"

SMALL

static const fmi3Status fmi3_statuses[] = {fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal};

/* An instance, and what belongs to it in this version. */
typedef struct {
    Instance *instance;
    Model *model;                   /* read for this instance, in libraries that serve any model */
    void *descriptor;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    fmi3IntermediateUpdateCallback update;
    unsigned *begins;               /* the first position of each variable */
    size_t nvariables;
    void *rooms[2];                 /* scratch of calls */
    size_t sizes[2];
} Instance3;

static Instance *instance_of_3(fmi3Instance c) { return c ? ((Instance3 *)c)->instance : NULL; }

#define FMI3(call) (instance_of_3(c) ? fmi3_statuses[call] : fmi3Error)

static void fmi3_log(void *environment, const char *instance, Status status, const char *category, const char *text)
{
    const Instance3 *c = environment;
    (void)instance;
    if (c->log) c->log(c->environment, fmi3_statuses[status], category, text);
}

/* Intermediate update (section 4.2.1): values may be read; that the step shall end is what a master may ask for. */
static double fmi3_between(void *environment, double t, int may_return)
{
    const Instance3 *c = environment;
    fmi3Boolean ends = fmi3False;
    fmi3Float64 end = t;
    c->update(c->environment, t, fmi3False, fmi3True, fmi3True, may_return, &ends, &end);
    return ends ? end : INFINITY;
}

/* The same before a step, as a tentative update at its end: inputs may be set, for the runtime draws lines to them. */
static void fmi3_ask(void *environment, double t)
{
    const Instance3 *c = environment;
    fmi3Boolean ends = fmi3False;
    fmi3Float64 end = t;
    c->update(c->environment, t, fmi3True, fmi3False, fmi3False, fmi3False, &ends, &end);
}

/* Scratch for n items of a call, at least one. */
static void *room(Instance3 *c, int which, size_t n, size_t size)
{
    Host *host = &c->instance->caller.host;
    if (n >= SIZE_MAX / 2 / size) return NULL;
    if (c->sizes[which] < (n + 1) * size) {
        if (c->rooms[which]) host_release(host, c->rooms[which]);
        c->rooms[which] = host_allocate(host, 2 * (n + 1) * size);
        c->sizes[which] = c->rooms[which] ? 2 * (n + 1) * size : 0;
    }
    return c->rooms[which];
}

/* Positions in the tables of one type. */
typedef struct {
    const int *lengths;
    unsigned first, n;
} Table3;

static Table3 floats(const Instance *s) { return (Table3){s->tables->real_lengths, 0, (unsigned)nreals(s->model)}; }

static Table3 integers(const Instance *s)
{
    return (Table3){s->tables->integer_lengths, (unsigned)nreals(s->model), (unsigned)nintegers(s->model)};
}

static Table3 booleans(const Instance *s)
{
    return (Table3){s->tables->boolean_lengths, (unsigned)(nreals(s->model) + nintegers(s->model)),
                    (unsigned)nbooleans(s->model)};
}

static Table3 texts(const Instance *s)
{
    return (Table3){s->tables->string_lengths, (unsigned)(nreals(s->model) + nintegers(s->model) + nbooleans(s->model)),
                    (unsigned)nstrings(s->model)};
}

/* Note where each variable begins; 0 where there is no memory. */
static int number_variables(Instance3 *c)
{
    const Instance *s = c->instance;
    const Table3 tables[] = {floats(s), integers(s), booleans(s), texts(s)};
    c->begins = host_allocate(&s->caller.host,
                              ((size_t)nreals(s->model) + nintegers(s->model) + nbooleans(s->model)
                               + nstrings(s->model) + 1) * sizeof *c->begins);
    for (int k = 0; c->begins && k < 4; ++k)
        for (unsigned at = 0; at < tables[k].n; ++at)
            if (tables[k].lengths[at]) c->begins[c->nvariables++] = tables[k].first + at;
    return c->begins != NULL;
}

/* Position of a variable in the table of its type; -1 where there is none of this type with that reference. */
static int position_of(const Instance3 *c, Table3 table, fmi3ValueReference reference)
{
    if (!reference || reference > c->nvariables) return -1;
    unsigned begin = c->begins[reference - 1];
    return begin >= table.first && begin - table.first < table.n ? (int)(begin - table.first) : -1;
}

/* The positions of all elements of variables, as many as there are values; NULL, and a log line, where they do not
   fit. */
static const unsigned *elements(Instance3 *c, const char *function, int which, Table3 table,
                                const fmi3ValueReference *references, size_t n, const void *values, size_t nvalues)
{
    const Instance *s = c->instance;
    unsigned *positions = room(c, which, nvalues, sizeof *positions);
    size_t count = 0;
    if ((n && !references) || (nvalues && !values)) {
        say(s, STATUS_ERROR, "%s: no array of values", function);
        return NULL;
    }
    if (!positions) {
        say(s, STATUS_ERROR, "%s: no memory for %lu values", function, (unsigned long)nvalues);
        return NULL;
    }
    for (size_t i = 0; i < n; ++i) {
        int at = position_of(c, table, references[i]);
        if (at < 0) {
            say(s, STATUS_ERROR, "%s: there is no variable of this type with the value reference %u", function,
                (unsigned)references[i]);
            return NULL;
        }
        for (int k = 0; k < table.lengths[at]; ++k, ++count)
            if (count < nvalues) positions[count] = (unsigned)(at + k);
    }
    if (count != nvalues) {
        say(s, STATUS_ERROR, "%s: the variables have %lu values, and there is an array of %lu", function,
            (unsigned long)count, (unsigned long)nvalues);
        return NULL;
    }
    return positions;
}

/* Refuse what no FMU of this runtime has: variables of other types, clocks. */
static fmi3Status without(fmi3Instance c, const char *function, size_t n, const char *what)
{
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    return n ? fmi3_statuses[say(s, STATUS_ERROR, "%s: this FMU has no %s", function, what)] : fmi3OK;
}

const char *fmi3GetVersion(void) { return fmi3Version; }

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean loggingOn, size_t nCategories, const fmi3String categories[])
{
    return FMI3(set_logging(instance_of_3(c), "fmi3SetDebugLogging", loggingOn, nCategories, categories));
}

void fmi3FreeInstance(fmi3Instance c)
{
    Instance3 *instance = c;
    Host host = {fmi3_log, NULL, NULL, c};
    if (!instance) return;
    for (int i = 0; i < 2; ++i)
        if (instance->rooms[i]) host_release(&host, instance->rooms[i]);
    if (instance->begins) host_release(&host, instance->begins);
    free_instance(instance->instance);
    if (instance->model) free_model(instance->model);
    if (instance->descriptor) host_release(&host, instance->descriptor);
    host_release(&host, instance);
}

static Instance3 *instantiate_3(const char *function, const char *name, const char *token, const char *resources,
                                int logging, void *environment, fmi3LogMessageCallback log, Interface interface)
{
    const char *wrong = NULL;
    Instance3 *c, unnamed = {.environment = environment, .log = log};
    Host host = {fmi3_log, NULL, NULL, &unnamed};
    if (!name || !*name) {
        refuse(&host, "", "%s: the instance has no name", function);
        return NULL;
    }
    c = host_allocate(&host, sizeof *c);
    if (!c) {
        refuse(&host, name, "%s: no memory for %lu bytes", function, (unsigned long)sizeof *c);
        return NULL;
    }
    *c = unnamed;
    host.environment = c;
    c->model = open_model(&host, resources, &c->descriptor, &wrong);
    if (!c->model)
        refuse(&host, name, "%s: %s", function, wrong);
    else if (!token || strcmp(token, c->model->tables.identity[1]) != 0)
        refuse(&host, name, "%s: the instantiationToken of modelDescription.xml is '%s', that of the binary '%s': they "
               "belong to different builds", function, token ? token : "", c->model->tables.identity[1]);
    else
        c->instance = instantiate(c->model, &host, function, name, interface, logging);
    if (c->instance && number_variables(c)) return c;
    fmi3FreeInstance(c);
    return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken,
                                          fmi3String resourcePath,
                                          fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment,
                                              fmi3LogMessageCallback logMessage)
{
    (void)visible;
    return instantiate_3("fmi3InstantiateModelExchange", instanceName, instantiationToken, resourcePath, loggingOn,
                         instanceEnvironment, logMessage, MODEL_EXCHANGE);
}

/* Is one of these variables an input that changes between events? */
static int has_input(const Instance3 *c, const fmi3ValueReference *references, size_t n)
{
    Settables table = real_settables(c->instance);
    for (size_t i = 0; references && i < n; ++i) {
        int at = position_of(c, floats(c->instance), references[i]);
        int which = at < 0 ? -1 : find_settable(&table, (unsigned)at);
        if (which >= 0 && table.settings[which] == SET_INPUT) return 1;
    }
    return 0;
}

/* Any variable may be read in an intermediate update; of those required only inputs need be known before. */
fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken,
                                         fmi3String resourcePath,
                                         fmi3Boolean visible, fmi3Boolean loggingOn, fmi3Boolean eventModeUsed,
                                         fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference requiredIntermediateVariables[],
                                         size_t nRequiredIntermediateVariables,
                                         fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage,
                                         fmi3IntermediateUpdateCallback intermediateUpdate)
{
    Instance3 *c = instantiate_3("fmi3InstantiateCoSimulation", instanceName, instantiationToken, resourcePath,
                                 loggingOn,
                                 instanceEnvironment, logMessage, CO_SIMULATION);
    (void)visible;
    if (!c) return NULL;
    c->update = intermediateUpdate;
    int asks = intermediateUpdate && has_input(c, requiredIntermediateVariables, nRequiredIntermediateVariables);
    c->instance->caller.master =
        (Master){eventModeUsed, earlyReturnAllowed, 1, intermediateUpdate ? fmi3_between : NULL,
                                   asks ? fmi3_ask : NULL, c};
    return c;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    Instance3 unnamed = {.environment = instanceEnvironment, .log = logMessage};
    Host host = {fmi3_log, NULL, NULL, &unnamed};
    (void)instantiationToken, (void)resourcePath, (void)visible, (void)loggingOn, (void)clockUpdate;
    (void)lockPreemption, (void)unlockPreemption;
    refuse(&host, instanceName, "fmi3InstantiateScheduledExecution: this FMU has no interface for scheduled execution");
    return NULL;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    const char *name = "fmi3EnterInitializationMode";
    Instance *s = instance_of_3(c);
    fmi3Status status = FMI3(set_up_experiment(s, name, toleranceDefined, tolerance, startTime, stopTimeDefined,
                                               stopTime));
    return status == fmi3OK ? fmi3_statuses[enter_initialization(s, name)] : status;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    return FMI3(exit_initialization(instance_of_3(c), "fmi3ExitInitializationMode"));
}

fmi3Status fmi3EnterEventMode(fmi3Instance c) { return FMI3(enter_event_mode(instance_of_3(c), "fmi3EnterEventMode")); }

fmi3Status fmi3Terminate(fmi3Instance c) { return FMI3(terminate(instance_of_3(c), "fmi3Terminate")); }

fmi3Status fmi3Reset(fmi3Instance c) { return FMI3(reset(instance_of_3(c))); }

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Float64 values[], size_t nValues)
{
    const char *name = "fmi3GetFloat64";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, floats(s), valueReferences, nValueReferences, values, nValues);
    return at ? fmi3_statuses[get_reals(s, name, at, nValues, values)] : fmi3Error;
}

fmi3Status fmi3GetInt32(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Int32 values[], size_t nValues)
{
    const char *name = "fmi3GetInt32";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, integers(s), valueReferences, nValueReferences, values, nValues);
    return at ? fmi3_statuses[get_integers(s, name, at, nValues, values)] : fmi3Error;
}

fmi3Status fmi3GetBoolean(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Boolean values[], size_t nValues)
{
    const char *name = "fmi3GetBoolean";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, booleans(s), valueReferences, nValueReferences, values, nValues);
    int *wide = at ? room(c, 1, nValues, sizeof *wide) : NULL;
    if (!wide) return fmi3Error;
    fmi3Status status = fmi3_statuses[get_booleans(s, name, at, nValues, wide)];
    for (size_t i = 0; status == fmi3OK && i < nValues; ++i) values[i] = wide[i] != 0;
    return status;
}

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         fmi3String values[], size_t nValues)
{
    const char *name = "fmi3GetString";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, texts(s), valueReferences, nValueReferences, values, nValues);
    return at ? fmi3_statuses[get_strings(s, name, at, nValues, values)] : fmi3Error;
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          const fmi3Float64 values[], size_t nValues)
{
    const char *name = "fmi3SetFloat64";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, floats(s), valueReferences, nValueReferences, values, nValues);
    return at ? fmi3_statuses[set_reals(s, name, at, nValues, values)] : fmi3Error;
}

fmi3Status fmi3SetInt32(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        const fmi3Int32 values[], size_t nValues)
{
    const char *name = "fmi3SetInt32";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, integers(s), valueReferences, nValueReferences, values, nValues);
    return at ? fmi3_statuses[set_integers(s, name, at, nValues, values)] : fmi3Error;
}

fmi3Status fmi3SetBoolean(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          const fmi3Boolean values[], size_t nValues)
{
    const char *name = "fmi3SetBoolean";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, booleans(s), valueReferences, nValueReferences, values, nValues);
    int *wide = at ? room(c, 1, nValues, sizeof *wide) : NULL;
    if (!wide) return fmi3Error;
    for (size_t i = 0; i < nValues; ++i) wide[i] = values[i];
    return fmi3_statuses[set_booleans(s, name, at, nValues, wide)];
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         const fmi3String values[], size_t nValues)
{
    const char *name = "fmi3SetString";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, texts(s), valueReferences, nValueReferences, values, nValues);
    return at ? fmi3_statuses[set_strings(s, name, at, nValues, values)] : fmi3Error;
}

/* Types that no variable has. */
#define WITHOUT_VARIABLES(type)                                                                                      \
    fmi3Status fmi3Get##type(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,    \
                             fmi3##type values[], size_t nValues)                                                    \
    {                                                                                                                \
        (void)valueReferences, (void)values, (void)nValues;                                                          \
        return without(c, "fmi3Get" #type, nValueReferences, "variables of this type");                              \
    }                                                                                                                \
    fmi3Status fmi3Set##type(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,    \
                             const fmi3##type values[], size_t nValues)                                              \
    {                                                                                                                \
        (void)valueReferences, (void)values, (void)nValues;                                                          \
        return without(c, "fmi3Set" #type, nValueReferences, "variables of this type");                              \
    }

WITHOUT_VARIABLES(Float32)
WITHOUT_VARIABLES(Int8)
WITHOUT_VARIABLES(UInt8)
WITHOUT_VARIABLES(Int16)
WITHOUT_VARIABLES(UInt16)
WITHOUT_VARIABLES(UInt32)
WITHOUT_VARIABLES(Int64)
WITHOUT_VARIABLES(UInt64)

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         size_t valueSizes[], fmi3Binary values[], size_t nValues)
{
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    return without(c, "fmi3GetBinary", nValueReferences, "variables of this type");
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         const size_t valueSizes[], const fmi3Binary values[], size_t nValues)
{
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    return without(c, "fmi3SetBinary", nValueReferences, "variables of this type");
}

fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[])
{
    (void)valueReferences, (void)values;
    return without(c, "fmi3GetClock", nValueReferences, "clocks");
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        const fmi3Clock values[])
{
    (void)valueReferences, (void)values;
    return without(c, "fmi3SetClock", nValueReferences, "clocks");
}

/* Dependencies stand in modelDescription.xml; they change with no parameter. */
fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference valueReference, size_t *nDependencies)
{
    (void)valueReference, (void)nDependencies;
    return without(c, "fmi3GetNumberOfVariableDependencies", 1, "dependencies of single elements");
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent, size_t elementIndicesOfDependent[],
                                       fmi3ValueReference independents[], size_t elementIndicesOfIndependents[],
                                       fmi3DependencyKind dependencyKinds[], size_t nDependencies)
{
    (void)dependent, (void)elementIndicesOfDependent, (void)independents, (void)elementIndicesOfIndependents;
    (void)dependencyKinds, (void)nDependencies;
    return without(c, "fmi3GetVariableDependencies", 1, "dependencies of single elements");
}

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *FMUState)
{
    return FMI3(get_state(instance_of_3(c), "fmi3GetFMUState", FMUState));
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState FMUState)
{
    return FMI3(set_state(instance_of_3(c), "fmi3SetFMUState", FMUState));
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *FMUState)
{
    return FMI3(free_state(instance_of_3(c), "fmi3FreeFMUState", FMUState));
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState FMUState, size_t *size)
{
    return FMI3(serialized_size(instance_of_3(c), "fmi3SerializedFMUStateSize", FMUState, size));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size)
{
    return FMI3(serialize_state(instance_of_3(c), "fmi3SerializeFMUState", FMUState, (char *)serializedState, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte serializedState[], size_t size,
                                   fmi3FMUState *FMUState)
{
    return FMI3(deserialize_state(instance_of_3(c), "fmi3DeserializeFMUState", (const char *)serializedState, size,
                                  FMUState));
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                        const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                        size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    const char *name = "fmi3GetDirectionalDerivative";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *from = elements(c, name, 0, floats(s), knowns, nKnowns, seed, nSeed);
    const unsigned *to = from ? elements(c, name, 1, floats(s), unknowns, nUnknowns, sensitivity, nSensitivity) : NULL;
    return to ? fmi3_statuses[directional_derivative(s, name, to, nSensitivity, from, nSeed, seed, sensitivity)]
        : fmi3Error;
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                    const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                    size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    const char *name = "fmi3GetAdjointDerivative";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *from = elements(c, name, 0, floats(s), knowns, nKnowns, sensitivity, nSensitivity);
    const unsigned *to = from ? elements(c, name, 1, floats(s), unknowns, nUnknowns, seed, nSeed) : NULL;
    return to ? fmi3_statuses[adjoint_derivative(s, name, to, nSeed, from, nSensitivity, seed, sensitivity)]
        : fmi3Error;
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c)
{
    return FMI3(enter_configuration(instance_of_3(c), "fmi3EnterConfigurationMode"));
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c)
{
    return FMI3(exit_configuration(instance_of_3(c), "fmi3ExitConfigurationMode"));
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    (void)valueReferences, (void)intervals, (void)qualifiers;
    return without(c, "fmi3GetIntervalDecimal", nValueReferences, "clocks");
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    (void)valueReferences, (void)counters, (void)resolutions, (void)qualifiers;
    return without(c, "fmi3GetIntervalFraction", nValueReferences, "clocks");
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                               fmi3Float64 shifts[])
{
    (void)valueReferences, (void)shifts;
    return without(c, "fmi3GetShiftDecimal", nValueReferences, "clocks");
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    (void)valueReferences, (void)counters, (void)resolutions;
    return without(c, "fmi3GetShiftFraction", nValueReferences, "clocks");
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                  const fmi3Float64 intervals[])
{
    (void)valueReferences, (void)intervals;
    return without(c, "fmi3SetIntervalDecimal", nValueReferences, "clocks");
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)valueReferences, (void)counters, (void)resolutions;
    return without(c, "fmi3SetIntervalFraction", nValueReferences, "clocks");
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                               const fmi3Float64 shifts[])
{
    (void)valueReferences, (void)shifts;
    return without(c, "fmi3SetShiftDecimal", nValueReferences, "clocks");
}

fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)valueReferences, (void)counters, (void)resolutions;
    return without(c, "fmi3SetShiftFraction", nValueReferences, "clocks");
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clockReference, fmi3Float64 activationTime)
{
    (void)clockReference, (void)activationTime;
    return without(c, "fmi3ActivateModelPartition", 1, "clocks");
}

/* Only fmi3UpdateDiscreteStates changes discrete states: there is nothing to evaluate before. */
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c)
{
    return without(c, "fmi3EvaluateDiscreteStates", 1, "evaluation of discrete states");
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    EventInfo info = {0, 1, 0, 0};
    int placed = discreteStatesNeedUpdate && terminateSimulation && nominalsOfContinuousStatesChanged
        && valuesOfContinuousStatesChanged && nextEventTimeDefined && nextEventTime;
    fmi3Status status = FMI3(new_discrete_states(instance_of_3(c), "fmi3UpdateDiscreteStates", placed ? &info : NULL));
    if (!placed) return status;
    *discreteStatesNeedUpdate = *nominalsOfContinuousStatesChanged = fmi3False;
    *terminateSimulation = info.terminate;
    *valuesOfContinuousStatesChanged = info.states_changed;
    *nextEventTimeDefined = info.has_next_time;
    *nextEventTime = info.next_time;
    return status;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
    return FMI3(enter_continuous_time_mode(instance_of_3(c), "fmi3EnterContinuousTimeMode"));
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation)
{
    int event = 0, end = 1, placed = enterEventMode && terminateSimulation;
    fmi3Status status = FMI3(completed_integrator_step(instance_of_3(c), "fmi3CompletedIntegratorStep",
                                                       placed ? &event : NULL, &end));
    (void)noSetFMUStatePriorToCurrentPoint;
    if (!placed) return status;
    *enterEventMode = event;
    *terminateSimulation = end;
    return status;
}

fmi3Status fmi3SetTime(fmi3Instance c,
                       fmi3Float64 time) { return FMI3(set_time(instance_of_3(c), "fmi3SetTime", time)); }

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 continuousStates[], size_t nContinuousStates)
{
    return FMI3(set_continuous_states(instance_of_3(c), "fmi3SetContinuousStates", continuousStates,
                                      nContinuousStates));
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t nContinuousStates)
{
    return FMI3(get_derivatives(instance_of_3(c), "fmi3GetContinuousStateDerivatives", derivatives, nContinuousStates));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 eventIndicators[], size_t nEventIndicators)
{
    return FMI3(get_event_indicators(instance_of_3(c), "fmi3GetEventIndicators", eventIndicators, nEventIndicators));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 continuousStates[], size_t nContinuousStates)
{
    return FMI3(get_continuous_states(instance_of_3(c), "fmi3GetContinuousStates", continuousStates,
                                      nContinuousStates));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t nContinuousStates)
{
    return FMI3(get_nominals(instance_of_3(c), "fmi3GetNominalsOfContinuousStates", nominals, nContinuousStates));
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *nEventIndicators)
{
    const Instance *s = instance_of_3(c);
    if (!s || check_interface(s, "fmi3GetNumberOfEventIndicators", MODEL_EXCHANGE, ANY_PHASE) || !nEventIndicators)
        return fmi3Error;
    *nEventIndicators = (size_t)nindicators(s->model);
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *nContinuousStates)
{
    const Instance *s = instance_of_3(c);
    if (!s || check_interface(s, "fmi3GetNumberOfContinuousStates", MODEL_EXCHANGE, ANY_PHASE) || !nContinuousStates)
        return fmi3Error;
    *nContinuousStates = (size_t)nx(s->model);
    return fmi3OK;
}

fmi3Status fmi3EnterStepMode(fmi3Instance c) { return FMI3(enter_step_mode(instance_of_3(c), "fmi3EnterStepMode")); }

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                                    const fmi3Int32 orders[], fmi3Float64 values[], size_t nValues)
{
    const char *name = "fmi3GetOutputDerivatives";
    Instance *s = instance_of_3(c);
    if (!s) return fmi3Error;
    const unsigned *at = elements(c, name, 0, floats(s), valueReferences, nValueReferences, values, nValues);
    int *all = at ? room(c, 1, nValues, sizeof *all) : NULL;
    if (!all || (nValueReferences && !orders)) return fmi3Error;
    size_t count = 0;
    for (size_t i = 0; i < nValueReferences; ++i)
        for (int left = s->tables->real_lengths[position_of(c, floats(s), valueReferences[i])]; left; --left)
            all[count++] = orders[i];
    return fmi3_statuses[get_output_derivatives(s, name, at, nValues, all, values)];
}

/* A step that fails ends the simulation: shorter ones would end at the same time. Where the model ends it, the step
   is good and has reached that time, also where it is not allowed to be called an early return (section 4.2.1). */
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventHandlingNeeded,
                      fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    Instance *s = instance_of_3(c);
    (void)noSetFMUStatePriorToCurrentPoint;
    if (!s) return fmi3Error;
    if (!eventHandlingNeeded || !terminateSimulation || !earlyReturn || !lastSuccessfulTime)
        return fmi3_statuses[say(s, STATUS_ERROR, "fmi3DoStep: no place for the results")];
    fmi3Status status = fmi3_statuses[do_step(s, "fmi3DoStep", currentCommunicationPoint, communicationStepSize)];
    const Head *head = &s->now->head;
    double reached = s->now->latch_t;
    *eventHandlingNeeded = status == fmi3OK && s->caller.master.event_mode && head->event && head->end == reached;
    *terminateSimulation = status != fmi3OK || s->now->ended;
    *earlyReturn = status == fmi3OK && s->caller.master.early_return
        && reached < currentCommunicationPoint + communicationStepSize;
    *lastSuccessfulTime = reached;
    return status;
}

QUICK
