/* Runs over a list of times. */

#ifndef BATCH_H
#define BATCH_H

#include "host.h"
#include "lanes.h"

/* Inputs over time: at each knot, in order, inputs take values and slopes (per second) that hold until the next one. */
typedef struct {
    size_t nknots, ninputs;
    const double *knots;            /* [nknots] */
    const int *inputs;              /* [ninputs], indices in u */
    const double *values, *slopes;  /* [nknots x ninputs], a row for each knot */
} Drive;

/* Many runs that differ in what is set before they start. */
typedef struct {
    double start_time, stop_time, tolerance; /* tolerance 0: the model's own */
    size_t nruns, nsettings, ntimes, nplaces, message_size;
    const int *settings;            /* [nsettings]: an index in p, or -1 - an index in u */
    const double *values;           /* [nruns x nsettings] */
    const double *times;            /* [ntimes] */
    const int *places;              /* [nplaces] */
    const Drive *drive;             /* NULL: inputs stay */
    const LaneKind *lanes;          /* what makes trials of several runs at once, as many as it has lanes; may be NULL */
    double *rows;                   /* [nruns x ntimes x nplaces] */
    size_t *complete;               /* [nruns]: rows that are, `ntimes` where the run succeeds */
    char *messages;                 /* [nruns x message_size]: why it does not */
} Batch;

/* Inputs as they are at the start, before an instance is initialised. */
HOST_EXPORT void mbfmu_start_drive(Instance *s, const Drive *drive);

/* Run to each of some times, with inputs that follow `drive` (NULL: they stay), and read the places there, one row
   for each time; returns how many rows are complete. */
HOST_EXPORT size_t mbfmu_run(Instance *s, const char *name, const double *times, size_t ntimes, const int *places,
                             size_t nplaces, double *rows, const Drive *drive);

/* Make the runs of a batch with n instances of its model: in lanes, where there are as many, else in the first one. */
HOST_EXPORT void mbfmu_batch(Instance *const *instances, int n, const Batch *batch);

#endif
