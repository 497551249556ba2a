/* The library of FMUs that Python hosts: the FMI 2.0 functions, in front of pythonfmu's library, which lies beside it.

   pythonfmu's library calls the Python slave (mbfmu/runtime/slave.py), and the slave calls the runtime in this library. It
   trusts its caller, though: a NULL pointer or a damaged text ends the process, and an exception of the slave ends the
   slave. So each call is looked at here first. What pythonfmu can take is passed on, with memory of this library for
   results; the slave reports the status, and results reach the importer where that is good. What pythonfmu cannot take is
   answered by the native face (fmi2.c) at once, in its words: those functions are here under names with `native_`. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE                 /* dladdr */
#endif

#include "fmi2Functions.h"
#undef fmi2FullName
#define fmi2FullName(name) native_##name
#include "library.c"
#undef fmi2FullName
#define fmi2FullName(name) name

/* What is needed of pythonfmu's library. */
#define FORWARDED(each)                                                                                                     \
    each(Instantiate) each(Reset) each(SetupExperiment) each(EnterInitializationMode) each(ExitInitializationMode)          \
    each(Terminate) each(GetReal) each(GetInteger) each(GetBoolean) each(GetString) each(SetReal) each(SetInteger)          \
    each(SetBoolean) each(SetString) each(DoStep) each(GetFMUstate) each(SetFMUstate) each(FreeFMUstate)                    \
    each(SerializeFMUstate) each(DeSerializeFMUstate)

#define MEMBER(name) fmi2##name##TYPE *name;
static struct { FORWARDED(MEMBER) } pythonfmu;

static int (*python_runs)(void);    /* Py_IsInitialized */

/* A slave in pythonfmu's library. It leaks some kB for each one that is made, so that they are used again. */
typedef struct Slave {
    fmi2Component component;
    struct Slave *next;
    char resources[1];              /* the folder, as long as it is */
} Slave;

/* A model that has been read; all instances with this GUID share it. */
typedef struct KnownModel {
    Model *model;
    struct KnownModel *next;
} KnownModel;

typedef struct {
    Component face;                 /* what the native face sees */
    Slave *slave;
    const char *name, *guid;        /* of fmi2Instantiate, while it runs */
    int logging;
    Status status;                  /* what the slave has reported of the present call */
    void *results;
    size_t capacity;                /* of results, in bytes */
} Hosted;

static Slave *idle_slaves;
static KnownModel *known_models;

/* The component whose call pythonfmu's library is busy with, in this thread. */
static __thread Hosted *current;

/* Guards what all instances share; held for a few instructions, but for the first instance, which loads libraries. */
static char lock;

static void enter(void) { while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) continue; }
static void leave(void) { __atomic_clear(&lock, __ATOMIC_RELEASE); }

/* Shared libraries: this one, which stays loaded from here on, what lies beside it, and Python's. */
#ifdef _WIN32

#define BESIDE "pythonfmu-export.dll"
__declspec(dllimport) int __stdcall GetModuleHandleExW(unsigned long flags, const wchar_t *name, void **module);
__declspec(dllimport) unsigned long __stdcall GetModuleFileNameW(void *module, wchar_t *path, unsigned long capacity);
__declspec(dllimport) void *__stdcall LoadLibraryExW(const wchar_t *path, void *file, unsigned long flags);
__declspec(dllimport) void *__stdcall GetProcAddress(void *module, const char *name);

static void *this_library(void)
{
    void *module = NULL;
    return GetModuleHandleExW(4 | 1, (const wchar_t *)&lock, &module) ? module : NULL; /* by an address; stays loaded */
}

static void *library_beside(void)
{
    wchar_t path[1024], *slash;
    unsigned long length = GetModuleFileNameW(this_library(), path, 1000);
    if (!length || length >= 1000 || !(slash = wcsrchr(path, L'\\'))) return NULL;
    wcscpy(slash + 1, L"" BESIDE);
    return LoadLibraryExW(path, NULL, 8); /* what it needs is searched from its own folder on */
}

