/* The library of one FMU, as one unit: model.h, equations.c and descriptor_data.h are written for its model. Those of
   great models have further files beside them, which are compiled on their own. */

#include "runtime.c"

#include "own_model.c"

#if FMI_VERSION == 3
#include "fmi3.c"
#else
#include "fmi2.c"
#endif
