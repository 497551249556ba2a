/* Derivatives where a mechanism passes a position in which branches of its motion cross, as integrators of importers ask
   for them: anywhere, and off the constraints by what they tolerate.

   The constraints of such a position hardly tell the branches apart. At a distance d from it, rounding errors eps move a
   position that meets them by eps / d, its speeds by eps / d^2, and its accelerations by eps / d^3, while the motion along
   each branch is as smooth as anywhere. So derivatives near it are interpolated from places before it and behind it on the
   same branch, to which the present speeds lead. */

/* Regularity of the constraints, relative to the largest so far, below which derivatives are interpolated, and that of the
   places from which they are; and below which constraints are met to rounding errors. */
#define INTERPOLATED_BELOW 4e-3
#define INTERPOLATED_FROM 1.2e-2
#define SHARPENED_BELOW 0.2

/* The fewest places at each side. */
enum { LEAST_PLACES = 3 };

/* Meet the constraints to rounding errors: Newton steps from states that are projected. */
static Outcome sharpen_states(Instance *s, double t, double *x, const double *m)
{
    enum { ITERATIONS = 2 };
    if (!sharpen(s, t, x, m)) return NOT_PROJECTED;
    const double *u = constraint_inputs_at(s, t, x, m);
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        if (eval_constraints(s, t, x, u, m, s->g, s->c, s->G)) return NOT_FINITE;
        if (!iteration && factorise_constraints(s, t, x, m, NL)) return NOT_PROJECTED;
        constraint_step(s, s->c, NL, s->dv);
        for (int i = 0; i < NV; ++i) x[NQ + i] += s->dv[i];
    }
    return DONE;
}

/* Where the speeds of x lead in the time `later`: states `there` that meet the constraints, with their derivatives.
   Returns how regular the constraints are, 0 where they cannot be met. */
static double look_along(Instance *s, double t, const double *x, const double *m, double later, double *there,
                         double *derivatives)
{
    int weakest;
    for (int i = 0; i < NV; ++i) s->dv[i] = later * x[NQ + i];
    COPY(there, x, NX);
    eval_displacement(s, t, x, s->dv, s->dq);
    for (int i = 0; i < NQ; ++i) there[i] += s->dq[i];
    if (project(s, t + later, there, m) || sharpen_states(s, t + later, there, m)) return 0;
    return right_hand_side(s, t + later, there, m, s->stage_w, derivatives) ? 0 : regularity(s, &weakest);
}

/* How long to follow the speeds of x to either side for constraints of the regularity `wanted`, where it is `regular` at
   x: it changes in proportion to the way. 0 where they lead to no such place nearby. */
static double way_to_regular(Instance *s, double t, const double *x, const double *m, double regular, double wanted)
{
    enum { TRIALS = 8 };
    double speed = largest(x + NQ, NV), way = 1e-3 / speed, longest = 0.1 / speed, growth, next;
    if (!(speed > 0)) return 0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        double before = look_along(s, t, x, m, -way, s->stage[1], s->stage[2]);
        double behind = look_along(s, t, x, m, way, s->stage[1], s->stage[2]), least = fmin(before, behind);
        if (least > wanted && least < 3 * wanted) return way;
        growth = fmax(fabs(before - regular), fabs(behind - regular)) / way;
        next = (regular + 1.5 * wanted) / growth;
        if (least == 0 || !(next < longest)) return 0;
        way = fmin(fmax(next, 0.1 * way), 10 * way);
    }
    return 0;
}

/* States that meet the constraints near x, their derivatives and w (s->stage_w), from what places to both sides of x tell:
   forces, too, cannot be solved for where branches cross. Each is the value in the middle of the polynomial through all.
   The way to them begins at x itself: here its own speeds, but for the tolerance of an integrator, lead along the branch,
   and those that meet the constraints perhaps not. Returns 0 where there are too few places. */
