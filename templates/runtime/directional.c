/* Directional derivatives (FMI 2.0.4, section 2.1.9) and adjoint ones (FMI 3.0, section 2.2.11), exact for outputs
   and state derivatives. Those of event indicators are central differences; so are, in initialisation mode, where
   every value depends on the solution for the start, those of all, and in model exchange those of what moves under
   constraints: the states nearby that meet these have no derivative in closed form. */

#include "directional.h"

#include "access.h"
#include "evaluate.h"
#include "freshness.h"
#include "functions.h"
#include "impacts.h"
#include "initialise.h"
#include "iterate.h"
#include "log.h"
#include "memory.h"
#include "optimize.h"
#include "values.h"
#include "vectors.h"

SMALL

/* Distance of differences of order 4 whose values are known to the rounding errors of a projection, some 1e-14: the fifth
   root of these, less what steep functions take. */
#define FOURTH_ORDER_DISTANCE 2e-4

/* The same where points may stay closed, beside the speed below which nothing is struck: a contact is closed up to a
   thousand times that. Of 1e-6 m/s rounding errors leave some 1e-7. */
#define CLOSED_DISTANCE 100

/* Distance of central differences over initialisation, whose equations are met to 1e-16 or so. */
#define START_DISTANCE 1e-5

/* Position of a variable among the exposed ones, or -1. */
static int exposed_position(const Instance *s, unsigned index)
{
    for (int i = 0; i < nexposed(s->model); ++i)
        if (s->tables->exposed_variables[i] == (int)index) return i;
    return -1;
}

static Status check_unknowns(const Instance *s, const char *function, const unsigned *vr, size_t nvr)
{
    for (size_t i = 0; i < nvr; ++i) {
        int place = s->tables->real_places[vr[i]];
        if (s->now->phase != INITIALIZATION && store_of(place) == STORE_Y && exposed_position(s, index_of(place)) < 0)
            return say(s, STATUS_ERROR, "%s: value reference %u is neither an output nor the derivative of a state",
                       function, vr[i]);
    }
    return STATUS_OK;
}

/* The direction that changes of knowns are; in initialisation mode, knowns are what can be set. */
static Status take_direction(Instance *s, const char *function, const unsigned *vr, size_t nvr,
                                 const double *change)
{
    clear_direction(s, &s->tangent.along);
    for (size_t i = 0; i < nvr; ++i) {
        int place = s->tables->real_places[vr[i]];
        unsigned index = index_of(place);
        switch (store_of(place)) {
        case STORE_TIME: s->tangent.along.t += change[i]; break;
        case STORE_X: s->tangent.along.x[index] += change[i]; break;
        case STORE_U:
            if (!is_inner(s, index) || solved_outside(s)) {
                s->tangent.along.u[index] += change[i];
                break;
            } /* fall through */
        default:
            return say(s, STATUS_ERROR, "%s: value reference %u is neither an input nor a state nor time", function,
                       vr[i]);
        }
    }
    return STATUS_OK;
}

/* Crossings at the latch moved by `distance` along the direction, times `factor`, are added to the indicators. */
static int add_crossings(Instance *s, double distance, double factor)
{
    double t = s->now->latch_t + distance * s->tangent.along.t;
    for (int i = 0; i < nx(s->model); ++i) s->tangent.moved.x[i] = s->latch.x[i] + distance * s->tangent.along.x[i];
    for (int i = 0; i < nu(s->model); ++i) s->tangent.moved.u[i] = s->latch.u[i] + distance * s->tangent.along.u[i];
    if (crossings_need_w(s->model)
        && accelerations(s, t, s->tangent.moved.x, s->tangent.moved.u, s->latch.m, s->tangent.moved_w)) return 0;
    if (eval_crossings(s, t, s->tangent.moved.x, s->tangent.moved.u, s->latch.m, s->tangent.moved_w, s->tangent.c))
        return 0;
    for (int i = 0; i < nindicators(s->model); ++i)
        s->latch.indicators[i] += factor * s->tangent.c[s->tables->indicators[i]];
    return 1;
}

