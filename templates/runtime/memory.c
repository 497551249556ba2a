/* Memory of models and instances. */

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "optimize.h"
#include "sparse.h"

SMALL

INTERNAL void *take(Area *area, size_t count, size_t size)
{
    void *place = area->at ? area->at + area->used : NULL;
    area->used += (count * size + 15) / 16 * 16;
    return place;
}

static double *take_doubles(Area *area, size_t n) { return take(area, n, sizeof(double)); }

static int *take_ints(Area *area, size_t n) { return take(area, n, sizeof(int)); }

static void take_least_norm(Area *area, LeastNorm *f, size_t rows, size_t cols, size_t entries)
{
    f->rows = (int)rows;
    f->cols = (int)cols;
    f->rank = 0;
    f->longest = 0;
    f->sizes = NULL;
    f->pivot = take_ints(area, rows);
    f->qr = take_doubles(area, entries);
    f->lower = take_doubles(area, rows * rows);
    f->scale = take_doubles(area, rows);
    f->tau = take_doubles(area, rows);
    f->lower_tau = take_doubles(area, rows);
    f->work = take_doubles(area, rows);
}

/* Vectors that belong to the state follow each other without gaps. */
static double *take_vector(double **at, size_t n)
{
    double *place = *at;
    *at += n;
    return place;
}

static size_t head_size(const Instance *s)
{
    return (DENSE + 2) * (size_t)nx(s->model) + 2 * (size_t)ndiscrete(s->model) + (size_t)nm(s->model)
        + (size_t)niterations(s->model);
}

static size_t state_doubles(const Instance *s)
{
    return npar(s->model) + (size_t)np(s->model) + 2 * (size_t)nu(s->model) + nx(s->model) + (size_t)nu(s->model)
        + ndiscrete(s->model) + head_size(s)
        + history_size(s);
}

INTERNAL void place_state(Instance *s)
{
    double *at = (double *)(s->now + 1);
    s->given.start = take_vector(&at, npar(s->model));
    s->given.P = take_vector(&at, np(s->model));
    s->given.u = take_vector(&at, nu(s->model));
    s->given.du = take_vector(&at, nu(s->model));
    s->latch.x = take_vector(&at, nx(s->model));
    s->latch.u = take_vector(&at, nu(s->model));
    s->latch.m = take_vector(&at, ndiscrete(s->model));
    s->head.dense = take_vector(&at, DENSE * (size_t)nx(s->model));
    s->head.inside = take_vector(&at, ndiscrete(s->model));
    s->head.x = take_vector(&at, nx(s->model));
    s->head.m = take_vector(&at, ndiscrete(s->model));
    s->head.c = take_vector(&at, nm(s->model));
    s->head.k = take_vector(&at, nx(s->model));
    s->head.s = take_vector(&at, niterations(s->model));
    s->delays.history = take_vector(&at, history_size(s));
}

static void take_iterations(Area *area, Instance *s)
{
    Iterations *it = &s->iterations;
    size_t n = niterations(s->model);
    it->kept = take_doubles(area, n); /* copied also where there are none */
    if (!n) return;
    it->x = take_doubles(area, nx(s->model));
    it->u = take_doubles(area, nu(s->model));
    it->m = take_doubles(area, ndiscrete(s->model));
    it->J = take_doubles(area, n * n);
    it->factors = take_doubles(area, n * n);
    it->pivots = take_ints(area, n);
    double **vectors[] = {&it->solution, &it->r, &it->rows, &it->column_norms, &it->from, &it->step, &it->left,
                          &it->last};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) *vectors[i] = take_doubles(area, n);
    it->w = take_doubles(area, nw(s->model));
    it->dw = take_doubles(area, nsystem(s->model));
    it->along.x = take_doubles(area, nx(s->model));
    it->along.u = take_doubles(area, nu(s->model));
}

