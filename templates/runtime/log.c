/* Log lines, by category (FMI 2.0.4, section 2.2.4; FMI 3.0.2, section 2.4.5). Warnings, discards and errors are on from
   the start; events come when logging is asked for. */

#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "optimize.h"

SMALL

static const struct {
    const char *name;
    unsigned mask;
} log_categories[] = {
    {"logEvents", LOG_EVENTS},
    {"logStatusWarning", LOG_WARNING},
    {"logStatusDiscard", LOG_DISCARD},
    {"logStatusError", LOG_ERROR},
    {"logStatusFatal", LOG_FATAL},
    {"logAll", LOG_ALL},
};

enum { NLOG_CATEGORIES = sizeof log_categories / sizeof *log_categories };

static const unsigned status_masks[] = {LOG_EVENTS, LOG_WARNING, LOG_DISCARD, LOG_ERROR, LOG_FATAL};

INTERNAL unsigned log_category(const char *name)
{
    for (int k = 0; k < NLOG_CATEGORIES; ++k)
        if (name && strcmp(name, log_categories[k].name) == 0) return log_categories[k].mask;
    return 0;
}

static void emit(const Host *host, const char *instance, Status status, const char *category, const char *format,
                 va_list arguments)
{
    char text[2000];
    if (!host->log) return;
    vsnprintf(text, sizeof text, format, arguments);
    host->log(host->environment, instance, status, category, text);
}

/* Log a line of a status where one of the categories `wanted` is on. */
static void tell(const Instance *s, Status status, unsigned wanted, const char *format, va_list arguments)
{
    const char *category = "";
    if (!(s->log.categories & wanted)) return;
    for (int i = 0; i < NLOG_CATEGORIES; ++i)
        if (log_categories[i].mask == status_masks[status]) category = log_categories[i].name;
    emit(&s->caller.host, s->caller.name, status, category, format, arguments);
}

INTERNAL Status say(const Instance *s, Status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(s, status, status_masks[status], format, arguments);
    va_end(arguments);
    return status;
}

INTERNAL Status say_ended(const Instance *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(s, STATUS_OK, LOG_EVENTS | LOG_WARNING, format, arguments);
    va_end(arguments);
    return STATUS_OK;
}

INTERNAL void refuse(const Host *host, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    emit(host, name, STATUS_ERROR, "logStatusError", format, arguments);
    va_end(arguments);
}

INTERNAL void because(Instance *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->log.cause, sizeof s->log.cause, format, arguments);
    va_end(arguments);
}

INTERNAL void append(Instance *s, const char *format, ...)
{
    size_t used = strlen(s->log.cause);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->log.cause + used, sizeof s->log.cause - used, format, arguments);
    va_end(arguments);
}

/* Name the acceleration or constraint force in question, where there is one. */
static void name_open_column(Instance *s, const char *before)
{
    int column = s->system.open_column;
    if (column >= 0 && column < nv(s->model))
        append(s, "%s der(%s)", before, s->tables->unknown_names[nq(s->model) + column]);
    else if (column >= nv(s->model) && column < nw(s->model))
        append(s, "%s the force of '%s'", before, s->tables->velocity_names[column - nv(s->model)]);
}

/* Name the accelerations or constraint forces that the equations leave open. */
static void explain_singular(Instance *s)
{
    because(s, "the equations for accelerations and constraint forces are singular: something moves that has no mass, or is "
            "held twice");
    name_open_column(s, "; they leave open");
}

/* Name the iteration variables that no solution is found for. */
static void explain_unsolved(Instance *s)
{
    enum { SHOWN = 4 };
    const Iterations *it = &s->iterations;
    int begin = s->tables->iteration_starts[it->block], end = s->tables->iteration_starts[it->block + 1];
    because(s, "the equations of '%s'", s->tables->iteration_names[begin]);
    if (end - begin > 1) append(s, " and %d more", end - begin - 1);
    append(s, " have no solution that Newton's method finds, last at");
    for (int i = begin; i < end && i < begin + SHOWN; ++i)
        append(s, "%s %s = %.9g", i > begin ? "," : "", s->tables->iteration_names[i], it->last[i]);
    append(s, "%s (residual %.3g): there may be none, check what they are given and their parameters; where there is one, "
              "let start values be closer to it", end - begin > SHOWN ? ", ..." : "", it->residual);
}

INTERNAL void explain(Instance *s, Outcome outcome)
{
    switch (outcome) {
    case NOT_FINITE:
        because(s, "the equations give values that are not finite");
        name_open_column(s, ", such as");
        append(s, ": check start values and parameters");
        break;
    case SINGULAR: explain_singular(s); break;
    case UNSOLVED:
        if (niterations(s->model)) explain_unsolved(s);
        break;
    case INACCURATE:
        because(s, "the step size became too small for the tolerance: the model is too stiff or diverges");
        break;
    default: break;
    }
}

QUICK
