/* Steps of the adaptive integration: control of their size, events in them, and the choice of the method. Step control
   and starting step: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.4. The error norm
   is the root mean square of error / (atol + rtol |x|), atol = rtol. */

/* A communication step that takes more evaluations of the right-hand side than this is given up: something in the model
   is so fast that it would never end. */
#ifndef EVALUATIONS_OF_A_STEP
#define EVALUATIONS_OF_A_STEP 1000000u
#endif

/* Methods by which a step can be made; a leap goes between the stages of the one of order 5. */
typedef enum { ORDER5, ORDER8, IMPLICIT } Method;

static Method next_method(const Instance *s)
{
    if (SOLVER != SOLVER_EXPLICIT && s->now->head.implicit) return IMPLICIT;
    return s->now->tolerance <= ORDER8_TOLERANCE && !s->leaps ? ORDER8 : ORDER5;
}

/* The power of a step's length with which its error grows. */
static double order(const Instance *s) { return next_method(s) == ORDER8 ? 8 : 5; }

/* What the next step should be as a multiple of the one just made, of length h: PI control. Steps of order 8 are so long
   that what makes them hard changes from one to the next: what has grown is taken to grow on (Gustafsson, ACM
   Transactions on Mathematical Software 20, 1994). */
static double growth(const Instance *s, double h, double error)
{
    const Head *head = &s->now->head;
    double power = 1 / order(s);
    error = fmax(error, 1e-10);
    double factor = 0.9 * pow(error, 0.03 - power) * pow(head->error, 0.04);
    if (next_method(s) != ORDER8 || !(head->last > 0)) return factor;
    return fmin(factor, 0.8 * pow(error, -power) * h / head->last * pow(head->error / error, power));
}

/* A first step size from the sizes of the first two derivatives; long enough to be a step, also where rounding errors are
   all that there is of x. */
static double first_step(Instance *s, double t, const double *x, const double *m)
{
    double d0 = 0, d1 = 0, d2 = 0, longest = s->now->longest_step;
    const double *k = s->stage[0];
    if (!NX) return longest;
    for (int i = 0; i < NX; ++i) {
        double weight = error_weight(s, i, x[i], x[i]);
        d0 += x[i] / weight * (x[i] / weight);
        d1 += k[i] / weight * (k[i] / weight);
    }
    d0 = sqrt(d0 / NX);
    d1 = sqrt(d1 / NX);
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h = fmin(h, longest);
    for (int i = 0; i < NX; ++i) s->stage_x[i] = x[i] + h * k[i];
    if (right_hand_side(s, t + h, s->stage_x, m, s->stage_w, s->stage[1])) return 1e-3 * h;
    for (int i = 0; i < NX; ++i) {
        double change = (s->stage[1][i] - k[i]) / error_weight(s, i, x[i], x[i]);
        d2 += change * change;
    }
    d2 = sqrt(d2 / NX) / h;
    double most = fmax(d1, d2);
    double next = most <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / most, 1 / order(s));
    double least = 1e3 * 2.3e-16 * fabs(t);
    return fmin(fmax(fmin(100 * h, next), least), longest);
}

/* How far ahead the next flip is looked for while switches chatter. What moves slowly past its crossing is there for so
   long that rounding errors make it flip again and again: the more often it has, the further, until it is past. */
static double patience(const Instance *s)
{
    enum { FEW = 50 };
    double more = s->now->head.chatter - FEW;
    return more > 0 ? 2e-15 * more * more * s->now->longest_step : 0;
}

/* Do watched switches disagree at a time within the step just made, with the crossings there in c_trial? -1: they have no
   values. Off the constraints, what crosses together would cross one after the other, and perhaps back again. Where no
   crossing knows accelerations there are none to find, unless projections use the factors of A. */