static void take_bounds(Area *area, Instance *s)
{
    const Model *model = s->model;
    Bounds *bounds = &s->bounds;
    double **of_rows[] = {&bounds->least, &bounds->most, &bounds->slowest, &bounds->fastest, &bounds->middle,
                          &bounds->middle_most};
    if (!nenclosed(model)) return;
    for (int i = 0; i < 2; ++i) {
        bounds->x[i] = take_doubles(area, (size_t)nx(model));
        bounds->rates[i] = take_doubles(area, (size_t)nx(model));
        bounds->u[i] = take_doubles(area, (size_t)nu(model));
    }
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; ++i)
        *of_rows[i] = take_doubles(area, (size_t)nenclosed(model));
    for (int i = 0; i < 2; ++i) bounds->box[i] = take_doubles(area, (size_t)nx(model));
    bounds->size = take_doubles(area, (size_t)nx(model));
    bounds->since = take(area, (size_t)nenclosed_states(model), sizeof *bounds->since);
    bounds->side = take_ints(area, (size_t)nenclosed(model));
    bounds->look = take_doubles(area, (size_t)nenclosed(model));
    bounds->open = take_doubles(area, (size_t)nenclosed(model));
}

static void take_system(Area *area, Instance *s)
{
    const Model *model = s->model;
    System *a = &s->system;
    size_t n = (size_t)nsystem(model), w = (size_t)nw(model);
    int is_dense = !is_explicit(model) && !is_sparse(model);
    a->A = take_doubles(area, is_explicit(model) ? 0 : n * n);
    a->factors = take_doubles(area, is_dense && nblocks(model) != 1 ? w * w : 0);
    a->block = take_doubles(area, (size_t)model->largest_block);
    a->column_norms = take_doubles(area, n);
    a->pivots = take_ints(area, n);
    if (!is_sparse(model)) return;
    a->entries = take_doubles(area, (size_t)nentries(model));
    a->sparse = take_doubles(area, nfactors(model));
    double **vectors[] = {&a->load, &a->unknowns, &a->residual, &a->solution};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) *vectors[i] = take_doubles(area, n);
}

static void take_step(Area *area, Instance *s)
{
    Step *step = &s->step;
    size_t x = (size_t)nx(s->model), w = (size_t)nw(s->model);
    for (int i = 0; i < STAGES; ++i) step->stage[i] = take_doubles(area, x);
    double **states[] = {&step->x, &step->begin_x, &step->next_x, &step->next_k, &step->last_stage_x};
    for (size_t i = 0; i < sizeof states / sizeof *states; ++i) *states[i] = take_doubles(area, x);
    step->w = take_doubles(area, w);
    step->inner_w = take_doubles(area, w);
    step->u = take_doubles(area, (size_t)nu(s->model));
}

static void take_implicit_step(Area *area, Instance *s)
{
    ImplicitStep *step = &s->implicit;
    size_t n = (size_t)nimplicit(s->model);
    step->jacobian = take_doubles(area, n * n);
    step->system = take_doubles(area, n * n);
    step->drift = take_doubles(area, n);
    for (int i = 0; i < 8; ++i) step->increment[i] = take_doubles(area, n);
    step->column_norms = take_doubles(area, n);
    step->pivots = take_ints(area, n);
}

static void take_events(Area *area, Instance *s)
{
    Search *search = &s->search;
    Events *events = &s->events;
    size_t modes = (size_t)nm(s->model), discrete = (size_t)ndiscrete(s->model);
    double **crossings[] = {&search->c_next, &search->c_trial, &search->c_low, &search->c_high, &search->c_middle,
                            &events->c_after, &events->m_start};
    for (size_t i = 0; i < sizeof crossings / sizeof *crossings; ++i) *crossings[i] = take_doubles(area, modes);
    search->watched = take_ints(area, modes);
    search->sampled = take_ints(area, modes);
    events->flipped = take_ints(area, modes);
    events->times = take_doubles(area, (size_t)nt(s->model));
    events->m_event = take_doubles(area, discrete);
    events->m_before = take_doubles(area, discrete);
    events->w_before = take_doubles(area, (size_t)nw(s->model));
    events->held = take_doubles(area, (size_t)nheld(s->model));
    events->x_event = take_doubles(area, (size_t)nx(s->model));
}

