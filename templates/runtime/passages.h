/* Steps over positions in which branches of the motion cross. */

#ifndef PASSAGES_H
#define PASSAGES_H

#include "method.h"

/* A step ends far from such a position that is so far ahead, in its own lengths: of a nearer one it has to know. */
#define FURTHEST 1.4

/* A step right over such a position, in the widest gap between stages, whatever length accuracy proposes. */
typedef struct {
    int order5;                     /* by dopri5, whose gap is the widest, and not by the method of the other steps */
    double tolerance;               /* an error as of this tolerance does */
} Leap;

/* An error as of this tolerance does where a step has to end near such a position. */
#define ENDING_TOLERANCE 1e-7

/* What is tried one after the other where such a position is near. */
enum { LEAPS = 3 };
INTERNAL_DATA const Leap leaps[LEAPS];

/* How long it is from the head to such a position ahead; infinite where none is within reach of steps of length h, or
   within the time `longest`. */
INTERNAL double time_to_branches(Instance *s, double h, double longest);

/* Is a position in the time `ahead` so near that ordinary steps may shrink with the distance, and end in it? */
INTERNAL int is_near_branches(const Instance *s, double ahead);

/* How long a step of length h at most, with `remaining` to go, should be where such a position lies ahead: it goes over
   the position, which lies far from its stages, or it ends so far before that the next one can. */
INTERNAL double length_of_passage(const Method *method, double ahead, double h, double remaining);

#endif
