/* The core module of the WebAssembly component of FMI-LS-WASM, for any model: its functions are those of fmi3.c, with
   arguments and results as the component model's canonical ABI passes them. templates/component/fmi3.wit is its
   interface; C structures lie in memory as the ABI has records and results.

   The component reads no files. The descriptor is a segment of data behind all others, which mbfmu/runtime/component.py
   adds for a model: at the end of the memory that the linker knows of, where the heap does not begin before more is
   asked for. */

#include "runtime.c"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cosimulation.h"
#include "descriptor.h"
#include "library.h"

/* Functions that the module gives to the host, and takes from it; other targets, as that of an editor, know no such. */
#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT_FROM(module, name) __attribute__((import_module(module), import_name(name)))
#else
#define EXPORT(name)
#define IMPORT_FROM(module, name)
#endif

extern const unsigned char __heap_end[];

/* The model, from the descriptor that was added. */
INTERNAL Model *open_model(const Host *host, const char *resources, void **memory, const char **wrong)
{
    const DescriptorHeader *header = (const DescriptorHeader *)__heap_end;
    (void)resources;
    *memory = NULL;
    return load_model(host, header, sizeof *header + 8 * (size_t)header->units, wrong);
}

#define FMI3_Export static
#include "fmi3.c"

/* A list or string of the ABI. As an argument of the host it is two numbers. */
typedef struct {
    const void *at;
    size_t n;
} List;

#define LIST(name) const void *name, size_t n_##name
#define GIVEN(name) ((List){name, n_##name})

/* Blocks that the host has placed arguments in; the first one of the next call releases them. */
static struct {
    void **blocks;
    size_t n, room;
    int seen;                       /* by the function that they are for */
} arguments;

EXPORT("cabi_realloc")
void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size)
{
    size_t at = 0;
    (void)old_size;
    if (arguments.seen) {
        while (arguments.n) free(arguments.blocks[--arguments.n]);
        arguments.seen = 0;
    }
    if (!size && !old) return (void *)align;
    while (at < arguments.n && arguments.blocks[at] != old) ++at;
    if (at == arguments.n) {
        if (arguments.n == arguments.room) {
            arguments.room = 2 * arguments.room + 16;
            arguments.blocks = realloc(arguments.blocks, arguments.room * sizeof *arguments.blocks);
            if (!arguments.blocks) __builtin_trap();
        }
        arguments.blocks[arguments.n++] = old = NULL;
    }
    /* One more byte, for the zero behind a string. */
    void *block = realloc(old, size + 1);
    if (!block) __builtin_trap();
    return arguments.blocks[at] = block;
}

/* A string of the host, with the zero behind it that C takes. */
static const char *text(List string)
{
    if (!string.n) return "";
    ((char *)string.at)[string.n] = 0;
    return string.at;
}

/* Memory for the n items of a result: the host has copied them before it calls again. */
static void *results(size_t n, size_t size)
{
    static void *memory;
    static size_t room;
    if (n >= SIZE_MAX / 2 / size) __builtin_trap();
    if (!memory || room < n * size) {
        free(memory);
        room = n * size + 64;
        memory = malloc(room);
        if (!memory) __builtin_trap();
    }
    return memory;
}

/* result<list<...>, status> */
typedef struct {
    unsigned char failed;
    union {
        List list;
        unsigned char status;
    };
} ListResult;

static const ListResult *list_result(fmi3Status status, const void *at, size_t n)
{
    static ListResult result;
    result.failed = status > fmi3Warning;
    if (result.failed) result.status = (unsigned char)status;
    else result.list = (List){at, n};
    return &result;
}

/* result<u64, status> */
typedef struct {
    unsigned char failed;
    union {
        unsigned long long number;
        unsigned char status;
    };
} NumberResult;

static const NumberResult *number_result(fmi3Status status, size_t number)
{
    static NumberResult result;
    result.failed = status > fmi3Warning;
    if (result.failed) result.status = (unsigned char)status;
    else result.number = number;
    return &result;
}

/* result<discrete-states-info, status> */
typedef struct {
    unsigned char failed;
    union {
        struct {
            fmi3Boolean again, terminate, nominals_changed, states_changed, has_next_time;
            double next_time;
        };
        unsigned char status;
    };
} EventResult;

