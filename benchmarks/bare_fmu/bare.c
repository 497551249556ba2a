/* An FMU that does nothing: what a call through FMI costs before any model is behind it. */

#include "fmi2FunctionTypes.h"

#define EXPORT __attribute__((visibility("default")))

enum { OUTPUTS = 5 };

static double outputs[OUTPUTS];

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)type, (void)guid, (void)resources, (void)functions, (void)visible, (void)logging;
    return outputs;
}

EXPORT void fmi2FreeInstance(fmi2Component c) { (void)c; }

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean with_tolerance, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean with_stop, fmi2Real stop)
{
    (void)c, (void)with_tolerance, (void)tolerance, (void)start, (void)with_stop, (void)stop;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return c ? fmi2OK : fmi2Error; }

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return c ? fmi2OK : fmi2Error; }

EXPORT fmi2Status fmi2Reset(fmi2Component c) { return c ? fmi2OK : fmi2Error; }

EXPORT fmi2Status fmi2Terminate(fmi2Component c) { return c ? fmi2OK : fmi2Error; }

EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real point, fmi2Real step, fmi2Boolean no_set_state)
{
    (void)point, (void)no_set_state;
    return c && step > 0 ? fmi2OK : fmi2Error;
}

EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    const double *from = c;
    for (size_t i = 0; i < nvr; ++i) {
        if (vr[i] >= OUTPUTS) return fmi2Error;
        value[i] = from[vr[i]];
    }
    return fmi2OK;
}

/* What FMPy looks for when it loads a library, and nobody calls here. */
#define NOT_PROVIDED(name) \
    EXPORT fmi2Status name(void) { return fmi2Error; }

EXPORT const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
NOT_PROVIDED(fmi2SetDebugLogging)
NOT_PROVIDED(fmi2CancelStep)
NOT_PROVIDED(fmi2GetStatus)
NOT_PROVIDED(fmi2GetRealStatus)
NOT_PROVIDED(fmi2GetIntegerStatus)
NOT_PROVIDED(fmi2GetBooleanStatus)
NOT_PROVIDED(fmi2GetStringStatus)
NOT_PROVIDED(fmi2GetInteger)
NOT_PROVIDED(fmi2GetBoolean)
NOT_PROVIDED(fmi2GetString)
NOT_PROVIDED(fmi2SetReal)
NOT_PROVIDED(fmi2SetInteger)
NOT_PROVIDED(fmi2SetBoolean)
NOT_PROVIDED(fmi2SetString)
NOT_PROVIDED(fmi2GetFMUstate)
NOT_PROVIDED(fmi2SetFMUstate)
NOT_PROVIDED(fmi2FreeFMUstate)
NOT_PROVIDED(fmi2SerializedFMUstateSize)
NOT_PROVIDED(fmi2SerializeFMUstate)
NOT_PROVIDED(fmi2DeSerializeFMUstate)
NOT_PROVIDED(fmi2GetDirectionalDerivative)
NOT_PROVIDED(fmi2SetRealInputDerivatives)
NOT_PROVIDED(fmi2GetRealOutputDerivatives)
