/* How C compilers are told what shall be small and what quick. */

#ifndef OPTIMIZE_H
#define OPTIMIZE_H

/* What lies between these two is called a few times in a run, and made small; it is no part of any loop. Where nothing
   is optimised (-O0: debuggers, sanitizers), this is not, either: compilers take three times as long for it. */
#if !defined __OPTIMIZE__
#define SMALL
#define QUICK
#elif defined __clang__
#define SMALL _Pragma("clang attribute push (__attribute__((minsize)), apply_to = function)")
#define QUICK _Pragma("clang attribute pop")
#elif defined __GNUC__
#define SMALL _Pragma("GCC push_options") _Pragma("GCC optimize (\"Os\")")
#define QUICK _Pragma("GCC pop_options")
#else
#define SMALL
#define QUICK
#endif

/* A function with loops that are as quick wherever the rest of the library puts it. */
#ifdef __GNUC__
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif

/* A function that is worth a copy of its code for each constant that it is called with, and a loop over a few
   constants. */
#if defined __GNUC__
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif
#if defined __GNUC__ && !defined __clang__
#define UNROLL_8 _Pragma("GCC unroll 8")
#else
#define UNROLL_8
#endif

#endif
