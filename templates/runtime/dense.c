/* What the integration methods share: the error norm's weights, and the dense output of the last step. */

/* What error of state i counts as 1, between its values a and b. A nominal value below 1 makes it small where the state is
   (a twist, say); one above 1 does not make it larger. */
static double error_weight(const Instance *s, int i, double a, double b)
{
    return s->now->tolerance * (fmin(1, s->tables->nominals[i]) + fmax(fabs(a), fabs(b)));
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
