/* Discrete states: modes of the switches, 1 while the crossing is not negative, and values that are held between events. */

/* Instants closer than rounding are one. */
static double time_margin(double t)
{
    return 1e-14 * fmax(1, fabs(t));
}

/* The first instant after t at which something jumps or kinks in time. */
static double next_instant(Instance *s, double t, const double *m)
{
    double next = INFINITY;
    if (!NT || eval_next_times(s, t, m, s->times)) return next;
    for (int i = 0; i < NT; ++i)
        if (s->times[i] > t + time_margin(t) && s->times[i] < next) next = s->times[i];
    return next;
}

static int disagrees(double crossing, double mode)
{
    return (crossing >= 0) != (mode > 0.5);
}

/* Log that a switch has flipped. */
static void say_flip(const Instance *s, int which, double mode, double t)
{
    say(s, STATUS_OK, "%s becomes %d at time %.9g", s->tables->switch_names[which], mode > 0.5, t);
}

/* Bring modes in line with the crossings at (t, x), counting time switches as they are just after t. A mode flips once
   at most, so that switches which contradict each other cannot go round in circles; `s->flipped` says which did, and
   may be preset. Leaves the crossings in c and the accelerations in stage_w: where no crossing depends on them they are
   evaluated once, however many modes change. */
static Outcome update_modes(Instance *s, double t, const double *x, double *m, double *c)
{
    if (!NM) return DONE;
    const double *u = inputs_at(s, t, x, m);
    double after = t + fmin(1e-9 * fmax(1, fabs(t)), 0.5 * (next_instant(s, t, m) - t));
    for (;;) {
        int changed = 0;
        Outcome outcome = CROSSINGS_NEED_W ? accelerations(s, t, x, u, m, s->stage_w) : DONE;
        if (outcome) return outcome;
        if (TIME_SWITCHES) {
            if (eval_crossings(s, after, x, u, m, s->stage_w, c)) return NOT_FINITE;
            for (int i = 0; i < NM; ++i)
                if (s->tables->time_switches[i] && disagrees(c[i], m[i]) && !s->flipped[i]) changed = s->flipped[i] = 1;
        }
        if (eval_crossings(s, t, x, u, m, s->stage_w, c) || !finite_all(c, NM)) return NOT_FINITE;
        for (int i = 0; i < NM; ++i)
            if (!s->tables->time_switches[i] && disagrees(c[i], m[i]) && !s->flipped[i]) changed = s->flipped[i] = 1;
        if (!changed) return CROSSINGS_NEED_W ? DONE : accelerations(s, t, x, u, m, s->stage_w);
        for (int i = 0; i < NM; ++i)
            if (s->flipped[i] == 1) {
                m[i] = 1 - m[i];
                s->flipped[i] = 2;
            }
    }
}

static void forget_flips(Instance *s)
{
    for (int i = 0; i < NM; ++i) s->flipped[i] = 0;
}

/* Find modes and held values that belong together at (t, x), with `m_before` as those before the event: each value that
   an event gives may depend on others, so that all are worked out again until none changes. Leaves the crossings in c,
   the accelerations in stage_w and what states are set to in x_event. */
static Outcome agree(Instance *s, double t, const double *x, double *m, double *c)
{
    const double *u = inputs_at(s, t, x, m);
    double *held = m + NM;
    for (int pass = 0;; ++pass) {
        int same = 1, last = 0;
        Outcome outcome = NM ? update_modes(s, t, x, m, c) : accelerations(s, t, x, u, m, s->stage_w);
        if (outcome || !NHELD) return outcome;
        if (eval_update(s, t, x, u, m, s->stage_w, s->m_before, s->w_before, s->held, s->x_event)
            || !finite_all(s->held, NHELD) || !finite_all(s->x_event, NX))
            return NOT_FINITE;
        for (int i = 0; i < NHELD; ++i)
            if (s->held[i] != held[i]) {
                same = 0;
                last = i;
            }
        if (same) return DONE;
        COPY(held, s->held, NHELD);
        if (pass > NHELD + NM) {
            because(s, "values that an event gives depend on each other in a circle at time %.9g (%s is one of them): let one "
                    "of them be taken from before the event", t, s->tables->held_names[last]);
            return CHATTERING;
        }
    }
}

/* Event iteration at (t, x): bring modes and held values up to date, and set states anew where an event says so, until
   nothing changes any more. `before` are the discrete states before the event (m itself, if nothing has been changed
   yet); `s->flipped` says which switches differ from them, and may be preset to what must not flip in the first round.
   Leaves the crossings in c and, where there are discrete states, the accelerations in stage_w. */
static Outcome settle_events(Instance *s, double t, double *x, double *m, double *c, const double *before)
{
    enum { ROUNDS = 200 };
    Outcome outcome;
    if (!NHELD) return update_modes(s, t, x, m, c);
    COPY(s->m_event, before, NDISCRETE);
    COPY(s->m_before, before, NDISCRETE);
    outcome = accelerations(s, t, x, inputs_at(s, t, x, s->m_before), s->m_before, s->w_before);
    for (int round = 0; !outcome && round < ROUNDS; ++round) {
        outcome = agree(s, t, x, m, c);
        if (outcome) break;
        int moved = NX && memcmp(x, s->x_event, (size_t)NX * sizeof *x) != 0;
        int held = memcmp(m + NM, s->m_before + NM, (size_t)NHELD * sizeof *m) != 0;
        if (moved) {
            COPY(x, s->x_event, NX);
            outcome = project(s, t, x, m);
            if (outcome) break;
        }
        if (!moved && !held) {
            for (int i = 0; i < NM; ++i) s->flipped[i] = m[i] != s->m_event[i];
            return DONE;
        }
        /* What has changed may let a switch flip back, and is the state before of the next round. */
        forget_flips(s);
        COPY(s->m_before, m, NDISCRETE);
        COPY(s->w_before, s->stage_w, NW);
    }
    if (outcome) return outcome;
    because(s, "events follow each other without end at time %.9g: what an event sets must not cause it again", t);
    return CHATTERING;
}
