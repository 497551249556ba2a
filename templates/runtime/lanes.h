/* Trials of several instances at once. */

#ifndef LANES_H
#define LANES_H

#include "host.h"

/* Trials of several instances of a model at once (lanes.c). `make_stages` is told who takes part, who has other
   parameters than in the last trial, and the method; it answers who has succeeded: sets of lanes as bits. */
typedef struct {
    int lanes;
    void *(*make)(const Model *model);
    unsigned (*make_stages)(void *lanes, Instance *const *instances, unsigned takes, unsigned changed, int order8);
    void (*release)(void *lanes);
} LaneKind;

enum { MOST_LANES = 8 };

/* As many lanes as vectors of this processor have, where the system keeps them, too. */
HOST_EXPORT int mbfmu_lanes(void);

/* What makes trials in so many lanes; NULL where this processor does not. */
HOST_EXPORT const LaneKind *mbfmu_lane_kind(int lanes);

#endif
