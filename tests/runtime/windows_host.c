/* Runs the co-simulation of a DLL and prints variables after every step. Arguments: DLL, GUID, folder of
   resources, number of steps of 0.1 s, value references of Real variables. Returns 0 where every call succeeds. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "fmi2FunctionTypes.h"

enum { LARGEST = 100 };

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    va_list arguments;
    (void)environment;
    fprintf(stderr, "%s, status %d, %s: ", instance, (int)status, category);
    va_start(arguments, message);
    vfprintf(stderr, message, arguments);
    va_end(arguments);
}

#define FUNCTION(name) name##TYPE *name = (name##TYPE *)(void (*)(void))GetProcAddress(library, #name)

int main(int argc, char **argv)
{
    fmi2ValueReference references[LARGEST];
    fmi2Real values[LARGEST];
    size_t count = 0;
    if (argc < 5 || argc - 5 > LARGEST) return 1;
    for (int i = 5; i < argc; ++i) references[count++] = (fmi2ValueReference)atoi(argv[i]);
    HMODULE library = LoadLibraryA(argv[1]);
    if (!library) return 2;
    FUNCTION(fmi2Instantiate);
    FUNCTION(fmi2SetupExperiment);
    FUNCTION(fmi2EnterInitializationMode);
    FUNCTION(fmi2ExitInitializationMode);
    FUNCTION(fmi2DoStep);
    FUNCTION(fmi2GetReal);
    FUNCTION(fmi2Terminate);
    FUNCTION(fmi2FreeInstance);
    fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};
    fmi2Component c = fmi2Instantiate("windows", fmi2CoSimulation, argv[2], argv[3], &callbacks, fmi2False, fmi2False);
    if (!c || fmi2SetupExperiment(c, fmi2True, 1e-10, 0, fmi2False, 0) || fmi2EnterInitializationMode(c)
        || fmi2ExitInitializationMode(c))
        return 3;
    for (int step = 0; step < atoi(argv[4]); ++step) {
        if (fmi2DoStep(c, step * 0.1, 0.1, fmi2True) || fmi2GetReal(c, references, count, values)) return 4;
        for (size_t i = 0; i < count; ++i) printf("%.17g ", values[i]);
        printf("\n");
    }
    if (fmi2Terminate(c)) return 5;
    fmi2FreeInstance(c);
    return 0;
}