static int flips_at(Instance *s, const int *watched, double t)
{
    interpolate(s, t, s->stage_x);
    if (project(s, t, s->stage_x, s->inside)
        || unsolved(s, inputs_at(s, t, s->stage_x, s->inside))
        || ((CROSSINGS_NEED_W || ALONG_FORCES)
            && accelerations(s, t, s->stage_x, inputs_at(s, t, s->stage_x, s->inside), s->inside, s->stage_w))
        || eval_crossings(s, t, s->stage_x, inputs_at(s, t, s->stage_x, s->inside), s->inside, s->stage_w, s->c_trial))
        return -1;
    int flips = 0;
    for (int i = 0; i < NM; ++i) flips |= watched[i] && disagrees(s->c_trial[i], s->inside[i]);
    return flips;
}

/* Find the first flip of a switch on the step just made, where `watched` marks those that agreed at its begin: bisection
   and secants in turn on the dense output. All are watched, not only those that disagree at the end: one may cross, and
   cross back once another one has flipped. Returns the time just past the crossing and leaves s->flipped = STAYS for what
   flips there. */
static double locate_crossing(Instance *s, const int *watched, double end)
{
    enum { ITERATIONS = 120 };
    Head *head = &s->now->head;
    double low = head->begin, high = end, *c_low = s->c_low, *c_high = s->c_high;
    COPY(c_low, s->head_c, NM);
    COPY(c_high, s->c_next, NM);
    double ahead = low + patience(s);
    if (ahead > low && ahead < high) {
        int flips = flips_at(s, watched, ahead);
        if (flips >= 0) {
            low = ahead;
            COPY(flips ? c_high : c_low, s->c_trial, NM);
        }
        if (flips > 0) high = ahead;
    }
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        double gap = high - low, resolution = 4e-16 * fmax(fabs(low), fabs(high)) + 1e-14 * head->length, t = high;
        if (gap <= resolution) break;
        if (iteration % 3 == 2) {
            t = low + 0.5 * gap;
        } else {
            for (int i = 0; i < NM; ++i)
                if (watched[i] && disagrees(c_high[i], s->inside[i]))
                    t = fmin(t, low + gap * c_low[i] / (c_low[i] - c_high[i]));
            /* Aim a little past the root, so that the bracket closes from both sides. */
            t += iteration % 3 ? resolution : 0;
            t = fmin(fmax(t, low + 0.25 * resolution), high - 0.25 * resolution);
        }
        int flips = flips_at(s, watched, t);
        if (flips < 0) break;
        if (flips) {
            high = t;
            COPY(c_high, s->c_trial, NM);
        } else {
            low = t;
            COPY(c_low, s->c_trial, NM);
        }
    }
    for (int i = 0; i < NM; ++i)
        s->flipped[i] = watched[i] && disagrees(c_high[i], s->inside[i]) ? STAYS : AS_BEFORE;
    return high;
}

/* Crossings at a time within the step just made. */
static int crossings_within(Instance *s, double t, double *c)
{
    interpolate(s, t, s->stage_x);
    const double *u = inputs_at(s, t, s->stage_x, s->inside);
    if (unsolved(s, u) || (CROSSINGS_NEED_W && accelerations(s, t, s->stage_x, u, s->inside, s->moved_w))) return 1;
    return eval_crossings(s, t, s->stage_x, u, s->inside, s->moved_w, c) || !finite_all(c, NM);
}

/* Lowest point of a parabola through three points, where it lies between them; returns its height, or infinity. */
static double vertex(const double *t, const double *y, double *lowest)
{
    double first = (y[1] - y[0]) / (t[1] - t[0]), second = (y[2] - y[1]) / (t[2] - t[1]);
    double bend = (second - first) / (t[2] - t[0]);
    if (!(bend > 0)) return INFINITY;
    *lowest = 0.5 * (t[0] + t[1]) - 0.5 * first / bend;
    if (!(*lowest > t[0] && *lowest < t[2])) return INFINITY;
    return y[0] + (*lowest - t[0]) * (first + bend * (*lowest - t[1]));
}

