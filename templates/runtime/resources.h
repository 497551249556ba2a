/* Where the descriptor of an FMU lies. */

#ifndef RESOURCES_H
#define RESOURCES_H

#include "runtime.h"

/* The path of the descriptor in the folder that an importer names by a URI (FMI 2.0.4, section 2.1.5), or by a path. */
INTERNAL char *descriptor_path(const Host *host, const char *resources);

#endif
