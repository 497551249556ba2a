/* What the integration methods share: the error norm's weights, and the dense output of the last step. */

static double error_weight(const Instance *s, double a, double b)
{
    return s->now->tolerance * (1 + fmax(fabs(a), fabs(b)));
}

/* States on the last step, by its dense output. */
static void interpolate(const Instance *s, double t, double *x)
{
    const Head *head = &s->now->head;
    double theta = (t - head->begin) / head->length, rest = 1 - theta;
    const double *d = s->dense;
    for (int i = 0; i < NX; ++i) {
        double tail = d[4 * NX + i];
        if (head->order8) tail += theta * (d[5 * NX + i] + rest * (d[6 * NX + i] + theta * d[7 * NX + i]));
        x[i] = d[i] + theta * (d[NX + i] + rest * (d[2 * NX + i] + theta * (d[3 * NX + i] + rest * tail)));
    }
}
