/* The library of FMUs that Python hosts: the functions of FMI, in front of pythonfmu's library, which lies beside it.

   pythonfmu's library, of FMI 2.0, calls the Python slave (mbfmu/runtime/slave.py), and the slave calls the runtime
   in this library. It trusts its caller, though: a NULL pointer or a damaged text ends the process, and an exception
   of the slave ends the slave. So the faces of FMI (fmi2.c, fmi3.c) are compiled here over functions of the same
   arguments as the runtime's, which look at each call first. What pythonfmu can take is passed on, with memory of
   this library for results; the slave leaves a status, and results reach the importer where that is good. What
   pythonfmu cannot take, and what it has no function for, the runtime answers at once, in its words. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE                 /* dladdr */
#endif

#include "runtime.c"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "resources.c"
#include "fmi2FunctionTypes.h"

#ifdef _WIN32
#define SLAVE_EXPORT __declspec(dllexport)
#else
#define SLAVE_EXPORT __attribute__((visibility("default")))
#endif

/* What is needed of pythonfmu's library. */
#define FORWARDED(each)                                                                                                     \
    each(Instantiate) each(SetupExperiment) each(EnterInitializationMode) each(ExitInitializationMode) each(Terminate)      \
    each(GetReal) each(GetInteger) each(GetBoolean) each(GetString) each(SetReal) each(SetInteger) each(SetBoolean)         \
    each(SetString) each(DoStep)

#define MEMBER(name) fmi2##name##TYPE *name;
static struct { FORWARDED(MEMBER) } pythonfmu;

static int (*python_runs)(void);    /* Py_IsInitialized */

/* A slave in pythonfmu's library, which knows of no instance. It leaks some kB for each one that is made, so that
   they are used again. */
typedef struct Slave {
    fmi2Component component;
    struct Slave *next;
    char resources[1];              /* the folder, as long as it is */
} Slave;

/* What stands behind an instance. */
typedef struct {
    Instance *instance;
    Slave *slave;
    const char *function;           /* of the present call, as it is logged */
    Status status;                  /* what the slave has left of it */
    void *results;
    size_t capacity;                /* of results, in bytes */
} Hosted;

static Slave *idle_slaves;

/* The instance whose call pythonfmu's library is busy with, in this thread. */
static __thread Hosted *current;

/* The folder of resources of the FMU that is being instantiated in this thread. */
static __thread char *resources_folder;

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

/* pythonfmu's library gives up its hold of Python where it is unloaded, when its own variables have ended already: it
   reads freed memory then. It is asked to do so before. */
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

/* Load pythonfmu's library, and have Python run; returns what is wrong, or NULL. A Python that is started here is not
   ended: ending it twice, as pythonfmu's library does with one that it has started, crashes. */