/* result<do-step-result, status> */
typedef struct {
    unsigned char failed;
    union {
        struct {
            double reached;
            fmi3Boolean event, terminate, early;
        };
        unsigned char status;
    };
} StepResult;

/* result<completed-step-result, status> */
typedef struct {
    unsigned char failed;
    union {
        struct {
            fmi3Boolean event, terminate;
        };
        unsigned char status;
    };
} CompletedResult;

/* Part of a request for derivatives. */
typedef struct {
    fmi3ValueReference reference;
    unsigned order;
} Request;

IMPORT_FROM("fmi:fmi3/callbacks@3.0.0", "log-message")
void imported_log(const char *instance, size_t length, int status, const char *category, size_t category_length,
                  const char *message, size_t message_length);

IMPORT_FROM("fmi:fmi3/intermediate-update-callbacks@3.0.0", "intermediate-update")
void imported_update(double t, int set_requested, int get_allowed, int finished, int may_return, void *answer);

/* What stands behind a handle of the host: an instance, and the name that it logs under. */
typedef struct {
    Instance3 *instance;
    char name[];
} Component;

/* Bytes of the character of UTF-8 that begins here; 0 where there is only a part of one. */
static size_t character(const char *at)
{
    unsigned char first = (unsigned char)*at;
    size_t n = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; ++i)
        if ((at[i] & 0xc0) != 0x80) return 0;
    return n;
}

/* Lines that are too long are cut, which may be within a character; the ABI takes whole ones only. */
static void log_message(void *environment, fmi3Status status, fmi3String category, fmi3String message)
{
    const Component *component = environment;
    char line[2000];
    size_t n = 0;
    while (*message && n + 4 < sizeof line) {
        size_t size = character(message);
        if (size) memcpy(line + n, message, size);
        else line[n] = '?';
        n += size ? size : 1;
        message += size ? size : 1;
    }
    imported_log(component->name, strlen(component->name), (int)status, category, strlen(category), line, n);
}

static void update(void *environment, double t, fmi3Boolean set_requested, fmi3Boolean get_allowed,
                   fmi3Boolean finished, fmi3Boolean may_return, fmi3Boolean *ends, double *end)
{
    struct {
        unsigned char ends;
        double end;
    } answer = {0, 0};
    (void)environment;
    imported_update(t, set_requested, get_allowed, finished, may_return, &answer);
    *ends = answer.ends;
    *end = answer.end;
}

static Component *new_component(List name)
{
    Component *component = malloc(sizeof *component + name.n + 1);
    arguments.seen = 1;
    if (!component) __builtin_trap();
    component->instance = NULL;
    if (name.n) memcpy(component->name, name.at, name.n);
    component->name[name.n] = 0;
    return component;
}

static void free_component(Component *component)
{
    fmi3FreeInstance(component->instance);
    free(component);
}

/* option<own<...>>: a handle, where there is an instance. */
static const void *new_handle(Component *component, int (*make)(Component *))
{
    static struct {
        unsigned char some;
        int handle;
    } option;
    option.some = component->instance != NULL;
    if (option.some) option.handle = make(component);
    else free_component(component);
    return &option;
}

static Instance3 *of(Component *component)
{
    arguments.seen = 1;
    return component->instance;
}

/* How many values variables have; those that are not of the type count none: `elements` refuses them. */
static size_t count(const Instance3 *c, Table3 table, List references)
{
    const fmi3ValueReference *reference = references.at;
    size_t n = 0;
    for (size_t i = 0; i < references.n; ++i) {
        int at = position_of(c, table, reference[i]);
        if (at >= 0) n += (size_t)table.lengths[at];
    }
    return n;
}

/* The references and orders of requests, one behind the other. */
static fmi3ValueReference *split(List requests)
{
    const Request *request = requests.at;
    fmi3ValueReference *split = malloc((2 * requests.n + 1) * sizeof *split);
    if (!split) __builtin_trap();
    for (size_t i = 0; i < requests.n; ++i) {
        split[i] = request[i].reference;
        split[requests.n + i] = request[i].order;
    }
    return split;
}

