/* Modes of the switches: 1 while the crossing is not negative. */

/* Instants closer than rounding are one. */
static double time_margin(double t)
{
    return 1e-14 * fmax(1, fabs(t));
}

/* The first instant after t at which something jumps or kinks in time. */
static double next_instant(Instance *s, double t)
{
    double next = INFINITY;
    if (!NT || eval_next_times(s, t, s->times)) return next;
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
   may be preset. Leaves the crossings in c. */
static Outcome update_modes(Instance *s, double t, const double *x, double *m, double *c)
{
    if (!NM) return DONE;
    const double *u = inputs_at(s, t);
    double after = t + fmin(1e-9 * fmax(1, fabs(t)), 0.5 * (next_instant(s, t) - t));
    for (;;) {
        int changed = 0;
        Outcome outcome = accelerations(s, t, x, u, m, s->stage_w);
        if (outcome) return outcome;
        if (TIME_SWITCHES) {
            if (eval_crossings(s, after, x, u, m, s->stage_w, c)) return NOT_FINITE;
            for (int i = 0; i < NM; ++i)
                if (s->tables->time_switches[i] && disagrees(c[i], m[i]) && !s->flipped[i]) changed = s->flipped[i] = 1;
        }
        if (eval_crossings(s, t, x, u, m, s->stage_w, c) || !finite_all(c, NM)) return NOT_FINITE;
        for (int i = 0; i < NM; ++i)
            if (!s->tables->time_switches[i] && disagrees(c[i], m[i]) && !s->flipped[i]) changed = s->flipped[i] = 1;
        if (!changed) return DONE;
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
