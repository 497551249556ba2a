/* The model of a library that is compiled for one: its descriptor is part of the library. */

#include "library.h"

#include "descriptor.h"
#include "descriptor_data.h"
#include "optimize.h"

SMALL

INTERNAL Model *open_model(const Host *host, const char *resources, void **memory, const char **wrong)
{
    (void)resources;
    *memory = NULL;
    return load_model(host, DESCRIPTOR, DESCRIPTOR_SIZE, wrong);
}

QUICK
