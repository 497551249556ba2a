/* The linear algebra of initialisation. Its equations fall apart into parts that share no unknown, such as mechanisms side
   by side on the ground: rows of a part follow each other, and J are the blocks of the parts, one after the other. What a
   step of least norm does to one part does not depend on the others. */

/* A part, and its block of J, column by column. */
typedef struct {
    int next;                       /* number of the one behind it */
    int row, rows, cols;            /* its first row, and how many rows and unknowns it has */
    const int *unknowns;
    double *J;
} Part;

static void look_at_parts(Instance *s, int first, int end)
{
    s->first_part = first;
    s->parts_end = end;
}

static int first_row(const Instance *s) { return s->tables->part_rows[s->first_part]; }
static int rows_end(const Instance *s) { return s->tables->part_rows[s->parts_end]; }

/* Go on to the next of the parts that are looked at, from {0} to the first; 0 where there is none left. */
static int next_part(const Instance *s, Part *part)
{
    const int *rows = s->tables->part_rows, *columns = s->tables->part_columns;
    double *J = part->next ? part->J + (size_t)part->rows * (size_t)part->cols : s->J;
    int k = part->next;
    for (; k < s->first_part; ++k) J += (size_t)(rows[k + 1] - rows[k]) * (size_t)(columns[k + 1] - columns[k]);
    if (k >= s->parts_end) return 0;
    part->next = k + 1;
    part->row = rows[k];
    part->rows = rows[k + 1] - rows[k];
    part->cols = columns[k + 1] - columns[k];
    part->unknowns = s->tables->part_unknowns + columns[k];
    part->J = J;
    return 1;
}

enum { ALL_RELEASED = -1, LAST_STAGE = 2 };

/* What rounding leaves of 0 is 0. */
static double without_rounding(double value) { return fabs(value) < 1e-12 ? 0 : value; }

/* Does the start value of an unknown hold, or may it move? */
static int holds(const Instance *s, int j)
{
    if (s->left_out == 1 && (j < NQ || (j >= NX && j < NX + NFREE))) return 1; /* speeds follow positions */
    return s->tables->fixed[j] && s->released != ALL_RELEASED && s->released != j + 1;
}

/* Make the rows, and those of J, nothing that take no part in the present stage. */
static void leave_out(Instance *s, double *r)
{
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) {
            if (s->tables->equation_stages[part.row + i] <= LAST_STAGE - s->left_out) continue;
            r[part.row + i] = 0;
            for (int k = 0; k < part.cols; ++k) part.J[i + (size_t)k * part.rows] = 0;
        }
}

/* Natural size of each residual's terms: what rounding errors and tolerances are relative to. */
static void scale_residuals(Instance *s)
{
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) {
            double *scale = s->r_scale + part.row + i;
            *scale = 0.1;
            for (int k = 0; k < part.cols; ++k)
                *scale += fabs(part.J[i + (size_t)k * part.rows] * s->X[part.unknowns[k]]);
        }
}

/* Scale the unknowns by their weights and hold the fixed ones. A row that only what is fixed can change becomes zero:
   what rounding leaves of its other derivatives would move them without bound. */
static void scale_columns(Instance *s)
{
    const double rounding = 1e-14;
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) {
            double all = 0, free = 0;
            for (int k = 0; k < part.cols; ++k) {
                double *entry = part.J + i + (size_t)k * part.rows;
                *entry /= s->tables->weights[part.unknowns[k]];
                all += fabs(*entry);
                if (holds(s, part.unknowns[k])) *entry = 0;
                else free += fabs(*entry);
            }
            if (!(free <= rounding * all && all <= 1e300)) continue;
            for (int k = 0; k < part.cols; ++k) part.J[i + (size_t)k * part.rows] = 0;
        }
}

static double squared_row(const Part *part, int i)
{
    double sum = 0;
    for (int k = 0; k < part->cols; ++k) sum += part->J[i + (size_t)k * part->rows] * part->J[i + (size_t)k * part->rows];
    return sum;
}

static void no_step(Instance *s)
{
    for (int j = 0; j < NUNKNOWNS; ++j) s->dX[j] = 0;
}

/* dX of least norm among those that minimise |J dX + r|, J scaled. A row that is nothing beside those of other parts is
   nothing in its own. */
static void least_norm_steps(Instance *s)
{
    LeastNorm *f = &s->least_norm;
    f->longest = 0;
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) f->longest = fmax(f->longest, sqrt(squared_row(&part, i)));
    no_step(s);
    for (Part part = {0}; next_part(s, &part);) {
        f->cols = part.cols;
        least_norm_factorise(f, part.rows, part.rows, part.J, part.rows);
        least_norm_step(f, s->r + part.row, s->part_step);
        for (int k = 0; k < part.cols; ++k) s->dX[part.unknowns[k]] = s->part_step[k];
    }
}

/* Step of Levenberg and Marquardt in the space of residuals: dX = -J' (J J' + mu I)^-1 r, J scaled. */
static int damped_step(Instance *s, double mu)
{
    double trace = 0;
    for (Part part = {0}; next_part(s, &part);)
        for (int i = 0; i < part.rows; ++i) trace += squared_row(&part, i);
    no_step(s);
    for (Part part = {0}; next_part(s, &part);) {
        int n = part.rows;
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k) {
                double sum = 0;
                for (int j = 0; j < part.cols; ++j) sum += part.J[i + (size_t)j * n] * part.J[k + (size_t)j * n];
                s->JJ[i + (size_t)k * n] = sum;
            }
            s->JJ[i + (size_t)i * n] += mu * (trace / (rows_end(s) - first_row(s)) + 1e-30);
            s->s[i] = -s->r[part.row + i];
        }
        if (lu_factorise(n, s->JJ, s->JJ_pivots, s->column_norms) < n) return 0;
        lu_substitute(n, s->JJ, s->JJ_pivots, s->s);
        for (int j = 0; j < part.cols; ++j)
            for (int i = 0; i < n; ++i) s->dX[part.unknowns[j]] += part.J[i + (size_t)j * n] * s->s[i];
    }
    return 1;
}

/* How the norm of the residuals changes along each unknown: dX. Returns the largest entry of J. */
static double along_residuals(Instance *s, double norm)
{
    double influence = 0;
    no_step(s);
    for (Part part = {0}; next_part(s, &part);)
        for (int k = 0; k < part.cols; ++k) {
            const double *column = part.J + (size_t)k * part.rows;
            double sum = 0;
            for (int i = 0; i < part.rows; ++i) {
                sum += column[i] * s->r[part.row + i];
                influence = fmax(influence, fabs(column[i]));
            }
            s->dX[part.unknowns[k]] = sum / norm;
        }
    return influence;
}
