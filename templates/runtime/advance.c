/* From one communication point to the next.

   Steps need not end at communication points: while no input changes, the integrator goes as far as accuracy lets it,
   and communication points in between are read from the dense output. Where an input or parameter changes, what lies
   beyond is dropped. */

/* Let the integrator begin at the latch. */
static void place_head(Instance *s)
{
    State *now = s->now;
    Head *head = &now->head;
    head->begin = head->end = now->latch_t;
    head->length = 1;
    COPY(s->head_x, s->latch_x, NX);
    COPY(s->head_m, s->latch_m, NDISCRETE);
    accept_latch(s);
    now->latch_inside = 0;
    COPY(s->inside_s, s->u + TAIL, NITERATIONS);
    head->k_known = head->event = 0;
    head->regular = head->before = 0;
}

/* Keep the head before a step that may fail, and take it back. */
static void keep_head(Instance *s)
{
    memcpy(&s->kept_head, &s->now->head, sizeof s->kept_head);
    COPY(s->kept_vectors, s->dense, s->head_doubles);
    COPY(s->iterations.kept, s->u + TAIL, NITERATIONS);
}

static void recall_head(Instance *s)
{
    memcpy(&s->now->head, &s->kept_head, sizeof s->kept_head);
    COPY(s->dense, s->kept_vectors, s->head_doubles);
    COPY(s->u + TAIL, s->iterations.kept, NITERATIONS);
    cut_history(s, s->now->head.end);
}

/* Take up changed inputs and parameters. */
static Outcome restart(Instance *s)
{
    Head *head = &s->now->head;
    place_head(s);
    cut_history(s, head->end);
    forget_flips(s);
    Outcome outcome = settle_events(s, head->end, s->head_x, s->head_m, s->head_c, s->head_m);
    if (!outcome) outcome = mark_kink(s, head->end, s->head_x, s->head_m, 1);
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i]) head->h = 0;
    if (NDISCRETE && !outcome) know_derivatives(s);
    if (!outcome) outcome = accept_iterations(s);
    return outcome ? outcome : check_redundant(s, head->end, s->head_x, s->head_m);
}

static Outcome latch_at(Instance *s, double t)
{
    State *now = s->now;
    const Head *head = &now->head;
    Outcome outcome = DONE;
    if (t == head->end) {
        COPY(s->latch_x, s->head_x, NX);
        COPY(s->latch_m, s->head_m, NDISCRETE);
    } else {
        interpolate(s, t, s->latch_x);
        outcome = project(s, t, s->latch_x, s->inside);
        COPY(s->latch_m, s->inside, NDISCRETE);
    }
    COPY(s->latch_u, known_inputs_at(s, t, s->latch_x, s->latch_m), NU);
    if (now->ramps) COPY(s->u, s->latch_u, NINPUTS);
    now->latch_t = now->u_time = t;
    /* At the head, iteration variables have been accepted: they are among what is known. */
    now->latch_inside = t != head->end;
    now->latch_solved = t == head->end;
    if (!outcome) outcome = solve_latch(s);
    s->w_fresh = s->y_fresh = 0;
    return outcome;
}

/* Is there an event at the head that the communication step to the target has to end at? */
static int event_ends_step(const Instance *s, double target)
{
    const Head *head = &s->now->head;
    return s->master.event_mode && s->master.early_return && head->event && head->end > s->now->latch_t
        && head->end < target;
}

/* Let the master see the end of a step of the integrator; returns when the communication step shall end. */
static double call_master(Instance *s, double target)
{
    State *now = s->now;
    if (!s->master.between || !(now->head.end < target)) return target;
    latch_at(s, now->head.end);
    now->phase = INTERMEDIATE;
    double end = s->master.between(s->master.environment, now->latch_t, s->master.early_return);
    now->phase = STEP_COMPLETE;
    return s->master.early_return && end < target ? fmax(end, now->head.end) : target;
}

/* Begin a communication step to the target. The step may end before where an event or the master wants it; after a
   failure the latch is at the last time reached. */
static void begin_advance(Instance *s, double target)
{
    State *now = s->now;
    Head *head = &now->head;
    s->target = target;
    s->ahead = !now->ramps && (NINPUTS == 0 || !now->touched);
    s->trial.under_way = 0;
    s->trial.outcome = s->outcome = DONE;
    now->u_time = now->latch_t;
    now->longest_step = fmax(0.1 * (STOP_TIME - START_TIME), target - now->latch_t);
    s->cause[0] = 0;
    s->budget = now->evaluations + EVALUATIONS_OF_A_STEP;
    if (now->touched) {
        keep_head(s);
        s->outcome = restart(s);
        if (s->outcome) {
            recall_head(s);
            return;
        }
        now->touched = 0;
    }
    if (STEP_LENGTH > 0) {
        keep_head(s);
        s->outcome = fixed_steps(s, target);
        if (s->outcome) {
            if (s->outcome != ENDED) recall_head(s);
            latch_at(s, head->end);
        }
    }
}

/* Go on with the communication step until the integrator has a trial to make, 1; 0 where the step is over, with
   s->outcome. */
static int next_trial(Instance *s)
{
    Trial *trial = &s->trial;
    const Head *head = &s->now->head;
    if (s->outcome) return 0;
    for (;;) {
        if (!trial->under_way) {
            if (event_ends_step(s, s->target)) s->target = head->end;
            if (head->end >= s->target) {
                s->outcome = latch_at(s, s->target);
                return 0;
            }
            keep_head(s);
            s->dense_after = s->target;
            trial->under_way = 1;
            trial->outcome = begin_trials(s, s->ahead ? s->now->stop_time : s->target);
        }
        if (!trial->outcome) trial->outcome = choose_length(s);
        if (!trial->outcome) return 1;
        trial->under_way = 0;
        s->leaning = INFINITY;
        if (trial->outcome == ENDED && head->end <= s->target) break;
        recall_head(s);
        if (!s->ahead) break;
        /* What failed may lie beyond the communication point. */
        s->ahead = 0;
    }
    latch_at(s, head->end);
    s->outcome = trial->outcome;
    return 0;
}

/* Take up a trial, of whose stages this is the outcome. */
static void take_trial(Instance *s, Outcome outcome)
{
    Trial *trial = &s->trial;
    trial->outcome = judge(s, complete_trial(s, outcome));
    if (trial->outcome) trial->under_way = 1; /* `next_trial` looks at what is left to do */
    else if (!trial->under_way && !event_ends_step(s, s->target)) s->target = call_master(s, s->target);
}
