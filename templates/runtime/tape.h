/* Functions as tables of instructions. */

#ifndef TAPE_H
#define TAPE_H

#include "runtime.h"

enum {
    RUN_MULADD = TAPE_OPERATIONS,   /* a * b + c */
    RUN_MULSUB,                     /* a * b - c */
    RUN_SUBMUL,                     /* c - a * b */
    RUN_ADDADD,                     /* c + a * b + d * e */
    RUN_ADDSUB,                     /* c + a * b - d * e */
    RUN_SUBADD,                     /* c - a * b + d * e */
    RUN_SUBSUB,                     /* c - a * b - d * e */
    RUN_MULADDMUL,                  /* a * b + c * d */
    RUN_MULSUBMUL,                  /* a * b - c * d */
    RUN_MULSUBMULADD,               /* a * b - c * d + e */
    RUN_DOT,                        /* a * b + c * d + e * f */
    RUN_DOTADD,                     /* a * b + c * d + e * f + g */
    RUN_SUM,                        /* a + b + c */
    RUN_KEEP,                       /* an early result, where it stays */
    RUN_SINCOS,                     /* sin(a) and, beside it, cos(a) */
    RUN_WITH_SINE,                  /* a cosine that RUN_SINCOS has: it does not stand in runs */
    RUN_END,
    RUN_OPERATIONS
};

/* What a function has: constants, lengths of its arguments and results; and which argument are the parameters, or -1. */
typedef struct {
    unsigned nconstants;
    int narguments, nresults, parameters;
    int is_called;                  /* by other tapes: one argument and one result, and nothing is early */
    size_t arguments[MOST_ARGUMENTS], results[MOST_RESULTS];
} Shape;

/* Make the runs of a plain tape of n instructions in `size` bytes. Returns NULL, or what is wrong. */
INTERNAL const char *tape_load(Model *model, Tape *tape, const unsigned char *plain, size_t size, size_t n,
                               const double *constants, const Shape *shape);

/* What the operations of runs do: number of operands, and the result from the operands a, b, c ... in their order.
   RUN are those of arithmetic, which vectors have as numbers do; FUNCTION the others. The interpreters share it. */
#define RUNS \
    RUN(RUN_KEEP, 1, a) \
    RUN(RUN_MULADD, 3, a * b + c) \
    RUN(RUN_MULSUB, 3, a * b - c) \
    RUN(RUN_SUBMUL, 3, c - a * b) \
    RUN(RUN_ADDADD, 5, c + a * b + d * e) \
    RUN(RUN_ADDSUB, 5, c + a * b - d * e) \
    RUN(RUN_SUBADD, 5, c - a * b + d * e) \
    RUN(RUN_SUBSUB, 5, c - a * b - d * e) \
    RUN(RUN_MULADDMUL, 4, a * b + c * d) \
    RUN(RUN_MULSUBMUL, 4, a * b - c * d) \
    RUN(RUN_MULSUBMULADD, 5, a * b - c * d + e) \
    RUN(RUN_DOT, 6, a * b + c * d + e * f) \
    RUN(RUN_DOTADD, 7, a * b + c * d + e * f + g) \
    RUN(RUN_SUM, 3, a + b + c) \
    TAPE_RUNS

/* Evaluate a function. In front of `work` stand early results; `prepared` says that they belong to the parameters. */
INTERNAL int run_tape(const Model *model, const Tape *tape, const double **arg, double **res, double *work,
                      char *prepared);

/* Compiled functions may come while others use the model. */
#ifdef __GNUC__
static inline Compiled *compiled_of(Compiled *const *place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
#else
static inline Compiled *compiled_of(Compiled *const *place) { return *place; }
#endif

#endif