static void take_impacts(Area *area, Instance *s)
{
    Impacts *it = &s->impacts;
    const Model *model = s->model;
    size_t points = (size_t)npoints(model), rows = (size_t)nstruck(model), n = points ? (size_t)nw(model) : 0;
    double **of_points[] = {&it->gap, &it->touching, &it->resting, &it->restitution, &it->slow, &it->fixed, &it->kinetic,
                            &it->friction, &it->base, &it->nearing, &it->target, &it->works, &it->work};
    double **of_rows[] = {&it->velocity, &it->rate, &it->wanted, &it->left, &it->f, &it->y, &it->unmoved, &it->u, &it->last,
                          &it->middle, &it->sum, &it->gives, &it->shares, &it->kept,
                          &it->kept_shares, &it->others};
    double **of_speeds[] = {&it->load, &it->norms};
    int **ints[] = {&it->takes_part, &it->held, &it->stuck, &it->slides, &it->loose, &it->keeps};
    for (size_t i = 0; i < sizeof of_points / sizeof *of_points; ++i) *of_points[i] = take_doubles(area, points);
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; ++i) *of_rows[i] = take_doubles(area, rows);
    for (size_t i = 0; i < sizeof of_speeds / sizeof *of_speeds; ++i)
        *of_speeds[i] = take_doubles(area, n > rows ? n : rows);
    for (size_t i = 0; i < sizeof ints / sizeof *ints; ++i) *ints[i] = take_ints(area, points);
    it->along = take_doubles(area, 3 * points);
    it->normal = take_doubles(area, (size_t)nsliding(model));
    it->M = take_doubles(area, n * n);
    it->factors = take_doubles(area, n * n);
    it->pivots = take_ints(area, n);
    it->V = take_doubles(area, points ? rows * (size_t)nv(model) : 0);
    it->answers = take_doubles(area, n * rows);
    it->across = take_doubles(area, rows * rows);
    it->system = take_doubles(area, rows * rows);
    it->balance = take_doubles(area, rows * rows);
    it->places = take_ints(area, rows);
}

static void take_delays(Area *area, Instance *s)
{
    Delays *delays = &s->delays;
    size_t n = (size_t)ndelays(s->model);
    delays->values = take_doubles(area, n);
    delays->longest = take_doubles(area, n);
    delays->signals = take_doubles(area, n);
    delays->joined = take_doubles(area, POINTS * n);
    delays->x = take_doubles(area, n ? (size_t)nx(s->model) : 0);
    delays->w = take_doubles(area, n ? (size_t)nw(s->model) : 0);
    delays->u = take_doubles(area, n ? (size_t)nu(s->model) : 0);
}

static void take_direction_of(Area *area, const Instance *s, Direction *direction)
{
    direction->x = take_doubles(area, (size_t)nx(s->model));
    direction->u = take_doubles(area, (size_t)nu(s->model));
}

static void take_tangent(Area *area, Instance *s)
{
    Tangent *tangent = &s->tangent;
    take_direction_of(area, s, &tangent->along);
    take_direction_of(area, s, &tangent->moved);
    tangent->dw = take_doubles(area, (size_t)nsystem(s->model));
    tangent->dy = take_doubles(area, (size_t)nexposed(s->model));
    tangent->moved_w = take_doubles(area, (size_t)nw(s->model));
    tangent->rates = take_doubles(area, (size_t)nx(s->model));
    tangent->c = take_doubles(area, (size_t)nm(s->model));
    tangent->start_kept = take_doubles(area, (size_t)npar(s->model));
    tangent->u_kept = take_doubles(area, (size_t)nu(s->model));
}

static void take_constraints(Area *area, Instance *s)
{
    const Model *model = s->model;
    Constraints *c = &s->constraints;
    size_t rows = (size_t)nl(model), speeds = (size_t)nv(model);
    int factorised = !projects_along_forces(model);
    c->g = take_doubles(area, (size_t)ng(model));
    c->c = take_doubles(area, rows);
    c->G = take_doubles(area, (size_t)njacobian(model));
    c->dv = take_doubles(area, speeds);
    c->led = take_doubles(area, speeds);
    c->pull = take_doubles(area, speeds);
    c->dq = take_doubles(area, (size_t)nq(model));
    c->w = take_doubles(area, is_sparse(model) ? (size_t)nw(model) : 0);
    take_least_norm(area, &c->factors, factorised ? rows : 0, speeds, factorised ? rows * speeds : 0);
    if (nredundancies(model)) c->factors.sizes = model->tables.constraint_sizes;
    c->combinations = take_doubles(area, nredundancies(model) ? rows * speeds : 0);
}

static void take_exchange(Area *area, Instance *s)
{
    Exchange *exchange = &s->exchange;
    exchange->x = take_doubles(area, (size_t)nx(s->model));
    exchange->m = take_doubles(area, (size_t)ndiscrete(s->model));
    exchange->c = take_doubles(area, (size_t)nm(s->model));
    exchange->rates = take_doubles(area, (size_t)nx(s->model));
}

