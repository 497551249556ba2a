/* The runtime: integration, events, initialisation and projection of any model that a descriptor tells, behind an
   interface that belongs to no version of FMI.

   It is compiled in two ways. The libraries - library.c for every model, where sizes are read from the descriptor and
   functions are tapes, and fmu.c for one model, whose sizes are constants and whose functions may be compiled
   (model.h) - include this file, which includes all others: as one unit, in which everything but the interfaces of
   libraries is static and compilers see through all calls. Each file is also a unit of its own, for editors and for
   builds of many units, and results are the same. */

#define INTERNAL static
#define INTERNAL_DATA static

#include "memory.c"
#include "tape.c"
#include "linear.c"
#include "sparse.c"
#include "descriptor.c"
#include "contract.c"
#include "log.c"
#include "functions.c"
#include "redundancy.c"
#include "evaluate.c"
#include "iterate.c"
#include "project.c"
#include "impacts.c"
#include "switches.c"
#include "parts.c"
#include "initialise.c"
#include "singular.c"
#include "branch_points.c"
#include "undetermined_start.c"
#include "method.c"
#include "dopri5.c"
#include "dop853.c"
#include "history.c"
#include "rodas5p.c"
#include "enclose.c"
#include "passages.c"
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
