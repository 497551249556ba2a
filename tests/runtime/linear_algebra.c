/* The runtime's linear algebra as functions that can be called from Python. */

#include "runtime.c"

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* Solve A x = b; returns n, or the column that depends on those before it. b becomes x. */
EXPORT int solve(int n, double *A, double *b, int *pivots, double *scratch)
{
    int rank = lu_factorise(n, A, pivots, scratch);
    if (rank == n) lu_substitute(n, A, pivots, b);
    return rank;
}

/* x of least norm among those that minimise |A x + b|; returns the rank of A, -1 without memory. */
EXPORT int least_norm(int rows, int cols, const double *A, const double *b, double *x)
{
    LeastNorm f;
    int most = rows > cols ? rows : cols;
    size_t n = (size_t)most * (size_t)most + 1;
    int *pivot = calloc(n, sizeof *pivot);
    double *memory = calloc(6 * n, sizeof *memory);
    f.cols = cols;
    f.pivot = pivot;
    f.sizes = NULL;
    f.longest = 0;
    f.scale = memory;
    f.qr = memory + n;
    f.tau = memory + 2 * n;
    f.lower = memory + 3 * n;
    f.lower_tau = memory + 4 * n;
    f.work = memory + 5 * n;
    if (!pivot || !memory) return -1;
    least_norm_factorise(&f, rows, rows, A, rows);
    least_norm_step(&f, b, x);
    free(pivot);
    free(memory);
    return f.rank;
}
