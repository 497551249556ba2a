/* Bounds of crossings over an interval of time. */

#ifndef ENCLOSE_H
#define ENCLOSE_H

#include "runtime.h"

/* Kinds of crossings: what they depend on beside parameters and discrete states. */
enum { OF_TIME, OF_INPUTS, OF_STATES };

/* From `begin` to `end`, in which watched switches that are enclosed, of kinds up to `most_kind`, agree with their modes
   at first: a time soon after the first crossing, before any other one of that switch; *before, one before it. `end`
   where there is none, with *before = `end`. */
INTERNAL double find_crossing(Instance *s, double begin, double end, const double *m, const int *watched, int most_kind,
                              double *before);

/* The first time after t, and up to a horizon, at which a switch flips that depends on time alone: an importer who
   looks at indicators from step to step may pass over it. Infinite where there is none; the horizon where nobody
   knows. */
INTERNAL double next_pulse(Instance *s, double t, const double *m);

#endif
