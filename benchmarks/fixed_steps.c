/* How long each step of an FMU takes: CPU time of this thread, s, which other programs only ever add to. */

#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "fmi2Functions.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Make n steps of length h from time 0; returns how many were made. */
FMI2_Export int time_steps(fmi2DoStepTYPE *do_step, fmi2Component component, double h, int n, double *seconds)
{
    now();
    for (int i = 0; i < n; ++i) {
        double begin = now();
        if (do_step(component, i * h, h, fmi2True)) return i;
        seconds[i] = now() - begin;
    }
    return n;
}