/* Changes of the event indicators along the direction, in their place. */
static int indicator_direction(Instance *s)
{
    double size = fmax(1, fmax(largest(s->latch.x, nx(s->model)), largest(s->latch.u, nu(s->model))));
    double far = fmax(fabs(s->tangent.along.t),
                      fmax(largest(s->tangent.along.x, nx(s->model)), largest(s->tangent.along.u, nu(s->model))));
    double distance = DIFFERENCE_DISTANCE * size / (far > 0 ? far : 1);
    for (int i = 0; i < nindicators(s->model); ++i) s->latch.indicators[i] = 0;
    return add_crossings(s, distance, 0.5 / distance) && add_crossings(s, -distance, -0.5 / distance)
        && finite_all(s->latch.indicators, nindicators(s->model));
}

/* Add the values that the unknowns have now, `weight` times; 0 where they have none. */
static int add_values_here(Instance *s, const unsigned *unknowns, size_t nunknowns, double weight, double *result)
{
    const int *places = s->tables->real_places;
    if (!prepare(s, places, unknowns, nunknowns)) return 0;
    for (size_t i = 0; i < nunknowns; ++i) result[i] += weight * value_at(s, places[unknowns[i]]);
    return 1;
}

/* Add the values of the unknowns, for latch and inputs moved by `distance` along the direction, `weight` times. */
static int add_values(Instance *s, const unsigned *unknowns, size_t nunknowns, double distance, double weight,
                      double *result)
{
    double t = s->now->latch_t;
    COPY(s->tangent.moved.x, s->latch.x, nx(s->model));
    COPY(s->tangent.u_kept, s->latch.u, nu(s->model));
    s->now->latch_t += distance * s->tangent.along.t;
    for (int i = 0; i < nx(s->model); ++i) s->latch.x[i] += distance * s->tangent.along.x[i];
    for (int i = 0; i < nu(s->model); ++i) s->latch.u[i] += distance * s->tangent.along.u[i];
    COPY(s->given.u, s->latch.u, nu(s->model) - niterations(s->model));
    forget_latch(s);
    int ready = !solve_latch(s) && add_values_here(s, unknowns, nunknowns, weight, result);
    s->now->latch_t = t;
    COPY(s->latch.x, s->tangent.moved.x, nx(s->model));
    COPY(s->latch.u, s->tangent.u_kept, nu(s->model));
    COPY(s->given.u, s->tangent.u_kept, nu(s->model) - niterations(s->model));
    forget_latch(s);
    return ready;
}

/* Derivatives by differences of order 4, good to 1e-9 or so: values are known to rounding errors of the projection. */
static Status differences_along(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                const unsigned *knowns, size_t nknowns, const double *change, double *result)
{
    Status status = take_direction(s, function, knowns, nknowns, change);
    if (status) return status;
    double far = 20 * fabs(s->tangent.along.t);
    for (int i = 0; i < nx(s->model); ++i) far = fmax(far, fabs(s->tangent.along.x[i]) / s->tables->nominals[i]);
    for (int i = 0; i < nu(s->model); ++i) far = fmax(far, fabs(s->tangent.along.u[i]) / fmax(1, fabs(s->latch.u[i])));
    for (size_t i = 0; i < nunknowns; ++i) result[i] = 0;
    if (!(far > 0)) return STATUS_OK;
    double nearest = INFINITY;
    if (npoints(s->model) > 0 && refresh(s, 0))
        nearest = CLOSED_DISTANCE * least_speed(s, s->now->latch_t, s->latch.x, s->latch.u, s->latch.m, s->latch.w);
    double h = fmin(FOURTH_ORDER_DISTANCE, nearest) / far;
    if (!add_values(s, unknowns, nunknowns, h, 8 / (12 * h), result)
        || !add_values(s, unknowns, nunknowns, -h, -8 / (12 * h), result)
        || !add_values(s, unknowns, nunknowns, 2 * h, -1 / (12 * h), result)
        || !add_values(s, unknowns, nunknowns, -2 * h, 1 / (12 * h), result) || !finite_all(result, (int)nunknowns))
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", function, s->now->latch_t, s->log.cause);
    return STATUS_OK;
}