static void *symbol(void *library, const char *name) { return GetProcAddress(library, name); }

static void *find_python(void) { return LoadLibraryExW(L"python3.dll", NULL, 0); }

#else

#include <dlfcn.h>

#if defined PORTABLE && defined __x86_64__ && defined __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
#endif
#endif

#define BESIDE "libpythonfmu-export.so"

static void *this_library(void)
{
    Dl_info info;
    return dladdr(&lock, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

static void *library_beside(void)
{
    Dl_info info;
    char path[4096], *slash;
    if (!dladdr(&lock, &info) || !info.dli_fname || strlen(info.dli_fname) + sizeof BESIDE >= sizeof path) return NULL;
    strcpy(path, info.dli_fname);
    slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, BESIDE);
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

static void *symbol(void *library, const char *name) { return dlsym(library, name); }

/* pythonfmu's library gives up its hold of Python where it is unloaded, when its own variables have ended already: it reads
   freed memory then. It is asked to do so before. */
static void (*release_python)(void);

static void end(void) { release_python(); }

/* Python's functions as all libraries of the process see them: pythonfmu's library looks for them there. */
static void *find_python(void)
{
    char name[32] = "libpython3.so";
    void *process = dlopen(NULL, RTLD_NOW);
    if (process && dlsym(process, "Py_IsInitialized")) return process;
    for (int minor = 40; !dlopen(name, RTLD_NOW | RTLD_GLOBAL); --minor) {
        if (minor < 8) return NULL;
        sprintf(name, "libpython3.%d.so.1.0", minor);
    }
    return process;
}

#endif

/* Load pythonfmu's library, and have Python run; returns what is wrong, or NULL. A Python that is started here is not ended:
   ending it twice, as pythonfmu's library does with one that it has started, crashes. */
static const char *prepare_python(void)
{
    void *python, *library;
    if (pythonfmu.Instantiate) return python_runs() ? NULL : "Python has ended in this process";
    python = find_python();
    if (!python) return "there is no Python in this process, and none is found: see documentation/externalDependencies.txt";
    *(void **)&python_runs = symbol(python, "Py_IsInitialized");
    void (*start)(int), *(*release)(void);
    *(void **)&start = symbol(python, "Py_InitializeEx");
    *(void **)&release = symbol(python, "PyEval_SaveThread");
    if (!python_runs || !start || !release) return "the Python in this process lacks functions of its stable interface";
    library = library_beside();
    if (!library) return BESIDE ", beside the FMU's library, cannot be loaded";
#define FIND(name) *(void **)&found.name = symbol(library, "fmi2" #name); complete &= found.name != NULL;
    struct { FORWARDED(MEMBER) } found;
    int complete = 1;
    FORWARDED(FIND)
    if (!complete) return BESIDE ", beside the FMU's library, lacks functions of FMI";
    if (!python_runs()) {
        start(0);
        release();
    }
#ifndef _WIN32
    *(void **)&release_python = symbol(library, "finalizePythonInterpreter");
    if (release_python) atexit(end);
#endif
    memcpy(&pythonfmu, &found, sizeof found);
    return NULL;
}

/* Called by the slave, under its component's call. */

HOST_EXPORT void mbfmu_slave_report(int status)
{
    if (current && status > (int)current->status) current->status = (Status)status;
}

HOST_EXPORT void mbfmu_slave_fail(const char *text)
{
    if (!current) return;
    current->status = STATUS_ERROR;
    if (current->face.instance) {
        say(current->face.instance, STATUS_ERROR, "%s", text);
    } else {
        Host host = fmi2_host(&current->face.callbacks);
        refuse(&host, current->name, "fmi2Instantiate: %s", text);
    }
}

/* Is the model of this component known, so that nobody has to read its descriptor? */
static Model *known_model(const char *guid)
{
    const KnownModel *known;
    enter();
    for (known = known_models; known && strcmp(known->model->tables.identity[1], guid) != 0;) known = known->next;
    leave();
    return known ? known->model : NULL;
}

static Model *keep_model(Model *model)
{
    const char *guid = model->tables.identity[1];
    Model *other = known_model(guid);
    KnownModel *known = other ? NULL : malloc(sizeof *known);
    if (!known) {
        mbfmu_unload(model);
        return other;
    }
    known->model = model;
    enter();
    known->next = known_models;
    known_models = known;
    leave();
    return model;
}

HOST_EXPORT int mbfmu_slave_knows_model(void) { return current && (current->face.instance || known_model(current->guid)); }

/* The runtime's instance of the component; `data` is the descriptor, where the model is not known. NULL where it is
   refused, with a log line. */
HOST_EXPORT Instance *mbfmu_slave_instance(const void *data, size_t size)
{
    const char *name = "fmi2Instantiate", *wrong = "no memory";
    if (!current) return NULL;
    if (current->face.instance) {   /* fmi2Reset makes a new slave; a slave that is used again has no instance yet */
        reset(current->face.instance);
        return current->face.instance;
    }
    Host host = fmi2_host(&current->face.callbacks);
    Model *model = known_model(current->guid);
    if (!model && data) {
        model = mbfmu_load(data, size, &wrong);
        if (model && strcmp(current->guid, model->tables.identity[1]) != 0) {
            refuse(&host, current->name, "%s: the GUID of modelDescription.xml is '%s', that of the binary '%s': they belong to "
                   "different builds", name, current->guid, model->tables.identity[1]);
            mbfmu_unload(model);
            current->status = STATUS_ERROR;
            return NULL;
        }
        if (model) model = keep_model(model);
    }
    if (!model) mbfmu_slave_fail(wrong);
    else current->face.instance = instantiate(model, &host, name, current->name, CO_SIMULATION, current->logging);
    if (!current->face.instance) current->status = STATUS_ERROR;
    return current->face.instance;
}

/* pythonfmu's library logs where the slave cannot even be made. */
static void pythonfmu_log(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                          fmi2String message, ...)
{
    (void)environment, (void)instance, (void)category;
    if (status > fmi2Discard) mbfmu_slave_fail(message ? message : "");
}

static const fmi2CallbackFunctions pythonfmu_callbacks = {pythonfmu_log, calloc, free, NULL, NULL};

/* Is the text UTF-8 (RFC 3629)? */
static int is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        int more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : *at >= 0xe0 && *at < 0xf0 ? 2
            : *at >= 0xf0 && *at < 0xf5 ? 3 : -1;
        if (more < 0 || (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90)
            || (*at == 0xf4 && at[1] > 0x8f))
            return 0;
        for (++at; more; --more, ++at) if ((*at & 0xc0) != 0x80) return 0;
    }
    return 1;
}