/* A switch without bounds may cross and cross back within the step just made. Where a parabola through three points comes close to
   zero, its lowest point is looked at, and so on with that one and its neighbours. Returns a time at which a watched
   switch disagrees and leaves the crossings there in c_trial; `end` where there is none. */
static double find_dip(Instance *s, const int *watched, double end)
{
    enum { SAMPLES = 5 };
    const Head *head = &s->now->head;
    double *c_middle = s->c_middle, middle = 0.5 * (head->begin + end), margin = 1e-3 * (end - head->begin);
    if (crossings_within(s, middle, c_middle)) return end;
    COPY(s->c_trial, c_middle, NM);
    for (int i = 0; i < NM; ++i)
        if (watched[i] && disagrees(c_middle[i], s->inside[i])) return middle;
    for (int i = 0; i < NM; ++i) {
        if (!watched[i] || disagrees(s->c_next[i], s->inside[i])) continue;
        double sign = s->inside[i] > 0.5 ? 1 : -1;
        double t[3] = {head->begin, middle, end};
        double y[3] = {sign * s->head_c[i], sign * c_middle[i], sign * s->c_next[i]};
        for (int sample = 0; sample < SAMPLES; ++sample) {
            double most = fmax(y[0], fmax(y[1], y[2])), lowest = middle, least = vertex(t, y, &lowest);
            if (!(least < 0.2 * (most - fmin(y[0], fmin(y[1], y[2]))))) break;
            int own = lowest > t[1] ? 2 : 0;
            if (fmin(fabs(lowest - t[1]), fabs(lowest - t[own])) < margin) break;
            if (crossings_within(s, lowest, s->c_trial)) break;
            double height = sign * s->c_trial[i];
            if (height < -1e-9 * most) return lowest;
            /* The next three lie around the lowest one of these four. */
            if (height <= y[1]) {
                t[2 - own] = t[1];
                y[2 - own] = y[1];
                own = 1;
            }
            t[own] = lowest;
            y[own] = height;
        }
    }
    return end;
}

/* The same of switches that have bounds: nothing that is longer than the shortest pulse is passed over, but for what the
   constraints move the dense output by. */
static double find_enclosed(Instance *s, const int *watched, double end)
{
    enum { TRIALS = 8 };
    double begin = s->now->head.begin, before;
    for (int trial = 0; trial < TRIALS && NENCLOSED && begin < end; ++trial) {
        begin = find_crossing(s, begin, end, s->inside, watched, OF_STATES, &before);
        if (begin < end && flips_at(s, watched, begin) > 0) return begin;
    }
    return end;
}

/* Is a flip so soon after the begin of a step hardly one? Dense output of the implicit method does not begin with the
   derivatives there: where the step passes over what dies away quickly, a switch that has just flipped may seem to flip
   back at once, and again in its other mode, whereas the derivatives lead away. A shorter step tells. */
static int is_doubtful(const Instance *s, double begin, double past)
{
    const Head *head = &s->now->head;
    return next_method(s) == IMPLICIT && past - begin < head->length / 16 && head->length > 100 * time_margin(begin);
}

/* What a search for flips of switches finds: none, some, or that the step is too long to tell. */
typedef enum { NO_EVENT, EVENT, DOUBTFUL_EVENT } Found;

/* Look for flips of switches in the step just made from x at `begin` to s->next_x at *end. Where there is one, the step
   is cut to end just past the first, and s->flipped is STAYS for what flips there. */
