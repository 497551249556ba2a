/* From one communication point to the next.

   Steps need not end at communication points: while no input changes, the integrator goes as far as accuracy lets it,
   and communication points in between are read from the dense output. Where an input or parameter changes, what lies
   beyond is dropped. */

/* Let the integrator begin at the latch. */
static void place_head(Instance *s)
{
    State *now = &s->now;
    Head *head = &now->head;
    head->begin = head->end = now->latch.t;
    head->length = 1;
    COPY(head->x, now->latch.x, NX);
    COPY(head->m, now->latch.m, NM);
    head->k_known = 0;
}

/* Take up changed inputs and parameters. */
static Outcome restart(Instance *s)
{
    Head *head = &s->now.head;
    place_head(s);
    forget_flips(s);
    Outcome outcome = update_modes(s, head->end, head->x, head->m, head->c);
    for (int i = 0; i < NM; ++i)
        if (s->flipped[i]) head->h = 0;
    return outcome ? outcome : check_redundant(s, head->end, head->x, head->m);
}

static Outcome latch_at(Instance *s, double t)
{
    State *now = &s->now;
    const Head *head = &now->head;
    Outcome outcome = DONE;
    if (t == head->end) {
        COPY(now->latch.x, head->x, NX);
        COPY(now->latch.m, head->m, NM);
    } else {
        interpolate(head, t, now->latch.x);
        outcome = project(s, t, now->latch.x, head->inside);
        COPY(now->latch.m, head->inside, NM);
    }
    COPY(now->latch.u, inputs_at(s, t), NU);
    if (now->ramps) COPY(now->u, now->latch.u, NU);
    now->latch.t = now->u_time = t;
    s->w_fresh = s->y_fresh = 0;
    return outcome;
}

/* Integrate to the target. After a failure the latch is at the last time reached. */
static Outcome advance(Instance *s, double target)
{
    State *now = &s->now;
    Head *head = &now->head;
    int ahead = !now->ramps && (NU == 0 || !now->touched);
    now->u_time = now->latch.t;
    now->longest_step = fmax(0.1 * (STOP_TIME - START_TIME), target - now->latch.t);
    s->cause[0] = 0;
    if (now->touched) {
        s->fallback = *head;
        Outcome outcome = restart(s);
        if (outcome) {
            *head = s->fallback;
            return outcome;
        }
        now->touched = 0;
    }
#if FIXED_STEP
    s->fallback = *head;
    Outcome outcome = fixed_steps(s, target);
    if (outcome) {
        *head = s->fallback;
        latch_at(s, head->end);
        return outcome;
    }
#endif
    while (head->end < target) {
        s->fallback = *head;
        Outcome outcome = step(s, ahead ? now->stop_time : target);
        if (!outcome) continue;
        *head = s->fallback;
        if (!ahead) {
            latch_at(s, head->end);
            return outcome;
        }
        /* What failed may lie beyond the communication point. */
        ahead = 0;
    }
    return latch_at(s, target);
}
