/* Drives every FMI function of a model in random order, legal and illegal, and compares each status with the tables of
   FMI 2.0.4, sections 3.2.3 and 4.2.4; sequences of co-simulation and of model exchange take turns. Linked with the
   FMU's own sources, so that sanitizers see both. Prints nothing and returns 0 where all is well. Arguments: GUID, folder
   of resources, number of sequences, references of a Real input and of a tunable Real, numbers of states and event
   indicators. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"

enum { INSTANTIATED = 1, INITIALIZATION = 2, COMPLETE = 4, TERMINATED = 8, EVENT = 16, CONTINUOUS = 32 };
enum { LARGEST = 100 };

static unsigned long long seed = 1;
static int lines, blocks;

static unsigned random_below(unsigned n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % n;
}

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    char text[4096];
    va_list arguments;
    (void)environment, (void)status;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    if (!*text || !*category || strcmp(instance, "host") != 0) exit(2);
    ++lines;
}

static void *allocate(size_t n, size_t size)
{
    ++blocks;
    return calloc(n, size);
}

static void release(void *memory)
{
    --blocks;
    free(memory);
}

static fmi2Component c;
static int state, exchange;
static size_t nx, ni;
static double now, saved_now;
static fmi2FMUstate saved;
static int saved_state;

static void expect(const char *name, fmi2Status status, int legal)
{
    if (status == (legal ? fmi2OK : fmi2Error)) return;
    fprintf(stderr, "%s in state %d: status %d\n", name, state, status);
    exit(1);
}

enum { CALLS = 24, EXCHANGE_CALLS = 9 };

/* The functions of model exchange. */
static void exchange_call(unsigned which)
{
    static double x[LARGEST], values[LARGEST];
    int reading = exchange && (state & (INITIALIZATION | EVENT | CONTINUOUS | TERMINATED));
    fmi2EventInfo info;
    fmi2Boolean event = fmi2False, end = fmi2False;

    switch (which) {
    case 0:
        expect("EnterEventMode", fmi2EnterEventMode(c), state & (EVENT | CONTINUOUS));
        if (state & CONTINUOUS) state = EVENT;
        break;
    case 1:
        expect("NewDiscreteStates", fmi2NewDiscreteStates(c, &info), state == EVENT);
        if (state == EVENT && (info.newDiscreteStatesNeeded || info.terminateSimulation)) exit(10);
        if (state == EVENT && info.nextEventTimeDefined && !(info.nextEventTime > now)) exit(11);
        break;
    case 2:
        expect("EnterContinuousTimeMode", fmi2EnterContinuousTimeMode(c), state == EVENT);
        if (state == EVENT) state = CONTINUOUS;
        break;
    case 3:
        expect("CompletedIntegratorStep", fmi2CompletedIntegratorStep(c, fmi2True, &event, &end), state == CONTINUOUS);
        if (end) exit(12);
        break;
    case 4:
        expect("SetTime", fmi2SetTime(c, now + 0.001), state & (EVENT | CONTINUOUS));
        if (state & (EVENT | CONTINUOUS)) now += 0.001;
        break;
    case 5:
        expect("GetDerivatives", fmi2GetDerivatives(c, values, nx), reading);
        expect("GetDerivatives, too many", fmi2GetDerivatives(c, values, nx + 1), 0);
        break;
    case 6: expect("GetEventIndicators", fmi2GetEventIndicators(c, values, ni), reading); break;
    case 7:
        expect("GetContinuousStates", fmi2GetContinuousStates(c, x, nx), reading);
        if (!reading) break;
        for (size_t i = 0; i < nx; ++i) x[i] += 1e-4 * ((double)random_below(100) / 50 - 1);
        expect("SetContinuousStates", fmi2SetContinuousStates(c, x, nx), state == CONTINUOUS);
        break;
    default:
        expect("GetNominals", fmi2GetNominalsOfContinuousStates(c, values, nx), reading || (exchange && state));
    }
}

