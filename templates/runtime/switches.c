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

/* What s->flipped says of a switch while modes are sought. */
enum { AS_BEFORE, TURNS, STAYS, FLIPPED };

/* Mark the switches that their crossings at (t, x) contradict; those in time count as they are just after t, and come
   first: before they have flipped, crossings may be of what ends here. *again: they are those of the pass before. */
static Outcome find_turns(Instance *s, double t, double after, const double *x, const double *u, const double *m, double *c,
                          int *turns, int *again)
{
    if (unsolved(s, u)) return UNSOLVED;
    if (TIME_SWITCHES && eval_crossings(s, after, x, u, m, s->stage_w, s->c_trial)) return NOT_FINITE;
    if (eval_crossings(s, t, x, u, m, s->stage_w, c) || !finite_all(c, NM)) return NOT_FINITE;
    int waiting = 0;
    for (int i = 0; i < NM && TIME_SWITCHES; ++i)
        waiting |= s->tables->time_switches[i] && s->flipped[i] != STAYS && disagrees(s->c_trial[i], m[i]);
    *turns = 0;
    *again = 1;
    for (int i = 0; i < NM; ++i) {
        if (s->flipped[i] == STAYS) continue;
        int in_time = s->tables->time_switches[i];
        int turn = (in_time || !waiting) && disagrees(in_time ? s->c_trial[i] : c[i], m[i]);
        *again &= turn == (s->flipped[i] == TURNS);
        *turns |= turn;
        s->flipped[i] = turn ? TURNS : s->flipped[i] == TURNS ? AS_BEFORE : s->flipped[i];
    }
    return DONE;
}

/* Bring modes in line with the crossings at (t, x). `s->flipped` says what flips on the way; it may be preset to STAYS.
   Switches may depend on each other (a limiter behind a limiter): modes follow until none is contradicted. Where they
   contradict each other, and would go round in circles, each flips once at most. Leaves the crossings in c and the
   accelerations in stage_w: where no crossing depends on them they are evaluated once, however many modes change. */
static Outcome update_modes(Instance *s, double t, const double *x, double *m, double *c)
{
    if (!NM) return DONE;
    const double *u = inputs_at(s, t, x, m);
    double after = t + fmin(1e-9 * fmax(1, fabs(t)), 0.5 * (next_instant(s, t, m) - t));
    int once = 0;
    COPY(s->m_start, m, NM);
    for (int pass = 0;; ++pass) {
        int turns, again;
        if (NITERATIONS) u = inputs_at(s, t, x, m);
        Outcome outcome = CROSSINGS_NEED_W ? accelerations(s, t, x, u, m, s->stage_w) : DONE;
        if (!outcome) outcome = find_turns(s, t, after, x, u, m, c, &turns, &again);
        if (outcome) return outcome;
        if (!turns) break;
        if (!once && pass && (again || pass > NM)) {
            once = 1;
            COPY(m, s->m_start, NM);
            for (int i = 0; i < NM; ++i)
                if (s->flipped[i] == TURNS) s->flipped[i] = AS_BEFORE;
            continue;
        }
        for (int i = 0; i < NM; ++i)
            if (s->flipped[i] == TURNS) {
                m[i] = 1 - m[i];
                if (once) s->flipped[i] = STAYS;
            }
    }
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i] != STAYS && m[i] != s->m_start[i]) s->flipped[i] = FLIPPED;
    return CROSSINGS_NEED_W ? DONE : accelerations(s, t, x, u, m, s->stage_w);
}

static void forget_flips(Instance *s)
{
    for (int i = 0; i < NM; ++i) s->flipped[i] = AS_BEFORE;
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
        if (NITERATIONS) u = inputs_at(s, t, x, m);
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
            for (int i = 0; i < NM; ++i) s->flipped[i] = m[i] != s->m_event[i] ? FLIPPED : AS_BEFORE;
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