/* Can pythonfmu's library find the slave in this folder? It opens files as here; returns what is wrong, or NULL. */
static const char *check_resources(const char *folder)
{
    char module[256] = "", *path;
    FILE *file;
    if (!is_utf8(folder)) return "the path of fmuResourceLocation is not UTF-8, which Python needs";
    if (strstr(folder, "%20") || strstr(folder, "file://"))
        return "the path of fmuResourceLocation contains %20 or file://, which pythonfmu's library would replace";
    path = malloc(strlen(folder) + sizeof module + 20);
    if (!path) return "no memory";
    sprintf(path, "%s/slavemodule.txt", folder);
    if ((file = fopen(path, "rb"))) {
        if (!fgets(module, sizeof module, file)) *module = 0;
        fclose(file);
    }
    module[strcspn(module, "\r\n")] = 0;
    sprintf(path, "%s/%s.py", folder, module);
    file = *module ? fopen(path, "rb") : NULL;
    if (file) fclose(file);
    free(path);
    return file ? NULL : "the slave cannot be read in the folder of fmuResourceLocation";
}

static void keep_idle(Slave *slave)
{
    enter();
    slave->next = idle_slaves;
    idle_slaves = slave;
    leave();
}

static Slave *idle_slave(const char *resources)
{
    Slave **at, *slave;
    enter();
    for (at = &idle_slaves; *at && strcmp((*at)->resources, resources) != 0;) at = &(*at)->next;
    slave = *at;
    if (slave) *at = slave->next;
    leave();
    return slave;
}

