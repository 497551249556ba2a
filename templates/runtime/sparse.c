/* LU of a sparse matrix along an order of pivots that the model brings: what fills in is known when it is read, so that all
   there is to do are lists of products, without any search (Davis, Direct Methods for Sparse Linear Systems, chapter
   6). */

SMALL
/* More products than this are too many for a model that is meant to run. */
#define MOST_PRODUCTS (1 << 27)

/* Mark in `at` [n, n] what the factors have, row by row, and count them and the products that make them. Returns 0 where
   there are too many. */
static int fill_in(int n, int *at, size_t *factors, size_t *products)
{
    *factors = *products = 0;
    for (int k = 0; k < n; ++k) {
        const int *pivot_row = at + (size_t)k * n;
        int after = 0;
        at[(size_t)k * n + k] = 1;
        for (int j = k + 1; j < n; ++j) after += pivot_row[j];
        for (int i = k + 1; i < n; ++i) {
            int *row = at + (size_t)i * n;
            if (!row[k]) continue;
            for (int j = k + 1; j < n; ++j) row[j] |= pivot_row[j];
            *products += (size_t)after;
        }
        if (*products > MOST_PRODUCTS) return 0;
    }
    for (size_t i = 0; i < (size_t)n * n; ++i) *factors += (size_t)at[i];
    return 1;
}

/* Find out what fills in. Returns NULL, or what is wrong. */
static const char *plan_elimination(Model *model, const int *entry_rows, const int *entry_columns, int entries,
                                    const int *pivot_rows, const int *pivot_columns, int n)
{
    Elimination *plan = &model->elimination;
    const char *wrong = "no memory";
    size_t factors, products, m = (size_t)n;
    int *row_places = calloc(3 * m, sizeof(int)), *column_places = row_places + n, *next = column_places + n;
    int *at = calloc(m * m, sizeof(int)); /* first what there is, then where it stands */
    if (!row_places || !at) goto finish;

    wrong = "the pivots are damaged";
    for (int k = 0; k < n; ++k) row_places[k] = column_places[k] = -1;
    for (int k = 0; k < n; ++k) {
        if (row_places[pivot_rows[k]] >= 0 || column_places[pivot_columns[k]] >= 0) goto finish;
        row_places[pivot_rows[k]] = column_places[pivot_columns[k]] = k;
    }
    for (int e = 0; e < entries; ++e) at[row_places[entry_rows[e]] * m + column_places[entry_columns[e]]] = 1;
    if (!fill_in(n, at, &factors, &products)) goto finish;

    wrong = "no memory";
    plan->n = n;
    plan->row_starts = model_allocate(model, (m + 1) * sizeof(int));
    plan->columns = model_allocate(model, (size_t)entries * sizeof(int));
    plan->values = model_allocate(model, (size_t)entries * sizeof(int));
    plan->places = model_allocate(model, (size_t)entries * sizeof(int));
    plan->starts = model_allocate(model, (m + 1) * sizeof(int));
    plan->diagonal = model_allocate(model, m * sizeof(int));
    plan->factor_columns = model_allocate(model, factors * sizeof(int));
    plan->scaled_starts = model_allocate(model, (m + 1) * sizeof(int));
    plan->scaled = model_allocate(model, factors * sizeof(int));
    plan->product_starts = model_allocate(model, (m + 1) * sizeof(int));
    plan->products = model_allocate(model, products * sizeof(Product));
    if (!plan->row_starts || !plan->columns || !plan->values || !plan->places || !plan->starts || !plan->diagonal
        || !plan->factor_columns || !plan->scaled_starts || !plan->scaled || !plan->product_starts || !plan->products)
        goto finish;
    wrong = NULL;

    for (int e = 0; e < entries; ++e) ++next[row_places[entry_rows[e]]];
    for (int k = 0, start = 0; k <= n; ++k) {
        plan->row_starts[k] = start;
        if (k == n) break;
        start += next[k];
        next[k] = plan->row_starts[k];
    }
    int place = 0;
    for (int i = 0; i < n; ++i) {
        plan->starts[i] = place;
        for (int j = 0; j < n; ++j) {
            if (!at[i * m + j]) continue;
            if (i == j) plan->diagonal[i] = place;
            plan->factor_columns[place] = j;
            at[i * m + j] = ++place; /* from 1 on: 0 is nothing */
        }
    }
    plan->starts[n] = place;
    for (int e = 0; e < entries; ++e) {
        int i = row_places[entry_rows[e]], j = column_places[entry_columns[e]], to = next[i]++;
        plan->columns[to] = j;
        plan->values[to] = e;
        plan->places[e] = at[i * m + j] - 1;
    }
    int scaled = 0, product = 0;
    for (int k = 0; k < n; ++k) {
        plan->scaled_starts[k] = scaled;
        plan->product_starts[k] = product;
        for (int i = k + 1; i < n; ++i) {
            if (!at[i * m + k]) continue;
            int lower = plan->scaled[scaled++] = at[i * m + k] - 1;
            for (int upper = plan->diagonal[k] + 1; upper < plan->starts[k + 1]; ++upper)
                plan->products[product++] = (Product){at[i * m + plan->factor_columns[upper]] - 1, lower, upper};
        }
    }
    plan->scaled_starts[n] = scaled;
    plan->product_starts[n] = product;
finish:
    free(row_places);
    free(at);
    return wrong;
}
QUICK

