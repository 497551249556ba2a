/* Projection of states onto the constraints: positions in the least norm of displacements, then speeds. In large
   loops the least norm is that of kinetic energy: displacements are along the forces of the constraints, for which the
   factors of A serve, so that no other matrix is needed. */

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

/* Factorise for `constraint_step` at (t, x), where the constraints were evaluated last: the first `rows` of them. */
static Outcome factorise_constraints(Instance *s, double t, const double *x, const double *m, int rows)
{
    if (ALONG_FORCES) return accelerations(s, t, x, inputs_at(s, t, x, m), m, s->projection_w);
    least_norm_factorise(&s->projection, rows, rows - (rows < NL ? NPOSITION_REDUNDANCIES : NREDUNDANCIES), s->G, NL);
    return DONE;
}

/* The displacement dv along which the first `rows` constraints lose these residuals. */
static void constraint_step(Instance *s, const double *residuals, int rows, double *dv)
{
    if (!ALONG_FORCES) {
        least_norm_step(&s->projection, residuals, dv);
        return;
    }
    double *w = s->projection_w;
    for (int i = 0; i < NW; ++i) w[i] = i < NV || i >= NV + rows ? 0 : -residuals[i - NV];
    substitute_blocks(s, w);
    COPY(dv, w, NV);
}

static Outcome project(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 10, PATIENCE = 4 };
    for (int j = 0; j < NV; ++j) s->led[j] = 0;
    normalise_quaternions(s, x);
    if (!CONSTRAINED) return finite_all(x, NX) ? DONE : NOT_FINITE;
    const double *u = constraint_inputs_at(s, t, x, m);
    double *v = x + NQ, last = INFINITY;
    int factorised = ALONG_FORCES && s->factors_time == t; /* at a point close by: it does as a first one */
    for (int iteration = 0;; ++iteration) {
        if (CONSTRAINTS_NEED_S && iteration) u = inputs_at(s, t, x, m);
        if (unsolved(s, u)) return UNSOLVED;
        if (eval_constraints(s, t, x, u, m, s->g, s->c, s->G)) return NOT_FINITE;
        double scale = 1 + largest(x, NQ), worst = largest(s->g, NG);
        if (worst <= 1e-14 * scale || (worst <= 1e-11 * scale && worst > 0.25 * last)) break;
        if (!(worst < 1e300) || iteration == ITERATIONS) {
            explain_unmet(s, s->g, NG);
            return NOT_PROJECTED;
        }
        /* The matrix changes little: factorise again only where the first one does not do, or not soon enough. */
        if (!factorised || worst > 0.1 * last || iteration >= PATIENCE) {
            if (factorise_constraints(s, t, x, m, NG)) return NOT_PROJECTED;
            factorised = 1;
        }
        last = worst;
        constraint_step(s, s->g, NG, s->dv);
        eval_displacement(s, t, x, s->dv, s->dq);
        for (int i = 0; i < NQ; ++i) x[i] += s->dq[i];
        for (int j = 0; j < NV; ++j) s->led[j] += s->dv[j];
        normalise_quaternions(s, x);
    }
    /* Velocity residuals are linear in v: a factorisation of slightly different positions converges quickly too. */
    if (((NG < NL && !ALONG_FORCES) || !factorised) && factorise_constraints(s, t, x, m, NL)) return NOT_PROJECTED;
    last = INFINITY;
    for (int iteration = 0;; ++iteration) {
        double scale = 1 + largest(v, NV), worst = largest(s->c, NL);
        if (worst <= 1e-14 * scale || (worst <= 1e-9 * scale && worst > 0.25 * last)) break;
        if (!(worst < 1e300) || iteration == ITERATIONS) {
            explain_unmet(s, s->c, NL);
            return NOT_PROJECTED;
        }
        if ((worst > 0.1 * last || iteration >= PATIENCE) && factorise_constraints(s, t, x, m, NL)) return NOT_PROJECTED;
        last = worst;
        constraint_step(s, s->c, NL, s->dv);
        for (int j = 0; j < NV; ++j) v[j] += s->dv[j];
        if (ALONG_FORCES) {
            if (eval_constraints(s, t, x, u, m, s->g, s->c, NULL)) return NOT_FINITE;
            continue;
        }
        for (int j = 0; j < NV; ++j)
            for (int i = 0; i < NL; ++i) s->c[i] += s->G[i + j * NL] * s->dv[j];
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
        if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->g, s->c, s->G)) return NOT_FINITE;
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
        if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->g, s->c, s->G)) return NOT_FINITE;
        double worst = largest(s->c, NL);
        if (!(worst < last)) break;
        last = worst;
        for (int i = 0; i < NW; ++i) w[i] = i < NV ? 0 : -s->c[i - NV];
        substitute_blocks(s, w);
        for (int i = 0; i < NV; ++i) x[NQ + i] += w[i];
    }
    return DONE;
}

/* The same where no jacobian is known, from the factors of A: speeds that take away residuals of about 1, of all constraints, are the
   larger the less one of them adds to the others. `weakest` becomes the one on which the greatest impulse acts. */
static double regularity_along_forces(Instance *s, int *weakest)
{
    double *w = s->projection_w;
    *weakest = 0;
    for (int i = 0; i < NW; ++i) w[i] = i < NV ? 0 : (i % 2 ? 1 : -1) * (1 + 0.1 * (i % 7));
    substitute_blocks(s, w);
    for (int i = 1; i < NL; ++i) if (fabs(w[NV + i]) > fabs(w[NV + *weakest])) *weakest = i;
    double most = largest(w, NV);
    return most > 0 && most <= 1e300 ? 1 / most : 0;
}

/* How far the factorised rows are from being dependent: the least of what each adds to the others, as a fraction of the
   most. `weakest` becomes the row that adds least. */
static double regularity(Instance *s, int *weakest)
{
    if (ALONG_FORCES) return regularity_along_forces(s, weakest);
    const LeastNorm *f = &s->projection;
    double least = INFINITY, most = 0;
    int independent = f->rows - (f->rows < NL ? NPOSITION_REDUNDANCIES : NREDUNDANCIES);
    if (f->rank < independent) {
        *weakest = f->pivot[f->rank];
        return 0;
    }
    for (int k = 0; k < independent; ++k) {
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
    if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->g, s->c, s->G)) return INFINITY;
    if (factorise_constraints(s, t, x, m, NL)) return 0;
    return regularity(s, weakest);
}
