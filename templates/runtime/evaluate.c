/* What is made from the model's functions: accelerations, the right-hand side, directional derivatives. */

static void take_delayed(Instance *s, double t, const double *x, const double *m, double *u); /* history.c */

/* Parameters have changed: what depends on them alone is to be evaluated anew. */
static void forget_preparations(Instance *s)
{
    memset(s->prepared, 0, sizeof s->prepared);
    s->iterations.known = 0;
}

/* Derived parameters belong to p: bring them up to date after p changed. */
static void derive(Instance *s)
{
    forget_preparations(s);
    if (ND) eval_derived(s, s->P + NPAR);
}

/* Inputs at time t: as set, or continued by their derivatives; and behind them delayed signals, as they are at (t, x). In
   place of iteration variables there is where they begin. */
static const double *known_inputs_at(Instance *s, double t, const double *x, const double *m)
{
    if (!s->now->ramps && !NDELAYS) return s->u;
    for (int i = 0; i < NINPUTS; ++i) s->u_now[i] = s->now->ramps ? s->u[i] + s->du[i] * (t - s->now->u_time) : s->u[i];
    take_delayed(s, t, x, m, s->u_now);
    if (NITERATIONS) COPY(s->u_now + NU - NITERATIONS, s->u + NU - NITERATIONS, NITERATIONS);
    return s->u_now;
}

/* iterate.c */
static int solve_iterations(Instance *s, double t, const double *x, const double *m, const double *guess, double *u);
static int unsolved(const Instance *s, const double *u);

/* The same, and behind them iteration variables at (t, x): NAN where there is no solution. */
static const double *inputs_at(Instance *s, double t, const double *x, const double *m)
{
    const double *u = known_inputs_at(s, t, x, m);
    if (!NITERATIONS) return u;
    if (u != s->u_now) COPY(s->u_now, u, NU);
    solve_iterations(s, t, x, m, s->u + NU - NITERATIONS, s->u_now);
    return s->u_now;
}

/* What constraints know of them. */
static const double *constraint_inputs_at(Instance *s, double t, const double *x, const double *m)
{
    return (CONSTRAINTS_NEED_S ? inputs_at : known_inputs_at)(s, t, x, m);
}

/* Solve A s = b with the sparse factors, or with the dense ones where the pivots of the order failed. */
static void substitute_sparse(Instance *s, const double *b, double *unknowns)
{
    if (s->repivoted) {
        COPY(unknowns, b, NSYSTEM);
        lu_substitute(NSYSTEM, s->A, s->pivots, unknowns);
    } else {
        sparse_substitute(s, b, unknowns);
    }
}

/* Write the sparse A as a dense matrix. */
static void spread_entries(Instance *s)
{
    const int *rows = s->tables->entry_rows, *columns = s->tables->entry_columns;
    for (size_t i = 0; i < (size_t)NSYSTEM * NSYSTEM; ++i) s->A[i] = 0;
    for (int e = 0; e < NENTRIES; ++e) s->A[rows[e] + (size_t)columns[e] * NSYSTEM] = s->entries[e];
}

/* Factorise the sparse A by partial pivoting, as a dense matrix; 0 where it is singular. */
static int factorise_densely(Instance *s)
{
    spread_entries(s);
    s->repivoted = 1;
    s->open_column = lu_factorise(NSYSTEM, s->A, s->pivots, s->column_norms);
    if (s->open_column == NSYSTEM) return 1;
    if (s->open_column >= NW) s->open_column = -1;
    return 0;
}

/* The backward error that rounding leaves, and what is good enough for a refined solution. Near positions in which branches
   of the motion cross, rounding errors decide where it goes: partial pivoting leaves no more than the first, and in small
   systems, which had that, refining costs little. In large loops it leaves more, up to 1e-12. */
#define MET (ALONG_FORCES ? 1e-13 : 5e-16)
#define MET_REFINED (ALONG_FORCES ? 1e-13 : 4e-15)

/* Solve the sparse A s = b for `load`, along the pivots of the model. What they are worth here the backward error says:
   where it is more than rounding leaves, and refining the solution once does not help, partial pivoting takes over. */
