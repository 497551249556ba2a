/* Constraints of which some follow from the others, at each position in another way, as in Bennett's linkage: no choice
   among them stays independent wherever the mechanism goes, so all are kept, and nredundancies says how many are too
   many.

   Their rows G have left null vectors n, n'G = 0: forces along them take each other away. So A = [M B; G 0] leaves
   multipliers open, and has no inverse. K, which projects onto the null vectors, takes the place of the 0: where rows
   contradict each other nowhere, K times the multipliers vanishes, which makes these the ones of least norm (as Udwadia
   and Kalaba, Proceedings of the Royal Society A 439 (1992), 407-410), and leaves accelerations as they are.

   In the stages of a step the constraints are met to its accuracy only, and none of them follows quite from the others.
   Which directions are null is a matter of their number, therefore: those of the least singular values. They change
   smoothly with the position, and so does what integrators see. */

#include "redundancy.h"

#include "vectors.h"

/* Turn the columns of an m x n matrix among each other until they are orthogonal, the longest first: what they span
   stays, their lengths become its singular values (Hestenes, Journal of SIAM 6 (1958), 51-90). */
static void make_orthogonal(int m, int n, double *matrix)
{
    enum { SWEEPS = 30 };
    double whole = 0;
    for (int i = 0; i < m * n; ++i) whole += matrix[i] * matrix[i];
    for (int sweep = 0, turns = 1; turns && sweep < SWEEPS; ++sweep) {
        turns = 0;
        for (int j = 1; j < n; ++j)
            for (int i = 0; i < j; ++i) {
                double *a = matrix + (size_t)i * m, *b = matrix + (size_t)j * m, aa = 0, bb = 0, ab = 0;
                for (int k = 0; k < m; ++k) {
                    aa += a[k] * a[k];
                    bb += b[k] * b[k];
                    ab += a[k] * b[k];
                }
                if (!(fabs(ab) > 1e-15 * sqrt(aa * bb) && fabs(ab) > 1e-30 * whole)) continue;
                double slope = (aa - bb) / (2 * ab), tangent = 1 / (fabs(slope) + sqrt(1 + slope * slope));
                double cosine = 1 / sqrt(1 + tangent * tangent), sine = (slope < 0 ? -tangent : tangent) * cosine;
                for (int k = 0; k < m; ++k) {
                    double turned = cosine * a[k] + sine * b[k];
                    b[k] = cosine * b[k] - sine * a[k];
                    a[k] = turned;
                }
                turns = 1;
            }
    }
    for (int j = 0; j < n; ++j) {
        double most = -1;
        int longest = j;
        for (int i = j; i < n; ++i) {
            double length = 0;
            for (int k = 0; k < m; ++k) length += matrix[k + (size_t)i * m] * matrix[k + (size_t)i * m];
            if (length > most) {
                most = length;
                longest = i;
            }
        }
        for (int k = 0; longest != j && k < m; ++k) {
            double swap = matrix[k + (size_t)j * m];
            matrix[k + (size_t)j * m] = matrix[k + (size_t)longest * m];
            matrix[k + (size_t)longest * m] = swap;
        }
    }
}

/* Where the largest inertia is less, K is no greater: rounding errors would get into accelerations (measured). */
#define LEAST_INERTIA 1e-9

INTERNAL int determine_multipliers(Instance *s)
{
    const double *sizes = s->tables->constraint_sizes;
    double *U = s->constraints.combinations, *A = s->system.A, inertia = LEAST_INERTIA;
    int rank = nl(s->model) - nredundancies(s->model);
    for (int j = 0; j < nv(s->model); ++j) {
        inertia = fmax(inertia, largest(A + (size_t)j * nw(s->model), nv(s->model)));
        for (int i = 0; i < nl(s->model); ++i)
            U[i + j * nl(s->model)] = A[nv(s->model) + i + (size_t)j * nw(s->model)] / sizes[i];
    }
    make_orthogonal(nl(s->model), nv(s->model), U);
    for (int k = 0; k < rank; ++k) {
        double *u = U + (size_t)k * nl(s->model), length = 0;
        for (int i = 0; i < nl(s->model); ++i) length += u[i] * u[i];
        if (!(length > 1e-30)) return 0;
        length = 1 / sqrt(length);
        for (int i = 0; i < nl(s->model); ++i) u[i] *= length;
    }
    for (int j = 0; j < nl(s->model); ++j)
        for (int i = 0; i < nl(s->model); ++i) {
            double projected = i == j;
            for (int k = 0; k < rank; ++k) projected -= U[i + k * nl(s->model)] * U[j + k * nl(s->model)];
            A[nv(s->model) + i + (size_t)(nv(s->model) + j) * nw(s->model)] += sizes[i] * sizes[j]
                * projected / inertia;
        }
    return 1;
}
