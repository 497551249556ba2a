/* A host that is no Python process: runs two instances of the oscillator at once, in threads, with wrong calls in between,
   and ends in the usual way. Arguments: library, GUID, location of the resources. */

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2Functions.h"

static void *library;
static int lines;

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...)
{
    (void)environment, (void)instance, (void)category, (void)message;
    if (status != fmi2Error) exit(2);
    __atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED);
}

#define CALL(name) (*(fmi2##name##TYPE *)dlsym(library, "fmi2" #name))
#define EXPECT(status, call) \
    do { if ((call) != (status)) { fprintf(stderr, "line %d\n", __LINE__); exit(1); } } while (0)

static void *run(void *c)
{
    double value = 0;
    for (int i = 0; i < 300; ++i) {
        EXPECT(fmi2OK, CALL(DoStep)(c, i * 0.01, 0.01, fmi2True));
        EXPECT(fmi2Error, CALL(DoStep)(c, 7, 0.01, fmi2True));
        EXPECT(fmi2Error, CALL(GetReal)(c, NULL, 3, &value));
        EXPECT(fmi2Error, CALL(SetString)(c, NULL, 1, NULL));
        EXPECT(fmi2Error, CALL(SetFMUstate)(c, NULL));
    }
    EXPECT(fmi2OK, CALL(Terminate)(c));
    return NULL;
}

int main(int argc, char **argv)
{
    fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};
    fmi2Component c[2];
    pthread_t threads[2];
    if (argc != 4 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    if (CALL(Instantiate)("host", fmi2CoSimulation, "another", argv[3], &callbacks, 0, 0)) return 4;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 2; ++i) {
            c[i] = CALL(Instantiate)("host", fmi2CoSimulation, argv[2], argv[3], &callbacks, 0, 0);
            if (!c[i]) return 5;
            EXPECT(fmi2OK, CALL(SetupExperiment)(c[i], fmi2False, 0, 0, fmi2False, 0));
            EXPECT(fmi2OK, CALL(EnterInitializationMode)(c[i]));
            EXPECT(fmi2OK, CALL(ExitInitializationMode)(c[i]));
        }
        for (int i = 0; i < 2; ++i) if (pthread_create(threads + i, NULL, run, c[i])) return 6;
        for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; ++i) CALL(FreeInstance)(c[i]);
    }
    if (lines != 1 + 3 * 2 * 300 * 4) return 7;
    dlclose(library);
    puts("well");
    return 0;
}
