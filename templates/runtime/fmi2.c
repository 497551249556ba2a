/* FMI 2.0: the functions of the standard, as a face of the version-neutral runtime. Nothing below this file knows of
   it. */

#include "fmi2Functions.h"

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

SMALL

static const fmi2Status fmi2_statuses[] = {fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal};

/* An instance, and what belongs to it in this version. */
typedef struct {
    Instance *instance;
    Model *model;                   /* read for this instance, in libraries that serve any model */
    void *descriptor;
    fmi2CallbackFunctions callbacks;
} Component;

static Instance *instance_of(fmi2Component c) { return c ? ((Component *)c)->instance : NULL; }

#define FMI2(call) (instance_of(c) ? fmi2_statuses[call] : fmi2Error)

/* Importers differ in whether they expand the message as a format: without arguments a doubled % is safe in both. */
static void fmi2_log(void *environment, const char *instance, Status status, const char *category, const char *text)
{
    const fmi2CallbackFunctions *callbacks = environment;
    char message[4096], *to = message;
    if (!callbacks->logger) return;
    for (const char *from = text; *from && to < message + sizeof message - 3; ++from) {
        if (*from == '%') *to++ = '%';
        *to++ = *from;
    }
    *to = 0;
    callbacks->logger(callbacks->componentEnvironment, instance, fmi2_statuses[status], category, message);
}

static Host fmi2_host(const fmi2CallbackFunctions *callbacks)
{
    Host host = {fmi2_log, callbacks->allocateMemory, callbacks->freeMemory, (void *)callbacks};
    return host;
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }

const char *fmi2GetVersion(void) { return fmi2Version; }

void fmi2FreeInstance(fmi2Component c)
{
    Component *component = c;
    if (!component) return;
    Host host = fmi2_host(&component->callbacks);
    free_instance(component->instance);
    if (component->model) free_model(component->model);
    if (component->descriptor) host_release(&host, component->descriptor);
    host_release(&host, component);
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    const char *name = "fmi2Instantiate", *wrong = NULL;
    (void)visible;
    if (!functions) return NULL;
    Host host = fmi2_host(functions);
    if (!instanceName || !*instanceName) {
        refuse(&host, "", "%s: the instance has no name", name);
        return NULL;
    }
    if (fmuType != fmi2CoSimulation && fmuType != fmi2ModelExchange) {
        refuse(&host, instanceName, "%s: this FMU has no interface of the type %d", name, (int)fmuType);
        return NULL;
    }
    Component *component = host_allocate(&host, sizeof *component);
    if (!component) {
        refuse(&host, instanceName, "%s: no memory for %lu bytes", name, (unsigned long)sizeof *component);
        return NULL;
    }
    component->callbacks = *functions;
    host.environment = &component->callbacks;
    component->model = open_model(&host, fmuResourceLocation, &component->descriptor, &wrong);
    if (!component->model) {
        refuse(&host, instanceName, "%s: %s", name, wrong);
    } else if (!fmuGUID || strcmp(fmuGUID, component->model->tables.identity[1]) != 0) {
        refuse(&host, instanceName,
               "%s: the GUID of modelDescription.xml is '%s', that of the binary '%s': they belong to "
               "different builds", name, fmuGUID ? fmuGUID : "", component->model->tables.identity[1]);
    } else {
        component->instance = instantiate(component->model, &host, name, instanceName,
                                          fmuType == fmi2CoSimulation ? CO_SIMULATION : MODEL_EXCHANGE, loggingOn);
    }
    if (component->instance) return component;
    fmi2FreeInstance(component);
    return NULL;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[])
{
    return FMI2(set_logging(instance_of(c), "fmi2SetDebugLogging", loggingOn, nCategories, categories));
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    return FMI2(set_up_experiment(instance_of(c), "fmi2SetupExperiment", toleranceDefined, tolerance, startTime,
                                  stopTimeDefined, stopTime));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    return FMI2(enter_initialization(instance_of(c), "fmi2EnterInitializationMode"));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    return FMI2(exit_initialization(instance_of(c), "fmi2ExitInitializationMode"));
}

fmi2Status fmi2Terminate(fmi2Component c) { return FMI2(terminate(instance_of(c), "fmi2Terminate")); }