static Outcome find_event(Instance *s, double begin, const double *x, double *end, Found *found)
{
    int any = 0, at_begin = 0, sampled = 0;
    const double *u = inputs_at(s, *end, s->next_x, s->head_m);
    if (unsolved(s, u)) return UNSOLVED;
    if (eval_crossings(s, *end, s->next_x, u, s->head_m, s->stage_w, s->c_next)) return NOT_FINITE;
    for (int i = 0; i < NM; ++i) {
        int flips = !s->tables->time_switches[i] && disagrees(s->c_next[i], s->head_m[i]);
        s->watched[i] = !s->tables->time_switches[i] && !disagrees(s->head_c[i], s->head_m[i]);
        s->sampled[i] = s->watched[i];
        any |= flips && s->watched[i];
        /* Wrong at both ends: the switch began on its crossing and went the other way, so it flips at the begin. */
        if (flips && !s->watched[i]) {
            at_begin = 1;
            s->flipped[i] = STAYS;
        }
    }
    if (at_begin) {
        *end = begin;
        COPY(s->next_x, x, NX);
    } else {
        double past = find_enclosed(s, s->watched, *end);
        if (past < *end) {
            any = 1;
            COPY(s->c_next, s->c_trial, NM);
        }
        for (int k = 0; k < NENCLOSED; ++k) s->sampled[s->tables->enclosed[k]] = 0;
        for (int i = 0; i < NM; ++i) sampled |= s->sampled[i];
        double dip = sampled ? find_dip(s, s->sampled, past) : past;
        if (dip < past) {
            any = 1;
            past = dip;
            COPY(s->c_next, s->c_trial, NM);
        }
        if (any) past = locate_crossing(s, s->watched, past);
        if (any && is_doubtful(s, begin, past)) {
            *found = DOUBTFUL_EVENT;
            return DONE;
        }
        if (past < *end) {
            interpolate(s, past, s->next_x);
            Outcome projected = project(s, past, s->next_x, s->head_m);
            if (projected) return projected;
            *end = past;
        }
    }
    if (any || at_begin) *found = EVENT;
    COPY(s->head_c, s->c_next, NM);
    return DONE;
}

/* Modes changed at the end of the step, or a kink of some order came out of a delay. */
static Outcome finish_event(Instance *s, double kink)
{
    Head *head = &s->now->head;
    int last = 0, flips = 0;
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i] == STAYS) s->head_m[i] = 1 - s->head_m[i];
    Outcome outcome = settle_events(s, head->end, s->head_x, s->head_m, s->head_c, s->inside);
    if (outcome) return outcome;
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i]) {
            say_flip(s, i, s->head_m[i], head->end);
            last = i;
            flips = 1;
        }
    outcome = mark_kink(s, head->end, s->head_x, s->head_m, flips ? 1 : kink);
    if (outcome) return outcome;
    s->now->events += 1;
    /* Where there are discrete states, settling them leaves the accelerations at the end. */
    head->k_known = 0;
    if (NDISCRETE) know_derivatives(s);
    outcome = accept_iterations(s);
    if (outcome) return outcome;
    int soon = head->end - head->begin < 1e-10 * s->now->longest_step + 2 * patience(s);
    head->chatter = soon ? head->chatter + 1 : 0;
    if (head->chatter < 1000) return DONE;
    if (!flips || s->tables->time_switches[last])
        because(s, "%s flips at instants that follow each other after %.3g s, at time %.9g: a run of so many events has no "
                "end; choose a longer period or time between them",
                flips ? s->tables->switch_names[last] : "what depends on time, or sets states anew,", head->end - head->begin, head->end);
    else
        because(s, "switches flip back and forth without end at time %.9g (%s): friction, a stop or a comparison that "
                "should hold still needs a hysteresis or a width", head->end, s->tables->switch_names[last]);
    return CHATTERING;
}

/* Error of the step just tried without the part that projecting removes, which does not count (Eich, SIAM Journal on
   Numerical Analysis 30, 1993). Along forces it stays apart from the rest also where a mechanism passes a position in
   which branches of motion cross: there constraint forces are all but undetermined, and small steps only come closer to
   that position. Leaves next_x close to the constraints. */
static double tangential_error(Instance *s, double end, const double *x, const double *m)
{
    double sum = 0;
    if (project_along_forces(s, end, s->stage_x, m) || project_along_forces(s, end, s->next_x, m)) return INFINITY;
    for (int i = 0; i < NX; ++i) {
        double e = (s->next_x[i] - s->stage_x[i]) / error_weight(s, i, x[i], s->next_x[i]);
        sum += e * e;
    }
    return sqrt(sum / NX);
}

