/* Variables by value reference: where each value lives, and what setting it changes. */

static unsigned store_of(int place) { return (unsigned)place >> 28; }
static unsigned index_of(int place) { return (unsigned)place & 0x0fffffffu; }

/* Is an entry of u one that the runtime solves for? */
static int is_inner(const Instance *s, unsigned index) { return NITERATIONS > 0 && (int)index >= TAIL; }

/* Bring w and y up to date with the latch; in initialisation mode, solve for the start first where it changed. */
static int refresh(Instance *s, int with_y)
{
    double t = s->now->latch_t;
    if (s->now->phase == INITIALIZATION && s->now->start_stale) {
        if (!initialise(s)) return 0;
        t = s->now->latch_t;
    }
    if (!s->w_fresh) {
        solve_latch(s);
        int exchanged = s->now->interface == MODEL_EXCHANGE && s->now->phase != INITIALIZATION;
        Outcome outcome = (exchanged ? exchanged_accelerations : accelerations)(s, t, s->latch_x, s->latch_u, s->latch_m,
                                                                                s->w);
        if (outcome) {
            explain(s, outcome);
            return 0;
        }
        s->w_fresh = 1;
    }
    if (with_y && !s->y_fresh) {
        if (NY && eval_variables(s, t, s->latch_x, s->latch_u, s->latch_m, s->w, s->y)) {
            explain(s, NOT_FINITE);
            return 0;
        }
        s->y_fresh = 1;
    }
    return 1;
}

/* Bring the event indicators up to date. They are the crossings, moved a little so that the switch's mode is not at its
   border: importers see a change between positive and not positive values only, but a crossing may begin at zero and go
   either way. */
static int refresh_indicators(Instance *s)
{
    if (!refresh(s, 0)) return 0;
    if (NM && (eval_crossings(s, s->now->latch_t, s->latch_x, s->latch_u, s->latch_m, s->w, s->c_trial)
               || !finite_all(s->c_trial, NM))) {
        because(s, "the indicators are not finite");
        return 0;
    }
    for (int i = 0; i < NINDICATORS; ++i) {
        int which = s->tables->indicators[i];
        s->indicators[i] = s->c_trial[which] + (s->latch_m[which] > 0.5 ? 1e-10 : -1e-10);
    }
    return 1;
}

/* Make the values at these places readable. */
static int prepare(Instance *s, const int *places, const unsigned *references, size_t n)
{
    if (s->now->phase == INITIALIZATION && s->now->start_stale && !refresh(s, 0)) return 0;
    int need_w = 0, need_y = 0, need_indicators = 0;
    for (size_t i = 0; i < n; ++i) {
        unsigned store = store_of(places[references[i]]);
        need_w |= store == STORE_W || (store == STORE_U && is_inner(s, index_of(places[references[i]])));
        need_y |= store == STORE_Y;
        need_indicators |= store == STORE_INDICATOR;
    }
    if (need_indicators && !refresh_indicators(s)) return 0;
    return !(need_w | need_y) || refresh(s, need_y);
}

/* The name of a variable, put together from what it shares with the one before it and its own rest. */
static const char *name_of(Instance *s, const char *names, unsigned reference)
{
    do {
        size_t shared = (unsigned char)*names++, rest = strlen(names) + 1, room = sizeof s->shown - 1 - shared;
        memcpy(s->shown + shared, names, rest < room ? rest : room);
        names += rest;
    } while (reference--);
    return s->shown;
}

static double value_at(const Instance *s, int place)
{
    unsigned index = index_of(place);
    switch (store_of(place)) {
    case STORE_TIME: return s->now->latch_t;
    case STORE_X: return s->latch_x[index];
    case STORE_U: return is_inner(s, index) ? s->latch_u[index] : s->u[index];
    case STORE_P: return s->P[index];
    case STORE_W: return s->w[index];
    case STORE_Y: return s->y[index];
    case STORE_INDICATOR: return s->indicators[index];
    default: return s->tables->constants[index];
    }
}

/* What can be set of one type of variables, sorted by value reference. */
typedef struct {
    int n;
    const int *references, *settings, *indices;
    const double *least, *most;
    const char *names; /* by value reference */
} Settables;

