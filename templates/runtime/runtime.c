/* The runtime: integration, events, initialisation and projection of any model that a descriptor tells, behind an
   interface that belongs to no version of FMI.

   It is compiled in two ways, as one translation unit. library.c serves every model: sizes are read from the
   descriptor, functions are tapes. fmu.c is the library of one model: model.h has its sizes as constants and says which of
   its functions are compiled, so that the compiler sees through all calls. Everything is static: a library exports the
   functions of FMI only, and those of host.c. */

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portable.h"

/* In the library of one model, its sizes are known here. */
#ifdef COMPILED_WORK
#define LARGE_MATRICES (NW > 8 || NQ + NV + NZ > 8)
#else
#define COMPILED_WORK 0
#define LARGE_MATRICES 1
#endif

/* The factors of a sparse A: there it may be written out how they are made. */
#ifdef WRITTEN_OUT
#define NFACTORS WRITTEN_OUT
#else
#define NFACTORS ((size_t)s->model->elimination.starts[NSYSTEM])
#endif

#include "optimize.h"
#include "runtime.h"

SMALL
#include "memory.c"
QUICK
#include "tape.c"
#include "linear.c"
#ifdef WRITTEN_OUT
#include "elimination.h"
#else
#include "sparse.c"
#endif
SMALL
#include "descriptor.c"
#include "log.c"
QUICK
#include "calls.h"
#include "functions.c"
#include "redundancy.c"
#include "evaluate.c"
SMALL
#include "iterate.c"
QUICK
#include "project.c"
SMALL
#include "switches.c"
#include "parts.c"
#include "initialise.c"
#include "singular.c"
#include "passing.c"
#include "choices.c"
#include "dense.c"
QUICK
#include "explicit.c"
#include "order8.c"
SMALL
#include "history.c"
#include "implicit.c"
#include "enclose.c"
#include "integrator.c"
#include "fixed_step.c"
#include "advance.c"
#include "instance.c"
#include "values.c"
#include "access.c"
#include "directional.c"
#include "saved_state.c"
#include "cosimulation.c"
#include "model_exchange.c"
QUICK
