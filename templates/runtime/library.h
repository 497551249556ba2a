/* What each library brings itself. */

#ifndef LIBRARY_H
#define LIBRARY_H

#include "runtime.h"

/* The model of an FMU: that of this library (own_model.c), or of any from a file in `resources` (resources.c). `memory`
   becomes what is to be released with it, or NULL. Where there is none, NULL is returned and `wrong` says why. */
INTERNAL Model *open_model(const Host *host, const char *resources, void **memory, const char **wrong);

#endif
