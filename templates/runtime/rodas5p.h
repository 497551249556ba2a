/* The Rosenbrock method Rodas5P. */

#ifndef RODAS5P_H
#define RODAS5P_H

#include "method.h"

/* Size of the Jacobian's largest eigenvalue, about: how much a vector grows in repeated products. */
INTERNAL double spectral_radius(Instance *s);

#endif
