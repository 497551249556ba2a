/* What initialisation leaves open. */

#ifndef UNDETERMINED_START_H
#define UNDETERMINED_START_H

#include "runtime.h"

/* Leave marked in s->initial.choices what is open and of which nobody has said the value: neither the model nor the
   importer gave a start value, or it had to be moved. Values are in s->initial.X. Returns how many there are. */
INTERNAL int find_choices(Instance *s);

/* Warn of what initialisation has chosen, in one line of the log, where the importer asks for one. */
INTERNAL void warn_of_choices(Instance *s, const char *function);

#endif