static Status exact_derivatives(Instance *s, const char *function, const unsigned *unknowns,
                                    size_t nunknowns, const unsigned *knowns, size_t nknowns,
                                    const double *change, double *result)
{
    double t = s->now->latch_t;
    double *rates = s->tangent.rates;
    Status status = take_direction(s, function, knowns, nknowns, change);
    if (status) return status;
    solve_latch(s);
    /* The factors of A must be those of this point. */
    Outcome outcome = accelerations(s, t, s->latch.x, s->latch.u, s->latch.m, s->latch.w);
    if (!outcome) outcome = linearise_iterations(s, t, s->latch.x, s->latch.u, s->latch.m, s->latch.w);
    if (!outcome && (direction(s, t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, &s->tangent.along, s->tangent.dw,
                               rates)
                     || exposed_direction(s, t, s->latch.x, s->latch.u, s->latch.m, s->latch.w, &s->tangent.along,
                                          s->tangent.dw, s->tangent.dy)))
        outcome = NOT_FINITE;
    if (outcome) {
        explain(s, outcome);
        return say(s, STATUS_DISCARD, "%s at time %.9g: %s", function, s->now->latch_t, s->log.cause);
    }
    s->latch.w_fresh = 1;
    int indicators = 0, residuals = 0;
    for (size_t i = 0; i < nunknowns; ++i) {
        indicators |= store_of(s->tables->real_places[unknowns[i]]) == STORE_INDICATOR;
        residuals |= store_of(s->tables->real_places[unknowns[i]]) == STORE_RESIDUAL;
    }
    if (indicators && !indicator_direction(s))
        return say(s, STATUS_DISCARD, "%s at time %.9g: the indicators are not finite", function, t);
    if (residuals && residual_direction(s, &s->tangent.along, s->tangent.dw))
        return say(s, STATUS_DISCARD, "%s at time %.9g: the residuals are not finite", function, t);
    for (size_t i = 0; i < nunknowns; ++i) {
        int place = s->tables->real_places[unknowns[i]];
        unsigned index = index_of(place);
        switch (store_of(place)) {
        case STORE_TIME: result[i] = s->tangent.along.t; break;
        case STORE_X: result[i] = s->tangent.along.x[index]; break;
        case STORE_U: result[i] = s->tangent.along.u[index]; break;
        case STORE_W: result[i] = s->tangent.dw[index]; break;
        case STORE_Y: result[i] = s->tangent.dy[exposed_position(s, index)]; break;
        case STORE_INDICATOR: result[i] = s->latch.indicators[index]; break;
        case STORE_RESIDUAL: result[i] = s->iterations.r[index]; break;
        default: result[i] = 0;
        }
    }
    return STATUS_OK;
}

/* Add the values of the unknowns to `result`, for start values moved by `distance` along the changes. */
static int add_start_values(Instance *s, const unsigned *unknowns, size_t nunknowns,
                            const unsigned *knowns, size_t nknowns, const double *change, double distance,
                            double *result)
{
    Settables table = real_settables(s);
    for (size_t i = 0; i < nknowns; ++i) {
        int which = find_settable(&table, knowns[i]);
        double *to = (table.settings[which] == SET_INPUT ? s->given.u : s->given.start) + table.indices[which];
        *to += distance * change[i];
    }
    start_changed(s);
    int ready = initialise(s) && add_values_here(s, unknowns, nunknowns, distance > 0 ? 1 : -1, result);
    COPY(s->given.start, s->tangent.start_kept, npar(s->model));
    COPY(s->given.u, s->tangent.u_kept, nu(s->model));
    start_changed(s);
    return ready;
}

