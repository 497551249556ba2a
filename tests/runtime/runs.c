/* The runs that a tape becomes when a model is loaded, for tests of their order. */

#include "library.c"

/* Runs of a function that are early (the preparation) or not, one behind the other: operation, vector of an input or
   result or -1, first place, how many numbers follow, and these: operands, or elements. Returns how many there are. */
HOST_EXPORT int runs_of(const Model *model, int function, int early, int *to, int size)
{
    const Tape *tape = model->tapes + function;
    const unsigned *code = early ? tape->preparation : tape->code;
    int used = 0;
    while (*code != RUN_END) {
        unsigned operation = code[0], n = code[1], place = code[2];
        int vector = -1, count;
        code += 3;
        count = operation == TAPE_INPUT || operation == RUN_SINCOS ? (int)n : operation == TAPE_OUTPUT ? 2 * (int)n
              : (int)n * operands_of(operation);
        if (operation == TAPE_INPUT || operation == TAPE_OUTPUT) vector = (int)*code++;
        if (used + 4 + count > size) return -1;
        to[used] = (int)operation;
        to[used + 1] = vector;
        to[used + 2] = (int)place;
        to[used + 3] = count;
        for (int i = 0; i < count; ++i) to[used + 4 + i] = (int)code[i];
        used += 4 + count;
        code += count;
    }
    return used;
}
