/* Steps over positions in which branches of the motion cross: a parallelogram whose bars lie on one line goes on as a
   parallelogram, or with its bars crossed.

   At a distance d from such a position, rounding errors eps move a position that meets the constraints by eps / d, its
   speeds by eps / d^2, and its accelerations by eps / d^3, and what is off the branch by so much at one stage is so by
   10 / d times as much at the next one. So no step ends near the position, and none has a stage there: it lies in the
   widest gap between the stages, and the step before ends where that is possible. What is lost nevertheless acts along
   constraint forces, and projecting along these, in the norm of kinetic energy, takes it away. */

#include "passages.h"

#include "evaluate.h"
#include "functions.h"
#include "optimize.h"
#include "project.h"
#include "vectors.h"

SMALL

/* Regularity of the constraints, relative to the largest so far, below which such a position is near; and that which it
   has at the position at most, where only a prediction leads, also relative to that at the head. */
#define NEAR 0.05
#define REACHED 0.05
#define FALLEN_TO 0.3

/* The nearer to the position, the less accurate are accelerations: steps of a stricter tolerance would shrink with the
   distance. */
INTERNAL_DATA const Leap leaps[LEAPS] = {{0, 1e-10}, {1, 1e-8}, {1, 1e-7}};

/* The square of the regularity of the constraints where the motion leads from the head in the time `later`, by its speeds
   and accelerations; infinite where nothing is known of it. */
static double square_later(Instance *s, double later)
{
    const Head *head = &s->now->head;
    const double *v = s->head.x + nq(s->model), *a = s->head.k + nq(s->model);
    double *x = s->step.x;
    int weakest;
    for (int i = 0; i < nv(s->model); ++i) s->constraints.dv[i] = later * (v[i] + 0.5 * later * a[i]);
    eval_displacement(s, head->end, s->head.x, s->constraints.dv, s->constraints.dq);
    for (int i = 0; i < nq(s->model); ++i) x[i] = s->head.x[i] + s->constraints.dq[i];
    for (int i = nq(s->model); i < nx(s->model); ++i) x[i] = s->head.x[i] + later * s->head.k[i];
    normalise_quaternions(s, x);
    double regular = regularity_at(s, head->end + later, x, s->head.m, &weakest);
    return regular * regular;
}

INTERNAL double time_to_branches(Instance *s, double h, double longest)
{
    enum { SAMPLES = 6 };
    const double margin = 0.02, far = 100;
    Head *head = &s->now->head;
    if (!is_constrained(s->model) || head->implicit || !(head->fall > 0)) return INFINITY;
    double now = head->regular > 0 ? head->regular : sqrt(square_later(s, 0));
    if (!(now < INFINITY)) return INFINITY;
    head->regular = now;
    double line = now / head->fall, reach = FURTHEST * h;
    /* Regularity falls to zero in a straight line or, where two constraints become dependent at once, as a square: then
       it is twice as far. */
    if (now < NEAR * head->regularity && line < far * h) reach = 2.5 * line;
    else if (!(line < 2 * reach)) return INFINITY;
    reach = fmin(reach, longest);
    /* Its square has a smooth lowest point there, to which parabolas lead, once it lies between three points. */
    double t[3] = {0, 0.5 * reach, reach}, y[3] = {now * now, square_later(s, t[1]), square_later(s, t[2])}, lowest;
    for (int sample = 0; sample < SAMPLES && !(y[1] < y[0]); ++sample) {
        t[2] = t[1];
        y[2] = y[1];
        t[1] *= 0.5;
        y[1] = square_later(s, t[1]);
    }
    double found = y[1] < y[2] ? t[1] : t[2], least = fmin(y[1], y[2]);
    for (int sample = 0; sample < SAMPLES; ++sample) {
        if (vertex(t, y, &lowest) == INFINITY) return INFINITY;
        if (fabs(lowest - found) < margin * t[2]) break;
        double height = square_later(s, lowest);
        if (height < least) {
            least = height;
            found = lowest;
        }
        lowest_of_four(t, y, lowest, height);
    }
    least = sqrt(least);
    return least < REACHED * head->regularity && least < FALLEN_TO * now ? found : INFINITY;
}

INTERNAL int is_near_branches(const Instance *s, double ahead)
{
    const Head *head = &s->now->head;
    return ahead < INFINITY && head->regular < NEAR * head->regularity && head->h > 0.01 * ahead;
}

INTERNAL double length_of_passage(const Method *method, double ahead, double h, double remaining)
{
    double first = method->gaps[0], second = method->gaps[1];
    if (ahead <= first * h) return ahead / first;
    if (ahead <= second * h) return ahead / second;
    /* The next one goes over it, with the position in its first gap, if there is time for it. */
    double next = fmin(h, (remaining - ahead) / (1 - first));
    return next > 0.1 * h ? fmin(h, ahead - first * next) : h;
}

QUICK
