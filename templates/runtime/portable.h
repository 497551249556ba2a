/* What every file of a library begins with. */

#ifndef PORTABLE_H
#define PORTABLE_H

#include <math.h>

/* Processors that multiply and add at once round once in place of twice: where sources are compiled by others, the bits
   shall be those of the libraries, too. gcc takes C99 to mean that, and does not know the word. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

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

/* Names that the objects of a library share, and nobody else sees. */
#if defined __GNUC__ && !defined _WIN32
#define SHARED __attribute__((visibility("hidden")))
#else
#define SHARED
#endif

/* Functions of one file that others call, and data. Each file can be compiled alone: then they are names that the
   objects of a library share. runtime.c includes all of them as one unit: there they are static, so that the compiler
   inlines what is called once and leaves out what a model does not need. */
#ifndef INTERNAL
#define INTERNAL SHARED
#define INTERNAL_DATA extern SHARED
#endif

#endif