static Status start_derivatives(Instance *s, const char *function, const unsigned *unknowns,
                                    size_t nunknowns, const unsigned *knowns, size_t nknowns,
                                    const double *change, double *result)
{
    Settables table = real_settables(s);
    double size = 0, far = largest(change, (int)nknowns);
    COPY(s->tangent.start_kept, s->given.start, npar(s->model));
    COPY(s->tangent.u_kept, s->given.u, nu(s->model));
    for (size_t i = 0; i < nknowns; ++i) {
        int which = find_settable(&table, knowns[i]);
        if (which < 0 || table.settings[which] == SET_STRUCTURE)
            return say(s, STATUS_ERROR, "%s: value reference %u cannot be set in initialisation mode", function,
                       knowns[i]);
        double value = fabs((table.settings[which] == SET_INPUT ? s->given.u
                             : s->given.start)[table.indices[which]]);
        /* A parameter has its own size, be it 1e-9; positions and inputs may happen to be near 0. */
        if (!(store_of(s->tables->real_places[knowns[i]]) == STORE_P && value > 0)) value = fmax(value, 1e-2);
        size = fmax(size, value);
    }
    for (size_t i = 0; i < nunknowns; ++i) result[i] = 0;
    if (!(far > 0)) return STATUS_OK;
    double distance = START_DISTANCE * size / far;
    if (!add_start_values(s, unknowns, nunknowns, knowns, nknowns, change, distance, result)
        || !add_start_values(s, unknowns, nunknowns, knowns, nknowns, change, -distance, result))
        return say(s, STATUS_DISCARD, "%s: %s", function, s->log.cause);
    for (size_t i = 0; i < nunknowns; ++i) result[i] /= 2 * distance;
    if (!finite_all(result, (int)nunknowns))
        return say(s, STATUS_DISCARD, "%s: the values are not finite near the start values", function);
    return STATUS_OK;
}

INTERNAL Status directional_derivative(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                       const unsigned *knowns, size_t nknowns, const double *change, double *result)
{
    if (!s) return STATUS_ERROR;
    if (check_references(s, function, MAY_GET, unknowns, nunknowns, result, nreals(s->model))
        || check_references(s, function, MAY_GET, knowns, nknowns, change, nreals(s->model))
        || check_unknowns(s, function, unknowns, nunknowns))
        return STATUS_ERROR;
    int exchanged = s->now->interface == MODEL_EXCHANGE && (nl(s->model) || nquaternions(s->model));
    return (s->now->phase == INITIALIZATION ? start_derivatives : exchanged ? differences_along : exact_derivatives)(
        s, function, unknowns, nunknowns, knowns, nknowns, change, result);
}

INTERNAL Status adjoint_derivative(Instance *s, const char *function, const unsigned *unknowns, size_t nunknowns,
                                   const unsigned *knowns, size_t nknowns, const double *seed, double *result)
{
    if (!s) return STATUS_ERROR;
    if (check_references(s, function, MAY_GET, unknowns, nunknowns, seed, nreals(s->model))
        || check_references(s, function, MAY_GET, knowns, nknowns, result, nreals(s->model)))
        return STATUS_ERROR;
    double one = 1, *column = host_allocate(&s->caller.host, (nunknowns + 1) * sizeof *column);
    Status status = column ? STATUS_OK : say(s, STATUS_ERROR, "%s: no memory", function);
    for (size_t k = 0; !status && k < nknowns; ++k) {
        status = directional_derivative(s, function, unknowns, nunknowns, knowns + k, 1, &one, column);
        result[k] = 0;
        for (size_t i = 0; !status && i < nunknowns; ++i) result[k] += seed[i] * column[i];
    }
    host_release(&s->caller.host, column);
    return status;
}

QUICK
