/* The one translation unit of a native FMU.

   Everything but the FMI functions is static: the library exports fmi2 symbols only, and the compiler sees through all
   calls. model.h, equations.c and tapes.c are written for each model; the other parts are the same in every FMU. */

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"

/* Newer C libraries have newer versions of these functions; the first ones are in all that are in use. Asking for them
   takes a linker that is given the math library. */
#if defined PORTABLE && defined __x86_64__ && defined __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 29)
__asm__(".symver exp, exp@GLIBC_2.2.5");
__asm__(".symver log, log@GLIBC_2.2.5");
__asm__(".symver pow, pow@GLIBC_2.2.5");
#endif
#if __GLIBC_PREREQ(2, 35)
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
#endif
#if __GLIBC_PREREQ(2, 38)
__asm__(".symver fmod, fmod@GLIBC_2.2.5");
#endif
#endif

#include "model.h"

#define CASADI_CODEGEN_PREFIX
#define CODEGEN_PREFIX mbfmu_
#define CASADI_SYMBOL_EXPORT static
#include "equations.c"

#include "tape.c"
#include "tapes.c"

#include "runtime.h"

#include "log.c"
#include "linear.c"
#include "evaluate.c"
#include "project.c"
#include "switches.c"
#include "initialise.c"
#include "singular.c"
#include "dense.c"
#include "explicit.c"
#include "implicit.c"
#include "integrator.c"
#include "fixed_step.c"
#include "advance.c"
#include "values.c"
#include "instance.c"
#include "access.c"
#include "directional.c"
#include "saved_state.c"
#include "cosimulation.c"
#include "model_exchange.c"