/* A slave for the component, whose instance it makes; returns whether it could. */
static int make_slave(Hosted *h, const char *resources, fmi2Boolean visible)
{
    Hosted *before = current;
    Slave *slave = idle_slave(resources);
    int made;
    char library[32];
    current = h;
    h->status = STATUS_OK;
    if (slave) {
        made = pythonfmu.Reset(slave->component) == fmi2OK;
    } else {
        slave = malloc(sizeof *slave + strlen(resources));
        /* The slave has no other use for its name: it is told where it finds the runtime. */
        sprintf(library, "%llu", (unsigned long long)(size_t)this_library());
        if (slave) {
            strcpy(slave->resources, resources);
            slave->component = pythonfmu.Instantiate(library, fmi2CoSimulation, h->guid, resources, &pythonfmu_callbacks,
                                                     visible, fmi2True);
        }
        made = slave && slave->component;
    }
    current = before;
    /* A slave that has refused is whole; one that could not be made is lost, and Reset has freed it already. */
    if (made && h->face.instance) {
        h->slave = slave;
        return 1;
    }
    if (made) keep_idle(slave);
    if (!h->status) {
        Host host = fmi2_host(&h->face.callbacks);
        refuse(&host, h->name, "fmi2Instantiate: pythonfmu's library made no slave");
    }
    return 0;
}

const char *fmi2GetTypesPlatform(void) { return native_fmi2GetTypesPlatform(); }

const char *fmi2GetVersion(void) { return native_fmi2GetVersion(); }

/* No call of Python: an importer may free instances when Python has ended. */
void fmi2FreeInstance(fmi2Component c)
{
    Hosted *h = c;
    if (!h) return;
    if (h->slave) keep_idle(h->slave);
    free(h->results);
    native_fmi2FreeInstance(c);
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn)
{
    const char *name = "fmi2Instantiate", *wrong;
    if (!functions) return NULL;
    Host host = fmi2_host(functions);
    if (!instanceName || !*instanceName) {
        refuse(&host, "", "%s: the instance has no name", name);
        return NULL;
    }
    if (fmuType != fmi2CoSimulation) {
        refuse(&host, instanceName, "%s: this FMU has no interface of the type %d", name, (int)fmuType);
        return NULL;
    }
    if (!fmuResourceLocation || !*fmuResourceLocation) {
        refuse(&host, instanceName, "%s: fmuResourceLocation is missing: it says where the FMU's equations are", name);
        return NULL;
    }
    Hosted *h = host_allocate(&host, sizeof *h);
    char *path = h ? descriptor_path(&host, fmuResourceLocation) : NULL;
    if (h) {
        h->face.callbacks = *functions;
        h->name = instanceName;
        h->guid = fmuGUID ? fmuGUID : "";
        h->logging = loggingOn;
    }
    wrong = "no memory";
    if (path) {
        *strrchr(path, '/') = 0;    /* the folder */
        wrong = check_resources(path);
        if (!wrong) {
            enter();
            wrong = prepare_python();
            leave();
        }
    }
    if (wrong) refuse(&host, instanceName, "%s: %s", name, wrong);
    else if (!make_slave(h, path, visible)) wrong = "refused";
    host_release(&host, path);
    if (!wrong) return h;
    fmi2FreeInstance(h);
    return NULL;
}

/* Can calls of this component be passed on? */
static int can_forward(fmi2Component c) { return instance_of(c) && python_runs(); }

/* Memory for results; NULL where these arguments are none for pythonfmu's library. */
static void *results_of(fmi2Component c, const fmi2ValueReference *vr, size_t n, const void *value, size_t size)
{
    Hosted *h = c;
    if (!can_forward(c) || !n || !vr || !value || n > INT_MAX / size) return NULL;
    if (h->capacity < n * size) {
        void *results = realloc(h->results, n * size);
        if (!results) return NULL;
        h->results = results;
        h->capacity = n * size;
    }
    return h->results;
}

