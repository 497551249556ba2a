/* What the integration methods share: the error norm's weights, and the dense output of the last step. */

#include "method.h"

#include "evaluate.h"
#include "impacts.h"
#include "optimize.h"
#include "project.h"

SMALL

INTERNAL double error_weight(const Instance *s, int i, double a, double b)
{
    return s->now->tolerance * (fmin(1, s->tables->nominals[i]) + fmax(fabs(a), fabs(b)));
}

INTERNAL void interpolate(const Instance *s, double t, double *x)
{
    const Head *head = &s->now->head;
    double theta = (t - head->begin) / head->length, rest = 1 - theta;
    const double *d = s->head.dense;
    for (int i = 0; i < nx(s->model); ++i) {
        double tail = d[4 * nx(s->model) + i];
        if (head->dense_vectors > 5)
            tail += theta * (d[5 * nx(s->model) + i] + rest
                             * (d[6 * nx(s->model) + i] + theta * d[7 * nx(s->model) + i]));
        x[i] = d[i] + theta * (d[nx(s->model) + i] + rest
                               * (d[2 * nx(s->model) + i] + theta * (d[3 * nx(s->model) + i] + rest * tail)));
    }
}

INTERNAL Outcome states_within(Instance *s, double t, double *x)
{
    const double *m = s->head.inside;
    interpolate(s, t, x);
    /* The least norm of displacements would cost energy. */
    if (s->now->head.passed && !projects_along_forces(s->model)
        && !accelerations(s, t, x, inputs_at(s, t, x, m), m, s->step.inner_w)) {
        Outcome along = project_along_forces(s, t, x, m);
        if (along) return along;
    }
    Outcome outcome = project(s, t, x, m);
    int moved;
    return outcome ? outcome : settle_points(s, t, x, m, s->step.inner_w, 0, &moved);
}

QUICK
