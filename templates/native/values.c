/* Variables by value reference: where each value lives, and what setting it changes. */

enum { STORE_TIME, STORE_X, STORE_U, STORE_P, STORE_W, STORE_Y, STORE_CONSTANT };

static unsigned store_of(unsigned place) { return place >> 28; }
static unsigned index_of(unsigned place) { return place & 0x0fffffffu; }

/* Bring w and y up to date with the latch; in initialisation mode, solve for the start first where it changed. */
static int refresh(Instance *s, int with_y)
{
    const Latch *at = &s->now.latch;
    if (s->now.phase == INITIALIZATION && s->now.start_stale && !initialise(s)) return 0;
    if (!s->w_fresh) {
        Outcome outcome = accelerations(s, at->t, at->x, at->u, at->m, s->w);
        if (outcome) {
            explain(s, outcome);
            return 0;
        }
        s->w_fresh = 1;
    }
    if (with_y && !s->y_fresh) {
        if (NY && eval_variables(s, at->t, at->x, at->u, at->m, s->w, s->y)) {
            explain(s, NOT_FINITE);
            return 0;
        }
        s->y_fresh = 1;
    }
    return 1;
}

/* Make the values at these places readable. */
static int prepare(Instance *s, const unsigned *places, const fmi2ValueReference *references, size_t n)
{
    if (s->now.phase == INITIALIZATION && s->now.start_stale && !refresh(s, 0)) return 0;
    if (s->w_fresh && s->y_fresh) return 1;
    int need_w = 0, need_y = 0;
    for (size_t i = 0; i < n; ++i) {
        unsigned store = store_of(places[references[i]]);
        need_w |= store == STORE_W;
        need_y |= store == STORE_Y;
    }
    return !(need_w | need_y) || refresh(s, need_y);
}

static double value_at(const Instance *s, unsigned place)
{
    unsigned index = index_of(place);
    switch (store_of(place)) {
    case STORE_TIME: return s->now.latch.t;
    case STORE_X: return s->now.latch.x[index];
    case STORE_U: return s->now.u[index];
    case STORE_P: return s->now.P[index];
    case STORE_W: return s->w[index];
    case STORE_Y: return s->y[index];
    default: return constants[index];
    }
}

/* The entry of a value reference in a table that is sorted by it, or NULL: setting it makes no sense. */
static const Settable *find_settable(const Settable *table, int n, fmi2ValueReference reference)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle].reference < reference) low = middle + 1;
        else high = middle;
    }
    return low < n && table[low].reference == reference ? table + low : NULL;
}

/* Why a variable cannot be set now, as a log line; fmi2OK if it can. */
static fmi2Status check_settable(const Instance *s, const char *function, const Settable *variable,
                                 fmi2ValueReference reference)
{
    if (!variable)
        return say(s, fmi2Error, "%s: value reference %u is calculated by the model and cannot be set", function,
                   reference);
    if (variable->kind == SET_STRUCTURE)
        return say(s, fmi2Error, "%s: %s is part of the model's structure: rebuild the FMU with the value wanted",
                   function, variable->name);
    if (s->now.phase == CONTINUOUS_TIME && variable->kind != SET_INPUT)
        return say(s, fmi2Error, "%s: %s cannot be set in continuous-time mode: enter event mode first", function,
                   variable->name);
    if ((s->now.phase & (STEP_COMPLETE | EVENT_MODE)) && variable->kind != SET_INPUT && variable->kind != SET_TUNABLE)
        return say(s, fmi2Error, "%s: %s can be set until initialisation ends only: reset the instance first", function,
                   variable->name);
    return fmi2OK;
}

/* Inputs act from the next step on, in model exchange at once; so do tunable parameters. */
static void set_value(Instance *s, const Settable *variable, double value)
{
    State *now = &s->now;
    double *to = (variable->kind == SET_INPUT ? now->u : now->start) + variable->index;
    if (memcmp(to, &value, sizeof value) == 0) return;
    *to = value;
    if (now->phase & (INSTANTIATED | INITIALIZATION)) {
        now->start_stale = 1;
        return;
    }
    now->touched = 1;
    if (variable->kind == SET_TUNABLE) {
        now->P[variable->index] = value;
        derive(s);
    } else if (now->type == fmi2ModelExchange) {
        now->latch.u[variable->index] = value;
    } else {
        return;
    }
    s->w_fresh = s->y_fresh = 0;
}
