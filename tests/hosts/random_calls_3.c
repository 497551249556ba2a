/* Calls the functions of an FMU of FMI 3.0 in random order, legal and illegal, with right and wrong arguments, and compares
   each status with the state machines of FMI 3.0, sections 3.2 and 4.2. Linked with the FMU's own sources, so that
   sanitizers see both. Prints the numbers of calls in co-simulation and in model exchange, and returns 0 where all is well.
   Arguments: token, number of calls, and a file with a line for each variable: type (0 Float64, 1 Int32, 2 Boolean, 3
   String), value reference, number of values, whether it is an input, whether it is a tunable parameter. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi3Functions.h"

enum { INSTANTIATED = 1, INITIALIZATION = 2, STEP = 4, FAILED = 8, TERMINATED = 16, EVENT = 32, CONTINUOUS = 64 };
enum { LARGEST = 4096, NAMES = 20000 };

typedef struct {
    int type, length, input, tunable;
    unsigned reference;
} Variable;

static Variable variables[NAMES], none = {0, 1, 0, 0, 0};
static int nvariables;
static unsigned long long seed = 1;
static unsigned long calls, exchanged;
static fmi3Instance c;
static int state, exchange, events, early, asks, within, asked;
static double now, goal, saved_now;
static fmi3FMUState saved;
static int saved_state, saved_exchange, saved_events;
static double floats[LARGEST], others[LARGEST];
static int integers[LARGEST];
static bool booleans[LARGEST];
static fmi3String strings[LARGEST];

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % n;
}

static void fail(const char *name, int status)
{
    fprintf(stderr, "%s in state %d (exchange %d, events %d, early %d, asks %d, within %d, asked %d): status %d\n", name, state,
            exchange, events, early, asks, within, asked, status);
    exit(1);
}

/* A legal call may fail for its numbers, but is no error of the master; an illegal one is. */
static void expect(const char *name, fmi3Status status, int legal)
{
    ++calls;
    exchanged += (unsigned long)exchange;
    if (legal ? status != fmi3OK && status != fmi3Warning && status != fmi3Discard : status != fmi3Error)
        fail(name, (int)status);
}

static void logger(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    if (environment != &calls || !category || !*category || !message || !*message || status > fmi3Error) exit(2);
}

static const Variable *any(int type, int inputs, int tunables)
{
    for (int trial = 0; trial < 60; ++trial) {
        const Variable *v = variables + below((unsigned)nvariables);
        if (v->type == type && (!inputs || v->input) && (!tunables || v->tunable)) return v;
    }
    return NULL;
}

static void get(void)
{
    int legal = !asked && (within || state & ~INSTANTIATED), type = (int)below(4);
    const Variable *a = any(type, 0, 0), *b = any(type, 0, 0);
    if (!a || !b || a->length + b->length > LARGEST) return;
    unsigned references[2] = {a->reference, b->reference};
    size_t n = (size_t)(a->length + b->length);
    switch (below(8)) {
    case 0: n -= 1, legal = 0; break;
    case 1: n += 1, legal = 0; break;
    case 2: references[1] = 0x40000000u + below(1000), legal = 0; break;
    case 3: type = (type + 1) % 4, legal = 0; break;
    }
    switch (type) {
    case 0: expect("GetFloat64", fmi3GetFloat64(c, references, 2, floats, n), legal); break;
    case 1: expect("GetInt32", fmi3GetInt32(c, references, 2, integers, n), legal); break;
    case 2: expect("GetBoolean", fmi3GetBoolean(c, references, 2, booleans, n), legal); break;
    default:
        expect("GetString", fmi3GetString(c, references, 2, strings, n), legal);
        for (size_t i = 0; legal && i < n; ++i)
            if (strlen(strings[i]) > 1000) exit(3);
    }
}