static Outcome solve_sparse(Instance *s)
{
    s->repivoted = 0;
    sparse_factorise(s);
    substitute_sparse(s, s->load, s->unknowns);
    double error = sparse_residual(s, s->residual);
    if (error <= MET) return DONE;
    if (error < 1e-3) {
        substitute_sparse(s, s->residual, s->residual);
        for (int i = 0; i < NSYSTEM; ++i) s->unknowns[i] += s->residual[i];
        for (int k = 0; k < NSYSTEM; ++k) s->solution[k] = s->unknowns[s->tables->pivot_columns[k]];
        if (sparse_residual(s, s->residual) <= MET_REFINED) return DONE;
    }
    if (!finite_all(s->entries, NENTRIES)) return NOT_FINITE;
    if (!factorise_densely(s)) return SINGULAR;
    substitute_sparse(s, s->load, s->unknowns);
    return DONE;
}

/* Solve for w with the factors of A, block by block: w holds the right side before. Where equations are explicit, the
   recursion for trees has solved them already. */
static void substitute_blocks(Instance *s, double *w)
{
    if (EXPLICIT) return;
    if (SPARSE) {
        COPY(s->load, w, NW);
        for (int i = NW; i < NSYSTEM; ++i) s->load[i] = 0;
        substitute_sparse(s, s->load, s->residual);
        COPY(w, s->residual, NW);
        return;
    }
    if (NBLOCKS == 1) {
        lu_substitute(NW, s->A, s->pivots, w);
        return;
    }
    const double *factors = s->factors;
    const int *starts = s->tables->block_starts;
    for (int block = 0; block < NBLOCKS; ++block) {
        const int *rows = s->tables->block_rows + starts[block];
        int n = starts[block + 1] - starts[block];
        for (int i = 0; i < n; ++i) s->block[i] = w[rows[i]];
        lu_substitute(n, factors, s->pivots + starts[block], s->block);
        for (int i = 0; i < n; ++i) w[rows[i]] = s->block[i];
        factors += (size_t)n * n;
    }
}

/* Factorise A, block by block; 0 where it is singular. */
static int factorise_blocks(Instance *s)
{
    if (NBLOCKS == 1) {
        s->open_column = lu_factorise(NW, s->A, s->pivots, s->column_norms);
        return s->open_column == NW;
    }
    double *factors = s->factors;
    const int *starts = s->tables->block_starts;
    for (int block = 0; block < NBLOCKS; ++block) {
        const int *rows = s->tables->block_rows + starts[block];
        int n = starts[block + 1] - starts[block];
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) factors[i + (size_t)j * n] = s->A[rows[i] + (size_t)rows[j] * NW];
        int reached = lu_factorise(n, factors, s->pivots + starts[block], s->column_norms);
        if (reached < n) {
            s->open_column = rows[reached];
            return 0;
        }
        factors += (size_t)n * n;
    }
    return 1;
}

/* Solve A w = b. The factors of A stay until the next call. */
static Outcome accelerations(Instance *s, double t, const double *x, const double *u, const double *m, double *w)
{
    if (unsolved(s, u)) return UNSOLVED;
    if (NW == 0) return DONE;
    s->open_column = -1;
    if (SPARSE) {
        s->factors_time = NAN;
        if (eval_dynamics(s, t, x, u, m, s->entries, s->load)) return NOT_FINITE;
        Outcome outcome = solve_sparse(s);
        if (outcome) return outcome;
        s->factors_time = t;
        COPY(w, s->unknowns, NW);
        return finite_all(w, NW) ? DONE : NOT_FINITE;
    }
    if (eval_dynamics(s, t, x, u, m, s->A, w)) return NOT_FINITE;
    if (!EXPLICIT) {
        if (NREDUNDANCIES && !determine_multipliers(s)) return finite_all(s->A, NW * NW) ? SINGULAR : NOT_FINITE;
        if (!factorise_blocks(s)) return finite_all(s->A, NW * NW) ? SINGULAR : NOT_FINITE;
        substitute_blocks(s, w);
    }
    if (finite_all(w, NW)) return DONE;
    for (s->open_column = 0; fabs(w[s->open_column]) <= 1.7976931348623157e308;) ++s->open_column;
    return NOT_FINITE;
}