/* The answer to a call: what the slave has reported. */
static fmi2Status settle(Hosted *h, const char *name, fmi2Status answer)
{
    if (h->status || answer == fmi2OK) return fmi2_statuses[h->status];
    return fmi2_statuses[say(h->face.instance, STATUS_ERROR, "%s: pythonfmu's library answers with status %d", name, answer)];
}

/* Call a function of pythonfmu's library for the component c; its status is in `answer` then. */
#define FORWARD(name, arguments)                                                                                            \
    Hosted *h = c, *before = current;                                                                                       \
    h->status = STATUS_OK;                                                                                                  \
    current = h;                                                                                                            \
    fmi2Status answer = pythonfmu.name arguments;                                                                           \
    current = before;                                                                                                       \
    answer = settle(h, "fmi2" #name, answer)

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories, const fmi2String categories[])
{
    return native_fmi2SetDebugLogging(c, loggingOn, nCategories, categories);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    if (!can_forward(c))
        return native_fmi2SetupExperiment(c, toleranceDefined, tolerance, startTime, stopTimeDefined, stopTime);
    FORWARD(SetupExperiment, (h->slave->component, toleranceDefined, tolerance, startTime, stopTimeDefined, stopTime));
    return answer;
}

#define PHASE(name)                                                                                                         \
    fmi2Status fmi2##name(fmi2Component c)                                                                                  \
    {                                                                                                                       \
        if (!can_forward(c)) return native_fmi2##name(c);                                                                   \
        FORWARD(name, (h->slave->component));                                                                               \
        return answer;                                                                                                      \
    }

PHASE(EnterInitializationMode)
PHASE(ExitInitializationMode)
PHASE(Terminate)
PHASE(Reset)