static void set(void)
{
    int inputs = (int)below(2), legal = asked ? inputs : !within && (state & ~(FAILED | TERMINATED));
    const Variable *v = any(0, inputs, !inputs);
    if (!v) return;
    if (!inputs && state == CONTINUOUS) legal = 0;
    for (int i = 0; i < v->length; ++i) floats[i] = inputs ? (double)below(100) / 500 - 0.1 : others[i];
    if (!inputs && !asked) {
        /* Parameters are given the values that they have. */
        if (within || !(state & ~INSTANTIATED) || fmi3GetFloat64(c, &v->reference, 1, floats, (size_t)v->length)) return;
    }
    if (!below(10)) floats[0] = NAN;
    expect("SetFloat64", fmi3SetFloat64(c, &v->reference, 1, floats, (size_t)v->length), legal);
}

static void derivatives(void)
{
    const Variable *known = any(0, 1, 0);
    int legal = !within && known && (state & ~(INSTANTIATED | INITIALIZATION));
    size_t n;
    if (!known) known = &none, n = 1;
    n = (size_t)known->length;
    for (size_t i = 0; i < n; ++i) floats[i] = 1;
    if (!legal && (within || state == INITIALIZATION)) return;
    if (known == &none) return;
    expect("GetDirectionalDerivative",
           fmi3GetDirectionalDerivative(c, &known->reference, 1, &known->reference, 1, floats, n, others, n), legal);
    if (legal && fabs(others[0] - 1) > 1e-9) fail("GetDirectionalDerivative of itself", 0);
    expect("GetAdjointDerivative",
           fmi3GetAdjointDerivative(c, &known->reference, 1, &known->reference, 1, floats, n, others, n), legal);
    if (legal && fabs(others[0] - 1) > 1e-9) fail("GetAdjointDerivative of itself", 0);
    expect("GetAdjointDerivative, too few",
           fmi3GetAdjointDerivative(c, &known->reference, 1, &known->reference, 1, floats, n, others, n - 1), 0);
}

static void save_and_restore(void)
{
    size_t size = 0;
    if (!saved) {
        expect("GetFMUState", fmi3GetFMUState(c, &saved), 1);
        saved_state = state, saved_now = now, saved_exchange = exchange, saved_events = events;
        return;
    }
    expect("SerializedFMUStateSize", fmi3SerializedFMUStateSize(c, saved, &size), 1);
    fmi3Byte *bytes = malloc(size);
    expect("SerializeFMUState, too small", fmi3SerializeFMUState(c, saved, bytes, size - 1), 0);
    expect("SerializeFMUState", fmi3SerializeFMUState(c, saved, bytes, size), 1);
    fmi3FMUState copy = NULL;
    bytes[below((unsigned)size)] ^= 1;
    expect("DeserializeFMUState, damaged", fmi3DeserializeFMUState(c, bytes, size, &copy), 0);
    expect("SerializeFMUState", fmi3SerializeFMUState(c, saved, bytes, size), 1);
    expect("DeserializeFMUState", fmi3DeserializeFMUState(c, bytes, size, &copy), 1);
    free(bytes);
    if (copy && saved_exchange == exchange && saved_events == events) {
        expect("SetFMUState", fmi3SetFMUState(c, copy), 1);
        state = saved_state, now = saved_now;
    }
    expect("FreeFMUState", fmi3FreeFMUState(c, &copy), 1);
    expect("FreeFMUState", fmi3FreeFMUState(c, &saved), 1);
    saved = NULL;
}

static void output_derivative(void)
{
    const Variable *v = any(0, 0, 0);
    if (!v || v->length != 1) return;
    integers[0] = 1;
    expect("GetOutputDerivatives", fmi3GetOutputDerivatives(c, &v->reference, 1, integers, floats, 1),
           !asked && (within || (!exchange && (state & (STEP | FAILED | TERMINATED)))));
}

