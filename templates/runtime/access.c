/* Getting and setting variables. A call that refuses one value changes none. */

#include "access.h"

#include "instance.h"
#include "log.h"
#include "optimize.h"
#include "values.h"
#include "vectors.h"

SMALL

INTERNAL Status check_references(const Instance *s, const char *function, unsigned allowed, const unsigned *vr,
                                 size_t nvr,
                                 const void *values, int known)
{
    if (check_phase(s, function, allowed)) return STATUS_ERROR;
    if (nvr && (!vr || !values)) return say(s, STATUS_ERROR, "%s: no array of values", function);
    for (size_t i = 0; i < nvr; ++i)
        if (vr[i] >= (unsigned)known)
            return say(s, STATUS_ERROR, "%s: unknown value reference %u (the greatest is %d)", function, vr[i],
                       known - 1);
    return STATUS_OK;
}

static Status check_get(Instance *s, const char *function, const unsigned *vr, size_t nvr, const void *values,
                        const int *places, int known)
{
    if (check_references(s, function, MAY_GET, vr, nvr, values, known)) return STATUS_ERROR;
    if (!prepare(s, places, vr, nvr))
        return say(s, s->now->phase == INITIALIZATION ? STATUS_ERROR : STATUS_DISCARD, "%s at time %.9g: %s", function,
                   s->now->latch_t, s->log.cause);
    return STATUS_OK;
}

/* Refuse a value that is not finite, as the standard has it for functions outside their domain (FMI 2.0.4, section 2.1.3:
   fmi2Discard). */
static Status check_finite(Instance *s, const char *function, double value, const char *names,
                           unsigned reference)
{
    if (fabs(value) <= DBL_MAX) return STATUS_OK;
    return say(s, STATUS_DISCARD,
               "%s at time %.9g: %s is %g, no finite number: a division by zero, or a function outside its "
               "range", function, s->now->latch_t, name_of(s, names, reference), value);
}

INTERNAL Status get_reals(Instance *s, const char *function, const unsigned *vr, size_t nvr, double *value)
{
    if (!s) return STATUS_ERROR;
    const int *places = s->tables->real_places;
    Status status = check_get(s, function, vr, nvr, value, places, nreals(s->model));
    for (size_t i = 0; !status && i < nvr; ++i)
        status = check_finite(s, function, value_at(s, places[vr[i]]), s->tables->real_names, vr[i]);
    for (size_t i = 0; !status && i < nvr; ++i) value[i] = value_at(s, places[vr[i]]);
    return status;
}

INTERNAL Status get_integers(Instance *s, const char *function, const unsigned *vr, size_t nvr, int *value)
{
    if (!s) return STATUS_ERROR;
    const int *places = s->tables->integer_places;
    Status status = check_get(s, function, vr, nvr, value, places, nintegers(s->model));
    for (size_t i = 0; !status && i < nvr; ++i)
        status = check_finite(s, function, value_at(s, places[vr[i]]), s->tables->integer_names, vr[i]);
    for (size_t i = 0; !status && i < nvr; ++i) value[i] = (int)lround(value_at(s, places[vr[i]]));
    return status;
}

INTERNAL Status get_booleans(Instance *s, const char *function, const unsigned *vr, size_t nvr, int *value)
{
    if (!s) return STATUS_ERROR;
    const int *places = s->tables->boolean_places;
    Status status = check_get(s, function, vr, nvr, value, places, nbooleans(s->model));
    for (size_t i = 0; !status && i < nvr; ++i) value[i] = value_at(s, places[vr[i]]) > 0.5;
    return status;
}

INTERNAL Status get_strings(Instance *s, const char *function, const unsigned *vr, size_t nvr, const char **value)
{
    if (!s) return STATUS_ERROR;
    Status status = check_references(s, function, MAY_GET, vr, nvr, value, nstrings(s->model));
    for (size_t i = 0; !status && i < nvr; ++i)
        value[i] = s->tables->strings[index_of(s->tables->string_places[vr[i]])];
    return status;
}

INTERNAL Status set_reals(Instance *s, const char *function, const unsigned *vr, size_t nvr, const double *value)
{
    if (!s) return STATUS_ERROR;
    Settables table = real_settables(s);
    Status status = check_references(s, function, MAY_SET | ASKED, vr, nvr, value, nreals(s->model));
    for (size_t i = 0; !status && i < nvr; ++i) status = check_value(s, function, &table, vr[i], value[i]);
    for (size_t i = 0; !status && i < nvr; ++i) set_value(s, &table, vr[i], value[i]);
    return status;
}

INTERNAL Status set_integers(Instance *s, const char *function, const unsigned *vr, size_t nvr, const int *value)
{
    if (!s) return STATUS_ERROR;
    Settables table = integer_settables(s);
    Status status = check_references(s, function, MAY_SET, vr, nvr, value, nintegers(s->model));
    for (size_t i = 0; !status && i < nvr; ++i) status = check_value(s, function, &table, vr[i], value[i]);
    for (size_t i = 0; !status && i < nvr; ++i) set_value(s, &table, vr[i], value[i]);
    return status;
}

INTERNAL Status set_booleans(Instance *s, const char *function, const unsigned *vr, size_t nvr, const int *value)
{
    if (!s) return STATUS_ERROR;
    Settables table = boolean_settables(s);
    Status status = check_references(s, function, MAY_SET | CONFIGURATION, vr, nvr, value, nbooleans(s->model));
    for (size_t i = 0; !status && i < nvr; ++i) status = check_settable(s, function, &table, vr[i]);
    for (size_t i = 0; !status && i < nvr; ++i) set_value(s, &table, vr[i], value[i] ? 1 : 0);
    return status;
}

INTERNAL Status set_strings(Instance *s, const char *function, const unsigned *vr, size_t nvr, const char *const *value)
{
    if (!s) return STATUS_ERROR;
    Settables table = string_settables(s);
    Status status = check_references(s, function, MAY_SET, vr, nvr, value, nstrings(s->model));
    for (size_t i = 0; !status && i < nvr; ++i) status = check_settable(s, function, &table, vr[i]);
    return status;
}

QUICK
