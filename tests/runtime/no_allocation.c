/* Steps an instance while every allocation of the process is forbidden. The linker leads malloc and its kin here
   (--wrap). Arguments: GUID, folder of resources. Returns 0 where the steps succeed without one. */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2Functions.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);

static int forbidden;

static void check(void)
{
    if (forbidden) _Exit(9);
}

void *__wrap_malloc(size_t size)
{
    check();
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    check();
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    check();
    return __real_realloc(memory, size);
}

int main(int argc, char **argv)
{
    fmi2CallbackFunctions callbacks = {NULL, calloc, free, NULL, NULL};
    const fmi2ValueReference references[] = {0, 1, 2};
    fmi2Real values[3];
    if (argc != 3) return 1;
    fmi2Component c = fmi2Instantiate("real time", fmi2CoSimulation, argv[1], argv[2], &callbacks, 0, 0);
    if (!c || fmi2SetupExperiment(c, 0, 0, 0, 0, 0) || fmi2EnterInitializationMode(c) || fmi2ExitInitializationMode(c))
        return 2;
    forbidden = 1;
    for (int i = 0; i < 1000; ++i)
        if (fmi2DoStep(c, i * 0.01, 0.01, 1) || fmi2GetReal(c, references, 3, values)) return 3;
    forbidden = 0;
    fmi2FreeInstance(c);
    return 0;
}
