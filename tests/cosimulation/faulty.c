/* An FMU of FMI 2.0 for tests, x' = u - x by Euler's method; from 0.05 s on it does what its parameter `fault` says.
   Its output y = x - gain u is worked out where the start and every step end, and never between. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void *Component;
typedef int Status;
typedef const unsigned *Refs;

enum { OK, WARNING, DISCARD, ERROR };
enum { NOTHING, RETURNS_ERROR, RETURNS_DISCARD, NOT_A_NUMBER, ABORTS, HANGS, REFUSES_STATES };
enum { X, U, FAULT, Y, GAIN };

typedef struct {
    double t, x, u, y, gain;
    int fault;
} Model;

#define M ((Model *)c)

static double *place(Model *model, unsigned vr)
{
    return vr == X ? &model->x : vr == U ? &model->u : vr == Y ? &model->y : &model->gain;
}

#ifdef _WIN32
#define API __declspec(dllexport)
#else
#define API
#endif
#define NO(name, ...) API Status name(Component c __VA_ARGS__) { (void)c; return ERROR; }
#define YES(name, ...) API Status name(Component c __VA_ARGS__) { (void)c; return OK; }
#define COMMA ,

API const char *fmi2GetTypesPlatform(void) { return "default"; }
API const char *fmi2GetVersion(void) { return "2.0"; }
API Component fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const void *functions,
                              int visible, int logging)
{
    (void)name, (void)type, (void)guid, (void)place, (void)functions, (void)visible, (void)logging;
    Model *model = calloc(1, sizeof *model);
    if (model) model->x = 1;
    return model;
}
API void fmi2FreeInstance(Component c) { free(c); }
YES(fmi2SetDebugLogging, COMMA int on COMMA size_t n COMMA const char *const names[])
API Status fmi2SetupExperiment(Component c, int given, double tolerance, double start, int stops, double stop)
{
    (void)given, (void)tolerance, (void)stops, (void)stop;
    M->t = start;
    return OK;
}
YES(fmi2EnterInitializationMode)
API Status fmi2ExitInitializationMode(Component c)
{
    M->y = M->x - M->gain * M->u;
    return OK;
}
YES(fmi2Terminate)
YES(fmi2Reset)
API Status fmi2GetReal(Component c, Refs vr, size_t n, double value[])
{
    for (size_t i = 0; i < n; ++i) value[i] = *place(c, vr[i]);
    return OK;
}
API Status fmi2SetReal(Component c, Refs vr, size_t n, const double value[])
{
    for (size_t i = 0; i < n; ++i) *place(c, vr[i]) = value[i];
    return OK;
}
API Status fmi2GetInteger(Component c, Refs vr, size_t n, int value[])
{
    (void)vr;
    for (size_t i = 0; i < n; ++i) value[i] = M->fault;
    return OK;
}
API Status fmi2SetInteger(Component c, Refs vr, size_t n, const int value[])
{
    (void)vr;
    for (size_t i = 0; i < n; ++i) M->fault = value[i];
    return OK;
}
NO(fmi2GetBoolean, COMMA Refs vr COMMA size_t n COMMA int value[])
NO(fmi2SetBoolean, COMMA Refs vr COMMA size_t n COMMA const int value[])
NO(fmi2GetString, COMMA Refs vr COMMA size_t n COMMA const char *value[])
NO(fmi2SetString, COMMA Refs vr COMMA size_t n COMMA const char *const value[])
API Status fmi2GetFMUstate(Component c, void **state)
{
    if (!*state) *state = malloc(sizeof(Model));
    if (!*state) return ERROR;
    memcpy(*state, c, sizeof(Model));
    return OK;
}
API Status fmi2SetFMUstate(Component c, void *state)
{
    if (M->fault == REFUSES_STATES) return ERROR;
    memcpy(c, state, sizeof(Model));
    return OK;
}
API Status fmi2FreeFMUstate(Component c, void **state)
{
    (void)c;
    free(*state);
    *state = 0;
    return OK;
}
NO(fmi2SerializedFMUstateSize, COMMA void *state COMMA size_t *size)
NO(fmi2SerializeFMUstate, COMMA void *state COMMA char bytes[] COMMA size_t size)
NO(fmi2DeSerializeFMUstate, COMMA const char bytes[] COMMA size_t size COMMA void **state)
NO(fmi2GetDirectionalDerivative, COMMA Refs z COMMA size_t nz COMMA Refs v COMMA size_t nv COMMA const double dv[] COMMA double dz[])
NO(fmi2SetRealInputDerivatives, COMMA Refs vr COMMA size_t n COMMA const int order[] COMMA const double value[])
NO(fmi2GetRealOutputDerivatives, COMMA Refs vr COMMA size_t n COMMA const int order[] COMMA double value[])
API Status fmi2DoStep(Component c, double point, double size, int never_back)
{
    (void)never_back;
    double end = point + size;
    if (end > 0.05) {
        volatile int forever = M->fault == HANGS;
        while (forever) { }
        if (M->fault == RETURNS_ERROR) return ERROR;
        if (M->fault == RETURNS_DISCARD) return DISCARD;
        if (M->fault == ABORTS) abort();
    }
    int count = 1 + (int)(size / 1e-5);
    for (int i = 0; i < count; ++i) M->x += size / count * (M->u - M->x);
    if (end > 0.05 && M->fault == NOT_A_NUMBER) M->x = NAN;
    M->t = end;
    M->y = M->x - M->gain * M->u;
    return OK;
}
NO(fmi2CancelStep)
NO(fmi2GetStatus, COMMA int kind COMMA Status *value)
NO(fmi2GetRealStatus, COMMA int kind COMMA double *value)
NO(fmi2GetIntegerStatus, COMMA int kind COMMA int *value)
NO(fmi2GetBooleanStatus, COMMA int kind COMMA int *value)
NO(fmi2GetStringStatus, COMMA int kind COMMA const char **value)