fmi2Status fmi2Reset(fmi2Component c) { return FMI2(reset(instance_of(c))); }

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    return FMI2(get_reals(instance_of(c), "fmi2GetReal", vr, nvr, value));
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[])
{
    return FMI2(get_integers(instance_of(c), "fmi2GetInteger", vr, nvr, value));
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[])
{
    return FMI2(get_booleans(instance_of(c), "fmi2GetBoolean", vr, nvr, value));
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[])
{
    return FMI2(get_strings(instance_of(c), "fmi2GetString", vr, nvr, value));
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[])
{
    return FMI2(set_reals(instance_of(c), "fmi2SetReal", vr, nvr, value));
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[])
{
    return FMI2(set_integers(instance_of(c), "fmi2SetInteger", vr, nvr, value));
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[])
{
    return FMI2(set_booleans(instance_of(c), "fmi2SetBoolean", vr, nvr, value));
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[])
{
    return FMI2(set_strings(instance_of(c), "fmi2SetString", vr, nvr, value));
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    return FMI2(get_state(instance_of(c), "fmi2GetFMUstate", FMUstate));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate)
{
    return FMI2(set_state(instance_of(c), "fmi2SetFMUstate", FMUstate));
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    return FMI2(free_state(instance_of(c), "fmi2FreeFMUstate", FMUstate));
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
{
    return FMI2(serialized_size(instance_of(c), "fmi2SerializedFMUstateSize", FMUstate, size));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size)
{
    return FMI2(serialize_state(instance_of(c), "fmi2SerializeFMUstate", FMUstate, serializedState, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate)
{
    return FMI2(deserialize_state(instance_of(c), "fmi2DeSerializeFMUstate", serializedState, size, FMUstate));
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[])
{
    return FMI2(directional_derivative(instance_of(c), "fmi2GetDirectionalDerivative", vUnknown_ref, nUnknown,
                                       vKnown_ref, nKnown, dvKnown, dvUnknown));
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    return FMI2(set_input_derivatives(instance_of(c), "fmi2SetRealInputDerivatives", vr, nvr, order, value));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    return FMI2(get_output_derivatives(instance_of(c), "fmi2GetRealOutputDerivatives", vr, nvr, order, value));
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    return FMI2(do_step(instance_of(c), "fmi2DoStep", currentCommunicationPoint, communicationStepSize));
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    Instance *s = instance_of(c);
    if (!s || check_interface(s, "fmi2CancelStep", CO_SIMULATION, ANY_PHASE)) return fmi2Error;
    return fmi2_statuses[say(s, STATUS_ERROR, "fmi2CancelStep: steps are not asynchronous, there is none to cancel")];
}

/* Refuse to give a status, but for the kind that the function provides. */
static fmi2Status check_status(fmi2Component c, const char *function, int provided, const void *value)
{
    Instance *s = instance_of(c);
    if (!s || check_interface(s, function, CO_SIMULATION, MAY_ASK) || !value) return fmi2Error;
    return provided ? fmi2OK : fmi2_statuses[say(s, STATUS_DISCARD, "%s: this status is not provided", function)];
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    fmi2Status status = check_status(c, "fmi2GetStatus", kind == fmi2DoStepStatus, value);
    if (!status) *value = instance_of(c)->now->phase == STEP_FAILED ? fmi2Discard : fmi2OK;
    return status;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    fmi2Status status = check_status(c, "fmi2GetRealStatus", kind == fmi2LastSuccessfulTime, value);
    if (!status) *value = instance_of(c)->now->latch_t;
    return status;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind;
    return check_status(c, "fmi2GetIntegerStatus", 0, value);
}

/* Has the model ended the simulation? After a failure it has not, and importers need not take its part of a run for
   all. */
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    fmi2Status status = check_status(c, "fmi2GetBooleanStatus", kind == fmi2Terminated, value);
    if (!status) *value = instance_of(c)->now->ended ? fmi2True : fmi2False;
    return status;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    fmi2Status status = check_status(c, "fmi2GetStringStatus", kind == fmi2PendingStatus, value);
    if (!status) *value = "";
    return status;
}

fmi2Status fmi2EnterEventMode(fmi2Component c) { return FMI2(enter_event_mode(instance_of(c), "fmi2EnterEventMode")); }

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *fmi2eventInfo)
{
    EventInfo info = {0, 1, 0, 0};
    fmi2Status status = FMI2(new_discrete_states(instance_of(c), "fmi2NewDiscreteStates",
                                                 fmi2eventInfo ? &info : NULL));
    if (!fmi2eventInfo) return fmi2Error;
    fmi2eventInfo->newDiscreteStatesNeeded = fmi2False;
    fmi2eventInfo->terminateSimulation = info.terminate;
    fmi2eventInfo->nominalsOfContinuousStatesChanged = fmi2False;
    fmi2eventInfo->valuesOfContinuousStatesChanged = info.states_changed;
    fmi2eventInfo->nextEventTimeDefined = info.has_next_time;
    fmi2eventInfo->nextEventTime = info.next_time;
    return status;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    return FMI2(enter_continuous_time_mode(instance_of(c), "fmi2EnterContinuousTimeMode"));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    return FMI2(completed_integrator_step(instance_of(c), "fmi2CompletedIntegratorStep", enterEventMode,
                                          terminateSimulation));
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) { return FMI2(set_time(instance_of(c), "fmi2SetTime", time)); }

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    return FMI2(set_continuous_states(instance_of(c), "fmi2SetContinuousStates", x, nx));
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    return FMI2(get_derivatives(instance_of(c), "fmi2GetDerivatives", derivatives, nx));
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni)
{
    return FMI2(get_event_indicators(instance_of(c), "fmi2GetEventIndicators", eventIndicators, ni));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    return FMI2(get_continuous_states(instance_of(c), "fmi2GetContinuousStates", x, nx));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx)
{
    return FMI2(get_nominals(instance_of(c), "fmi2GetNominalsOfContinuousStates", x_nominal, nx));
}

QUICK
