/* Values of variables, and what can be set. */

#ifndef VALUES_H
#define VALUES_H

#include "runtime.h"

INTERNAL unsigned store_of(int place);
INTERNAL unsigned index_of(int place);

/* Is an entry of u one that the runtime solves for? */
INTERNAL int is_inner(const Instance *s, unsigned index);

/* Bring w and y up to date with the latch; in initialisation mode, solve for the start first where it changed. */
INTERNAL int refresh(Instance *s, int with_y);

/* Bring the event indicators up to date. They are the crossings, moved a little so that the switch's mode is not at its
   border: importers see a change between positive and not positive values only, but a crossing may begin at zero and go
   either way. */
INTERNAL int refresh_indicators(Instance *s);

/* Make the values at these places readable. */
INTERNAL int prepare(Instance *s, const int *places, const unsigned *references, size_t n);

/* The name of a variable, put together from what it shares with the one before it and its own rest; it holds until the
   next one is asked for. */
INTERNAL const char *name_of(Instance *s, const char *names, unsigned reference);

INTERNAL double value_at(const Instance *s, int place);

/* What can be set of one type of variables, sorted by value reference. */
typedef struct {
    int n;
    const int *references, *settings, *indices;
    const double *least, *most;
    const char *names;              /* by value reference */
} Settables;

INTERNAL Settables real_settables(const Instance *s);
INTERNAL Settables integer_settables(const Instance *s);
INTERNAL Settables boolean_settables(const Instance *s);
INTERNAL Settables string_settables(const Instance *s);

/* Position of a value reference in the table, or -1: setting it makes no sense. */
INTERNAL int find_settable(const Settables *table, unsigned reference);

/* Why a variable cannot be set now, as a log line; STATUS_OK if it can. */
INTERNAL Status check_settable(Instance *s, const char *function, const Settables *table, unsigned reference);

/* Why a variable cannot be set to this value, as a log line; STATUS_OK if it can. */
INTERNAL Status check_value(Instance *s, const char *function, const Settables *table, unsigned reference,
                            double value);

/* Inputs act from the next step on, in event mode and in model exchange at once; so do tunable parameters. */
INTERNAL void set_value(Instance *s, const Settables *table, unsigned reference, double value);

#endif
