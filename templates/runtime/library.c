/* The library for any model, as one unit: of FMUs whose equations are interpreted, and of programs in this process
   (host.c). As a WebAssembly module it is for programs alone, and reads no files. */

#include "runtime.c"

#ifndef __wasm__

#include "resources.c"
#include "fmi2.c"
#include "fmi3.c"

#endif

#include "host.c"
#include "batch.c"