static const ListResult *get_strings_3(Instance3 *c, List references)
{
    size_t n = count(c, texts(c->instance), references);
    List *lists = results(n, sizeof *lists + sizeof(char *));
    const char **strings = (const char **)(void *)lists + 2 * n;    /* behind the lists */
    fmi3Status status = fmi3GetString(c, references.at, references.n, strings, n);
    for (size_t i = 0; status <= fmi3Warning && i < n; ++i) lists[i] = (List){strings[i], strlen(strings[i])};
    return list_result(status, lists, n);
}

static int set_strings_3(Instance3 *c, List references, List values)
{
    const List *lists = values.at;
    const char **strings = results(values.n, sizeof *strings);
    for (size_t i = 0; i < values.n; ++i) strings[i] = text(lists[i]);
    return (int)fmi3SetString(c, references.at, references.n, strings, values.n);
}

static int set_debug_logging(Instance3 *c, int on, List categories)
{
    const List *lists = categories.at;
    const char **strings = results(categories.n, sizeof *strings);
    for (size_t i = 0; i < categories.n; ++i) strings[i] = text(lists[i]);
    return (int)fmi3SetDebugLogging(c, on != 0, categories.n, strings);
}

static const ListResult *saved_state(Instance3 *c)
{
    fmi3FMUState state = NULL;
    fmi3Byte *bytes = NULL;
    size_t n = 0;
    fmi3Status status = fmi3GetFMUState(c, &state);
    if (status <= fmi3Warning) status = fmi3SerializedFMUStateSize(c, state, &n);
    if (status <= fmi3Warning) {
        bytes = results(n, 1);
        status = fmi3SerializeFMUState(c, state, bytes, n);
    }
    if (state) fmi3FreeFMUState(c, &state);
    return list_result(status, bytes, n);
}

static int restore_state(Instance3 *c, List bytes)
{
    fmi3FMUState state = NULL;
    fmi3Status status = fmi3DeserializeFMUState(c, bytes.at, bytes.n, &state);
    if (status <= fmi3Warning) status = fmi3SetFMUState(c, state);
    if (state) fmi3FreeFMUState(c, &state);
    return (int)status;
}

static const ListResult *output_derivatives(Instance3 *c, List requests)
{
    fmi3ValueReference *references = split(requests);
    size_t n = count(c, floats(c->instance), (List){references, requests.n});
    double *values = results(n, sizeof *values);
    fmi3Status status = fmi3GetOutputDerivatives(c, references, requests.n, (const fmi3Int32 *)references + requests.n,
                                                 values, n);
    free(references);
    return list_result(status, values, n);
}

/* FMI 3.0 itself has no such function any more; the draft has it for co-simulation. */
static int input_derivatives(Instance3 *c, List requests, List values)
{
    const char *name = "set-input-derivatives";
    Instance *s = c->instance;
    fmi3ValueReference *references = split(requests);
    const unsigned *at = elements(c, name, 0, floats(s), references, requests.n, values.at, values.n);
    int *orders = at ? room(c, 1, values.n, sizeof *orders) : NULL;
    Status status = STATUS_ERROR;
    if (orders) {
        size_t k = 0;
        for (size_t i = 0; i < requests.n; ++i)
            for (int left = s->tables->real_lengths[position_of(c, floats(s), references[i])]; left; --left)
                orders[k++] = (int)references[requests.n + i];
        status = set_input_derivatives(s, name, at, values.n, orders, values.at);
    }
    free(references);
    return (int)status;
}

/* Vectors of model exchange. */
static const ListResult *vector(Instance3 *c, fmi3Status (*get)(fmi3Instance, fmi3Float64 *, size_t), size_t n)
{
    double *values = results(n, sizeof *values);
    fmi3Status status = get(c, values, n);
    return list_result(status, values, n);
}

EXPORT("fmi:fmi3/common@3.0.0#get-version")
const List *version(void)
{
    static List text;
    text = (List){fmi3Version, strlen(fmi3Version)};
    return &text;
}

/* The functions that both interfaces have, once for each. */
#define METHOD(name) EXPORT("fmi:fmi3/" KIND "@3.0.0#[method]" KIND "-instance." name)
#define STATIC(name) EXPORT("fmi:fmi3/" KIND "@3.0.0#[static]" KIND "-instance." name)
#define JOINED_(face, name) face##_##name
#define JOINED(face, name) JOINED_(face, name)
#define NAME(name) JOINED(FACE, name)

#define KIND "co-simulation"
#define FACE cs
#include "component_methods.c"

