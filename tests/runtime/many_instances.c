/* Makes and frees many instances, and prints by how many kB the process has grown since the first hundred. Arguments:
   GUID, folder of resources, number of instances. */

#include <stdio.h>
#include <stdlib.h>

#include "fmi2Functions.h"

static long resident(void)
{
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) exit(2);
    fclose(file);
    return 4 * pages;
}

int main(int argc, char **argv)
{
    fmi2CallbackFunctions callbacks = {NULL, calloc, free, NULL, NULL};
    long before = 0;
    if (argc != 4) return 1;
    for (int i = 0; i < atoi(argv[3]); ++i) {
        fmi2FMUstate state = NULL;
        fmi2Component c = fmi2Instantiate("one of many", fmi2CoSimulation, argv[1], argv[2], &callbacks, 0, 0);
        if (!c || fmi2SetupExperiment(c, 0, 0, 0, 0, 0) || fmi2EnterInitializationMode(c)
            || fmi2ExitInitializationMode(c) || fmi2DoStep(c, 0, 0.01, 1) || fmi2GetFMUstate(c, &state)
            || fmi2FreeFMUstate(c, &state))
            return 3;
        fmi2FreeInstance(c);
        if (i == 100) before = resident();
    }
    printf("%ld\n", resident() - before);
    return 0;
}
