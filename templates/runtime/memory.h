/* Memory of models and instances. */

#ifndef MEMORY_H
#define MEMORY_H

#include "runtime.h"

/* An area that is laid out twice: once without memory, to count, and once to hand out. */
typedef struct {
    char *at;
    size_t used;
} Area;

INTERNAL void *take(Area *area, size_t count, size_t size);

/* The vectors of the state, behind it. */
INTERNAL void place_state(Instance *s);

INTERNAL void lay_out(Instance *s, Area *area);
INTERNAL void *host_allocate(const Host *host, size_t size);
INTERNAL void host_release(const Host *host, void *memory);

/* Memory that lives as long as the model. */
INTERNAL void *model_allocate(Model *model, size_t size);

#endif