static int reads_dense(const Instance *s, double end) { return NM || NDELAYS || end > s->dense_after; }

/* Could branches of the motion cross within a trial step? Not where the constraints stay far from dependent ones at
   both of its ends, and further than regularity has changed lately. */
static int may_branch(const Instance *s)
{
    const Head *head = &s->now->head;
    double begin = head->regular, end = s->trial.regular, least = fmin(begin, end);
    double change = fmax(fabs(end - begin), fabs(begin - head->before));
    return !(least > 0.25 * head->regularity && least > 2 * change);
}

/* Dense output of order 8 of a trial step, and how well it keeps the equations in its middle, as an error relative to
   the tolerance. Its own stages have no share in the error of the step: where one of them meets a position in which
   branches of motion cross, nothing else tells. */
static Outcome order8_defect(Instance *s, double h, double *error)
{
    const double allowed = 100, shift = 1e-4 * h;
    Head *head = &s->now->head;
    double begin = head->end, middle = begin + 0.5 * h, *x = s->stage[1], *before = s->stage[2], *k = s->stage[3], sum = 0;
    head->begin = begin;
    head->length = h;
    head->order8 = 1;
    COPY(s->inside, s->head_m, NDISCRETE);
    Outcome outcome = order8_dense_output(s, begin, s->head_x);
    if (outcome || !may_branch(s)) return outcome;
    interpolate(s, middle, x);
    outcome = right_hand_side(s, middle, x, s->head_m, s->moved_w, k);
    if (outcome) return outcome;
    interpolate(s, middle - shift, before);
    interpolate(s, middle + shift, x);
    for (int i = 0; i < NX; ++i) {
        double e = h * ((x[i] - before[i]) / (2 * shift) - k[i]) / error_weight(s, i, s->head_x[i], s->next_x[i]);
        sum += e * e;
    }
    *error = fmax(*error, sqrt(sum / NX) / allowed);
    return DONE;
}

/* The stages of a trial: its result next_x and its error; for the explicit methods with derivatives there. */
static Outcome make_stages(Instance *s)
{
    Method method = next_method(s);
    return (method == IMPLICIT ? implicit_step : method == ORDER8 ? order8_step : explicit_step)(
        s, s->now->head.end, s->trial.h, s->trial.end, s->head_x, s->head_m, &s->trial.error);
}

/* Complete a trial, of whose stages this is the outcome: where its error is small enough next_x becomes projected, with
   its derivatives s->next_k and its accelerations s->stage_w. */
static Outcome complete_trial(Instance *s, Outcome outcome)
{
    Method method = next_method(s);
    int stale = method != ORDER5;
    double h = s->trial.h, end = s->trial.end, *error = &s->trial.error;
    if (outcome) return outcome;
    if (CONSTRAINED && *error > 1) {
        *error = fmin(*error, tangential_error(s, end, s->head_x, s->head_m));
        stale = 1;
    }
    if (*error > 1) return DONE;
    outcome = project(s, end, s->next_x, s->head_m);
    if (outcome) return outcome;
    if (stale) outcome = right_hand_side(s, end, s->next_x, s->head_m, s->stage_w, s->next_k);
    if (outcome) return outcome;
    if (CONSTRAINED) s->trial.regular = regularity(s, &s->trial.weakest);
    if (method != ORDER8) return DONE;
    order8_stiffness(s, h);
    return CONSTRAINED && reads_dense(s, end) ? order8_defect(s, h, error) : DONE;
}

/* Dense output of the step just made from x, where anybody reads between its ends: those who look for events, and those
   who want values before its end. */
static Outcome keep_dense(Instance *s, double end, const double *x)
{
    Head *head = &s->now->head;
    Method method = next_method(s);
    head->order8 = method == ORDER8;
    if (!reads_dense(s, end)) return DONE;
    if (method == ORDER8) return CONSTRAINED ? DONE : order8_dense_output(s, head->begin, x);
    if (method == IMPLICIT) implicit_dense(s, x);
    else explicit_dense(s, x);
    return DONE;
}