static void intermediate(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set_requested,
                         fmi3Boolean get_allowed, fmi3Boolean finished, fmi3Boolean may_return, fmi3Boolean *ends,
                         fmi3Float64 *end)
{
    fmi3Boolean flag;
    fmi3Float64 value;
    fmi3FMUState own = NULL;
    if (environment != &calls) exit(4);
    if (set_requested ? !asks || get_allowed || finished || may_return : !get_allowed || !finished || (may_return && !early))
        exit(4);
    if (!(time > now) || (set_requested && time != goal)) exit(5);
    within = 1;
    asked = set_requested;
    get();
    set();
    switch (below(7)) {
    case 0: expect("Reset", fmi3Reset(c), 0); break;
    case 1: expect("DoStep", fmi3DoStep(c, now, 1e-3, false, &flag, &flag, &flag, &value), 0); break;
    case 2: expect("Terminate", fmi3Terminate(c), 0); break;
    case 3: expect("GetFMUState", fmi3GetFMUState(c, &own), 0); break;
    case 4: expect("EnterEventMode", fmi3EnterEventMode(c), 0); break;
    case 5: output_derivative(); break;
    }
    within = asked = 0;
    if (!set_requested && !below(3)) {
        *ends = true;
        *end = time + (double)below(3) * 1e-4 - 1e-4;
    }
}

static void step(void)
{
    bool event, end, returned;
    double last = -1, h = 1e-4 * (1 + below(30));
    int legal = !exchange && state == STEP;
    goal = now + h;
    fmi3Status status = fmi3DoStep(c, now, h, true, &event, &end, &returned, &last);
    expect("DoStep", status, legal);
    if (!legal) return;
    if (status == fmi3Discard) {
        if (!end) exit(6);
        state = FAILED;
        return;
    }
    if (returned ? !early || !(last < now + h) || last < now : last != now + h) exit(7);
    if (event && !events) exit(8);
    now = last;
}

static void exchange_call(void)
{
    size_t nx = 0, nz = 0;
    bool event = false, end = false;
    int reading = exchange && (state & (INITIALIZATION | EVENT | CONTINUOUS | TERMINATED));
    expect("GetNumberOfContinuousStates", fmi3GetNumberOfContinuousStates(c, &nx), exchange);
    expect("GetNumberOfEventIndicators", fmi3GetNumberOfEventIndicators(c, &nz), exchange);
    if (nx > LARGEST || nz > LARGEST) exit(9);
    switch (below(6)) {
    case 0:
        expect("SetTime", fmi3SetTime(c, now + 1e-4), exchange && (state & (EVENT | CONTINUOUS)));
        if (exchange && (state & (EVENT | CONTINUOUS))) now += 1e-4;
        break;
    case 1:
        expect("GetContinuousStateDerivatives", fmi3GetContinuousStateDerivatives(c, floats, nx), reading);
        expect("GetContinuousStateDerivatives, too many", fmi3GetContinuousStateDerivatives(c, floats, nx + 1), 0);
        break;
    case 2: expect("GetEventIndicators", fmi3GetEventIndicators(c, floats, nz), reading); break;
    case 3:
        expect("GetContinuousStates", fmi3GetContinuousStates(c, floats, nx), reading);
        if (!reading) break;
        for (size_t i = 0; i < nx; ++i) floats[i] += 1e-6 * ((double)below(100) / 50 - 1);
        expect("SetContinuousStates", fmi3SetContinuousStates(c, floats, nx), state == CONTINUOUS);
        break;
    case 4:
        expect("CompletedIntegratorStep", fmi3CompletedIntegratorStep(c, true, &event, &end), exchange && state == CONTINUOUS);
        break;
    default: expect("GetNominals", fmi3GetNominalsOfContinuousStates(c, floats, nx), reading || (exchange && state == INSTANTIATED));
    }
}