static const char *prepare_python(void)
{
    void *python, *library;
    if (pythonfmu.Instantiate) return python_runs() ? NULL : "Python has ended in this process";
    python = find_python();
    if (!python)
        return "there is no Python in this process, and none is found: see documentation/externalDependencies.txt";
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

/* Called by the slave, under the call of an importer: the runtime's functions, for the present instance. */
#define SLAVE(name, parameters, ...)                                                                                        \
    SLAVE_EXPORT int mbfmu_slave_##name parameters                                                                          \
    {                                                                                                                       \
        Hosted *h = current;                                                                                                \
        return h ? (int)(h->status = name(h->instance, h->function __VA_ARGS__)) : STATUS_ERROR;                            \
    }

SLAVE(set_up_experiment, (int has_tolerance, double tolerance, double start_time, int has_stop_time, double stop_time),
      , has_tolerance, tolerance, start_time, has_stop_time, stop_time)
SLAVE(enter_initialization, (void), )
SLAVE(exit_initialization, (void), )
SLAVE(terminate, (void), )
SLAVE(do_step, (double point, double length), , point, length)
SLAVE(get_reals, (const unsigned *vr, size_t n, double *value), , vr, n, value)
SLAVE(get_integers, (const unsigned *vr, size_t n, int *value), , vr, n, value)
SLAVE(get_booleans, (const unsigned *vr, size_t n, int *value), , vr, n, value)
SLAVE(get_strings, (const unsigned *vr, size_t n, const char **value), , vr, n, value)
SLAVE(set_reals, (const unsigned *vr, size_t n, const double *value), , vr, n, value)
SLAVE(set_integers, (const unsigned *vr, size_t n, const int *value), , vr, n, value)
SLAVE(set_booleans, (const unsigned *vr, size_t n, const int *value), , vr, n, value)
SLAVE(set_strings, (const unsigned *vr, size_t n, const char *const *value), , vr, n, value)

SLAVE_EXPORT void mbfmu_slave_fail(const char *text)
{
    if (current) current->status = say(current->instance, STATUS_ERROR, "%s: %s", current->function, text);
}

/* pythonfmu's library logs where the slave cannot even be made. */
static void pythonfmu_log(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                          fmi2String category,
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

/* A slave of the FMU that is being instantiated; NULL, and a log line, where none can be made. */
static Slave *slave_for(Hosted *h)
{
    Hosted *before = current;
    Slave *slave = idle_slave(resources_folder);
    char library[32];
    if (slave) return slave;
    slave = malloc(sizeof *slave + strlen(resources_folder));
    if (!slave) return NULL;
    strcpy(slave->resources, resources_folder);
    /* The slave has no other use for its name: it is told where it finds the runtime. */
    sprintf(library, "%llu", (unsigned long long)(size_t)this_library());
    current = h;
    slave->component = pythonfmu.Instantiate(library, fmi2CoSimulation, "", resources_folder, &pythonfmu_callbacks,
                                             fmi2False, fmi2True);
    if (!slave->component && !h->status) mbfmu_slave_fail("pythonfmu's library made no slave");
    current = before;
    if (!h->status) return slave;
    free(slave);
    return NULL;
}

/* What the faces call in place of the runtime's functions; the names are theirs with `hosted_` before. */

/* Python is found and the folder is remembered before the model is read. */
static Model *hosted_open_model(const Host *host, const char *resources, void **memory, const char **wrong)
{
    char *path = resources && *resources ? descriptor_path(host, resources) : NULL;
    const char *reason = NULL;
    *memory = NULL;
    if (path) {
        *strrchr(path, '/') = 0;
        reason = check_resources(path);
        if (!reason) {
            enter();
            reason = prepare_python();
            leave();
        }
        free(resources_folder);
        resources_folder = malloc(strlen(path) + 1);
        if (resources_folder) strcpy(resources_folder, path);
        else reason = "no memory";
        host_release(host, path);
    }
    if (reason) *wrong = reason;
    return reason ? NULL : open_model(host, resources, memory, wrong);
}

/* No call of Python: an importer may free instances when Python has ended. */
static void hosted_free_instance(Instance *s)
{
    Hosted *h = s ? s->caller.hosted : NULL;
    if (h) {
        Host host = s->caller.host;
        if (h->slave) keep_idle(h->slave);
        free(h->results);
        host_release(&host, h);
    }
    free_instance(s);
}

static Instance *hosted_instantiate(const Model *model, const Host *host, const char *function, const char *name,
                                    Interface interface, int logging)
{
    Instance *s;
    Hosted *h;
    if (interface != CO_SIMULATION) {
        refuse(host, name, "%s: FMUs that Python hosts are for co-simulation only; native ones are for model exchange, too",
               function);
        return NULL;
    }
    s = instantiate(model, host, function, name, interface, logging);
    if (!s) return NULL;
    s->caller.hosted = h = host_allocate(host, sizeof *h);
    if (h) {
        h->instance = s;
        h->function = function;
        h->slave = slave_for(h);
        if (h->slave) return s;
    }
    hosted_free_instance(s);
    return NULL;
}

/* Can calls for this instance be passed on? */
static int can_forward(const Instance *s) { return s->caller.hosted && python_runs(); }

/* Memory for results; NULL where these arguments are none for pythonfmu's library. */
static void *results_of(Instance *s, const unsigned *vr, size_t n, const void *value, size_t size)
{
    Hosted *h = s->caller.hosted;
    if (!can_forward(s) || !n || !vr || !value || n > INT_MAX / size) return NULL;
    if (h->capacity < n * size) {
        void *results = realloc(h->results, n * size);
        if (!results) return NULL;
        h->results = results;
        h->capacity = n * size;
    }
    return h->results;
}

/* The status of a call: what the slave has left. */
static Status settle(const Hosted *h, const char *function, fmi2Status answer)
{
    if (h->status || answer == fmi2OK) return h->status;
    return say(h->instance, STATUS_ERROR, "%s: pythonfmu's library answers with status %d", function, (int)answer);
}

/* Call a function of pythonfmu's library for the instance s; the result is in `status` then. */
#define FORWARD(name, ...)                                                                                                  \
    Hosted *h = s->caller.hosted, *before = current;                                                                        \
    h->function = function;                                                                                                 \
    h->status = STATUS_OK;                                                                                                  \
    current = h;                                                                                                            \
    Status status = settle(h, function, pythonfmu.name(h->slave->component __VA_ARGS__));                                   \
    current = before

static Status hosted_set_up_experiment(Instance *s, const char *function, int has_tolerance, double tolerance,
                                       double start_time, int has_stop_time, double stop_time)
{
    if (!can_forward(s))
        return set_up_experiment(s, function, has_tolerance, tolerance, start_time, has_stop_time, stop_time);
    FORWARD(SetupExperiment, , has_tolerance, tolerance, start_time, has_stop_time, stop_time);
    return status;
}

#define PHASE(name, call)                                                                                                   \
    static Status hosted_##name(Instance *s, const char *function)                                                          \
    {                                                                                                                       \
        if (!can_forward(s)) return name(s, function);                                                                      \
        FORWARD(call, );                                                                                                    \
        return status;                                                                                                      \
    }

PHASE(enter_initialization, EnterInitializationMode)
PHASE(exit_initialization, ExitInitializationMode)
PHASE(terminate, Terminate)

static Status hosted_do_step(Instance *s, const char *function, double point, double length)
{
    if (!can_forward(s)) return do_step(s, function, point, length);
    FORWARD(DoStep, , point, length, fmi2True);
    return status;
}

#define VARIABLES(kind, call, item, CHECK)                                                                                  \
    static Status hosted_get_##kind(Instance *s, const char *function, const unsigned *vr, size_t n, item *value)           \
    {                                                                                                                       \
        item *results = results_of(s, vr, n, value, sizeof *value);                                                         \
        if (!results) return get_##kind(s, function, vr, n, value);                                                         \
        FORWARD(Get##call, , vr, n, results);                                                                               \
        if (!status) COPY(value, results, n);                                                                               \
        return status;                                                                                                      \
    }                                                                                                                       \
    static Status hosted_set_##kind(Instance *s, const char *function, const unsigned *vr, size_t n, item const *value)     \
    {                                                                                                                       \
        item *values = results_of(s, vr, n, value, sizeof *value);                                                          \
        if (!values) return set_##kind(s, function, vr, n, value);                                                          \
        COPY(values, value, n);                                                                                             \
        CHECK                                                                                                               \
        FORWARD(Set##call, , vr, n, values);                                                                                \
        return status;                                                                                                      \
    }

VARIABLES(reals, Real, double, )
VARIABLES(integers, Integer, int, )
VARIABLES(booleans, Boolean, int, )
/* Texts that Python does not take are left out: no string can be set, and the runtime says so without looking at them. */
#define LEAVE_OUT for (size_t i = 0; i < n; ++i) if (!values[i] || !is_utf8(values[i])) values[i] = "";
VARIABLES(strings, String, const char *, LEAVE_OUT)

#define open_model(...) hosted_open_model(__VA_ARGS__)
#define instantiate(...) hosted_instantiate(__VA_ARGS__)
#define free_instance(...) hosted_free_instance(__VA_ARGS__)
#define set_up_experiment(...) hosted_set_up_experiment(__VA_ARGS__)
#define enter_initialization(...) hosted_enter_initialization(__VA_ARGS__)
#define exit_initialization(...) hosted_exit_initialization(__VA_ARGS__)
#define terminate(...) hosted_terminate(__VA_ARGS__)
#define do_step(...) hosted_do_step(__VA_ARGS__)
#define get_reals(...) hosted_get_reals(__VA_ARGS__)
#define get_integers(...) hosted_get_integers(__VA_ARGS__)
#define get_booleans(...) hosted_get_booleans(__VA_ARGS__)
#define get_strings(...) hosted_get_strings(__VA_ARGS__)
#define set_reals(...) hosted_set_reals(__VA_ARGS__)
#define set_integers(...) hosted_set_integers(__VA_ARGS__)
#define set_booleans(...) hosted_set_booleans(__VA_ARGS__)
#define set_strings(...) hosted_set_strings(__VA_ARGS__)

#include "fmi2.c"
#include "fmi3.c"
