/* Dense linear algebra, column-major: LU with partial pivoting, and least-norm least-squares solutions. */

#include "linear.h"

#include "optimize.h"
#include "vectors.h"

/* The factorisation is most of the time where a mechanism has loops: gcc is to vectorise it, which it does not do by
   itself at the levels that equations are compiled with. Small matrices gain from copies for their sizes alone. */
#if !defined __GNUC__ || defined __clang__ || !defined __OPTIMIZE__
#define INNERMOST
#elif defined WRITTEN_OUT
#define INNERMOST __attribute__((noclone)) /* A is factorised by what is written out */
#elif LARGE_MATRICES
#define INNERMOST __attribute__((optimize("O3")))
#else
#define INNERMOST __attribute__((optimize("O3", "no-tree-vectorize")))
#endif

ALIGNED INNERMOST INTERNAL int lu_factorise(int n, double *A, int *pivots, double *before)
{
    for (int k = 0; k < n; ++k) {
        const double *column = A + (size_t)k * n;
        before[k] = 0;
        for (int i = 0; i < n; ++i) before[k] = fabs(column[i]) > before[k] ? fabs(column[i]) : before[k];
    }
    for (int k = 0; k < n; ++k) {
        double *column = A + (size_t)k * n, most = 0;
        int pivot = k;
        for (int i = k; i < n; ++i)
            if (fabs(column[i]) > most) {
                most = fabs(column[i]);
                pivot = i;
            }
        if (!(most > PIVOT_ROUNDING * before[k]) || !(most <= IMMENSE)) return k;
        pivots[k] = pivot;
        if (pivot != k) {
            /* Rows of all columns, so that the factors are in pivoted order. */
            for (int j = 0; j < n; ++j) {
                double swap = A[k + (size_t)j * n];
                A[k + (size_t)j * n] = A[pivot + (size_t)j * n];
                A[pivot + (size_t)j * n] = swap;
            }
        }
        double reciprocal = column[k] = 1 / column[k];
        for (int i = k + 1; i < n; ++i) column[i] *= reciprocal;
        for (int j = k + 1; j < n; ++j) {
            double *restrict other = A + (size_t)j * n, factor = other[k];
            if (factor != 0)
                for (int i = k + 1; i < n; ++i) other[i] -= column[i] * factor;
        }
    }
    return n;
}

ALIGNED INTERNAL void lu_substitute(int n, const double *restrict A, const int *restrict pivots, double *restrict b)
{
    for (int k = 0; k < n; ++k) {
        double swap = b[k];
        b[k] = b[pivots[k]];
        b[pivots[k]] = swap;
    }
    for (int k = 0; k < n; ++k) {
        const double *column = A + (size_t)k * n;
        double factor = b[k];
        for (int i = k + 1; i < n; ++i) b[i] -= column[i] * factor;
    }
    for (int k = n - 1; k >= 0; --k) {
        const double *column = A + (size_t)k * n;
        double factor = b[k] *= column[k];
        for (int i = 0; i < k; ++i) b[i] -= column[i] * factor;
    }
}

/* One Householder reflection that maps column[0..n) to a multiple of the first unit vector. The vector is kept in
   place of column[1..n) with a leading 1 implied; returns its factor tau. */
static double reflect(int n, double *column)
{
    double scale = largest(column, n), norm = 0;
    if (scale == 0) return 0;
    for (int i = 0; i < n; ++i) norm += (column[i] / scale) * (column[i] / scale);
    norm = scale * sqrt(norm);
    double alpha = column[0], beta = alpha > 0 ? -norm : norm;
    double tau = (beta - alpha) / beta;
    for (int i = 1; i < n; ++i) column[i] /= alpha - beta;
    column[0] = beta;
    return tau;
}

static void apply_reflection(int n, const double *vector, double tau, double *to)
{
    double sum = to[0];
    for (int i = 1; i < n; ++i) sum += vector[i] * to[i];
    sum *= tau;
    to[0] -= sum;
    for (int i = 1; i < n; ++i) to[i] -= vector[i] * sum;
}