/* Change the method where steps in a row say that the other one is quicker: the explicit one where stability keeps its
   steps short, the implicit one where its steps would be stable for the explicit one too. */
static void choose_method(Instance *s, double h)
{
    enum { DOUBTS = 15, RELIEF = 6 };
    if (SOLVER != SOLVER_AUTO) return;
    Head *head = &s->now->head;
    int doubtful = head->implicit ? h * spectral_radius(s) < 1 : s->stiffness > 1;
    if (doubtful) {
        head->doubts += 1;
        head->relief = 0;
    } else if (++head->relief == RELIEF) {
        head->doubts = 0;
    }
    if (head->doubts < DOUBTS) return;
    head->doubts = head->relief = 0;
    head->implicit = !head->implicit;
    say(s, STATUS_OK, "the %s method goes on at time %.9g", head->implicit ? "implicit" : "explicit", head->begin + h);
}

/* Derivatives at the head, for the step that begins there. */
static Outcome begin_step(Instance *s)
{
    Head *head = &s->now->head;
    s->linearised = 0;
    if (!head->k_known) {
        Outcome outcome = right_hand_side(s, head->end, s->head_x, s->head_m, s->stage_w, s->head_k);
        if (outcome) return outcome;
        head->k_known = 1;
    }
    COPY(s->stage[0], s->head_k, NX);
    return DONE;
}