static int interpolate_along(Instance *s, double t, const double *x, const double *m, double regular, double *met,
                             double *derivatives)
{
    double *there = s->stage[1], *k = s->stage[2], **sums_x = s->stage + 3, **sums = s->stage + 3 + PLACES;
    double wanted = INTERPOLATED_FROM * s->now->head.regularity;
    double way = way_to_regular(s, t, x, m, regular, wanted), weight;
    int n = 0, found = way > 0;
    for (; n < PLACES && found; n += found) {
        double *sum_w = s->places_w + (size_t)n * NW;
        for (int i = 0; i < NX; ++i) sums_x[n][i] = sums[n][i] = 0;
        for (int i = 0; i < NW; ++i) sum_w[i] = 0;
        for (int side = -1; side <= 1 && found; side += 2) {
            found = look_along(s, t, x, m, side * (n + 1) * way, there, k) > 0.5 * wanted;
            for (int i = 0; i < NX; ++i) {
                sums_x[n][i] += there[i];
                sums[n][i] += k[i];
            }
            for (int i = 0; i < NW; ++i) sum_w[i] += s->stage_w[i];
        }
    }
    if (n < LEAST_PLACES) return 0;
    for (int i = 0; i < NX; ++i) met[i] = derivatives[i] = 0;
    for (int i = 0; i < NW; ++i) s->stage_w[i] = 0;
    weight = n / (n + 1.0);
    for (int place = 0; place < n; ++place) {
        for (int i = 0; i < NX; ++i) {
            met[i] += weight * sums_x[place][i];
            derivatives[i] += weight * sums[place][i];
        }
        for (int i = 0; i < NW; ++i) s->stage_w[i] += weight * s->places_w[(size_t)place * NW + i];
        weight *= -(n - place - 1) / (n + place + 2.0);
    }
    return 1;
}

/* How quick the pull is beside the motion. Without it drift adds up; a stronger one makes the derivatives stiffer. */
#define PULL 1.0

/* States near x that meet the constraints, the derivatives and w (s->stage_w) there: the nearest ones, or those on the
   branch. s->pull is the displacement that leads to them. */
static Outcome derivatives_on_constraints(Instance *s, double t, const double *x, const double *m, double *met,
                                          double *derivatives)
{
    Head *head = &s->now->head;
    int weakest;
    COPY(met, x, NX);
    Outcome outcome = project(s, t, met, m);
    for (int j = 0; j < NV; ++j) s->pull[j] = outcome ? 0 : s->led[j];
    if (CONSTRAINED && (!outcome || outcome == NOT_PROJECTED)) {
        double regular = outcome ? 0 : regularity(s, &weakest);
        head->regularity = fmax(head->regularity, regular);
        if (regular < INTERPOLATED_BELOW * head->regularity
            && interpolate_along(s, t, x, m, regular, met, derivatives)) {
            /* Here the nearest position may be on another branch, and far: speeds alone are led back. */
            for (int j = 0; j < NV; ++j) s->pull[j] = 0;
            return DONE;
        }
        if (!outcome && regular < SHARPENED_BELOW * head->regularity) outcome = sharpen_states(s, t, met, m);
    }
    return outcome ? outcome : right_hand_side(s, t, met, m, s->stage_w, derivatives);
}

/* w at x as importers that integrate themselves see it: where there are constraints, accelerations are those of the nearest
   states that meet them. Importers do not all complete every step, and off the constraints equations of motion may be
   singular where on them they are not. The way back is led by accelerations alone, q_d'' = -2 k q_d' - k^2 q_d for the
   drift q_d, so that derivatives of positions are the speeds that the importer has set. */
static Outcome exchanged_accelerations(Instance *s, double t, const double *x, const double *u, const double *m, double *w)
{
    if (!NL && !NQUATERNIONS) return accelerations(s, t, x, u, m, w);
    /* As quick as positions change, but never slower than a tenth of the experiment, so that it is smooth at rest, too. */
    double least = 10 / fmax(STOP_TIME - START_TIME, 1e-6), rate = least * least;
    double *met = s->next_x, *derivatives = s->stage[0];
    Outcome outcome = derivatives_on_constraints(s, t, x, m, met, derivatives);
    if (outcome) return outcome;
    COPY(w, s->stage_w, NW);
    for (int i = 0; i < NQ; ++i) rate += derivatives[i] * derivatives[i] / (1 + met[i] * met[i]);
    rate = PULL * sqrt(rate);
    for (int j = 0; j < NV; ++j)
        w[j] = derivatives[NQ + j] + rate * (2 * (met[NQ + j] - x[NQ + j]) + rate * s->pull[j]);
    return finite_all(w, NW) ? DONE : NOT_FINITE;
}