#define VARIABLES(type)                                                                                                     \
    fmi2Status fmi2Get##type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2##type value[])                \
    {                                                                                                                       \
        fmi2##type *results = results_of(c, vr, nvr, value, sizeof *value);                                                 \
        if (!results) return native_fmi2Get##type(c, vr, nvr, value);                                                       \
        FORWARD(Get##type, (h->slave->component, vr, nvr, results));                                                        \
        if (answer == fmi2OK) COPY(value, results, nvr);                                                                    \
        return answer;                                                                                                      \
    }                                                                                                                       \
    fmi2Status fmi2Set##type(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2##type value[])          \
    {                                                                                                                       \
        fmi2##type *values = results_of(c, vr, nvr, value, sizeof *value);                                                  \
        if (!values) return native_fmi2Set##type(c, vr, nvr, value);                                                        \
        COPY(values, value, nvr);                                                                                           \
        CHECK_##type                                                                                                        \
        FORWARD(Set##type, (h->slave->component, vr, nvr, values));                                                         \
        return answer;                                                                                                      \
    }

#define CHECK_Real
#define CHECK_Integer
#define CHECK_Boolean
/* Texts that Python does not take are left out: no string can be set, and the runtime says so without looking at them. */
#define CHECK_String for (size_t i = 0; i < nvr; ++i) if (!values[i] || !is_utf8(values[i])) values[i] = "";

VARIABLES(Real)
VARIABLES(Integer)
VARIABLES(Boolean)
VARIABLES(String)

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    if (!can_forward(c))
        return native_fmi2DoStep(c, currentCommunicationPoint, communicationStepSize, noSetFMUStatePriorToCurrentPoint);
    FORWARD(DoStep, (h->slave->component, currentCommunicationPoint, communicationStepSize,
                     noSetFMUStatePriorToCurrentPoint));
    return answer;
}

/* States are Python objects, the bytes of serialized states. What these functions refuse, the native ones refuse, too; they
   look at no state then. */

static int can_keep_states(fmi2Component c, const char *name)
{
    if (can_forward(c)) return 1;
    if (instance_of(c)) say(instance_of(c), STATUS_ERROR, "%s: Python has ended in this process", name);
    return 0;
}

/* Give the importer a new state in place of an old one. */
static fmi2Status replace_state(Hosted *h, fmi2Status answer, fmi2FMUstate made, fmi2FMUstate *state)
{
    fmi2FMUstate gone = made;
    if (answer == fmi2OK) {
        gone = *state;
        *state = made;
    }
    if (gone) pythonfmu.FreeFMUstate(h->slave->component, &gone);
    return answer;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    fmi2FMUstate made = NULL;
    if (!FMUstate) return native_fmi2GetFMUstate(c, FMUstate);
    if (!can_keep_states(c, "fmi2GetFMUstate")) return fmi2Error;
    FORWARD(GetFMUstate, (h->slave->component, &made));
    return replace_state(h, answer, made, FMUstate);
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate)
{
    if (!FMUstate) return native_fmi2SetFMUstate(c, FMUstate);
    if (!can_keep_states(c, "fmi2SetFMUstate")) return fmi2Error;
    FORWARD(SetFMUstate, (h->slave->component, FMUstate));
    return answer;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    if (!FMUstate || !*FMUstate) return native_fmi2FreeFMUstate(c, FMUstate);
    if (!can_keep_states(c, "fmi2FreeFMUstate")) return fmi2Error;
    FORWARD(FreeFMUstate, (h->slave->component, FMUstate));
    *FMUstate = NULL;
    return answer;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
{
    return native_fmi2SerializedFMUstateSize(c, FMUstate, size);
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size)
{
    if (!instance_of(c)) return fmi2Error;
    size_t length = mbfmu_state_size(instance_of(c));
    if (!FMUstate || !serializedState || size < length)
        return native_fmi2SerializeFMUstate(c, FMUstate, serializedState, size);
    if (!can_keep_states(c, "fmi2SerializeFMUstate")) return fmi2Error;
    FORWARD(SerializeFMUstate, (h->slave->component, FMUstate, serializedState, length));
    return answer;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate)
{
    const char *name = "fmi2DeSerializeFMUstate";
    fmi2FMUstate made = NULL;
    if (!FMUstate) return native_fmi2DeSerializeFMUstate(c, serializedState, size, FMUstate);
    fmi2Status status = native_fmi2DeSerializeFMUstate(c, serializedState, size, &made);
    if (status) return status;
    native_fmi2FreeFMUstate(c, &made);
    if (!can_keep_states(c, name)) return fmi2Error;
    FORWARD(DeSerializeFMUstate, (h->slave->component, serializedState, mbfmu_state_size(h->face.instance), &made));
    return replace_state(h, answer, made, FMUstate);
}

/* What pythonfmu does not know, and modelDescription.xml does not offer. */
static fmi2Status not_offered(fmi2Component c, const char *name)
{
    Instance *s = instance_of(c);
    return s ? fmi2_statuses[say(s, STATUS_ERROR, "%s: FMUs that Python hosts do not offer it; native ones do", name)]
             : fmi2Error;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[])
{
    (void)vUnknown_ref, (void)nUnknown, (void)vKnown_ref, (void)nKnown, (void)dvKnown, (void)dvUnknown;
    return not_offered(c, "fmi2GetDirectionalDerivative");
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    (void)vr, (void)nvr, (void)order, (void)value;
    return not_offered(c, "fmi2SetRealInputDerivatives");
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    (void)vr, (void)nvr, (void)order, (void)value;
    return not_offered(c, "fmi2GetRealOutputDerivatives");
}

fmi2Status fmi2CancelStep(fmi2Component c) { return native_fmi2CancelStep(c); }

#define STATUS(name, type)                                                                                                  \
    fmi2Status name(fmi2Component c, const fmi2StatusKind kind, type *value) { return native_##name(c, kind, value); }

STATUS(fmi2GetStatus, fmi2Status)
STATUS(fmi2GetRealStatus, fmi2Real)
STATUS(fmi2GetIntegerStatus, fmi2Integer)
STATUS(fmi2GetBooleanStatus, fmi2Boolean)
STATUS(fmi2GetStringStatus, fmi2String)
