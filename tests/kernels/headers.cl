// A header from a folder given by -I, with a guard, included twice, and another with #pragma once.
//! options -IDIR/include
//! kernel headers global 32 local 4
//! buffer int 32 zero
//! expect hidden group
#include "guarded.h"
#include <once.h>
#include "guarded.h"
#include "once.h"
#define NAME quadruple
#define FACTOR 4
#include "template.h"
#define NAME octuple
#define FACTOR 8
#include "template.h"
__kernel void headers(__global int *out)
{
    out[get_global_id(0)] = from_guarded(1) + from_once(2) + quadruple(3) + octuple(4);
}
