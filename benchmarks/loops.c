/* The runtime and a model with many loops, and what is timed of them. */

#include "fmu.c"

#define EXPORT __attribute__((visibility("default")))

static Instance *instance;

static void say_line(void *environment, const char *name, Status status, const char *category, const char *message)
{
    (void)environment;
    (void)status;
    (void)category;
    fprintf(stderr, "%s: %s\n", name, message);
}

/* Initialise; returns the number of unknowns w, or -1. */
EXPORT int begin(void)
{
    static Host host = {say_line, NULL, NULL, NULL};
    const char *wrong = NULL, *call = "benchmark";
    void *memory;
    Model *model = open_model(&host, "", &memory, &wrong);
    if (!model) return -1;
    instance = instantiate(model, &host, call, call, CO_SIMULATION, 0);
    if (!instance || set_up_experiment(instance, call, 0, 0, 0, 0, 0) || enter_initialization(instance, call)
        || exit_initialization(instance, call))
        return -1;
    Instance *s = instance;
    return nw(s->model);
}

/* Right-hand sides at the start. */
EXPORT void repeat(long count)
{
    Instance *s = instance;
    while (count-- > 0) right_hand_side(s, s->now->latch_t, s->latch.x, s->latch.m, s->step.w, s->step.stage[1]);
}

EXPORT const double *accelerations_found(void) { return instance->step.w; }
