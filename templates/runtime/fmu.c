/* The library of one FMU: model.h, equations.c and descriptor.h are written for its model. Those of great models have
   further files beside them, which are compiled on their own. */

#include "model.h"
#include "optimize.h"
#include "equations.c"
#include "runtime.c"
#include "descriptor.h"

SMALL
/* The model, from the descriptor that is part of this library. */
static Model *open_model(const Host *host, const char *resources, void **memory, const char **wrong)
{
    (void)resources;
    *memory = NULL;
    return load_model(host, DESCRIPTOR, DESCRIPTOR_SIZE, wrong);
}

#if FMI_VERSION == 3
#include "fmi3.c"
#else
#include "fmi2.c"
#endif
QUICK