static void call(void)
{
    bool flags[5];
    double time = 0;
    unsigned zero = 0;
    switch (below(22)) {
    case 0:
        expect("EnterInitializationMode", fmi3EnterInitializationMode(c, true, 1e-5, 0, false, 0), state == INSTANTIATED);
        if (state == INSTANTIATED) state = INITIALIZATION;
        break;
    case 1: {
        fmi3Status status = fmi3ExitInitializationMode(c);
        if (state != INITIALIZATION) expect("ExitInitializationMode", status, 0);
        else if (status == fmi3OK) state = exchange || events ? EVENT : STEP;
        break;
    }
    case 2:
        expect("EnterEventMode", fmi3EnterEventMode(c), (state & (EVENT | CONTINUOUS)) || (state == STEP && events));
        if ((state & (EVENT | CONTINUOUS)) || (state == STEP && events)) state = EVENT;
        break;
    case 3:
        expect("UpdateDiscreteStates",
               fmi3UpdateDiscreteStates(c, flags, flags + 1, flags + 2, flags + 3, flags + 4, &time), state == EVENT);
        if (state == EVENT && (flags[0] || flags[1] || (flags[4] && !(time > now)))) exit(10);
        break;
    case 4:
        expect("EnterStepMode", fmi3EnterStepMode(c), !exchange && state == EVENT);
        if (!exchange && state == EVENT) state = STEP;
        break;
    case 5:
        expect("EnterContinuousTimeMode", fmi3EnterContinuousTimeMode(c), exchange && state == EVENT);
        if (exchange && state == EVENT) state = CONTINUOUS;
        break;
    case 6:
        if (below(8)) break;
        expect("Terminate", fmi3Terminate(c), state & (STEP | FAILED | EVENT | CONTINUOUS));
        if (state & (STEP | FAILED | EVENT | CONTINUOUS)) state = TERMINATED;
        break;
    case 7:
        if (below(8)) break;
        expect("Reset", fmi3Reset(c), 1);
        state = INSTANTIATED, now = 0;
        break;
    case 8: save_and_restore(); break;
    case 9: derivatives(); break;
    case 10:
        output_derivative();
        break;
    case 11:
        expect("GetFloat32", fmi3GetFloat32(c, &zero, 1, (float *)floats, 1), 0);
        expect("GetClock", fmi3GetClock(c, &zero, 0, booleans), 1);
        expect("EnterConfigurationMode", fmi3EnterConfigurationMode(c), 0);
        expect("EvaluateDiscreteStates", fmi3EvaluateDiscreteStates(c), 0);
        break;
    case 12: {
        fmi3String category = below(2) ? "logAll" : "wrong";
        expect("SetDebugLogging", fmi3SetDebugLogging(c, below(2), 1, &category), strcmp(category, "logAll") == 0);
        break;
    }
    case 13: case 14: exchange_call(); break;
    case 15: case 16: set(); break;
    case 17: case 18: get(); break;
    default: step();
    }
}

static void begin(const char *token)
{
    exchange = (int)below(2);
    events = !exchange && below(2);
    early = !exchange && below(2);
    const Variable *input = any(0, 1, 0);
    asks = !exchange && input && below(2);
    if (fmi3InstantiateCoSimulation("x", "wrong", "", 0, 0, 0, 0, NULL, 0, &calls, logger, NULL)) exit(11);
    c = exchange ? fmi3InstantiateModelExchange("x", token, "", false, below(2), &calls, logger)
                 : fmi3InstantiateCoSimulation("x", token, "", false, below(2), events, early,
                                               asks ? &input->reference : NULL, (size_t)asks, &calls, logger,
                                               asks || below(2) ? intermediate : NULL);
    if (!c) exit(12);
    state = INSTANTIATED;
    now = 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 4 ? fopen(argv[3], "r") : NULL;
    if (!file || strcmp(fmi3GetVersion(), "3.0") != 0) return 13;
    for (Variable v; nvariables < NAMES
         && fscanf(file, "%d %u %d %d %d", &v.type, &v.reference, &v.length, &v.input, &v.tunable) == 5;)
        variables[nvariables++] = v;
    fclose(file);
    const unsigned long wanted = strtoul(argv[2], NULL, 10);
    while (calls < wanted) {
        begin(argv[1]);
        /* Half of the instances are led to where something happens first. */
        if (below(2)) {
            fmi3EnterInitializationMode(c, true, 1e-5, 0, false, 0);
            if (fmi3ExitInitializationMode(c)) exit(14);
            state = exchange || events ? EVENT : STEP;
        }
        for (unsigned i = 0, n = 20 + below(100); i < n; ++i) call();
        if (saved) fmi3FreeFMUState(c, &saved);
        saved = NULL;
        fmi3FreeInstance(c);
    }
    if (fmi3SetTime(NULL, 0) != fmi3Error || fmi3Reset(NULL) != fmi3Error) return 15;
    fmi3FreeInstance(NULL);
    printf("%lu %lu\n", calls - exchanged, exchanged);
    return 0;
}