static void clear_direction(const Instance *s, Direction *along)
{
    along->t = 0;
    for (int i = 0; i < NX; ++i) along->x[i] = 0;
    for (int i = 0; i < NU; ++i) along->u[i] = 0;
}

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

/* Change of w with (t, x, u) in a direction, where `accelerations` was called last for this point. */
static int acceleration_direction(Instance *s, double t, const double *x, const double *u, const double *m,
                                  const double *w, const Direction *along, double *dw)
{
    if (DIFFERENCES) {
        if (difference(s, t, x, u, m, along, dw)) return 1;
    } else if (SPARSE) {
        if (eval_dynamics_tangent(s, t, x, u, m, s->unknowns, along->t, along->x, along->u, s->load)) return 1;
        substitute_sparse(s, s->load, s->residual);
        COPY(dw, s->residual, NW);
    } else if (NW > 0) {
        if (eval_dynamics_tangent(s, t, x, u, m, w, along->t, along->x, along->u, dw)) return 1;
        substitute_blocks(s, dw);
    }
    return 0;
}

static int iteration_direction(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                               Direction *along); /* iterate.c */

/* Change of iteration variables, into the direction itself, of w and of dx/dt with (t, x, u) in a direction, where
   `accelerations` and then `linearise_iterations` were called last for this point. */
static int direction(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                     Direction *along, double *dw, double *change)
{
    if (NITERATIONS && iteration_direction(s, t, x, u, m, w, along)) return 1;
    if (acceleration_direction(s, t, x, u, m, w, along, dw)) return 1;
    return NX && eval_derivatives_tangent(s, t, x, u, m, w, along->t, along->x, along->u, dw, change);
}

/* The same for the exposed variables; dw is that of `direction`. */
static int exposed_direction(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                             const Direction *along, const double *dw, double *dy)
{
    return NEXPOSED && eval_exposed_tangent(s, t, x, u, m, w, along->t, along->x, along->u, dw, dy);
}

static Outcome right_hand_side(Instance *s, double t, const double *x, const double *m, double *w, double *dx)
{
    const double *u = inputs_at(s, t, x, m);
    Outcome outcome = accelerations(s, t, x, u, m, w);
    if (outcome) return outcome;
    s->now->evaluations += 1;
    if (NX) {
        if (eval_derivatives(s, t, x, u, m, w, dx) || !finite_all(dx, NX)) return NOT_FINITE;
    }
    return DONE;
}

/* Derivatives at the head, where its accelerations are known, s->stage_w: the step from there need not evaluate them. */
static void know_derivatives(Instance *s)
{
    Head *head = &s->now->head;
    const double *u = inputs_at(s, head->end, s->head_x, s->head_m);
    head->k_known = NX > 0 && !eval_derivatives(s, head->end, s->head_x, u, s->head_m, s->stage_w, s->head_k)
        && finite_all(s->head_k, NX);
}

/* Assertions hold to what constraints are met to: a piston at its dead centre may be there, and not beyond by rounding. */
#define ASSERTION_MARGIN 1e-11

/* The first assertion that does not hold is kept as the cause; where only such do not that end the run, it has ended. */
static Outcome check_assertions(Instance *s, double t, const double *x, const double *m, const double *w)
{
    if (NH) {
        const double *u = inputs_at(s, t, x, m);
        if (unsolved(s, u)) return UNSOLVED;
        eval_assertions(s, t, x, u, m, w, s->h);
        int end = -1;
        for (int i = 0; i < NH; ++i) {
            if (s->h[i] >= -ASSERTION_MARGIN) continue;
            if (s->tables->endings[i]) {
                end = i;
                continue;
            }
            because(s, "assertion violated: %s", s->tables->assertion_messages[i]);
            return ASSERTION;
        }
        if (end >= 0) {
            because(s, "the model ends the simulation: %s", s->tables->assertion_messages[end]);
            return ENDED;
        }
    }
    return DONE;
}