/* Factorise A. Where a pivot is nothing, what is solved with the factors tells. */
static void sparse_factorise(const Instance *s)
{
    const Elimination *plan = &s->model->elimination;
    double *restrict x = s->sparse;
    for (int i = 0; i < plan->starts[plan->n]; ++i) x[i] = 0;
    for (int e = 0; e < NENTRIES; ++e) x[plan->places[e]] = s->entries[e];
    for (int k = 0; k < plan->n; ++k) {
        double reciprocal = x[plan->diagonal[k]] = 1 / x[plan->diagonal[k]];
        for (int e = plan->scaled_starts[k]; e < plan->scaled_starts[k + 1]; ++e) x[plan->scaled[e]] *= reciprocal;
        for (int e = plan->product_starts[k]; e < plan->product_starts[k + 1]; ++e) {
            const Product *p = plan->products + e;
            x[p->to] -= x[p->lower] * x[p->upper];
        }
    }
}

/* Solve A s = b with the factors of A, to `unknowns`, and in the order of pivots to the solution. */
static void sparse_substitute(const Instance *s, const double *b, double *unknowns)
{
    const Elimination *plan = &s->model->elimination;
    const int *columns = plan->factor_columns, *rows = s->tables->pivot_rows;
    const double *x = s->sparse;
    double *restrict z = s->solution;
    for (int k = 0; k < plan->n; ++k) {
        double sum = b[rows[k]];
        for (int e = plan->starts[k]; e < plan->diagonal[k]; ++e) sum -= x[e] * z[columns[e]];
        z[k] = sum;
    }
    for (int k = plan->n - 1; k >= 0; --k) {
        double sum = z[k];
        for (int e = plan->diagonal[k] + 1; e < plan->starts[k + 1]; ++e) sum -= x[e] * z[columns[e]];
        z[k] = sum * x[plan->diagonal[k]];
        unknowns[s->tables->pivot_columns[k]] = z[k];
    }
}

/* Residuals of the solution, and the largest of them as a fraction of the terms that they are made of: the backward
   error. */
static double sparse_residual(const Instance *s, double *residual)
{
    const Elimination *plan = &s->model->elimination;
    const int *rows = s->tables->pivot_rows;
    double worst = 0;
    for (int k = 0; k < plan->n; ++k) {
        double sum = s->load[rows[k]], size = fabs(sum);
        for (int e = plan->row_starts[k]; e < plan->row_starts[k + 1]; ++e) {
            double term = s->entries[plan->values[e]] * s->solution[plan->columns[e]];
            sum -= term;
            size += fabs(term);
        }
        residual[rows[k]] = sum;
        worst = worse(worst, sum, size);
    }
    return worst;
}
