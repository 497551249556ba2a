/* Projection of states onto the constraints: positions in the least norm of displacements, then speeds. */

static void normalise_quaternions(const Instance *s, double *q)
{
    for (int i = 0; i < NQUATERNIONS; ++i) {
        double *Q = q + s->tables->quaternions[i];
        double scale = 1 / sqrt(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
        for (int j = 0; j < 4; ++j) Q[j] *= scale;
    }
}

/* Keep the constraint that is met least as the cause. The first velocity rows belong to the position rows. */
static void explain_unmet(Instance *s, const double *residuals, int n)
{
    int worst = 0;
    for (int i = 1; i < n; ++i) if (!(fabs(residuals[i]) <= fabs(residuals[worst]))) worst = i;
    because(s, "the constraint '%s' cannot be met, it is off by %.3g: the mechanism may have reached a position where it "
            "locks or comes apart", s->tables->velocity_names[worst], residuals[worst]);
}

static Outcome project(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 10, PATIENCE = 4 };
    normalise_quaternions(s, x);
    if (!CONSTRAINED) return finite_all(x, NX) ? DONE : NOT_FINITE;
    const double *u = inputs_at(s, t);
    LeastNorm *f = &s->projection;
    double *v = x + NQ, last = INFINITY;
    int factorised = 0;
    for (int iteration = 0;; ++iteration) {
        if (eval_constraints(s, t, x, u, m, s->g, s->c, s->G)) return NOT_FINITE;
        double scale = 1 + largest(x, NQ), worst = largest(s->g, NG);
        if (worst <= 1e-14 * scale || (worst <= 1e-11 * scale && worst > 0.25 * last)) break;
        if (!(worst < 1e300) || iteration == ITERATIONS) {
            explain_unmet(s, s->g, NG);
            return NOT_PROJECTED;
        }
        /* The matrix changes little: factorise again only where the first one does not do, or not soon enough. */
        if (!factorised || worst > 0.1 * last || iteration >= PATIENCE) {
            least_norm_factorise(f, NG, s->G, NL);
            factorised = 1;
        }
        last = worst;
        least_norm_step(f, s->g, s->dv);
        eval_displacement(s, t, x, s->dv, s->dq);
        for (int i = 0; i < NQ; ++i) x[i] += s->dq[i];
        normalise_quaternions(s, x);
    }
    /* Velocity residuals are linear in v: a factorisation of slightly different positions converges quickly too. */
    if (NG < NL || !factorised) least_norm_factorise(f, NL, s->G, NL);
    last = INFINITY;
    for (int iteration = 0;; ++iteration) {
        double scale = 1 + largest(v, NV), worst = largest(s->c, NL);
        if (worst <= 1e-14 * scale || (worst <= 1e-9 * scale && worst > 0.25 * last)) break;
        if (!(worst < 1e300) || iteration == ITERATIONS) {
            explain_unmet(s, s->c, NL);
            return NOT_PROJECTED;
        }
        if (worst > 0.1 * last || iteration >= PATIENCE) least_norm_factorise(f, NL, s->G, NL);
        last = worst;
        least_norm_step(f, s->c, s->dv);
        for (int j = 0; j < NV; ++j) {
            v[j] += s->dv[j];
            for (int i = 0; i < NL; ++i) s->c[i] += s->G[i + j * NL] * s->dv[j];
        }
    }
    return finite_all(x, NX) ? DONE : NOT_FINITE;
}

/* Move x close to the constraints along the directions in which constraint forces accelerate: [dv; impulses] =
   A^-1 [0; -residuals], with the factors of A that the last accelerations left. */
static Outcome project_along_forces(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 2 };
    double *w = s->stage_w, last = INFINITY;
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        if (eval_constraints(s, t, x, inputs_at(s, t), m, s->g, s->c, s->G)) return NOT_FINITE;
        double worst = largest(s->g, NG);
        if (!(worst < last)) break;
        last = worst;
        for (int i = 0; i < NW; ++i) w[i] = i < NV || i >= NV + NG ? 0 : -s->g[i - NV];
        substitute_blocks(s, w);
        eval_displacement(s, t, x, w, s->dq);
        for (int i = 0; i < NQ; ++i) x[i] += s->dq[i];
        normalise_quaternions(s, x);
    }
    last = INFINITY;
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        if (eval_constraints(s, t, x, inputs_at(s, t), m, s->g, s->c, s->G)) return NOT_FINITE;
        double worst = largest(s->c, NL);
        if (!(worst < last)) break;
        last = worst;
        for (int i = 0; i < NW; ++i) w[i] = i < NV ? 0 : -s->c[i - NV];
        substitute_blocks(s, w);
        for (int i = 0; i < NV; ++i) x[NQ + i] += w[i];
    }
    return DONE;
}

/* How far the factorised rows are from being dependent: the least of what each adds to the others, as a fraction of the
   most. `weakest` becomes the row that adds least. */
static double regularity(const LeastNorm *f, int *weakest)
{
    double least = INFINITY, most = 0;
    if (f->rank < f->rows) {
        *weakest = f->pivot[f->rank];
        return 0;
    }
    for (int k = 0; k < f->rows; ++k) {
        double added = fabs(f->qr[(size_t)k * f->cols + k]) / f->scale[f->pivot[k]];
        if (added < least) {
            least = added;
            *weakest = f->pivot[k];
        }
        most = fmax(most, added);
    }
    return least / most;
}

/* The same for all constraints at (t, x). */
static double regularity_at(Instance *s, double t, const double *x, const double *m, int *weakest)
{
    *weakest = 0;
    if (eval_constraints(s, t, x, inputs_at(s, t), m, s->g, s->c, s->G)) return INFINITY;
    least_norm_factorise(&s->projection, NL, s->G, NL);
    return regularity(&s->projection, weakest);
}
