/* Initialisation: fixed start values hold, guesses give way in the least norm. */

static void leave_singular_position(Instance *s); /* singular.c */
static void explain_start(Instance *s, Outcome outcome);

static int norm_finite(const Instance *s, const double *r, double *norm)
{
    double sum = 0;
    for (int i = first_row(s); i < rows_end(s); ++i) sum += r[i] * r[i];
    *norm = sqrt(sum);
    return sum <= 1e300;
}

/* Residuals and Jacobian at X, and the norm of the residuals that are looked at; 0 where these have no finite value. */
static int start_residual(Instance *s, const double *X, double *r, double *J, double *norm)
{
    double t = s->now->latch_t;
    if (eval_initial(s, t, X, known_inputs_at(s, t, X, s->latch_m), s->latch_m, r, J)) return 0;
    if (s->left_out) leave_out(s, r);
    return norm_finite(s, r, norm);
}

static int residuals_below(const Instance *s, double tolerance)
{
    for (int i = first_row(s); i < rows_end(s); ++i)
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
        normalise_quaternions(s, s->X_trial);
        if (start_residual(s, s->X_trial, s->r_trial, s->J, &next) && next < (1 - 1e-4 * alpha) * *norm) {
            COPY(s->X, s->X_trial, NUNKNOWNS);
            COPY(s->r, s->r_trial, NEQUATIONS);
            *norm = next;
            return 1;
        }
    }
    return 0;
}

/* The step in unknowns as they are; what holds does not move, by rounding neither. A search for positions goes no further
   than about a radian or a metre at once: beyond that, what it goes along says nothing of where a loop closes. */
static void unscale_step(Instance *s)
{
    double most = 1;
    for (int j = 0; j < NUNKNOWNS; ++j) s->dX[j] = holds(s, j) ? 0 : s->dX[j] / s->tables->weights[j];
    if (s->left_out < LAST_STAGE) return;
    for (int j = 0; j < NQ; ++j) most = fmax(most, fabs(s->dX[j]) / fmax(1, 0.1 * fabs(s->X[j])));
    for (int j = 0; j < NUNKNOWNS; ++j) s->dX[j] /= most;
}

/* Damped Gauss-Newton from the present X, for the parts that are looked at. Returns 1 where all equations are met. */
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
        if (residuals_below(s, s->left_out ? 1e-9 : 1e-16)) return 1;
        scale_columns(s);
        least_norm_steps(s);
        unscale_step(s);
        for (int j = 0; j < NUNKNOWNS; ++j) moved = fmax(moved, fabs(s->dX[j]) / (1 + fabs(s->X[j])));
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
            unscale_step(s);
            better = line_search(s, &norm, 0);
        }
        if (!better) return 0;
    }
    scale_residuals(s);
    return residuals_below(s, 1e-9);
}

/* The greatest of n entries that is not marked yet, or -1 where none exceeds `least`; it is marked. */
static int next_greatest(const double *values, int n, double least, int *marks)
{
    int best = -1;
    for (int i = 0; i < n; ++i)
        if (!marks[i] && !(values[i] <= least) && (best < 0 || values[i] > values[best])) best = i;
    if (best >= 0) marks[best] = 1;
    return best;
}

static void take_start(Instance *s);

/* What the first assertion says that the start in the latch violates, whatever the accelerations are. */
static const char *violated_assertion(Instance *s)
{
    double t = s->now->latch_t;
    for (int i = 0; i < NW; ++i) s->stage_w[i] = NAN;
    const double *u = inputs_at(s, t, s->latch_x, s->latch_m);
    if (!NH || eval_assertions(s, t, s->latch_x, u, s->latch_m, s->stage_w, s->h)) return NULL;
    for (int i = 0; i < NH; ++i) if (s->h[i] < 0) return s->tables->assertion_messages[i];
    return NULL;
}

/* A fixed sequence (Marsaglia's xorshift) between -0.5 and 0.5, so that every run is the same. */
static double next_random(unsigned long long *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

/* Where X ends with iteration variables, let them agree with the rest of it, if they can. */
static void start_iterations(Instance *s)
{
    if (!NSTART_ITERATIONS) return;
    const int first = NUNKNOWNS - NITERATIONS;
    const double *u = inputs_at(s, s->now->latch_t, s->X, s->latch_m);
    if (unsolved(s, u)) return;
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k)
            if (part.unknowns[k] >= first) s->X[part.unknowns[k]] = u[TAIL + part.unknowns[k] - first];
}