STATIC("instantiate-co-simulation")
const void *cs_instantiate(LIST(name), LIST(token), LIST(resources), int visible, int logging, int event_mode,
                           int early_return, LIST(required))
{
    Component *component = new_component(GIVEN(name));
    component->instance = fmi3InstantiateCoSimulation(
        component->name, text(GIVEN(token)), text(GIVEN(resources)), visible != 0, logging != 0, event_mode != 0,
        early_return != 0, required, n_required, component, log_message, early_return ? update : NULL);
    return new_handle(component, cs_new_handle);
}

METHOD("set-input-derivatives")
int cs_set_input_derivatives(Component *self, LIST(requests), LIST(values))
{
    return input_derivatives(of(self), GIVEN(requests), GIVEN(values));
}

METHOD("do-step")
const StepResult *cs_do_step(Component *self, double point, double h, int no_set_state)
{
    static StepResult result;
    double reached = point;
    fmi3Boolean event = 0, end = 0, early = 0;
    fmi3Status status = fmi3DoStep(of(self), point, h, no_set_state != 0, &event, &end, &early, &reached);
    result.failed = status > fmi3Warning;
    if (result.failed) {
        result.status = (unsigned char)status;
    } else {
        result.reached = reached;
        result.event = event;
        result.terminate = end;
        result.early = early;
    }
    return &result;
}

#undef KIND
#undef FACE
#define KIND "model-exchange"
#define FACE me
#include "component_methods.c"

STATIC("instantiate-model-exchange")
const void *me_instantiate(LIST(name), LIST(token), LIST(resources), int visible, int logging)
{
    Component *component = new_component(GIVEN(name));
    component->instance = fmi3InstantiateModelExchange(
        component->name, text(GIVEN(token)), text(GIVEN(resources)), visible != 0, logging != 0, component,
            log_message);
    return new_handle(component, me_new_handle);
}

METHOD("enter-continuous-time-mode")
int me_enter_continuous_time_mode(Component *self) { return (int)fmi3EnterContinuousTimeMode(of(self)); }

METHOD("set-time") int me_set_time(Component *self, double t) { return (int)fmi3SetTime(of(self), t); }

METHOD("set-continuous-states") int me_set_continuous_states(Component *self, LIST(x))
{
    return (int)fmi3SetContinuousStates(of(self), x, n_x);
}

METHOD("get-continuous-state-derivatives") const ListResult *me_derivatives(Component *self)
{
    const Instance *s = of(self)->instance;
    return vector(of(self), fmi3GetContinuousStateDerivatives, (size_t)nx(s->model));
}

METHOD("get-event-indicators") const ListResult *me_event_indicators(Component *self)
{
    const Instance *s = of(self)->instance;
    return vector(of(self), fmi3GetEventIndicators, (size_t)nindicators(s->model));
}

METHOD("get-continuous-states") const ListResult *me_continuous_states(Component *self)
{
    const Instance *s = of(self)->instance;
    return vector(of(self), fmi3GetContinuousStates, (size_t)nx(s->model));
}

METHOD("get-nominals-of-continuous-states") const ListResult *me_nominals(Component *self)
{
    const Instance *s = of(self)->instance;
    return vector(of(self), fmi3GetNominalsOfContinuousStates, (size_t)nx(s->model));
}

METHOD("get-number-of-event-indicators") const NumberResult *me_number_of_event_indicators(Component *self)
{
    size_t n = 0;
    fmi3Status status = fmi3GetNumberOfEventIndicators(of(self), &n);
    return number_result(status, n);
}

METHOD("get-number-of-continuous-states") const NumberResult *me_number_of_continuous_states(Component *self)
{
    size_t n = 0;
    fmi3Status status = fmi3GetNumberOfContinuousStates(of(self), &n);
    return number_result(status, n);
}

METHOD("completed-integrator-step")
const CompletedResult *me_completed_integrator_step(Component *self, int no_set_state)
{
    static CompletedResult result;
    fmi3Boolean event = 0, end = 0;
    fmi3Status status = fmi3CompletedIntegratorStep(of(self), no_set_state != 0, &event, &end);
    result.failed = status > fmi3Warning;
    if (result.failed) {
        result.status = (unsigned char)status;
    } else {
        result.event = event;
        result.terminate = end;
    }
    return &result;
}
