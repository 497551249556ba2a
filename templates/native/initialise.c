/* Initialisation: fixed start values hold, guesses give way in the least norm. */

static void leave_singular_position(Instance *s); /* singular.c */
static void explain_start(Instance *s, Outcome outcome);

static int norm_finite(const double *r, int n, double *norm)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += r[i] * r[i];
    *norm = sqrt(sum);
    return sum <= 1e300;
}

static int start_residual(Instance *s, const double *X, double *r, double *J, double *norm)
{
    double t = s->now.latch.t;
    return !eval_initial(s, t, X, inputs_at(s, t), s->now.latch.m, r, J) && norm_finite(r, NEQUATIONS, norm);
}

/* Natural size of each residual's terms: what rounding errors and tolerances are relative to. */
static void scale_residuals(Instance *s)
{
    for (int i = 0; i < NEQUATIONS; ++i) {
        s->r_scale[i] = 1e-3;
        for (int j = 0; j < NUNKNOWNS; ++j) s->r_scale[i] += fabs(s->J[i + j * NEQUATIONS] * s->X[j]);
    }
}

static int residuals_below(const Instance *s, double tolerance)
{
    for (int i = 0; i < NEQUATIONS; ++i)
        if (!(fabs(s->r[i]) <= tolerance * s->r_scale[i])) return 0;
    return 1;
}

/* Try X + alpha dX for alpha = 1, 1/2, ... until the residuals shrink. */
static int line_search(Instance *s, double *norm, int halvings)
{
    double alpha = 1;
    for (int trial = 0; trial <= halvings; ++trial, alpha *= 0.5) {
        double next;
        for (int j = 0; j < NUNKNOWNS; ++j) s->X_trial[j] = s->X[j] + alpha * s->dX[j];
        normalise_quaternions(s->X_trial);
        if (start_residual(s, s->X_trial, s->r_trial, s->J, &next) && next < (1 - 1e-4 * alpha) * *norm) {
            COPY(s->X, s->X_trial, NUNKNOWNS);
            COPY(s->r, s->r_trial, NEQUATIONS);
            *norm = next;
            return 1;
        }
    }
    return 0;
}

/* Step of Levenberg and Marquardt in the space of residuals: dX = -J' (J J' + mu I)^-1 r, J scaled. */
static int damped_step(Instance *s, double mu)
{
    double trace = 0;
    for (int i = 0; i < NEQUATIONS; ++i)
        for (int k = 0; k < NEQUATIONS; ++k) {
            double sum = 0;
            for (int j = 0; j < NUNKNOWNS; ++j) sum += s->J[i + j * NEQUATIONS] * s->J[k + j * NEQUATIONS];
            s->JJ[i + k * NEQUATIONS] = sum;
            if (i == k) trace += sum;
        }
    for (int i = 0; i < NEQUATIONS; ++i) {
        s->JJ[i + i * NEQUATIONS] += mu * (trace / LENGTH(NEQUATIONS) + 1e-30);
        s->s[i] = -s->r[i];
    }
    if (!lu_factorise(NEQUATIONS, s->JJ, s->JJ_pivots)) return 0;
    lu_substitute(NEQUATIONS, s->JJ, s->JJ_pivots, s->s);
    for (int j = 0; j < NUNKNOWNS; ++j) {
        s->dX[j] = 0;
        for (int i = 0; i < NEQUATIONS; ++i) s->dX[j] += s->J[i + j * NEQUATIONS] * s->s[i];
    }
    return 1;
}

/* Scale the unknowns by their weights and hold the fixed ones. */
static void scale_columns(Instance *s)
{
    for (int j = 0; j < NUNKNOWNS; ++j)
        for (int i = 0; i < NEQUATIONS; ++i) s->J[i + j * NEQUATIONS] *= fixed[j] ? 0 : 1 / weights[j];
}

/* Damped Gauss-Newton from the present X. Returns 1 where all equations are met. */
static int solve_equations(Instance *s)
{
    enum { ITERATIONS = 100, HALVINGS = 8, DAMPINGS = 12 };
    double norm;
    if (!start_residual(s, s->X, s->r, s->J, &norm)) return 0;
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        double moved = 0;
        /* A line search leaves the Jacobian of its last trial behind. */
        if (iteration && !start_residual(s, s->X, s->r, s->J, &norm)) return 0;
        scale_residuals(s);
        if (residuals_below(s, 1e-16)) return 1;
        scale_columns(s);
        least_norm_factorise(&s->start, NEQUATIONS, s->J, NEQUATIONS);
        least_norm_step(&s->start, s->r, s->dX);
        for (int j = 0; j < NUNKNOWNS; ++j) {
            s->dX[j] /= weights[j];
            moved = fmax(moved, fabs(s->dX[j]) / (1 + fabs(s->X[j])));
        }
        int met = residuals_below(s, 1e-9);
        if (line_search(s, &norm, met ? 0 : HALVINGS)) {
            if (moved < 1e-15) return residuals_below(s, 1e-9);
            continue;
        }
        if (met) return 1;
        int better = 0;
        double mu = 1e-6;
        for (int damping = 0; damping < DAMPINGS && !better; ++damping, mu *= 10) {
            if (!start_residual(s, s->X, s->r, s->J, &norm)) return 0;
            scale_columns(s);
            if (!damped_step(s, mu)) continue;
            for (int j = 0; j < NUNKNOWNS; ++j) s->dX[j] /= weights[j];
            better = line_search(s, &norm, 0);
        }
        if (!better) return 0;
    }
    scale_residuals(s);
    return residuals_below(s, 1e-9);
}

