/* Loads the library of an FMU, of either version of FMI, runs it and prints Real variables at the start and after every
   step. Arguments: version (2 or 3), for model exchange with the numbers of states and event indicators (2:4:1), library,
   GUID or token, folder of resources (2: as a URI), tolerance, step in s, number of steps, number of values, value
   references. In model exchange a step is many of Runge's and Kutta's method, with events at their ends. Returns 0 where
   every call succeeds. */

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2FunctionTypes.h"
#include "fmi3FunctionTypes.h"

enum { LARGEST = 1000, PARTS = 200 };

static void logger_2(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                     fmi2String message, ...)
{
    va_list arguments;
    (void)environment;
    fprintf(stderr, "%s, status %d, %s: ", instance, (int)status, category);
    va_start(arguments, message);
    vfprintf(stderr, message, arguments);
    va_end(arguments);
    fputs("\n", stderr);
}

static void logger_3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    (void)environment;
    fprintf(stderr, "status %d, %s: %s\n", (int)status, category, message);
}

static void show(const double *values, size_t count)
{
    for (size_t i = 0; i < count; ++i) printf("%.17g ", values[i]);
    printf("\n");
}

#define FUNCTION(name)                                                                                                 \
    name##TYPE *name;                                                                                                  \
    *(void **)&name = dlsym(library, #name);                                                                           \
    if (!name) return 3

static int run_2(void *library, char **argv, const unsigned *references, size_t count, double *values)
{
    const double tolerance = atof(argv[5]), step = atof(argv[6]);
    fmi2CallbackFunctions callbacks = {logger_2, calloc, free, NULL, NULL};
    FUNCTION(fmi2Instantiate);
    FUNCTION(fmi2SetupExperiment);
    FUNCTION(fmi2EnterInitializationMode);
    FUNCTION(fmi2ExitInitializationMode);
    FUNCTION(fmi2DoStep);
    FUNCTION(fmi2GetReal);
    FUNCTION(fmi2Terminate);
    FUNCTION(fmi2FreeInstance);
    fmi2Component c = fmi2Instantiate("loaded", fmi2CoSimulation, argv[3], argv[4], &callbacks, fmi2False, fmi2False);
    if (!c || fmi2SetupExperiment(c, fmi2True, tolerance, 0, fmi2False, 0) || fmi2EnterInitializationMode(c)
        || fmi2ExitInitializationMode(c) || fmi2GetReal(c, references, count, values))
        return 4;
    show(values, count);
    for (int i = 0; i < atoi(argv[7]); ++i) {
        if (fmi2DoStep(c, i * step, step, fmi2True) || fmi2GetReal(c, references, count, values)) return 5;
        show(values, count);
    }
    if (fmi2Terminate(c)) return 6;
    fmi2FreeInstance(c);
    return 0;
}

static int run_3(void *library, char **argv, const unsigned *references, size_t number, size_t count, double *values)
{
    const double tolerance = atof(argv[5]), step = atof(argv[6]);
    FUNCTION(fmi3InstantiateCoSimulation);
    FUNCTION(fmi3EnterInitializationMode);
    FUNCTION(fmi3ExitInitializationMode);
    FUNCTION(fmi3DoStep);
    FUNCTION(fmi3GetFloat64);
    FUNCTION(fmi3Terminate);
    FUNCTION(fmi3FreeInstance);
    fmi3Instance c = fmi3InstantiateCoSimulation("loaded", argv[3], argv[4], fmi3False, fmi3False, fmi3False,
                                                 fmi3False, NULL, 0, NULL, logger_3, NULL);
    if (!c || fmi3EnterInitializationMode(c, fmi3True, tolerance, 0, fmi3False, 0) || fmi3ExitInitializationMode(c)
        || fmi3GetFloat64(c, references, number, values, count))
        return 4;
    show(values, count);
    for (int i = 0; i < atoi(argv[7]); ++i) {
        fmi3Boolean event, ended, early;
        fmi3Float64 time;
        if (fmi3DoStep(c, i * step, step, fmi3True, &event, &ended, &early, &time)
            || fmi3GetFloat64(c, references, number, values, count))
            return 5;
        show(values, count);
        if (ended) break;
    }
    if (fmi3Terminate(c)) return 6;
    fmi3FreeInstance(c);
    return 0;
}

/* What a solver asks of a model for exchange, in either version; all return 0 where they succeed. */
static struct {
    void *c;
    size_t states, indicators;
    int (*put)(double time, const double *x);
    int (*rates)(double *rates);
    int (*signs)(double *z);
    int (*accept)(int *event, int *ended);
    int (*handle)(double *next, int *ended, double *x);
    int (*read)(double *values);
} model;

static int derivative(double time, const double *x, double *k)
{
    return model.put(time, x) || model.rates(k);
}

/* A step by the classical method of order 4. */
static int runge_kutta(double time, double h, double *x)
{
    static const double part[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1};
    double k[LARGEST], y[LARGEST], sum[LARGEST];
    for (size_t i = 0; i < model.states; ++i) k[i] = sum[i] = 0;
    for (int stage = 0; stage < 4; ++stage) {
        for (size_t i = 0; i < model.states; ++i) y[i] = x[i] + h * part[stage] * k[i];
        if (derivative(time + h * part[stage], y, k)) return 1;
        for (size_t i = 0; i < model.states; ++i) sum[i] += weight[stage] * k[i];
    }
    for (size_t i = 0; i < model.states; ++i) x[i] += h / 6 * sum[i];
    return model.put(time + h, x);
}

static int exchange(char **argv, size_t count, double *values)
{
    const double step = atof(argv[6]);
    double x[LARGEST], before[LARGEST], after[LARGEST], next;
    int ended = 0;
    if (model.handle(&next, &ended, x) || model.signs(before) || model.read(values)) return 4;
    show(values, count);
    for (int i = 0; i < atoi(argv[7]) && !ended; ++i) {
        const double end = (i + 1) * step;
        double time = i * step;
        for (int part = 1; part <= PARTS && !ended; ++part) {
            const double until = part == PARTS ? end : i * step + step / PARTS * part;
            while (time < until && !ended) {
                const double to = next < until ? (next > time ? next : time) : until;
                int event = next <= until;
                if (to > time && runge_kutta(time, to - time, x)) return 5;
                time = to;
                if (model.accept(&event, &ended) || model.signs(after)) return 5;
                for (size_t k = 0; k < model.indicators; ++k) event |= (after[k] > 0) != (before[k] > 0);
                if (event && (model.handle(&next, &ended, x) || model.signs(after))) return 5;
                for (size_t k = 0; k < model.indicators; ++k) before[k] = after[k];
            }
        }
        if (model.read(values)) return 5;
        show(values, count);
    }
    return 0;
}

/* The functions of either version behind these: those of FMI 3.0 take lengths, and read arrays. */
#define LOAD(name)                                                                                                     \
    *(void **)&name = dlsym(library, #name);                                                                           \
    if (!name) return 3

static fmi2SetTimeTYPE *fmi2SetTime;
static fmi2SetContinuousStatesTYPE *fmi2SetContinuousStates;
static fmi2GetContinuousStatesTYPE *fmi2GetContinuousStates;
static fmi2GetDerivativesTYPE *fmi2GetDerivatives;
static fmi2GetEventIndicatorsTYPE *fmi2GetEventIndicators;
static fmi2CompletedIntegratorStepTYPE *fmi2CompletedIntegratorStep;
static fmi2EnterEventModeTYPE *fmi2EnterEventMode;
static fmi2NewDiscreteStatesTYPE *fmi2NewDiscreteStates;
static fmi2EnterContinuousTimeModeTYPE *fmi2EnterContinuousTimeMode;
static fmi2GetRealTYPE *fmi2GetReal;
static fmi3SetTimeTYPE *fmi3SetTime;
static fmi3SetContinuousStatesTYPE *fmi3SetContinuousStates;
static fmi3GetContinuousStatesTYPE *fmi3GetContinuousStates;
static fmi3GetContinuousStateDerivativesTYPE *fmi3GetContinuousStateDerivatives;
static fmi3GetEventIndicatorsTYPE *fmi3GetEventIndicators;
static fmi3CompletedIntegratorStepTYPE *fmi3CompletedIntegratorStep;
static fmi3EnterEventModeTYPE *fmi3EnterEventMode;
static fmi3UpdateDiscreteStatesTYPE *fmi3UpdateDiscreteStates;
static fmi3EnterContinuousTimeModeTYPE *fmi3EnterContinuousTimeMode;
static fmi3GetFloat64TYPE *fmi3GetFloat64;
static const unsigned *shown;
static size_t shown_number, shown_count;
static int in_event_mode = 1;

static int put_2(double t, const double *x)
{
    return fmi2SetTime(model.c, t) || (model.states && fmi2SetContinuousStates(model.c, x, model.states));
}
static int rates_2(double *k) { return model.states && fmi2GetDerivatives(model.c, k, model.states); }
static int signs_2(double *z) { return model.indicators && fmi2GetEventIndicators(model.c, z, model.indicators); }
static int read_2(double *values) { return fmi2GetReal(model.c, shown, shown_count, values); }
static int accept_2(int *event, int *ended)
{
    fmi2Boolean enter, end;
    if (fmi2CompletedIntegratorStep(model.c, fmi2True, &enter, &end)) return 1;
    *event |= enter, *ended = end;
    return 0;
}
static int handle_2(double *next, int *ended, double *x)
{
    fmi2EventInfo info = {fmi2True, fmi2False, fmi2False, fmi2False, fmi2False, 0};
    if (!in_event_mode && fmi2EnterEventMode(model.c)) return 1;
    in_event_mode = 0;
    while (info.newDiscreteStatesNeeded && !info.terminateSimulation)
        if (fmi2NewDiscreteStates(model.c, &info)) return 1;
    *next = info.nextEventTimeDefined ? info.nextEventTime : 1e300;
    *ended = info.terminateSimulation;
    return *ended ? 0
                  : fmi2EnterContinuousTimeMode(model.c)
                        || (model.states && fmi2GetContinuousStates(model.c, x, model.states));
}

static int put_3(double t, const double *x)
{
    return fmi3SetTime(model.c, t) || (model.states && fmi3SetContinuousStates(model.c, x, model.states));
}
static int rates_3(double *k) { return model.states && fmi3GetContinuousStateDerivatives(model.c, k, model.states); }
static int signs_3(double *z) { return model.indicators && fmi3GetEventIndicators(model.c, z, model.indicators); }
static int read_3(double *values) { return fmi3GetFloat64(model.c, shown, shown_number, values, shown_count); }
static int accept_3(int *event, int *ended)
{
    fmi3Boolean enter, end;
    if (fmi3CompletedIntegratorStep(model.c, fmi3True, &enter, &end)) return 1;
    *event |= enter, *ended = end;
    return 0;
}
static int handle_3(double *next, int *ended, double *x)
{
    fmi3Boolean again = fmi3True, end = fmi3False, nominals, values, defined = fmi3False;
    fmi3Float64 at;
    if (!in_event_mode && fmi3EnterEventMode(model.c)) return 1;
    in_event_mode = 0;
    while (again && !end)
        if (fmi3UpdateDiscreteStates(model.c, &again, &end, &nominals, &values, &defined, &at)) return 1;
    *next = defined ? at : 1e300;
    *ended = end;
    return end ? 0
               : fmi3EnterContinuousTimeMode(model.c)
                     || (model.states && fmi3GetContinuousStates(model.c, x, model.states));
}

static int exchange_2(void *library, char **argv, double *values)
{
    fmi2CallbackFunctions callbacks = {logger_2, calloc, free, NULL, NULL};
    FUNCTION(fmi2Instantiate);
    FUNCTION(fmi2SetupExperiment);
    FUNCTION(fmi2EnterInitializationMode);
    FUNCTION(fmi2ExitInitializationMode);
    LOAD(fmi2SetTime);
    LOAD(fmi2SetContinuousStates);
    LOAD(fmi2GetContinuousStates);
    LOAD(fmi2GetDerivatives);
    LOAD(fmi2GetEventIndicators);
    LOAD(fmi2CompletedIntegratorStep);
    LOAD(fmi2EnterEventMode);
    LOAD(fmi2NewDiscreteStates);
    LOAD(fmi2EnterContinuousTimeMode);
    LOAD(fmi2GetReal);
    fmi2Component c = fmi2Instantiate("loaded", fmi2ModelExchange, argv[3], argv[4], &callbacks, fmi2False, fmi2False);
    if (!c || fmi2SetupExperiment(c, fmi2True, atof(argv[5]), 0, fmi2False, 0) || fmi2EnterInitializationMode(c)
        || fmi2ExitInitializationMode(c))
        return 4;
    model.c = c, model.put = put_2, model.rates = rates_2, model.signs = signs_2;
    model.accept = accept_2, model.handle = handle_2, model.read = read_2;
    return exchange(argv, shown_count, values);
}

static int exchange_3(void *library, char **argv, double *values)
{
    FUNCTION(fmi3InstantiateModelExchange);
    FUNCTION(fmi3EnterInitializationMode);
    FUNCTION(fmi3ExitInitializationMode);
    LOAD(fmi3SetTime);
    LOAD(fmi3SetContinuousStates);
    LOAD(fmi3GetContinuousStates);
    LOAD(fmi3GetContinuousStateDerivatives);
    LOAD(fmi3GetEventIndicators);
    LOAD(fmi3CompletedIntegratorStep);
    LOAD(fmi3EnterEventMode);
    LOAD(fmi3UpdateDiscreteStates);
    LOAD(fmi3EnterContinuousTimeMode);
    LOAD(fmi3GetFloat64);
    fmi3Instance c = fmi3InstantiateModelExchange("loaded", argv[3], argv[4], fmi3False, fmi3False, NULL, logger_3);
    if (!c || fmi3EnterInitializationMode(c, fmi3True, atof(argv[5]), 0, fmi3False, 0) || fmi3ExitInitializationMode(c))
        return 4;
    model.c = c, model.put = put_3, model.rates = rates_3, model.signs = signs_3;
    model.accept = accept_3, model.handle = handle_3, model.read = read_3;
    return exchange(argv, shown_count, values);
}

int main(int argc, char **argv)
{
    unsigned references[LARGEST];
    double values[LARGEST];
    size_t number = 0, count;
    if (argc < 9 || argc - 9 > LARGEST || (count = (size_t)atoi(argv[8])) > LARGEST) return 1;
    for (int i = 9; i < argc; ++i) references[number++] = (unsigned)atoi(argv[i]);
    void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    const int version = atoi(argv[1]);
    if (sscanf(argv[1], "%*d:%zu:%zu", &model.states, &model.indicators) == 2) {
        if (model.states > LARGEST || model.indicators > LARGEST) return 1;
        shown = references, shown_number = number, shown_count = count;
        return version == 2 ? exchange_2(library, argv, values) : exchange_3(library, argv, values);
    }
    return version == 2 ? run_2(library, argv, references, count, values)
                        : run_3(library, argv, references, number, count, values);
}
