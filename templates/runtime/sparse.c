/* LU of a sparse matrix along an order of pivots that the model brings: what fills in is known when it is read, and rows are
   eliminated one by one without any search (Davis, Direct Methods for Sparse Linear Systems, chapter 6). */

/* Collect which entries the factors of row k have, in the order of elimination: `marks` [n] is 0 before and after.
   Returns their number; those before k are in ascending order. */
static int fill_of_row(const Elimination *plan, int k, int *marks, int *found)
{
    int count = 0;
    for (int e = plan->row_starts[k]; e < plan->row_starts[k + 1]; ++e) marks[plan->columns[e]] = 1;
    for (int j = 0; j < k; ++j)
        if (marks[j])
            for (int e = plan->upper_starts[j]; e < plan->upper_starts[j + 1]; ++e) marks[plan->upper[e]] = 1;
    for (int j = 0; j < plan->n; ++j)
        if (marks[j]) {
            marks[j] = 0;
            if (j != k) found[count++] = j;
        }
    return count;
}

/* Lists of ints that grow: 0 where there is no memory. */
static int append_ints(int **list, size_t *capacity, size_t used, const int *items, int n)
{
    if (used + (size_t)n > *capacity) {
        size_t larger = 2 * (used + (size_t)n);
        int *longer = realloc(*list, larger * sizeof *longer);
        if (!longer) return 0;
        *list = longer;
        *capacity = larger;
    }
    memcpy(*list + used, items, (size_t)n * sizeof *items);
    return 1;
}

/* Find out what fills in. Returns NULL, or what is wrong. */
static const char *plan_elimination(Model *model, const int *entry_rows, const int *entry_columns, int entries,
                                    const int *pivot_rows, const int *pivot_columns, int n)
{
    Elimination *plan = &model->elimination;
    const char *wrong = "no memory";
    size_t lower = 0, upper = 0, lower_capacity = 0, upper_capacity = 0;
    int *lower_list = NULL, *upper_list = NULL;
    int *row_places = calloc(3 * (size_t)n, sizeof(int)), *column_places = row_places + n, *found = column_places + n;
    plan->n = n;
    plan->row_starts = model_allocate(model, ((size_t)n + 1) * sizeof(int));
    plan->columns = model_allocate(model, (size_t)entries * sizeof(int));
    plan->values = model_allocate(model, (size_t)entries * sizeof(int));
    plan->lower_starts = model_allocate(model, ((size_t)n + 1) * sizeof(int));
    plan->upper_starts = model_allocate(model, ((size_t)n + 1) * sizeof(int));
    int *marks = calloc((size_t)n + 1, sizeof(int));
    if (!row_places || !marks || !plan->row_starts || !plan->columns || !plan->values || !plan->lower_starts
        || !plan->upper_starts)
        goto finish;

    wrong = "the pivots are damaged";
    for (int k = 0; k < n; ++k) row_places[k] = column_places[k] = -1;
    for (int k = 0; k < n; ++k) {
        if (row_places[pivot_rows[k]] >= 0 || column_places[pivot_columns[k]] >= 0) goto finish;
        row_places[pivot_rows[k]] = column_places[pivot_columns[k]] = k;
    }
    for (int e = 0; e < entries; ++e) ++marks[row_places[entry_rows[e]]];
    for (int k = 0, at = 0; k <= n; ++k) {
        plan->row_starts[k] = at;
        at += marks[k];
        marks[k] = plan->row_starts[k];
    }
    for (int e = 0; e < entries; ++e) {
        int at = marks[row_places[entry_rows[e]]]++;
        plan->columns[at] = column_places[entry_columns[e]];
        plan->values[at] = e;
    }
    memset(marks, 0, ((size_t)n + 1) * sizeof(int));

    wrong = "no memory";
    plan->upper = NULL;
    for (int k = 0; k < n; ++k) {
        plan->lower_starts[k] = (int)lower;
        plan->upper_starts[k] = (int)upper;
        plan->upper = upper_list;
        int count = fill_of_row(plan, k, marks, found), before = 0;
        while (before < count && found[before] < k) ++before;
        if (!append_ints(&lower_list, &lower_capacity, lower, found, before)
            || !append_ints(&upper_list, &upper_capacity, upper, found + before, count - before))
            goto finish;
        lower += (size_t)before;
        upper += (size_t)(count - before);
    }
    plan->lower_starts[n] = (int)lower;
    plan->upper_starts[n] = (int)upper;
    plan->lower = model_allocate(model, lower * sizeof(int));
    plan->upper = model_allocate(model, upper * sizeof(int));
    if (!plan->lower || !plan->upper) goto finish;
    if (lower) memcpy(plan->lower, lower_list, lower * sizeof(int));
    if (upper) memcpy(plan->upper, upper_list, upper * sizeof(int));
    wrong = NULL;
finish:
    free(row_places);
    free(marks);
    free(lower_list);
    free(upper_list);
    return wrong;
}