static void blame_equation(Instance *s)
{
    int worst = 0;
    double norm;
    if (!eval_guess(s, s->X) && start_residual(s, s->X, s->r, s->J, &norm)) {
        scale_residuals(s);
        scale_columns(s);
        least_norm_factorise(&s->start, NEQUATIONS, s->J, NEQUATIONS);
        solve_equations(s);
    }
    for (int i = 1; i < NEQUATIONS; ++i)
        if (!(fabs(s->r[i]) / s->r_scale[i] <= fabs(s->r[worst]) / s->r_scale[worst])) worst = i;
    int unknowns = 0;
    for (int j = 0; j < NUNKNOWNS; ++j) unknowns += !fixed[j];
    because(s, "initialisation cannot meet '%s' (off by %.3g); %d equations of rank %d for %d unfixed start values: "
            "change the guesses, or fix fewer start values", NEQUATIONS ? equation_names[worst] : "",
            NEQUATIONS ? s->r[worst] : 0, NEQUATIONS, s->start.rank, unknowns);
}

/* A fixed sequence (Marsaglia's xorshift) between -0.5 and 0.5, so that every run is the same. */
static double next_random(unsigned long long *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

/* From the guess, then from places around it. */
static int solve_from_guess(Instance *s)
{
    enum { RESTARTS = 20 };
    unsigned long long seed = 88172645463325252ULL;
    for (int restart = 0; restart <= RESTARTS; ++restart) {
        if (eval_guess(s, s->X)) return 0;
        for (int j = 0; restart && j < NUNKNOWNS; ++j) {
            double random = next_random(&seed);
            if (!fixed[j]) s->X[j] += random * (0.2 + 0.1 * restart) * (1 + fabs(s->X[j]));
        }
        normalise_quaternions(s->X);
        if (!NEQUATIONS || solve_equations(s)) return 1;
    }
    blame_equation(s);
    return 0;
}

/* Put the solution where it belongs: states, and free parameters. */
static void take_start(Instance *s)
{
    COPY(s->now.latch.x, s->X, NX);
    for (int i = 0; i < NFREE; ++i) s->now.P[free_parameters[i]] = s->X[NX + i];
    derive(s);
}

/* Do the rows that were dropped as dependent still hold? */
static Outcome check_redundant(Instance *s, double t, const double *x, const double *m)
{
    if (NE) eval_redundant(s, t, x, inputs_at(s, t), m, s->e);
    for (int i = 0; i < NE; ++i)
        if (!(fabs(s->e[i]) <= 1e-7 * (1 + largest(x, NQ)))) {
            because(s, "'%s' was dropped as redundant when the FMU was built, but does not hold with the present "
                    "parameters (off by %.3g): rebuild the FMU with these", redundant_names[i], s->e[i]);
            return ASSERTION;
        }
    return DONE;
}

/* Solve for consistent states at the start time. */
static int initialise(Instance *s)
{
    enum { ROUNDS = 20 };
    State *now = &s->now;
    double t = now->latch.t;
    COPY(now->P, now->start, NPAR);
    derive(s);
    now->u_time = t;
    for (int i = 0; i < NM; ++i) now->latch.m[i] = 0;
    /* Modes at the guess. Accelerations may not exist there: then the first round does with modes 0. */
    if (NM && !eval_guess(s, s->X)) {
        take_start(s);
        normalise_quaternions(now->latch.x);
        forget_flips(s);
        if (update_modes(s, t, now->latch.x, now->latch.m, now->head.c))
            for (int i = 0; i < NM; ++i) now->latch.m[i] = 0;
    }
    int settled = 0;
    int changes[LENGTH(NM)] = {0};
    for (int round = 0; round < ROUNDS && !settled; ++round) {
        double before[LENGTH(NM)];
        COPY(now->P, now->start, NPAR);
        derive(s);
        if (!solve_from_guess(s)) return 0;
        take_start(s);
        leave_singular_position(s);
        COPY(before, now->latch.m, NM);
        forget_flips(s);
        /* A switch that has changed there and back starts on its crossing: rounding decides, and either mode is right. */
        for (int i = 0; i < NM; ++i)
            if (changes[i] > 1) s->flipped[i] = 2;
        Outcome outcome = update_modes(s, t, now->latch.x, now->latch.m, now->head.c);
        for (int i = 0; i < NM; ++i) changes[i] += before[i] != now->latch.m[i];
        if (outcome) {
            explain_start(s, outcome);
            return 0;
        }
        settled = !memcmp(before, now->latch.m, sizeof before) || !NM;
    }
    if (!settled) {
        because(s, "the switches find no consistent modes at the start");
        return 0;
    }
    Outcome outcome = accelerations(s, t, now->latch.x, inputs_at(s, t), now->latch.m, s->w);
    if (outcome || !finite_all(now->latch.x, NX)) {
        explain_start(s, outcome ? outcome : NOT_FINITE);
        return 0;
    }
    if (check_redundant(s, t, now->latch.x, now->latch.m)) return 0;
    if (check_assertions(s, t, now->latch.x, now->latch.m, s->w)) return 0;
    COPY(now->latch.u, inputs_at(s, t), NU);
    now->start_stale = 0;
    s->w_fresh = 1;
    s->y_fresh = 0;
    return 1;
}
