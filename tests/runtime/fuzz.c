/* Calls FMI functions at random, with legal and illegal values and in any order, in co-simulation and model exchange; what
   they answer is not looked at but for its range. Linked with the sources of an FMU, for sanitizers. Arguments: GUID,
   folder of resources, number of calls, seed, number of Real variables, of states, of event indicators. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"

enum { LARGEST = 4000, CALLS_OF_AN_INSTANCE = 150, FEW = 4 };

static unsigned long long seed;
static int blocks;
static fmi2ValueReference nreals;
static size_t nx, ni;
static double now;
static fmi2FMUstate saved;

static unsigned random_below(unsigned n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % n;
}

/* Mostly of the size of 1, now and then what no model expects. */
static double random_value(void)
{
    static const double odd[] = {0.0, -0.0, 1e300, -1e300, 1e-300, 1e10, -1e10, NAN, INFINITY, -INFINITY};
    if (random_below(12) == 0) return odd[random_below(sizeof odd / sizeof *odd)];
    return (double)random_below(4001) / 1000 - 2;
}

/* Mostly one that exists. */
static fmi2ValueReference random_reference(void)
{
    return random_below(40) ? random_below(nreals) : nreals + random_below(1000);
}

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    char text[8192];
    va_list arguments;
    (void)environment, (void)status;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    if (!*text || !*category || !*instance) exit(2);
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

static void serialise(fmi2Component c)
{
    size_t size = 0;
    fmi2FMUstate copy = NULL;
    if (!saved || fmi2SerializedFMUstateSize(c, saved, &size)) return;
    fmi2Byte *bytes = malloc(size);
    if (!bytes || fmi2SerializeFMUstate(c, saved, bytes, size)) exit(3);
    if (random_below(2)) bytes[random_below((unsigned)size)] ^= (fmi2Byte)(1 << random_below(8));
    if (!fmi2DeSerializeFMUstate(c, bytes, size - random_below(2) * random_below((unsigned)size), &copy))
        fmi2SetFMUstate(c, copy);
    fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &now);
    fmi2FreeFMUstate(c, &copy);
    free(bytes);
}

static fmi2Status call(fmi2Component c)
{
    static double values[LARGEST];
    fmi2ValueReference some[FEW], others[FEW];
    fmi2Integer orders[FEW], integers[FEW];
    fmi2Boolean booleans[FEW], event, end;
    fmi2String strings[FEW];
    fmi2EventInfo info;
    fmi2Real reals[FEW], results[FEW];
    fmi2Status status;
    const size_t n = random_below(FEW + 1);
    for (int i = 0; i < FEW; ++i) {
        some[i] = random_reference();
        others[i] = random_reference();
        orders[i] = random_below(8) ? 1 : (int)random_below(4);
        integers[i] = (int)random_below(5) - 2;
        booleans[i] = (int)random_below(3);
        reals[i] = random_value();
        strings[i] = random_below(2) ? "text" : NULL;
    }
    switch (random_below(40)) {
    case 0: return fmi2SetupExperiment(c, random_below(2), fabs(random_value()), random_value(), random_below(2), 5);
    case 1: case 2: return fmi2EnterInitializationMode(c);
    case 3: case 4: case 5: return fmi2ExitInitializationMode(c);
    case 6: return random_below(8) ? fmi2OK : fmi2Terminate(c);
    case 7:
        if (random_below(4)) return fmi2OK;
        now = 0;
        return fmi2Reset(c);
    case 8: case 9: case 10: return fmi2GetReal(c, some, n, results);
    case 11: case 12: return fmi2SetReal(c, some, n, reals);
    case 13: return fmi2GetInteger(c, some, n, integers);
    case 14: return fmi2SetInteger(c, some, n, integers);
    case 15: return fmi2GetBoolean(c, some, n, booleans);
    case 16: return fmi2SetBoolean(c, some, n, booleans);
    case 17: return fmi2GetString(c, some, n, strings);
    case 18: return fmi2SetString(c, some, n, strings);
    case 19: case 20: case 21: {
        double h = random_below(10) ? (double)(1 + random_below(50)) / 1000 : random_value();
        status = fmi2DoStep(c, now, h, fmi2True);
        fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &now);
        return status;
    }
    case 22: return fmi2GetFMUstate(c, &saved);
    case 23:
        status = fmi2SetFMUstate(c, saved);
        fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &now);
        return status;
    case 24: serialise(c); return fmi2OK;
    case 25: return fmi2SetRealInputDerivatives(c, some, n, orders, reals);
    case 26: return fmi2GetRealOutputDerivatives(c, some, n, orders, results);
    case 27: return fmi2GetDirectionalDerivative(c, some, n, others, random_below(FEW + 1), reals, results);
    case 28: return fmi2EnterEventMode(c);
    case 29: return fmi2NewDiscreteStates(c, &info);
    case 30: case 31: return fmi2EnterContinuousTimeMode(c);
    case 32: return fmi2CompletedIntegratorStep(c, fmi2True, &event, &end);
    case 33: return fmi2SetTime(c, random_value());
    case 34: return fmi2GetDerivatives(c, values, nx);
    case 35: return fmi2GetEventIndicators(c, values, ni);
    case 36: case 37:
        if (fmi2GetContinuousStates(c, values, nx)) return fmi2OK;
        for (size_t i = 0; i < nx; ++i) values[i] += random_below(200) ? 1e-3 * random_value() : random_value();
        return fmi2SetContinuousStates(c, values, nx);
    case 38: return fmi2GetNominalsOfContinuousStates(c, values, nx);
    default: return fmi2SetDebugLogging(c, random_below(2), 0, NULL);
    }
}

int main(int argc, char **argv)
{
    fmi2CallbackFunctions callbacks = {logger, allocate, release, NULL, NULL};
    if (argc != 8) return 4;
    seed = strtoull(argv[4], NULL, 10);
    nreals = (fmi2ValueReference)atoi(argv[5]);
    nx = (size_t)atoi(argv[6]);
    ni = (size_t)atoi(argv[7]);
    if (nx > LARGEST || ni > LARGEST || !nreals) return 5;
    for (long i = 0, calls = atol(argv[3]); i < calls; i += CALLS_OF_AN_INSTANCE) {
        fmi2Component c = fmi2Instantiate("one", random_below(2) ? fmi2CoSimulation : fmi2ModelExchange, argv[1], argv[2],
                                          &callbacks, fmi2False, random_below(2));
        if (!c) return 6;
        now = 0;
        saved = NULL;
        for (int k = 0; k < CALLS_OF_AN_INSTANCE; ++k) {
            fmi2Status status = call(c);
            if (status < fmi2OK || status > fmi2Error) return 7;
        }
        fmi2FreeFMUstate(c, &saved);
        fmi2FreeInstance(c);
        if (blocks) return 8;
    }
    return 0;
}
