/* Loads the library of an FMU, of either version of FMI, runs its co-simulation and prints Real variables at the start
   and after every step. Arguments: version (2 or 3), library, GUID or token, folder of resources (2: as a URI),
   tolerance, step in s, number of steps, number of values, value references. Returns 0 where every call succeeds. */

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2FunctionTypes.h"
#include "fmi3FunctionTypes.h"

enum { LARGEST = 1000 };

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
    return atoi(argv[1]) == 2 ? run_2(library, argv, references, count, values)
                              : run_3(library, argv, references, number, count, values);
}