#define SETTABLES(s, type, number) \
    {number, (s)->tables->type##_references, (s)->tables->type##_settings, (s)->tables->type##_indices, \
     (s)->tables->type##_least, (s)->tables->type##_most, (s)->tables->type##_names}

static Settables real_settables(const Instance *s) { return (Settables)SETTABLES(s, real, NREAL_SETTABLES); }
static Settables integer_settables(const Instance *s) { return (Settables)SETTABLES(s, integer, NINTEGER_SETTABLES); }
static Settables boolean_settables(const Instance *s) { return (Settables)SETTABLES(s, boolean, NBOOLEAN_SETTABLES); }
static Settables string_settables(const Instance *s) { return (Settables)SETTABLES(s, string, NSTRING_SETTABLES); }

/* Position of a value reference in the table, or -1: setting it makes no sense. */
static int find_settable(const Settables *table, unsigned reference)
{
    int low = 0, high = table->n;
    while (low < high) {
        int middle = (low + high) / 2;
        if ((unsigned)table->references[middle] < reference) low = middle + 1;
        else high = middle;
    }
    return low < table->n && (unsigned)table->references[low] == reference ? low : -1;
}

/* Is this a state in continuous-time mode? Some importers set states as variables there; they set no more than with the
   function for all states. Returns its place among the states, or -1. */
static int state_to_set(const Instance *s, const Settables *table, unsigned reference)
{
    if (s->now->phase != CONTINUOUS_TIME || table->names != s->tables->real_names) return -1;
    int place = s->tables->real_places[reference];
    return store_of(place) == STORE_X ? (int)index_of(place) : -1;
}

/* Why a variable cannot be set now, as a log line; STATUS_OK if it can. */
static Status check_settable(Instance *s, const char *function, const Settables *table, unsigned reference)
{
    if (state_to_set(s, table, reference) >= 0) return STATUS_OK;
    int which = find_settable(table, reference), setting = which < 0 ? SET_STRUCTURE : table->settings[which];
    Phase phase = s->now->phase;
    const char *why = NULL;
    if (which < 0) why = "is calculated by the model and cannot be set";
    else if (setting == SET_INPUT) return STATUS_OK;
    else if (setting == SET_STRUCTURE) why = "is part of the model's structure: rebuild the FMU with the value wanted";
    else if (phase == ASKED) why = "is no input, and inputs are asked for";
    else if (phase == CONTINUOUS_TIME) why = "cannot be set in continuous-time mode: enter event mode first";
    else if ((phase & (STEP_COMPLETE | EVENT_MODE)) && setting != SET_TUNABLE)
        why = "can be set until initialisation ends only: reset the instance first";
    return why ? say(s, STATUS_ERROR, "%s: %s %s", function, name_of(s, table->names, reference), why) : STATUS_OK;
}

/* Why a variable cannot be set to this value, as a log line; STATUS_OK if it can. */
static Status check_value(Instance *s, const char *function, const Settables *table, unsigned reference, double value)
{
    Status status = check_settable(s, function, table, reference);
    if (status) return status;
    int which = find_settable(table, reference);
    /* Integrators try states beyond bounds, too. */
    int bounded = which >= 0 && state_to_set(s, table, reference) < 0;
    double least = bounded ? table->least[which] : -INFINITY, most = bounded ? table->most[which] : INFINITY;
    if (!(fabs(value) <= 1.7976931348623157e308))
        return say(s, STATUS_DISCARD, "%s: %s is given the value %g; the values before are kept", function,
                   name_of(s, table->names, reference), value);
    if (value < least || value > most)
        return say(s, STATUS_DISCARD, "%s: %s is given the value %.9g, its %s is %.9g; the values before are kept", function,
                   name_of(s, table->names, reference), value, value < least ? "least" : "greatest",
                   value < least ? least : most);
    return STATUS_OK;
}

/* Inputs act from the next step on, in event mode and in model exchange at once; so do tunable parameters. */
static void set_value(Instance *s, const Settables *table, unsigned reference, double value)
{
    State *now = s->now;
    int state = state_to_set(s, table, reference);
    if (state >= 0) {
        s->latch_x[state] = value;
        s->w_fresh = s->y_fresh = 0;
        return;
    }
    int which = find_settable(table, reference), setting = table->settings[which], index = table->indices[which];
    double *to = (setting == SET_INPUT ? s->u : s->start) + index;
    if (memcmp(to, &value, sizeof value) == 0) return;
    *to = value;
    if (now->phase & (INSTANTIATED | INITIALIZATION)) {
        now->start_stale = 1;
        return;
    }
    now->touched = 1;
    if (setting == SET_TUNABLE) {
        s->P[index] = value;
        derive(s);
    } else if (now->interface == MODEL_EXCHANGE || now->phase == EVENT_MODE) {
        s->latch_u[index] = value;
    } else {
        return;
    }
    forget_latch(s);
}