/* A fixed start value that is no orientation would become one that nobody gave. */
static int fixed_quaternions_are_units(Instance *s)
{
    for (int k = 0; k < NQUATERNIONS; ++k) {
        int first = s->tables->quaternions[k], held = 1;
        const double *Q = s->X + first;
        for (int j = 0; j < 4; ++j) held &= s->tables->fixed[first + j];
        double length = sqrt(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
        if (!held || fabs(length - 1) <= 1e-4) continue;
        because(s, "the fixed start values of the quaternion from '%s' on have the length %.6g: divide them by it, an "
                "orientation has the length 1", s->tables->unknown_names[first], length);
        return 0;
    }
    return 1;
}

/* Put the unknowns of the parts that are looked at where an attempt begins: first at the guess, then around it. */
static void begin_attempt(Instance *s, int attempt, unsigned long long *seed)
{
    if (eval_guess(s, s->dX)) return;
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k) {
            int j = part.unknowns[k];
            double random = attempt ? next_random(seed) : 0;
            s->X[j] = s->dX[j];
            if (attempt && !holds(s, j)) s->X[j] += random * (0.2 + 0.1 * attempt) * (1 + fabs(s->X[j]));
        }
    normalise_quaternions(s, s->X);
    start_iterations(s);
}

/* Positions first, then speeds with these held, then all: so loops are closed in the same way whatever the speeds are. What
   a stage alone cannot meet is left to the next one. Returns 1 where all equations are met. */
static int solve_in_stages(Instance *s)
{
    for (int left_out = LAST_STAGE; left_out > 0; --left_out) {
        int some = 0;
        for (int i = first_row(s); i < rows_end(s); ++i) some |= s->tables->equation_stages[i] == LAST_STAGE - left_out;
        if (!some) continue;
        COPY(s->X_before, s->X, NUNKNOWNS);
        s->left_out = left_out;
        int met = solve_equations(s);
        s->left_out = 0;
        if (!met) COPY(s->X, s->X_before, NUNKNOWNS);
    }
    return solve_equations(s);
}

/* Attempts from this one to the last; where all fail, go as near as may be from the guess itself. */
static int solve_part(Instance *s, int attempt, int last)
{
    unsigned long long seed = 88172645463325252ULL;
    for (; attempt <= last; ++attempt) {
        begin_attempt(s, attempt, &seed);
        if (solve_in_stages(s)) return 1;
    }
    begin_attempt(s, 0, &seed);
    solve_equations(s);
    return 0;
}

/* Say why the equations have no value where the search begins. */
static void blame_start(Instance *s)
{
    for (int i = 0; i < NX; ++i)
        if (!(fabs(s->X[i]) <= 1e300)) {
            because(s, "the start value of '%s' is not finite: check start values and parameters",
                    s->tables->unknown_names[i]);
            return;
        }
    take_start(s);
    const char *violated = violated_assertion(s);
    if (violated) { /* such as a parameter that must not be 0 */
        because(s, "assertion violated: %s", violated);
        return;
    }
    because(s, "initialisation fails: the equations have no finite value; check start values and parameters");
    for (int i = 0; i < NEQUATIONS; ++i)
        if (!(fabs(s->r[i]) <= 1e300)) {
            append(s, ", first in '%s'", s->tables->equation_names[i]);
            return;
        }
}

/* Is a part among those that are not met? */
static int is_unmet(const Instance *s, int part)
{
    for (int i = s->tables->part_rows[part]; i < s->tables->part_rows[part + 1]; ++i) if (s->unmet[i]) return 1;
    return 0;
}

/* Can the parts that are not met be met, from X as it is, or with attempts from the guess? Of a start value that is let go,
   only the part that it belongs to counts. */
static int can_be_met(Instance *s, int attempts)
{
    int met = 1;
    for (int k = 0; k < NPARTS && met; ++k) {
        int counts = is_unmet(s, k), belongs = s->released <= 0;
        for (int i = s->tables->part_columns[k]; i < s->tables->part_columns[k + 1]; ++i)
            belongs |= s->tables->part_unknowns[i] == s->released - 1;
        if (!counts || !belongs) continue;
        look_at_parts(s, k, k + 1);
        met = attempts ? solve_part(s, 0, attempts) : solve_equations(s);
    }
    look_at_parts(s, 0, NPARTS);
    return met;
}

/* Would the equations be met if the start value of an unknown, or each of them, were a guess? */
static int meets_without(Instance *s, int released)
{
    enum { RESTARTS = 2 };
    s->released = released;
    int met = can_be_met(s, RESTARTS);
    s->released = 0;
    return met;
}

