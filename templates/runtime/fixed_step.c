/* Steps of one length, for real-time targets: every step costs the same, memory is never allocated, and nothing is
   located. Switches and instants act from the end of the step in which they are passed. With the explicit method there
   are six evaluations: five stages, and the projected end, whose accelerations decide on events and assertions and begin
   the next step. */

/* Project the end of a step. Where it falls on a position in which branches of motion cross, projecting would be led by
   rounding errors: the next end will do. */
static Outcome return_to_constraints(Instance *s, double end)
{
    Head *head = &s->now->head;
    if (!CONSTRAINED) return project(s, end, s->next_x, s->head_m);
    int weakest;
    double regular = regularity_at(s, end, s->next_x, s->head_m, &weakest);
    normalise_quaternions(s, s->next_x);
    if (regular < 1e-5 * head->regularity) return DONE;
    head->regularity = fmax(head->regularity, regular);
    Outcome outcome = project_along_forces(s, end, s->next_x, s->head_m);
    if (outcome) return outcome;
    return project(s, end, s->next_x, s->head_m);
}

/* Write down what delayed signals are in the step just made, from the head to `end`. */
static Outcome record_fixed(Instance *s, double h, double end)
{
    Head *head = &s->now->head;
    if (!NDELAYS) return DONE;
    Outcome outcome = right_hand_side(s, end, s->next_x, s->head_m, s->stage_w, s->next_k);
    if (outcome) return outcome;
    head->begin = head->end;
    head->length = h;
    head->order8 = 0;
    COPY(s->inside, s->head_m, NDISCRETE);
    if (SOLVER == SOLVER_IMPLICIT) implicit_dense(s, s->head_x);
    else explicit_dense(s, s->head_x);
    return record(s, head->begin, end);
}

static Outcome fixed_step(Instance *s, double h, double end)
{
    Head *head = &s->now->head;
    double error, longest;
    Outcome outcome = check_delays(s, head->end, s->head_x, s->head_m, &longest);
    if (!outcome) outcome = begin_step(s);
    if (outcome) return outcome;
    s->leaning = head->end + 0.5 * h;
    if (SOLVER == SOLVER_IMPLICIT) outcome = implicit_step(s, head->end, h, end, s->head_x, s->head_m, &error);
    else outcome = explicit_stages(s, head->end, h, end, s->head_x, s->head_m);
    if (!outcome) outcome = return_to_constraints(s, end);
    if (!outcome) outcome = record_fixed(s, h, end);
    s->leaning = INFINITY;
    if (outcome) return outcome;
    COPY(s->head_x, s->next_x, NX);
    head->begin = head->end = end;
    head->k_known = 0;
    s->now->steps += 1;
    s->now->implicit_steps += SOLVER == SOLVER_IMPLICIT;
    forget_flips(s);
    outcome = NDISCRETE ? settle_events(s, end, s->head_x, s->head_m, s->head_c, s->head_m)
                        : accelerations(s, end, s->head_x, inputs_at(s, end, s->head_x, s->head_m), s->head_m, s->stage_w);
    if (outcome) return outcome;
    for (int i = 0; i < NM; ++i) s->now->events += s->flipped[i] != 0;
    s->now->evaluations += 1;
    know_derivatives(s);
    outcome = accept_iterations(s);
    if (outcome) return outcome;
    return check_assertions(s, end, s->head_x, s->head_m, s->stage_w);
}

/* Integrate to the target in equal steps of about the length asked for. */
static Outcome fixed_steps(Instance *s, double target)
{
    const double begin = s->now->head.end, length = target - begin, n = fmax(1, ceil(length / STEP_LENGTH - 1e-6));
    if (!(n <= EVALUATIONS_OF_A_STEP)) {
        because(s, "%.3g steps of %.3g s are more than one call can make: a shorter communication step is needed", n,
                STEP_LENGTH);
        return EXHAUSTED;
    }
    for (double i = 1; i <= n; ++i) {
        Outcome outcome = fixed_step(s, length / n, i == n ? target : begin + length * i / n);
        if (outcome) return outcome;
    }
    return DONE;
}
