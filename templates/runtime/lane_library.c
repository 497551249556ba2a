/* The library that makes trials of several runs of a batch at once: lanes.c for each set of instructions that there
   may be, of which the processor decides. It is for programs in this process only, and FMUs do without it. */

#include "runtime.c"

#include "lanes.h"

#if defined __x86_64__ && (!defined _WIN32 || defined __clang__) /* gcc for Windows does not align vectors on the stack */
#include <cpuid.h>

/* Begin and end of functions for a processor that has further instructions. */
#define DO(text) _Pragma(#text)
#ifdef __clang__
#define BEGIN_TARGET(names) DO(clang attribute push(__attribute__((target(names))), apply_to = function))
#define END_TARGET DO(clang attribute pop)
#else
#define BEGIN_TARGET(names) DO(GCC push_options) DO(GCC target(names))
#define END_TARGET DO(GCC pop_options)
#endif

BEGIN_TARGET("avx2")
#define LANES 4
#include "lanes.c"
#undef LANES
END_TARGET

BEGIN_TARGET("avx512f,avx512dq")
#define LANES 8
#include "lanes.c"
#undef LANES
END_TARGET

static const LaneKind kinds[] = {
    {4, make_lanes_4, make_stages_4, free_lanes_4},
    {8, make_lanes_8, make_stages_8, free_lanes_8},
};

HOST_EXPORT int mbfmu_lanes(void)
{
    const unsigned avx = 0x6, avx512 = 0xe6;
    unsigned a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 1;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if ((kept & avx) != avx || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 1;
    if ((kept & avx512) == avx512 && (b >> 16 & 1) && (b >> 17 & 1)) return 8;
    return b >> 5 & 1 ? 4 : 1;
}
#elif defined __GNUC__ && !defined _WIN32
#define LANES 4
#include "lanes.c"
#undef LANES

static const LaneKind kinds[] = {{4, make_lanes_4, make_stages_4, free_lanes_4}};

HOST_EXPORT int mbfmu_lanes(void) { return 4; }
#else
static const LaneKind kinds[] = {{0, NULL, NULL, NULL}};

HOST_EXPORT int mbfmu_lanes(void) { return 1; }
#endif

HOST_EXPORT const LaneKind *mbfmu_lane_kind(int lanes)
{
    if (lanes < 2 || lanes > mbfmu_lanes()) return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (kinds[i].lanes == lanes) return kinds + i;
    return NULL;
}