/* Mark the unknowns that have an effect on equations that are not met, with modes as they are. */
static void mark_effects(const Instance *s, int *marks)
{
    for (int j = 0; j < NUNKNOWNS; ++j) marks[j] = 0;
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k)
            for (int i = 0; i < part.rows; ++i)
                if (s->unmet[part.row + i] && fabs(part.J[i + (size_t)k * part.rows]) > 1e-12) marks[part.unknowns[k]] = 1;
}

/* A switch that keeps what is sought from having an effect on equations that are not met, such as that of a limiter at
   its limit: in its other mode they would be met. What it hides is said. */
static int blame_switch(Instance *s)
{
    double norm;
    mark_effects(s, s->effects);
    for (int k = 0; k < NM; ++k) {
        double mode = s->latch_m[k];
        int shown = -1, met = 0;
        s->latch_m[k] = 1 - mode;
        COPY(s->X, s->X_blamed, NUNKNOWNS);
        if (start_residual(s, s->X, s->r, s->J, &norm)) {
            mark_effects(s, s->choices);
            for (int j = NUNKNOWNS - 1; j >= 0; --j)
                if (s->choices[j] && !s->effects[j] && !s->tables->fixed[j]) shown = j;
        }
        if (shown >= 0) met = can_be_met(s, 0);
        s->latch_m[k] = mode;
        if (!met) continue;
        append(s, "; '%s' is in the way: in its other mode %s = %.6g would meet them, and as it is this has no effect; "
               "change its limits, what is asked for, or start closer", s->tables->switch_names[k],
               s->tables->unknown_names[shown], without_rounding(s->X[shown]));
        return 1;
    }
    return 0;
}

/* Say which equations are not met at the best point, X, by how much, and what is in their way. At the best
   point the residual is orthogonal to whatever may move: only what is fixed, and has a part along it, can make it less. */
static void blame_equations(Instance *s)
{
    enum { SHOWN = 6 };
    const double met = 1e-9;
    double norm, influence;
    static const char of_start[] = "start value of ";
    int unmet = 0, held = 0, shown = 0, starts = 0, which, suspects[SHOWN], guilty = 0;
    if (!start_residual(s, s->X, s->r, s->J, &norm)) {
        blame_start(s);
        return;
    }
    scale_residuals(s);
    for (int i = 0; i < NEQUATIONS; ++i) {
        s->r_trial[i] = fabs(s->r[i]) / s->r_scale[i];
        s->unmet[i] = !(s->r_trial[i] <= met);
        unmet += s->unmet[i];
        starts += s->unmet[i] && !strncmp(s->tables->equation_names[i], of_start, sizeof of_start - 1);
        s->marks[i] = 0;
    }
    because(s, "initialisation fails: %d of %d equations cannot be met", unmet, NEQUATIONS);
    while (shown < SHOWN && (which = next_greatest(s->r_trial, NEQUATIONS, met, s->marks)) >= 0)
        append(s, "%s '%s' is off by %.3g", shown++ ? "," : ":", s->tables->equation_names[which],
               fabs(s->r[which]) * s->tables->equation_sizes[which]);
    if (unmet > shown) append(s, " and %d more", unmet - shown);
    influence = along_residuals(s, norm);
    for (int k = 0; k < NQUATERNIONS; ++k) { /* a quaternion's length is no start value */
        const double *Q = s->X + s->tables->quaternions[k];
        double *part = s->dX + s->tables->quaternions[k], along = 0;
        for (int i = 0; i < 4; ++i) along += part[i] * Q[i];
        for (int i = 0; i < 4; ++i) part[i] -= along * Q[i];
    }
    for (int j = 0; j < NUNKNOWNS; ++j) {
        s->dX[j] = s->tables->fixed[j] ? fabs(s->dX[j]) : 0;
        held += s->dX[j] > 1e-6 * (1 + influence);
    }
    for (int i = 0; i < held && i < SHOWN; ++i) {
        which = 0;
        for (int j = 1; j < NUNKNOWNS; ++j) if (s->dX[j] > s->dX[which]) which = j;
        suspects[i] = which;
        s->dX[which] = 0;
    }
    take_start(s);
    const char *violated = violated_assertion(s);
    if (violated) append(s, "; %s", violated);
    if (!held && violated) return;
    COPY(s->X_blamed, s->X, NUNKNOWNS);
    if (blame_switch(s)) return;
    if (!held) {
        if (starts) append(s, "; what is prescribed contradicts %s, let %s be a guess, or change it",
                           starts > 1 ? "these start values" : "this start value", starts > 1 ? "them" : "it");
        else append(s, "; no start value is in the way: check the parameters in these equations, or start closer");
        return;
    }
    for (int i = 0; i < held && i < SHOWN; ++i)
        if (meets_without(s, suspects[i] + 1)) suspects[guilty++] = suspects[i];
    int several = !guilty;
    if (several && !meets_without(s, ALL_RELEASED)) {
        if (!violated)
            append(s, "; no fixed start value is in the way, they cannot be met with all of these as guesses either: check "
                      "lengths and other parameters in these equations, or start closer");
        return;
    }
    if (several) guilty = held < SHOWN ? held : SHOWN;
    append(s, "; these fixed start values over-determine it, let %s, or change %s",
           several ? "several of them be guesses" : "one of them be a guess", several ? "them" : "it");
    if (eval_guess(s, s->X)) return;
    for (int i = 0; i < guilty; ++i)
        append(s, "%s %s = %.9g", i ? "," : ":", s->tables->unknown_names[suspects[i]], without_rounding(s->X[suspects[i]]));
    if (several && held > guilty) append(s, " and %d more", held - guilty);
}

