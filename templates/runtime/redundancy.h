/* Constraints that depend on each other. */

#ifndef REDUNDANCY_H
#define REDUNDANCY_H

#include "runtime.h"

/* Add K to A. Rows count beside the size that the model has for each, so that metres and radians compare, and K beside
   the largest inertia. Returns 0 where fewer rows are independent than should be. */
INTERNAL int determine_multipliers(Instance *s);

#endif