static void call(unsigned which, fmi2ValueReference input, fmi2ValueReference tunable)
{
    fmi2ValueReference all[] = {0, 1, input, tunable};
    fmi2Real reals[4];
    fmi2Integer one = 1, integer;
    fmi2Boolean boolean;
    fmi2String string;
    fmi2Status status;
    fmi2Real value = (double)random_below(100) / 50 - 1, positive = 1 + (double)random_below(100) / 10;
    int getting = state & ~INSTANTIATED, setting = state & ~TERMINATED, tuning = setting & ~CONTINUOUS;
    int slave = !exchange && setting, done = !exchange && (state & (COMPLETE | TERMINATED));

    switch (which) {
    case 0: {
        int legal = state == INSTANTIATED;
        expect("SetupExperiment", fmi2SetupExperiment(c, fmi2True, 1e-5, 0, fmi2False, 0), legal);
        break;
    }
    case 1:
        expect("EnterInitializationMode", fmi2EnterInitializationMode(c), state == INSTANTIATED);
        if (state == INSTANTIATED) state = INITIALIZATION;
        break;
    case 2:
        expect("ExitInitializationMode", fmi2ExitInitializationMode(c), state == INITIALIZATION);
        if (state == INITIALIZATION) state = exchange ? EVENT : COMPLETE;
        break;
    case 3:
        if (random_below(4)) break;
        expect("Terminate", fmi2Terminate(c), state & (COMPLETE | EVENT | CONTINUOUS));
        if (state & (COMPLETE | EVENT | CONTINUOUS)) state = TERMINATED;
        break;
    case 4:
        if (random_below(4)) break;
        expect("Reset", fmi2Reset(c), 1);
        state = INSTANTIATED;
        now = 0;
        break;
    case 5: expect("GetReal", fmi2GetReal(c, all, 4, reals), getting); break;
    case 6: expect("SetReal input", fmi2SetReal(c, &input, 1, &value), setting); break;
    case 7: expect("SetReal tunable", fmi2SetReal(c, &tunable, 1, &positive), tuning); break;
    case 8: {
        double h = (double)(1 + random_below(100)) / 1000;
        expect("DoStep", fmi2DoStep(c, now, h, fmi2True), state == COMPLETE);
        if (state == COMPLETE) now += h;
        break;
    }
    case 9:
        expect("GetFMUstate", fmi2GetFMUstate(c, &saved), 1);
        saved_state = state;
        saved_now = now;
        break;
    case 10:
        if (!saved) break;
        expect("SetFMUstate", fmi2SetFMUstate(c, saved), 1);
        state = saved_state;
        now = saved_now;
        break;
    case 11: {
        size_t size;
        if (!saved) break;
        expect("SerializedFMUstateSize", fmi2SerializedFMUstateSize(c, saved, &size), 1);
        fmi2Byte *bytes = malloc(size);
        fmi2FMUstate copy = NULL;
        expect("SerializeFMUstate", fmi2SerializeFMUstate(c, saved, bytes, size), 1);
        expect("SerializeFMUstate, short", fmi2SerializeFMUstate(c, saved, bytes, size - 1), 0);
        expect("DeSerializeFMUstate, short", fmi2DeSerializeFMUstate(c, bytes, size - 1, &copy), 0);
        expect("DeSerializeFMUstate", fmi2DeSerializeFMUstate(c, bytes, size, &copy), 1);
        bytes[random_below((unsigned)size)] ^= 4;
        fmi2FMUstate damaged = NULL;
        expect("DeSerializeFMUstate, damaged", fmi2DeSerializeFMUstate(c, bytes, size, &damaged), 0);
        expect("SetFMUstate", fmi2SetFMUstate(c, copy), 1);
        state = saved_state;
        now = saved_now;
        expect("FreeFMUstate", fmi2FreeFMUstate(c, &copy), 1);
        free(bytes);
        break;
    }
    case 12: expect("SetRealInputDerivatives", fmi2SetRealInputDerivatives(c, &input, 1, &one, &value), slave); break;
    case 13: expect("GetRealOutputDerivatives", fmi2GetRealOutputDerivatives(c, all, 1, &one, reals), done); break;
    case 14: expect("GetRealStatus", fmi2GetRealStatus(c, fmi2LastSuccessfulTime, reals), done); break;
    case 15: expect("GetStatus", fmi2GetStatus(c, fmi2DoStepStatus, &status), done); break;
    case 16: expect("GetBooleanStatus", fmi2GetBooleanStatus(c, fmi2Terminated, &boolean), done); break;
    case 17: expect("GetStringStatus", fmi2GetStringStatus(c, fmi2PendingStatus, &string), done); break;
    case 18:
        status = fmi2GetIntegerStatus(c, fmi2DoStepStatus, &integer);
        if (status != (done ? fmi2Discard : fmi2Error)) expect("GetIntegerStatus", status, 0);
        break;
    case 19: {
        fmi2ValueReference wrong = 1000000 + random_below(1000);
        expect("GetReal, wrong reference", fmi2GetReal(c, &wrong, 1, reals), 0);
        expect("SetReal, wrong reference", fmi2SetReal(c, &wrong, 1, reals), 0);
        expect("GetInteger, wrong reference", fmi2GetInteger(c, &wrong, 1, &integer), 0);
        expect("SetInteger, wrong reference", fmi2SetInteger(c, &wrong, 1, &integer), 0);
        expect("GetBoolean, wrong reference", fmi2GetBoolean(c, &wrong, 1, &boolean), 0);
        expect("SetBoolean, wrong reference", fmi2SetBoolean(c, &wrong, 1, &boolean), 0);
        expect("GetString, wrong reference", fmi2GetString(c, &wrong, 1, &string), 0);
        expect("SetString, wrong reference", fmi2SetString(c, &wrong, 1, &string), 0);
        break;
    }
    case 20:
        expect("GetReal, no array", fmi2GetReal(c, NULL, 1, reals), 0);
        expect("DoStep, no length", fmi2DoStep(c, now, 0, fmi2True), 0);
        expect("DoStep, no number", fmi2DoStep(c, NAN, 0.1, fmi2True), 0);
        expect("DeSerializeFMUstate, nothing", fmi2DeSerializeFMUstate(c, NULL, 0, NULL), 0);
        expect("SetFMUstate, nothing", fmi2SetFMUstate(c, NULL), 0);
        break;
    case 21: expect("CancelStep", fmi2CancelStep(c), 0); break;
    case 22: {
        fmi2String categories[] = {"logEvents", "logAll"};
        expect("SetDebugLogging", fmi2SetDebugLogging(c, fmi2True, 2, categories), 1);
        break;
    }
    case 23:
        expect("GetDirectionalDerivative", fmi2GetDirectionalDerivative(c, &input, 1, &input, 1, &value, reals), getting);
        if (getting && fabs(reals[0] - value) > 1e-9) exit(9);
        break;
    default: exchange_call(which - CALLS);
    }
}

