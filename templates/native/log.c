/* Log lines, by category (FMI 2.0.4, section 2.2.4). Warnings, discards and errors are on from the start; events come
   with loggingOn or fmi2SetDebugLogging. */

enum { LOG_EVENTS = 1, LOG_WARNING = 2, LOG_DISCARD = 4, LOG_ERROR = 8, LOG_FATAL = 16, LOG_ALL = 31 };

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

/* Importers differ in whether they expand the message as a format: without arguments a doubled % is safe in both. */
static void emit(const fmi2CallbackFunctions *callbacks, const char *instance, fmi2Status status, const char *category,
                 const char *format, va_list arguments)
{
    char text[1024], message[2048];
    if (!callbacks->logger) return;
    vsnprintf(text, sizeof text, format, arguments);
    char *to = message;
    for (const char *from = text; *from; ++from) {
        if (*from == '%') *to++ = '%';
        *to++ = *from;
    }
    *to = 0;
    callbacks->logger(callbacks->componentEnvironment, instance, status, category, message);
}

/* Log the reason of a status and return that status. */
static fmi2Status say(const Instance *s, fmi2Status status, const char *format, ...)
{
    unsigned mask = status == fmi2OK ? LOG_EVENTS : status == fmi2Warning ? LOG_WARNING
                  : status == fmi2Discard ? LOG_DISCARD : status == fmi2Error ? LOG_ERROR : LOG_FATAL;
    if (s->categories & mask) {
        const char *category = "";
        for (int i = 0; i < NLOG_CATEGORIES; ++i)
            if (log_categories[i].mask == mask) category = log_categories[i].name;
        va_list arguments;
        va_start(arguments, format);
        emit(&s->callbacks, s->name, status, category, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* Keep the cause of a failure for the function that reports it. */
static void because(Instance *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->cause, sizeof s->cause, format, arguments);
    va_end(arguments);
}

/* Keep what an outcome means as the cause; a violated assertion and crossing branches have said it already. */
static void explain(Instance *s, Outcome outcome)
{
    switch (outcome) {
    case NOT_FINITE: because(s, "the equations give values that are not finite"); break;
    case SINGULAR: because(s, "the equations for accelerations and constraint forces are singular"); break;
    case NOT_PROJECTED: because(s, "the constraints cannot be met"); break;
    case INACCURATE:
        because(s, "the step size became too small for the tolerance: the model is too stiff or diverges");
        break;
    case CHATTERING: because(s, "the switches flip back and forth without end"); break;
    default: break;
    }
}
