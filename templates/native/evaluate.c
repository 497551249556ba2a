/* Calls of the model's functions, and what is made from them: accelerations, the right-hand side, directional
   derivatives. Each call returns 0 where CasADi reports success. */

static int eval_derived(Instance *s)
{
    const double *arg[ARG_DERIVED] = {s->now.P};
    double *res[RES_DERIVED] = {s->now.P + NPAR};
    return CALL_DERIVED(arg, res, s->iw, s->work, 0);
}

static int eval_guess(Instance *s, double *X)
{
    const double *arg[ARG_GUESS] = {s->now.P};
    double *res[RES_GUESS] = {X};
    return CALL_GUESS(arg, res, s->iw, s->work, 0);
}

static int eval_initial(Instance *s, double t, const double *X, const double *u, const double *m, double *r, double *J)
{
    const double *arg[ARG_INITIAL] = {&t, X, u, s->now.P, m};
    double *res[RES_INITIAL] = {r, J};
    return CALL_INITIAL(arg, res, s->iw, s->work, 0);
}

static int eval_dynamics(Instance *s, double t, const double *x, const double *u, const double *m, double *A, double *b)
{
    const double *arg[ARG_DYNAMICS] = {&t, x, u, s->now.P, m};
    double *res[RES_DYNAMICS] = {A, b};
    return CALL_DYNAMICS(arg, res, s->iw, s->work, 0);
}

static int eval_derivatives(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                            double *dx)
{
    const double *arg[ARG_DERIVATIVES] = {&t, x, u, s->now.P, m, w};
    double *res[RES_DERIVATIVES] = {dx};
    return CALL_DERIVATIVES(arg, res, s->iw, s->work, 0);
}

static int eval_displacement(Instance *s, double t, const double *x, const double *dv, double *dq)
{
    const double *arg[ARG_DISPLACEMENT] = {&t, x, s->now.P, dv};
    double *res[RES_DISPLACEMENT] = {dq};
    return CALL_DISPLACEMENT(arg, res, s->iw, s->work, 0);
}

static int eval_constraints(Instance *s, double t, const double *x, const double *u, const double *m, double *g,
                            double *c, double *G)
{
    const double *arg[ARG_CONSTRAINTS] = {&t, x, u, s->now.P, m};
    double *res[RES_CONSTRAINTS] = {g, c, G};
    return CALL_CONSTRAINTS(arg, res, s->iw, s->work, 0);
}

static int eval_redundant(Instance *s, double t, const double *x, const double *u, const double *m, double *e)
{
    const double *arg[ARG_REDUNDANT] = {&t, x, u, s->now.P, m};
    double *res[RES_REDUNDANT] = {e};
    return CALL_REDUNDANT(arg, res, s->iw, s->work, 0);
}

static int eval_times(Instance *s)
{
    const double *arg[ARG_TIMES] = {s->now.P};
    double *res[RES_TIMES] = {s->now.times};
    return CALL_TIMES(arg, res, s->iw, s->work, 0);
}

static int eval_crossings(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                          double *c)
{
    const double *arg[ARG_CROSSINGS] = {&t, x, u, s->now.P, m, w};
    double *res[RES_CROSSINGS] = {c};
    return CALL_CROSSINGS(arg, res, s->iw, s->work, 0);
}

static int eval_variables(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                          double *y)
{
    const double *arg[ARG_VARIABLES] = {&t, x, u, s->now.P, m, w};
    double *res[RES_VARIABLES] = {y};
    return CALL_VARIABLES(arg, res, s->iw, s->work, 0);
}

static int eval_assertions(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                           double *h)
{
    const double *arg[ARG_ASSERTIONS] = {&t, x, u, s->now.P, m, w};
    double *res[RES_ASSERTIONS] = {h};
    return CALL_ASSERTIONS(arg, res, s->iw, s->work, 0);
}

/* Derived parameters and event instants belong to p: bring them up to date after p changed. */
static void derive(Instance *s)
{
    if (ND) eval_derived(s);
    if (NT) eval_times(s);
}

/* Inputs at time t: as set, or continued by their derivatives. */
static const double *inputs_at(Instance *s, double t)
{
    if (!s->now.ramps) return s->now.u;
    for (int i = 0; i < NU; ++i) s->u_now[i] = s->now.u[i] + s->now.du[i] * (t - s->now.u_time);
    return s->u_now;
}

/* Solve for w with the factors of A, block by block: w holds the right side before. */
static void substitute_blocks(Instance *s, double *w)
{
#if NV + NL == 0 || EXPLICIT
    /* Nothing to solve, or the recursion for trees has solved it already. */
    (void)s, (void)w;
#elif ONE_BLOCK
    lu_substitute(NW, s->A, s->pivots, w);
#else
    const double *factors = s->factors;
    for (int block = 0; block < NBLOCKS; ++block) {
        const int *rows = block_rows + block_starts[block];
        int n = block_starts[block + 1] - block_starts[block];
        for (int i = 0; i < n; ++i) s->block[i] = w[rows[i]];
        lu_substitute(n, factors, s->pivots + block_starts[block], s->block);
        for (int i = 0; i < n; ++i) w[rows[i]] = s->block[i];
        factors += n * n;
    }
#endif
}