int main(int argc, char **argv)
{
    fmi2CallbackFunctions callbacks = {logger, allocate, release, NULL, NULL};
    if (argc != 8) return 4;
    nx = (size_t)atoi(argv[6]);
    ni = (size_t)atoi(argv[7]);
    if (nx >= LARGEST || ni >= LARGEST) return 13;
    for (int sequence = 0; sequence < atoi(argv[3]); ++sequence) {
        seed = (unsigned)sequence;
        if (fmi2Instantiate("host", fmi2CoSimulation, "another", argv[2], &callbacks, fmi2False, fmi2False)) return 5;
        exchange = sequence % 2;
        c = fmi2Instantiate("host", exchange ? fmi2ModelExchange : fmi2CoSimulation, argv[1], argv[2], &callbacks, fmi2False,
                            sequence % 3 == 0);
        if (!c) return 7;
        state = INSTANTIATED;
        now = 0;
        saved = NULL;
        for (int i = 0; i < 100; ++i)
            call(random_below(CALLS + EXCHANGE_CALLS), (fmi2ValueReference)atoi(argv[4]), (fmi2ValueReference)atoi(argv[5]));
        fmi2FreeFMUstate(c, &saved);
        fmi2FreeInstance(c);
        if (blocks) return 8;
    }
    return 0;
}
