/* Memory of models and instances. */

/* An area that is laid out twice: once without memory, to count, and once to hand out. */
typedef struct {
    char *at;
    size_t used;
} Area;

static void *take(Area *area, size_t count, size_t size)
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
    return (DENSE + 2) * (size_t)NX + 2 * (size_t)NDISCRETE + (size_t)NM + (size_t)NITERATIONS;
}

static size_t history_size(const Instance *s); /* history.c */

static size_t state_doubles(const Instance *s)
{
    return NPAR + (size_t)NP + 2 * (size_t)NU + NX + (size_t)NU + NDISCRETE + head_size(s)
        + history_size(s);
}

/* The vectors of the state, behind it. */
static void place_state(Instance *s)
{
    double *at = (double *)(s->now + 1);
    s->start = take_vector(&at, NPAR);
    s->P = take_vector(&at, NP);
    s->u = take_vector(&at, NU);
    s->du = take_vector(&at, NU);
    s->latch_x = take_vector(&at, NX);
    s->latch_u = take_vector(&at, NU);
    s->latch_m = take_vector(&at, NDISCRETE);
    s->dense = take_vector(&at, DENSE * (size_t)NX);
    s->inside = take_vector(&at, NDISCRETE);
    s->head_x = take_vector(&at, NX);
    s->head_m = take_vector(&at, NDISCRETE);
    s->head_c = take_vector(&at, NM);
    s->head_k = take_vector(&at, NX);
    s->inside_s = take_vector(&at, NITERATIONS);
    s->history = take_vector(&at, history_size(s));
}

static void take_iterations(Area *area, Instance *s)
{
    Iterations *it = &s->iterations;
    size_t n = NITERATIONS;
    it->kept = take_doubles(area, n); /* copied also where there are none */
    if (!n) return;
    it->x = take_doubles(area, NX);
    it->u = take_doubles(area, NU);
    it->m = take_doubles(area, NDISCRETE);
    it->J = take_doubles(area, n * n);
    it->factors = take_doubles(area, n * n);
    it->pivots = take_ints(area, n);
    double **vectors[] = {&it->solution, &it->r, &it->rows, &it->column_norms, &it->from, &it->step, &it->left, &it->last};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) *vectors[i] = take_doubles(area, n);
    it->w = take_doubles(area, NW);
    it->dw = take_doubles(area, NSYSTEM);
    it->along.x = take_doubles(area, NX);
    it->along.u = take_doubles(area, NU);
}

static void take_bounds(Area *area, Bounds *bounds, size_t nx, size_t nu, size_t rows)
{
    double **of_rows[] = {&bounds->least, &bounds->most, &bounds->slowest, &bounds->fastest, &bounds->middle,
                          &bounds->middle_most};
    for (int i = 0; i < 2; ++i) {
        bounds->x[i] = take_doubles(area, nx);
        bounds->rates[i] = take_doubles(area, nx);
        bounds->u[i] = take_doubles(area, nu);
    }
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; ++i) *of_rows[i] = take_doubles(area, rows);
}