/* Solve A w = b. The factors of A stay until the next call. */
static Outcome accelerations(Instance *s, double t, const double *x, const double *u, const double *m, double *w)
{
#if NV + NL > 0
    if (eval_dynamics(s, t, x, u, m, s->A, w)) return NOT_FINITE;
#if EXPLICIT
    /* w it is. */
#elif ONE_BLOCK
    if (!lu_factorise(NW, s->A, s->pivots)) return finite_all(s->A, NW * NW) ? SINGULAR : NOT_FINITE;
#else
    double *factors = s->factors;
    for (int block = 0; block < NBLOCKS; ++block) {
        const int *rows = block_rows + block_starts[block];
        int n = block_starts[block + 1] - block_starts[block];
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) factors[i + j * n] = s->A[rows[i] + rows[j] * NW];
        if (!lu_factorise(n, factors, s->pivots + block_starts[block]))
            return finite_all(s->A, NW * NW) ? SINGULAR : NOT_FINITE;
        factors += n * n;
    }
#endif
    substitute_blocks(s, w);
    if (!finite_all(w, NW)) return NOT_FINITE;
#else
    (void)s, (void)t, (void)x, (void)u, (void)m, (void)w;
#endif
    return DONE;
}

#if DIFFERENCES
/* Change of w with (t, x, u) in a direction, by central differences. */
static Outcome difference(Instance *s, double t, const double *x, const double *u, const double *m,
                          const Direction *along, double *dw)
{
    double size = fmax(1, fmax(largest(x, NX), largest(u, NU)));
    double far = fmax(fabs(along->t), fmax(largest(along->x, NX), largest(along->u, NU)));
    for (int i = 0; i < NW; ++i) dw[i] = 0;
    if (!(far > 0)) return DONE;
    double distance = 6e-6 * size / far;
    for (int sign = 1; sign >= -1; sign -= 2) {
        double step = sign * distance;
        for (int i = 0; i < NX; ++i) s->moved.x[i] = x[i] + step * along->x[i];
        for (int i = 0; i < NU; ++i) s->moved.u[i] = u[i] + step * along->u[i];
        Outcome outcome = accelerations(s, t + step * along->t, s->moved.x, s->moved.u, m, s->moved_w);
        if (outcome) return outcome;
        for (int i = 0; i < NW; ++i) dw[i] += s->moved_w[i] / (2 * step);
    }
    return DONE;
}
#endif

/* Change of w and of dx/dt with (t, x, u) in a direction, where `accelerations` was called last for this point. */
static int direction(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                     const Direction *along, double *dw, double *change)
{
#if DIFFERENCES
    if (difference(s, t, x, u, m, along, dw)) return 1;
#elif NV + NL > 0
    const double *from[ARG_DYNAMICS_TANGENT] = {&t, x, u, s->now.P, m, w, &along->t, along->x, along->u};
    double *to[RES_DYNAMICS_TANGENT] = {dw};
    if (CALL_DYNAMICS_TANGENT(from, to, s->iw, s->work, 0)) return 1;
    substitute_blocks(s, dw);
#endif
    const double *arg[ARG_DERIVATIVES_TANGENT] = {&t, x, u, s->now.P, m, w, &along->t, along->x, along->u, dw};
    double *res[RES_DERIVATIVES_TANGENT] = {change};
    return NX && CALL_DERIVATIVES_TANGENT(arg, res, s->iw, s->work, 0);
}

/* The same for the exposed variables; dw is that of `direction`. */
static int exposed_direction(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                             const Direction *along, const double *dw, double *dy)
{
    const double *arg[ARG_EXPOSED_TANGENT] = {&t, x, u, s->now.P, m, w, &along->t, along->x, along->u, dw};
    double *res[RES_EXPOSED_TANGENT] = {dy};
    return NEXPOSED && CALL_EXPOSED_TANGENT(arg, res, s->iw, s->work, 0);
}

static Outcome right_hand_side(Instance *s, double t, const double *x, const double *m, double *w, double *dx)
{
    const double *u = inputs_at(s, t);
    Outcome outcome = accelerations(s, t, x, u, m, w);
    if (outcome) return outcome;
    s->now.evaluations += 1;
    if (NX) {
        if (eval_derivatives(s, t, x, u, m, w, dx) || !finite_all(dx, NX)) return NOT_FINITE;
    }
    return DONE;
}

/* The first assertion that does not hold is kept as the cause. */
static Outcome check_assertions(Instance *s, double t, const double *x, const double *m, const double *w)
{
    if (NH) {
        eval_assertions(s, t, x, inputs_at(s, t), m, w, s->h);
        for (int i = 0; i < NH; ++i)
            if (!(s->h[i] >= 0)) {
                because(s, "assertion violated: %s", assertion_messages[i]);
                return ASSERTION;
            }
    }
    return DONE;
}