/* All parts from the guess; where that fails each for itself, so that none has to wait for another one, and those that
   cannot be met leave the others alone. */
static int solve_from_guess(Instance *s)
{
    enum { RESTARTS = 20 };
    unsigned long long seed = 0;
    int unmet = 0;
    if (eval_guess(s, s->X) || !fixed_quaternions_are_units(s)) return 0;
    begin_attempt(s, 0, &seed);
    if (!NEQUATIONS || solve_in_stages(s)) return 1;
    for (int k = 0; k < NPARTS; ++k) {
        look_at_parts(s, k, k + 1);
        unmet += !solve_part(s, NPARTS == 1, RESTARTS);
    }
    look_at_parts(s, 0, NPARTS);
    if (unmet) blame_equations(s);
    return !unmet;
}

/* Put the solution where it belongs: states, and free parameters. */
static void take_start(Instance *s)
{
    COPY(s->latch_x, s->X, NX);
    for (int i = 0; i < NFREE; ++i) s->P[s->tables->free_parameters[i]] = s->X[NX + i];
    derive(s);
    COPY(s->u + NU - NSTART_ITERATIONS, s->X + NUNKNOWNS - NSTART_ITERATIONS, NSTART_ITERATIONS);
}

/* Do so many of the constraints as ever follow from the others? */
static Outcome check_rank(Instance *s, double t, const double *x, const double *m)
{
    LeastNorm *f = &s->projection;
    int rank = NL - NREDUNDANCIES;
    if (eval_constraints(s, t, x, constraint_inputs_at(s, t, x, m), m, s->g, s->c, s->G)) return NOT_FINITE;
    least_norm_factorise(f, NL, NL, s->G, NL);
    double added = f->rank > rank ? fabs(f->qr[(size_t)rank * f->cols + rank]) : 0;
    if (added <= 1e-7) return DONE;
    because(s, "%d of the constraints were redundant when the FMU was built, but '%s' is not with the present parameters "
            "(%.3g of it does not follow from the others): rebuild the FMU with these", NREDUNDANCIES,
            s->tables->velocity_names[f->pivot[rank]], added);
    return ASSERTION;
}

/* Do the rows that were dropped as dependent still hold? */
static Outcome check_redundant(Instance *s, double t, const double *x, const double *m)
{
    if (NE) eval_redundant(s, t, x, inputs_at(s, t, x, m), m, s->e);
    for (int i = 0; i < NE; ++i)
        if (!(fabs(s->e[i]) <= 1e-7 * (1 + largest(x, NQ)))) {
            because(s, "'%s' was dropped as redundant when the FMU was built, but does not hold with the present "
                    "parameters (off by %.3g): rebuild the FMU with these", s->tables->redundant_names[i], s->e[i]);
            return ASSERTION;
        }
    return NREDUNDANCIES ? check_rank(s, t, x, m) : DONE;
}

/* Solve for consistent states at the start time, with delayed signals as they are known; where the states are singular,
   `leaving` puts them on a branch. */
