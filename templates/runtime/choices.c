/* What initialisation has chosen: start values that neither fixed ones nor equations determine. */

/* Of the open unknowns of a part, those that its equations determine are open no more. */
static void close_unknowns(Instance *s, const Part *part)
{
    const double dependent = 1e-8, rounding = 1e-12;
    int *open = s->choices, rows = part->rows, rank = 0, used = 0;
    double *order = s->part_step;
    /* Rows of length 1, of those that are not zero. */
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < part->cols; ++j)
            if (open[part->unknowns[j]]) sum += part->J[i + (size_t)j * rows] * part->J[i + (size_t)j * rows];
        if (!(sum > 0)) continue;
        for (int j = 0; j < part->cols; ++j)
            part->J[used + (size_t)j * rows] = part->J[i + (size_t)j * rows] / sqrt(sum);
        ++used;
    }
    for (int j = 0; j < part->cols; ++j)
        order[j] = open[part->unknowns[j]] ? s->tables->weights[part->unknowns[j]] : INFINITY;
    while (rank < used) {
        int next = -1;
        for (int j = part->cols - 1; j >= 0; --j)
            if (order[j] < INFINITY && (next < 0 || order[j] < order[next])) next = j;
        if (next < 0) break;
        order[next] = INFINITY;
        double *column = part->J + (size_t)next * rows, before = norm_of(column, used), held, after = before;
        do { /* twice is enough for orthogonality, and once where little goes */
            held = after;
            for (int k = 0; k < rank; ++k) {
                const double *known = s->JJ + (size_t)k * rows;
                double along = 0;
                for (int i = 0; i < used; ++i) along += known[i] * column[i];
                if (along == 0) continue;
                for (int i = 0; i < used; ++i) column[i] -= along * known[i];
            }
            after = norm_of(column, used);
        } while (after < 0.5 * held && after > rounding);
        if (!(after > dependent * before && after > rounding)) continue;
        for (int i = 0; i < used; ++i) s->JJ[i + (size_t)rank * rows] = column[i] / after;
        ++rank;
        open[part->unknowns[next]] = 0;
    }
}

/* Mark, in s->choices, as many unfixed unknowns as the equations of initialisation leave open at s->X; the others follow
   from them. Those that give way first count as following, and of equals the later ones: an elimination that takes the
   columns of the Jacobian in this order (modified Gram-Schmidt, in place) finds which depend on those before. */
static int find_open_unknowns(Instance *s)
{
    double norm;
    for (int j = 0; j < NUNKNOWNS; ++j) s->choices[j] = !s->tables->fixed[j];
    if (!NEQUATIONS) return 1;
    if (!start_residual(s, s->X, s->r, s->J, &norm)) return 0;
    for (Part part = {0}; next_part(s, &part);) close_unknowns(s, &part);
    return 1;
}

/* Leave marked in s->choices what is open and of which nobody has said the value: neither the model nor the importer gave
   a start value, or it had to be moved. Values are in s->X. Returns how many there are. */
static int find_choices(Instance *s)
{
    int count = 0, known;
    COPY(s->X, s->latch_x, NX);
    for (int i = 0; i < NFREE; ++i) s->X[NX + i] = s->P[s->tables->free_parameters[i]];
    if (NUNKNOWNS > NX + NFREE + NSTART_ITERATIONS) COPY(s->X + NX + NFREE, s->w, NW);
    COPY(s->X + NUNKNOWNS - NSTART_ITERATIONS, s->latch_u + NU - NITERATIONS, NSTART_ITERATIONS);
    if (!find_open_unknowns(s)) return 0;
    COPY(s->P, s->tables->default_parameters, NPAR);
    derive(s);
    known = !eval_guess(s, s->X_trial);
    COPY(s->P, s->start, NPAR);
    derive(s);
    known = known && !eval_guess(s, s->dX);
    take_start(s);
    for (int j = 0; j < NUNKNOWNS; ++j) {
        int given = s->tables->given[j] || s->X_trial[j] != s->dX[j];
        int moved = !(fabs(s->X[j] - s->dX[j]) <= 1e-6 * (1 + fabs(s->X[j])));
        if (known && !moved) s->X[j] = s->dX[j];
        s->choices[j] = known && s->choices[j] && (!given || moved);
        count += s->choices[j];
    }
    return count;
}

/* Warn of what initialisation has chosen, in one line of the log, where the importer asks for one. */
static void warn_of_choices(Instance *s, const char *function)
{
    enum { SHOWN = 6 };
    int count, shown = 0;
    if (!s->host.log || !s->asked || !(s->categories & LOG_WARNING)) return;
    if (!(count = find_choices(s))) return;
    because(s, "nobody gave these start values, and nothing determines them, so that they were chosen:");
    for (int j = 0; j < NUNKNOWNS && shown < SHOWN; ++j)
        if (s->choices[j])
            append(s, "%s %s = %.6g", shown++ ? "," : "", s->tables->unknown_names[j], without_rounding(s->X[j]));
    if (count > shown) append(s, " and %d more", count - shown);
    append(s, "; fix what is meant to hold");
    say(s, STATUS_WARNING, "%s: %s", function, s->cause);
    s->cause[0] = 0;
}
