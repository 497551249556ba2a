/* Calls of the model's functions, and the right-hand side made from them. Each returns 0 where CasADi reports success. */

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

static int eval_redundant(Instance *s, double t, const double *x, double *e)
{
    const double *arg[ARG_REDUNDANT] = {&t, x, s->now.P};
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

/* Solve A w = b, block by block. */
static Outcome accelerations(Instance *s, double t, const double *x, const double *u, const double *m, double *w)
{
#if NV + NL > 0
    if (eval_dynamics(s, t, x, u, m, s->A, w)) return NOT_FINITE;
#if EXPLICIT
    /* The recursion for trees has solved it already. */
#elif ONE_BLOCK
    if (!lu_solve(NW, s->A, w)) return finite_all(s->A, NW * NW) ? SINGULAR : NOT_FINITE;
#else
    for (int block = 0; block < NBLOCKS; ++block) {
        const int *rows = block_rows + block_starts[block];
        int n = block_starts[block + 1] - block_starts[block];
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i) s->block[i + j * n] = s->A[rows[i] + rows[j] * NW];
            s->block_b[j] = w[rows[j]];
        }
        if (!lu_solve(n, s->block, s->block_b)) return finite_all(s->A, NW * NW) ? SINGULAR : NOT_FINITE;
        for (int j = 0; j < n; ++j) w[rows[j]] = s->block_b[j];
    }
#endif
    if (!finite_all(w, NW)) return NOT_FINITE;
#else
    (void)s, (void)t, (void)x, (void)u, (void)m, (void)w;
#endif
    return DONE;
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