static int find_start_once(Instance *s, int leaving)
{
    enum { ROUNDS = 20 };
    State *now = s->now;
    double t = now->latch_t;
    COPY(s->P, s->start, NPAR);
    derive(s);
    begin_iterations(s);
    now->u_time = t;
    for (int i = 0; i < NM; ++i) s->latch_m[i] = 0;
    if (NHELD && eval_held(s, s->latch_m + NM)) return 0;
    COPY(s->m_before, s->latch_m, NDISCRETE);
    /* Modes at the guess. Accelerations may not exist there: then the first round does with modes 0. */
    if (NM && !eval_guess(s, s->X)) {
        take_start(s);
        normalise_quaternions(s, s->latch_x);
        forget_flips(s);
        if (update_modes(s, t, s->latch_x, s->latch_m, s->head_c))
            for (int i = 0; i < NM; ++i) s->latch_m[i] = 0;
    }
    int settled = 0;
    for (int i = 0; i < NM; ++i) s->mode_changes[i] = 0;
    for (int round = 0; round < ROUNDS && !settled; ++round) {
        COPY(s->P, s->start, NPAR);
        derive(s);
        begin_iterations(s);
        if (!solve_from_guess(s)) return 0;
        take_start(s);
        if (leaving) leave_singular_position(s);
        COPY(s->m_last, s->latch_m, NDISCRETE);
        if (NHELD) {
            if (eval_held(s, s->m_before + NM)) return 0;
            for (int i = 0; i < NW; ++i) s->w_before[i] = 0;
        }
        forget_flips(s);
        /* A switch that has changed there and back starts on its crossing: rounding decides, and either mode is right. */
        for (int i = 0; i < NM; ++i)
            if (s->mode_changes[i] > 1) s->flipped[i] = STAYS;
        Outcome outcome = agree(s, t, s->latch_x, s->latch_m, s->head_c);
        for (int i = 0; i < NM; ++i) s->mode_changes[i] += s->m_last[i] != s->latch_m[i];
        if (outcome) {
            explain_start(s, outcome);
            return 0;
        }
        settled = !memcmp(s->m_last, s->latch_m, (size_t)NDISCRETE * sizeof(double));
    }
    if (!settled) {
        because(s, "the switches of the model do not settle: with either mode the other one applies; start away from the point "
                "where they change");
        return 0;
    }
    /* Events of the start follow its initialisation. */
    forget_flips(s);
    Outcome outcome = NHELD ? settle_events(s, t, s->latch_x, s->latch_m, s->head_c, s->latch_m) : DONE;
    if (!outcome) outcome = accelerations(s, t, s->latch_x, inputs_at(s, t, s->latch_x, s->latch_m), s->latch_m, s->w);
    if (outcome || !finite_all(s->latch_x, NX)) {
        explain_start(s, outcome ? outcome : NOT_FINITE);
        return 0;
    }
    if (check_redundant(s, t, s->latch_x, s->latch_m)) return 0;
    if (check_assertions(s, t, s->latch_x, s->latch_m, s->w)) return 0;
    COPY(s->latch_u, inputs_at(s, t, s->latch_x, s->latch_m), NU);
    COPY(s->u + TAIL, s->latch_u + TAIL, NITERATIONS);
    now->start_stale = 0;
    now->latch_solved = s->w_fresh = 1;
    s->y_fresh = 0;
    return 1;
}

/* The same with delayed signals that are what the signals are at the start. Where they follow from positions and speeds,
   the equations of initialisation know that, and the second round agrees with the first. */
static int find_start(Instance *s, int leaving)
{
    enum { ROUNDS = 100 };
    if (!NDELAYS) return find_start_once(s, leaving);
    s->now->history_known = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        if (!find_start_once(s, leaving)) return 0;
        s->now->start_stale = 1;
        if (eval_delayed(s, s->now->latch_t, s->latch_x, s->latch_u, s->latch_m, s->w, s->signals)) return 0;
        int same = 1;
        for (int i = 0; i < NDELAYS; ++i) {
            double *known = s->u + NINPUTS + i, change = fabs(s->signals[i] - *known);
            if (!(change <= 1e-13 * (1 + fabs(*known)))) same = 0;
            *known = s->signals[i];
        }
        if (!finite_all(s->signals, NDELAYS)) break;
        if (!same) continue;
        s->now->start_stale = 0;
        return 1;
    }
    because(s, "a signal that is delayed follows from itself at the start ('%s'): before the start it is what it is then; let "
            "a state lie in the loop, or let the loop begin with a value of its own", s->tables->delay_names[0]);
    return 0;
}

static int initialise(Instance *s) { return find_start(s, 1); }