static void lay_out(Instance *s, Area *area)
{
    size_t nx = NX, nu = NU, nm = NM, nv = NV, nq = NQ, nw = NW, nl = NL, implicit = NIMPLICIT, unknowns = NUNKNOWNS,
           equations = NEQUATIONS, rows = (size_t)s->model->part_rows, constrained = CONSTRAINED, branches = constrained ? unknowns : 0;
    size_t ns = NSYSTEM, system = ns > nx ? ns : nx;
    if (rows > system) system = rows;
    s->state_size = sizeof(State) + sizeof(double) * state_doubles(s);
    s->now = take(area, 1, s->state_size);
    s->head_doubles = head_size(s);
    s->kept_vectors = take_doubles(area, s->head_doubles);
    s->w = take_doubles(area, nw);
    s->y = take_doubles(area, NY);
    s->work = take_doubles(area, s->model->kept + (s->model->work > COMPILED_WORK ? s->model->work : COMPILED_WORK));
    if (s->work) s->work += s->model->kept;
    s->A = take_doubles(area, EXPLICIT ? 0 : ns * ns);
    s->factors = take_doubles(area, NBLOCKS == 1 || EXPLICIT || SPARSE ? 0 : nw * nw);
    s->block = take_doubles(area, s->model->largest_block);
    s->column_norms = take_doubles(area, system);
    s->pivots = take_ints(area, ns);
    if (SPARSE) {
        s->entries = take_doubles(area, NENTRIES);
        s->load = take_doubles(area, ns);
        s->unknowns = take_doubles(area, ns);
        s->residual = take_doubles(area, ns);
        s->projection_w = take_doubles(area, nw);
        s->sparse = take_doubles(area, NFACTORS);
        s->solution = take_doubles(area, ns);
    }
    for (int i = 0; i < STAGES; ++i) s->stage[i] = take_doubles(area, nx);
    s->next_k = take_doubles(area, nx);
    s->last_stage_x = take_doubles(area, nx);
    s->stage_x = take_doubles(area, nx);
    s->stage_w = take_doubles(area, nw);
    s->places_w = take_doubles(area, CONSTRAINED ? PLACES * nw : 0);
    s->u_now = take_doubles(area, nu);
    s->step_x = take_doubles(area, nx);
    s->next_x = take_doubles(area, nx);
    s->c_next = take_doubles(area, nm);
    s->indicators = take_doubles(area, NINDICATORS);
    s->c_trial = take_doubles(area, nm);
    s->c_low = take_doubles(area, nm);
    s->c_high = take_doubles(area, nm);
    s->c_middle = take_doubles(area, nm);
    s->times = take_doubles(area, NT);
    s->g = take_doubles(area, NG);
    s->c = take_doubles(area, nl);
    s->G = take_doubles(area, NJACOBIAN);
    s->dv = take_doubles(area, nv);
    s->led = take_doubles(area, nv);
    s->pull = take_doubles(area, nv);
    s->dq = take_doubles(area, nq);
    s->e = take_doubles(area, NE);
    s->h = take_doubles(area, NH);
    s->flipped = take_ints(area, nm);
    s->watched = take_ints(area, nm);
    s->sampled = take_ints(area, nm);
    if (NENCLOSED) take_bounds(area, &s->bounds, nx, nu, NENCLOSED);
    s->m_start = take_doubles(area, nm);
    s->m_event = take_doubles(area, NDISCRETE);
    s->m_before = take_doubles(area, NDISCRETE);
    s->w_before = take_doubles(area, nw);
    s->held = take_doubles(area, NHELD);
    s->x_event = take_doubles(area, nx);
    s->delays = take_doubles(area, NDELAYS);
    s->longest_delays = take_doubles(area, NDELAYS);
    s->signals = take_doubles(area, NDELAYS);
    s->joined = take_doubles(area, POINTS * (size_t)NDELAYS);
    s->history_x = take_doubles(area, NDELAYS ? nx : 0);
    s->history_w = take_doubles(area, NDELAYS ? nw : 0);
    s->u_moved = take_doubles(area, NDELAYS ? nu : 0);
    take_iterations(area, s);
    s->along.x = take_doubles(area, nx);
    s->along.u = take_doubles(area, nu);
    s->moved.x = take_doubles(area, nx);
    s->moved.u = take_doubles(area, nu);
    s->dw = take_doubles(area, ns);
    s->dy = take_doubles(area, NEXPOSED);
    s->moved_w = take_doubles(area, nw);
    s->jacobian = take_doubles(area, implicit * implicit);
    s->system = take_doubles(area, implicit * implicit);
    s->drift = take_doubles(area, implicit);
    for (int i = 0; i < 8; ++i) s->increment[i] = take_doubles(area, implicit);
    s->system_pivots = take_ints(area, implicit);
    take_least_norm(area, &s->projection, ALONG_FORCES ? 0 : nl, nv, ALONG_FORCES ? 0 : nl * nv);
    if (NREDUNDANCIES) s->projection.sizes = s->model->tables.constraint_sizes;
    s->combinations = take_doubles(area, NREDUNDANCIES ? nl * nv : 0);
    s->X = take_doubles(area, unknowns);
    s->X_trial = take_doubles(area, unknowns);
    s->X_before = take_doubles(area, unknowns);
    s->X_blamed = take_doubles(area, unknowns);
    s->dX = take_doubles(area, unknowns);
    s->r = take_doubles(area, equations);
    s->r_trial = take_doubles(area, equations);
    s->r_scale = take_doubles(area, equations);
    s->s = take_doubles(area, equations);
    s->J = take_doubles(area, NPART_ENTRIES);
    s->JJ = take_doubles(area, rows * rows);
    s->JJ_pivots = take_ints(area, rows);
    s->marks = take_ints(area, equations);
    s->part_step = take_doubles(area, (size_t)s->model->part_columns);
    s->choices = take_ints(area, unknowns);
    s->unmet = take_ints(area, equations);
    s->effects = take_ints(area, unknowns);
    s->start_kept = take_doubles(area, NPAR);
    s->u_kept = take_doubles(area, nu);
    s->m_last = take_doubles(area, NDISCRETE);
    s->mode_changes = take_ints(area, nm);
    take_least_norm(area, &s->least_norm, rows, (size_t)s->model->part_columns, s->model->part_entries);
    s->X_start = take_doubles(area, branches);
    s->X_best = take_doubles(area, branches);
    s->X_branch = take_doubles(area, branches);
    for (int i = 0; i < 2; ++i) {
        s->ends[i] = take_doubles(area, branches);
        s->end_w[i] = take_doubles(area, constrained ? nw : 0);
    }
    s->direction = take_doubles(area, constrained ? nv : 0);
    s->way = take_doubles(area, constrained ? nq : 0);
}

static void *host_allocate(const Host *host, size_t size)
{
    return host->allocate ? host->allocate(1, size) : calloc(1, size);
}

static void host_release(const Host *host, void *memory)
{
    if (host->release) host->release(memory);
    else if (!host->allocate) free(memory);
}

/* Memory that lives as long as the model. */
static void *model_allocate(Model *model, size_t size)
{
    char *chunk = host_allocate(&model->host, size + 16);
    if (!chunk) return NULL;
    memcpy(chunk, &model->chunks, sizeof(void *));
    model->chunks = chunk;
    return chunk + 16;
}