/* A number for the modes at the head, and its place among those that are remembered. */
static unsigned long long mode_hash(const Instance *s)
{
    unsigned long long hash = 14695981039346656037u;
    for (int i = 0; i < NM; ++i) hash = (hash ^ (s->head_m[i] > 0.5 ? 2u : 1u)) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Propose a length that does not follow from the step before. */
static void begin_lengths(Head *head, double h)
{
    head->h = h;
    head->error = 1e-4;
    head->last = 0;
}

/* A size for the step from the head, where there is none yet or modes changed after it was proposed. A set of modes that
   was there before, as that of a contact that closes again, begins with the step that was right then. Other events change
   little as a rule: what was proposed stands unless it is far from a first step's size. */
static void propose_step(Instance *s)
{
    Head *head = &s->now->head;
    int changed = 0;
    for (int i = 0; i < NDISCRETE; ++i) changed |= s->inside[i] != s->head_m[i];
    if (head->h > 0 && !changed) return;
    head->entering = NM > 0;
    unsigned long long hash = mode_hash(s);
    double known = NM && head->entered[hash % ENTRIES] == hash ? head->entry_h[hash % ENTRIES] : 0;
    if (known > 0) {
        begin_lengths(head, known);
        return;
    }
    double first = first_step(s, head->end, s->head_x, s->head_m);
    if (head->h >= 0.1 * first && head->h <= 4 * first) return;
    begin_lengths(head, first);
}

/* Keep the length that the first step in its set of modes should have had. */
static void remember_entry(Instance *s, double h, double error)
{
    Head *head = &s->now->head;
    if (!head->entering) return;
    unsigned long long hash = mode_hash(s);
    head->entering = 0;
    head->entered[hash % ENTRIES] = hash;
    head->entry_h[hash % ENTRIES] = h * fmin(0.7 * pow(fmax(error, 1e-10), -1 / order(s)), 5);
}

/* Keep what is fastest as the cause: the state whose derivative is largest beside its own size. */
static Outcome explain_exhaustion(Instance *s, double t)
{
    int fastest = 0;
    for (int i = 1; i < NX; ++i)
        if (fabs(s->head_k[i]) / (1 + fabs(s->head_x[i])) > fabs(s->head_k[fastest]) / (1 + fabs(s->head_x[fastest])))
            fastest = i;
    because(s, "more than %u evaluations of the right-hand side, and time came to %.9g only: '%s' changes by %.3g per "
            "second; a motion that fast needs a shorter communication step, a larger tolerance, or another model",
            EVALUATIONS_OF_A_STEP, t, s->tables->unknown_names[fastest], s->head_k[fastest]);
    return EXHAUSTED;
}

/* A step over a position ahead in which branches of the motion cross. The nearer to the
   position, the less accurate are accelerations: steps of a strict tolerance would shrink with the distance and end in it.
   A step that has it in the widest gap between its stages (those of Dormand and Prince, between 0.3 and 0.8) meets none of
   that. Rounding errors grow towards the position, too, so that an error as of `tolerance` has to do. Regularity falls to
   zero in a straight line or, where two constraints become dependent at once, as a square: both are tried in turn. */
static Leap leap(const Instance *s)
{
    const double within = 0.55;
    const Head *head = &s->now->head;
    double now = head->regular, before = head->before;
    Leap none = {0, 0};
    if (!CONSTRAINED || head->implicit || !(before > now) || !(now < 0.05 * head->regularity)) return none;
    int square = s->now->steps & 1;
    double distance = head->length * (square ? sqrt(now) / (sqrt(before) - sqrt(now)) : now / (before - now));
    Leap found = {distance / within, square ? 1e-7 : 1e-8};
    return head->h < 2 * distance && head->h > 0.01 * distance ? found : none;
}

/* Begin a step from the head, to `limit` at most. */
static Outcome begin_trials(Instance *s, double limit)
{
    const State *now = s->now;
    Trial *trial = &s->trial;
    double begin = now->head.end, instant = next_instant(s, begin, s->head_m), least, passing;
    Outcome outcome = check_delays(s, begin, s->head_x, s->head_m, &least);
    if (outcome) return outcome;
    double coming = next_kink(s, begin, &passing);
    trial->begin = begin;
    trial->kink = coming < instant - time_margin(begin) ? passing + 1 : 1;
    trial->instant = fmin(instant, coming);
    trial->limit = fmin(limit, trial->instant);
    trial->longest = fmin(now->longest_step, least); /* nothing is read that has not been */
    trial->rejected = trial->branchings = 0;
    trial->cause = INACCURATE;
    outcome = begin_step(s);
    if (outcome) return outcome;
    propose_step(s);
    trial->over = leap(s);
    return DONE;
}

/* The length of the next trial; an outcome where no more can be made. */
static Outcome choose_length(Instance *s)
{
    Trial *trial = &s->trial;
    double begin = trial->begin, remaining = trial->limit - begin, h = fmin(s->now->head.h, trial->longest);
    int leaps = CONSTRAINED && trial->over.length > 0 && trial->over.length < 0.9 * remaining;
    trial->cut = 0;
    if (leaps) h = trial->over.length;
    else if (h >= remaining * (1 - 1e-6)) {
        h = remaining;
        trial->cut = 1;
    } else if (2 * h > remaining) {
        /* Two equal steps rather than a long and a tiny one. */
        h = 0.5 * remaining;
        trial->cut = 1;
    }
    double end = h == remaining ? trial->limit : begin + h;
    if (!(h > 8 * 2.3e-16 * fmax(fabs(begin), fabs(end)) || h == remaining) || !(h > 1e-290)) return trial->cause;
    if (s->now->evaluations >= s->budget) return explain_exhaustion(s, begin);
    trial->h = h;
    trial->end = end;
    trial->error = 0;
    s->leaps = leaps;
    s->leaning = begin + 0.5 * h;
    return DONE;
}

/* Look at a complete trial: accept it, which ends the step, or propose another length. */
static Outcome judge(Instance *s, Outcome outcome)
{
    enum { BRANCHINGS = 8 };
    State *now = s->now;
    Head *head = &now->head;
    Trial *trial = &s->trial;
    double begin = trial->begin, end = trial->end, h = trial->h, error = trial->error, least;
    int leaps = CONSTRAINED && s->leaps, rejected = trial->rejected, cut = trial->cut;
    /* A step that ends where branches of motion cross is made shorter, to end well before, and the next one passes. */
    trial->over.length = 0;
    double regular = CONSTRAINED && !outcome && error <= 1 ? trial->regular : INFINITY;
    if (leaps && !outcome && error > 1 && error <= trial->over.tolerance / now->tolerance) {
        outcome = project(s, end, s->next_x, s->head_m);
        if (!outcome) outcome = right_hand_side(s, end, s->next_x, s->head_m, s->stage_w, s->next_k);
        if (!outcome) regular = regularity(s, &trial->weakest);
        error = 1;
    }
    if (leaps && (outcome || error > 1 || regular < 0.1 * head->regular)) {
        now->rejections += 1;
        return DONE;
    }
    if (CONSTRAINED && regular < (trial->branchings ? 1e-5 : 1e-6) * head->regularity) {
        outcome = BRANCHING;
        because(s, "branches of the motion cross where the step has to end, and which one it takes is open ('%s' "
                "depends on the other constraints there): let the step, or the run, end elsewhere, start with other "
                "values, or choose a greater tolerance",
                s->tables->velocity_names[trial->weakest]);
        if (++trial->branchings > BRANCHINGS) return outcome;
    }
    if (outcome || error > 1) {
        now->rejections += 1;
        if (outcome) trial->cause = outcome;
        head->h = h * (outcome == BRANCHING ? 0.7 : outcome ? 0.25 : fmax(0.2, 0.9 * pow(error, -1 / order(s))));
        trial->rejected = 1;
        /* Nothing is left to shorten where a step of rounding length fails. */
        return h <= 8 * 2.3e-16 * fmax(fabs(begin), fabs(end)) ? trial->cause : DONE;
    }

    /* Delays that vary may come to reach into the step. */
    outcome = check_delays(s, end, s->next_x, s->head_m, &least);
    if (outcome) return outcome;
    if (NDELAYS && end - least > begin + time_margin(begin) && h > 1e-9 * now->longest_step) {
        now->rejections += 1;
        head->h = fmin(0.7 * h, least);
        trial->rejected = 1;
        return DONE;
    }

    double *x = s->step_x;
    Found found = NO_EVENT;
    COPY(x, s->head_x, NX);
    head->begin = begin;
    head->length = h;
    COPY(s->inside, s->head_m, NDISCRETE);
    outcome = keep_dense(s, end, x);
    forget_flips(s);
    if (!outcome && NM) outcome = find_event(s, begin, x, &end, &found);
    if (outcome) return outcome;
    if (found == DOUBTFUL_EVENT) {
        now->rejections += 1;
        head->h = 0.2 * h;
        trial->rejected = 1;
        return DONE;
    }

    /* A step cut short says little about longer ones, so it never makes the proposal smaller. */
    trial->under_way = 0;
    double next = h * fmin(fmax(growth(s, h, error), 0.2), rejected ? 1 : 10);
    head->h = cut && !rejected ? fmax(head->h, next) : next;
    head->error = fmax(error, 1e-4);
    head->last = h;
    if (!cut) remember_entry(s, h, error);
    if (CONSTRAINED) {
        head->before = head->regular;
        head->regular = regular;
        head->regularity = fmax(head->regularity, regular);
    }
    now->steps += 1;
    now->implicit_steps += head->implicit;
    choose_method(s, h);

    int event = end == trial->instant || found == EVENT;
    outcome = record(s, begin, end);
    if (outcome) return outcome;
    s->leaning = INFINITY;
    head->end = end;
    head->event = event;
    COPY(s->head_x, s->next_x, NX);
    COPY(s->head_k, s->next_k, NX);
    outcome = accept_iterations(s);
    if (outcome) return outcome;
    COPY(s->inside_s, s->u + NU - NITERATIONS, NITERATIONS);
    if (event) {
        outcome = finish_event(s, trial->kink);
        if (outcome) return outcome;
    }
    return check_assertions(s, end, s->head_x, s->head_m, s->stage_w);
}