/* Factorise the matrix with these values. Returns 0 where a pivot is nothing beside its row. */
static int sparse_factorise(const Elimination *plan, const double *values, Factors *to)
{
    double *restrict x = to->row, *restrict lower = to->lower, *restrict upper = to->upper;
    for (int k = 0; k < plan->n; ++k) {
        double size = 0;
        for (int e = plan->row_starts[k]; e < plan->row_starts[k + 1]; ++e) {
            double value = values[plan->values[e]];
            x[plan->columns[e]] = value;
            size += fabs(value);
        }
        for (int e = plan->lower_starts[k]; e < plan->lower_starts[k + 1]; ++e) {
            int j = plan->lower[e];
            double factor = x[j] * to->reciprocals[j];
            x[j] = 0;
            lower[e] = factor;
            for (int f = plan->upper_starts[j]; f < plan->upper_starts[j + 1]; ++f)
                x[plan->upper[f]] -= factor * upper[f];
        }
        double pivot = x[k];
        x[k] = 0;
        for (int e = plan->upper_starts[k]; e < plan->upper_starts[k + 1]; ++e) {
            upper[e] = x[plan->upper[e]];
            x[plan->upper[e]] = 0;
        }
        if (!(fabs(pivot) > 1e-13 * size) || !(fabs(pivot) <= 1e300)) return 0;
        to->reciprocals[k] = 1 / pivot;
    }
    return 1;
}

/* Solve A s = b with the factors of A. */
static void sparse_substitute(const Elimination *plan, const int *pivot_rows, const int *pivot_columns, const Factors *f,
                              const double *b, double *s)
{
    double *restrict z = f->solution;
    for (int k = 0; k < plan->n; ++k) {
        double sum = b[pivot_rows[k]];
        for (int e = plan->lower_starts[k]; e < plan->lower_starts[k + 1]; ++e) sum -= f->lower[e] * z[plan->lower[e]];
        z[k] = sum;
    }
    for (int k = plan->n - 1; k >= 0; --k) {
        double sum = z[k];
        for (int e = plan->upper_starts[k]; e < plan->upper_starts[k + 1]; ++e) sum -= f->upper[e] * z[plan->upper[e]];
        z[k] = sum * f->reciprocals[k];
        s[pivot_columns[k]] = z[k];
    }
}

/* Residuals b - A s, and the largest of them as a fraction of the terms that they are made of: the backward error. */
static double sparse_residual(const Elimination *plan, const int *pivot_rows, const Factors *f, const double *values,
                              const double *b, double *residual)
{
    double worst = 0;
    for (int k = 0; k < plan->n; ++k) {
        double sum = b[pivot_rows[k]], size = fabs(sum);
        for (int e = plan->row_starts[k]; e < plan->row_starts[k + 1]; ++e) {
            double term = values[plan->values[e]] * f->solution[plan->columns[e]];
            sum -= term;
            size += fabs(term);
        }
        residual[pivot_rows[k]] = sum;
        if (!(fabs(sum) <= worst * size)) worst = size > 0 && size <= 1e300 ? fabs(sum) / size : INFINITY;
    }
    return worst;
}