INTERNAL void least_norm_factorise(LeastNorm *f, int rows, int most_rank, const double *A, int stride)
{
    int n = f->cols;
    double longest = f->longest;
    int nothing = rows, used = 0;
    f->rows = rows;
    f->rank = 0;
    for (int i = 0; i < rows; ++i) f->scale[i] = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < rows; ++i) f->scale[i] += A[i + (size_t)j * stride] * A[i + (size_t)j * stride];
    for (int i = 0; i < rows; ++i) {
        f->scale[i] = sqrt(f->scale[i]);
        longest = fmax(longest, f->scale[i]);
    }
    for (int i = 0; i < rows; ++i) {
        if (f->scale[i] <= 1e-14 * longest) {
            f->pivot[--nothing] = i;
            f->scale[i] = 0;
            continue;
        }
        double *column = f->qr + (size_t)used * n;
        f->scale[i] = 1 / (f->sizes ? f->sizes[i] : f->scale[i]);
        for (int j = 0; j < n; ++j) column[j] = A[i + (size_t)j * stride] * f->scale[i];
        f->pivot[used++] = i;
    }
    f->used = rows = used;
    /* Squares of what is left of the rows, and what they were when they were last summed: far below, little is right. */
    double *left = f->work, *summed = f->lower_tau;
    for (int i = 0; i < rows; ++i) left[i] = summed[i] = f->sizes ? 0 : 1; /* 0: sum them */
    for (int k = 0; k < rows && k < n && k < most_rank; ++k) {
        double most = -1;
        int best = k;
        for (int i = k; i < rows; ++i) {
            const double *column = f->qr + (size_t)i * n;
            if (!(left[i] > 1e-6 * summed[i])) {
                double norm = 0;
                for (int j = k; j < n; ++j) norm += column[j] * column[j];
                left[i] = summed[i] = norm;
            }
            if (left[i] > most) {
                most = left[i];
                best = i;
            }
        }
        if (!(most > 1e-20)) break;
        if (best != k) {
            for (int j = 0; j < n; ++j) {
                double swap = f->qr[(size_t)best * n + j];
                f->qr[(size_t)best * n + j] = f->qr[(size_t)k * n + j];
                f->qr[(size_t)k * n + j] = swap;
            }
            int swap = f->pivot[best];
            f->pivot[best] = f->pivot[k];
            f->pivot[k] = swap;
            left[best] = left[k];
            summed[best] = summed[k];
        }
        double *vector = f->qr + (size_t)k * n + k;
        f->tau[k] = reflect(n - k, vector);
        for (int i = k + 1; i < rows; ++i) {
            double *column = f->qr + (size_t)i * n + k;
            apply_reflection(n - k, vector, f->tau[k], column);
            left[i] -= column[0] * column[0];
        }
        f->rank = k + 1;
    }
    if (f->rank < rows) {
        for (int k = 0; k < f->rank; ++k)
            for (int i = 0; i < rows; ++i) f->lower[(size_t)k * rows + i] = i < k ? 0 : f->qr[(size_t)i * n + k];
        for (int k = 0; k < f->rank; ++k) {
            double *vector = f->lower + (size_t)k * rows + k;
            f->lower_tau[k] = reflect(rows - k, vector);
            for (int i = k + 1; i < f->rank; ++i)
                apply_reflection(rows - k, vector, f->lower_tau[k], f->lower + (size_t)i * rows + k);
        }
    }
}

INTERNAL void least_norm_step(LeastNorm *f, const double *b, double *x)
{
    int n = f->cols, rows = f->used, rank = f->rank;
    double *z = f->work;
    for (int i = 0; i < rows; ++i) z[i] = -b[f->pivot[i]] * f->scale[f->pivot[i]];
    if (rank == rows) {
        for (int i = 0; i < rank; ++i) {
            const double *row = f->qr + (size_t)i * n;
            for (int k = 0; k < i; ++k) z[i] -= row[k] * z[k];
            z[i] /= row[i];
        }
    } else {
        for (int k = 0; k < rank; ++k)
            apply_reflection(rows - k, f->lower + (size_t)k * rows + k, f->lower_tau[k], z + k);
        for (int k = rank - 1; k >= 0; --k) {
            z[k] /= f->lower[(size_t)k * rows + k];
            for (int i = 0; i < k; ++i) z[i] -= f->lower[(size_t)k * rows + i] * z[k];
        }
    }
    for (int j = 0; j < n; ++j) x[j] = j < rank ? z[j] : 0;
    for (int k = rank - 1; k >= 0; --k) apply_reflection(n - k, f->qr + (size_t)k * n + k, f->tau[k], x + k);
}

INTERNAL double worse(double worst, double residual, double size)
{
    if (fabs(residual) <= worst * size) return worst;
    return size > 0 && size <= IMMENSE ? fabs(residual) / size : INFINITY;
}
