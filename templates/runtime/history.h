/* Delayed signals. */

#ifndef HISTORY_H
#define HISTORY_H

#include "runtime.h"

INTERNAL size_t history_size(const Instance *s);

/* Delayed signals at (t, x), put behind the inputs u. */
INTERNAL void take_delayed(Instance *s, double t, const double *x, const double *m, double *u);

/* Rates of the delayed signals at (t, x), put behind those of the inputs, du. */
INTERNAL void take_delayed_rates(Instance *s, double t, const double *x, const double *m, double *du);

/* By how much signals are delayed at (t, x), and how long a step may be for that, into *least. */
INTERNAL Outcome check_delays(Instance *s, double t, const double *x, const double *m, double *least);

/* The first instant after t at which a kink comes out of a fixed delay, and of which order it is then. */
INTERNAL double next_kink(Instance *s, double t, double *kink);

/* Write down the step from `begin` to `end` that the dense output tells, in as many segments as it takes. */
INTERNAL Outcome record(Instance *s, double begin, double end);

/* There is a kink at the end of the history, of an order that the signals at (t, x) tell: whether they jump. */
INTERNAL Outcome mark_kink(Instance *s, double t, const double *x, const double *m, double order);

/* Drop what lies after t. */
INTERNAL void cut_history(Instance *s, double t);

/* The history begins: until now signals have been what they are at the start. */
INTERNAL void begin_history(Instance *s);

#endif
