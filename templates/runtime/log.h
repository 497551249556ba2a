/* Log lines. */

#ifndef LOG_H
#define LOG_H

#include "runtime.h"

enum { LOG_EVENTS = 1, LOG_WARNING = 2, LOG_DISCARD = 4, LOG_ERROR = 8, LOG_FATAL = 16, LOG_ALL = 31 };

/* The mask of a category, or 0: there is none of this name. */
INTERNAL unsigned log_category(const char *name);

/* Log the reason of a status and return that status. */
INTERNAL Status say(const Instance *s, Status status, const char *format, ...);

/* Log why the model ends the run, which is no failure, also for importers that have asked for no events. */
INTERNAL Status say_ended(const Instance *s, const char *format, ...);

/* Log an error where there is no instance. */
INTERNAL void refuse(const Host *host, const char *name, const char *format, ...);

/* Keep the cause of a failure for the function that reports it. */
INTERNAL void because(Instance *s, const char *format, ...);

/* Add to the cause. */
INTERNAL void append(Instance *s, const char *format, ...);

/* Keep what an outcome means as the cause; the other outcomes have said it already. */
INTERNAL void explain(Instance *s, Outcome outcome);

#endif
