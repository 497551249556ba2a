/* Points that are struck, and points that stay closed, with friction. */

#ifndef IMPACTS_H
#define IMPACTS_H

#include "runtime.h"

/* Held values of a point: is it closed, what does it give way by, and at which force along its normal does it not; of one that
   rubs also: does it stick, in which direction does it slide, and at which force along its surface does it not give way. */
enum { CLOSED, GIVEN_WAY, SHARE, MODES, STICKS = MODES, DIRECTION, SHARE_ALONG = DIRECTION + 3, MODES_OF_RUBBING = 10 };

/* Write into `held` (the held values of the event) which of the points that may stay closed at (t, x) do, which of them
   stick, and in which direction others slide, where w are the accelerations under the modes m. */
INTERNAL Outcome choose_modes(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                              double *held);

/* Let the speeds in x_event jump where points approach at (t, x). *struck: some did. */
INTERNAL Outcome strike(Instance *s, double t, const double *x, const double *u, const double *m, const double *w,
                        double *x_event, int *struck);

/* Move closed points back together, and take away velocities of what is closed or sticks, where steps have let them drift:
   along their impulses, so that nothing gains energy by it; at an event also of what has stopped sliding. *moved: it has
   changed x. */
INTERNAL Outcome settle_points(Instance *s, double t, double *x, const double *m, const double *w, int event, int *moved);

/* Does a point stick under the modes m? */
INTERNAL int is_sticking(const Instance *s, const double *m);

/* The least speed at (t, x) below which a point is not struck; infinite where no point is known. */
INTERNAL double least_speed(Instance *s, double t, const double *x, const double *u, const double *m, const double *w);

#endif