static void take_initialisation(Area *area, Instance *s)
{
    const Model *model = s->model;
    Initialisation *start = &s->initial;
    size_t unknowns = (size_t)nunknowns(model), equations = (size_t)nequations(model), rows = (size_t)model->part_rows,
           columns = (size_t)model->part_columns;
    double **of_unknowns[] = {&start->X, &start->X_trial, &start->X_before, &start->X_blamed, &start->X_last,
                              &start->dX};
    double **of_equations[] = {&start->r, &start->r_trial, &start->r_scale, &start->s};
    for (size_t i = 0; i < sizeof of_unknowns / sizeof *of_unknowns; ++i)
        *of_unknowns[i] = take_doubles(area, unknowns);
    for (size_t i = 0; i < sizeof of_equations / sizeof *of_equations; ++i)
        *of_equations[i] = take_doubles(area, equations);
    start->J = take_doubles(area, (size_t)npart_entries(model));
    start->JJ = take_doubles(area, rows * rows);
    start->JJ_pivots = take_ints(area, rows);
    start->column_norms = take_doubles(area, rows);
    start->part_step = take_doubles(area, columns);
    start->marks = take_ints(area, equations);
    start->choices = take_ints(area, unknowns);
    start->unmet = take_ints(area, equations);
    start->effects = take_ints(area, unknowns);
    start->m_last = take_doubles(area, (size_t)ndiscrete(model));
    start->mode_changes = take_ints(area, (size_t)nm(model));
    take_least_norm(area, &start->least_norm, rows, columns, model->part_entries);
    /* Branches of motion: where there are constraints only. */
    size_t branches = is_constrained(model) ? unknowns : 0, w = is_constrained(model) ? (size_t)nw(model) : 0;
    start->X_start = take_doubles(area, branches);
    start->X_best = take_doubles(area, branches);
    start->X_branch = take_doubles(area, branches);
    for (int i = 0; i < 2; ++i) {
        start->ends[i] = take_doubles(area, branches);
        start->end_w[i] = take_doubles(area, w);
    }
    start->direction = take_doubles(area, is_constrained(model) ? (size_t)nv(model) : 0);
    start->way = take_doubles(area, is_constrained(model) ? (size_t)nq(model) : 0);
}

INTERNAL void lay_out(Instance *s, Area *area)
{
    const Model *model = s->model;
    size_t kept = model->kept, work = model->work > COMPILED_WORK ? model->work : COMPILED_WORK;
    s->state_size = sizeof(State) + sizeof(double) * state_doubles(s);
    s->now = take(area, 1, s->state_size);
    s->head.doubles = head_size(s);
    s->latch.w = take_doubles(area, (size_t)nw(model));
    s->latch.y = take_doubles(area, (size_t)ny(model));
    s->latch.c = take_doubles(area, (size_t)nm(model));
    s->latch.indicators = take_doubles(area, (size_t)nindicators(model));
    s->communication.kept_vectors = take_doubles(area, s->head.doubles);
    s->communication.x = take_doubles(area, (size_t)nx(model));
    s->communication.u = take_doubles(area, (size_t)nu(model));
    s->communication.rates = take_doubles(area, (size_t)nx(model));
    s->functions.work = take_doubles(area, kept + work);
    if (s->functions.work) s->functions.work += kept;
    s->checks.e = take_doubles(area, (size_t)ne(model));
    s->checks.h = take_doubles(area, (size_t)nh(model));
    s->branches.places_w = take_doubles(area, is_constrained(model) ? PLACES * (size_t)nw(model) : 0);
    take_system(area, s);
    take_iterations(area, s);
    take_step(area, s);
    take_implicit_step(area, s);
    take_events(area, s);
    take_impacts(area, s);
    take_bounds(area, s);
    take_delays(area, s);
    take_tangent(area, s);
    take_constraints(area, s);
    take_exchange(area, s);
    take_initialisation(area, s);
}

INTERNAL void *host_allocate(const Host *host, size_t size)
{
    return host->allocate ? host->allocate(1, size) : calloc(1, size);
}

INTERNAL void host_release(const Host *host, void *memory)
{
    if (host->release) host->release(memory);
    else if (!host->allocate) free(memory);
}

INTERNAL void *model_allocate(Model *model, size_t size)
{
    char *chunk = host_allocate(&model->host, size + 16);
    if (!chunk) return NULL;
    memcpy(chunk, &model->chunks, sizeof(void *));
    model->chunks = chunk;
    return chunk + 16;
}

QUICK
