/* The runtime: integration, events, initialisation and projection of any model that a descriptor tells, behind an
   interface that belongs to no version of FMI.

   It is compiled in two ways, as one translation unit each. library.c serves every model: sizes are read from the
   descriptor, functions are tapes. fmu.c is the library of one model: model.h has its sizes as constants and says which of
   its functions are compiled, so that the compiler sees through all calls. Everything is static: a library exports the
   functions of FMI only, and those of host.c. */

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#ifndef COMPILED_WORK
#define COMPILED_WORK 0
#define COMPILED_INTEGERS 0
#endif

/* What lies between these two is called a few times in a run, and made small; it is no part of any loop. */
#if defined __clang__
#define SMALL _Pragma("clang attribute push (__attribute__((minsize)), apply_to = function)")
#define QUICK _Pragma("clang attribute pop")
#elif defined __GNUC__
#define SMALL _Pragma("GCC push_options") _Pragma("GCC optimize (\"Os\")")
#define QUICK _Pragma("GCC pop_options")
#else
#define SMALL
#define QUICK
#endif

#include "runtime.h"

SMALL
#include "memory.c"
QUICK
#include "tape.c"
#include "sparse.c"
SMALL
#include "descriptor.c"
#include "log.c"
QUICK
#include "linear.c"
#include "calls.h"
#include "functions.c"
#include "evaluate.c"
#include "project.c"
#include "switches.c"
#include "initialise.c"
#include "singular.c"
#include "passing.c"
#include "choices.c"
#include "dense.c"
#include "explicit.c"
#include "order8.c"
#include "history.c"
#include "implicit.c"
#include "integrator.c"
#include "fixed_step.c"
#include "advance.c"
SMALL
#include "instance.c"
QUICK
#include "values.c"
#include "access.c"
SMALL
#include "directional.c"
#include "saved_state.c"
QUICK
#include "cosimulation.c"
#include "model_exchange.c"
