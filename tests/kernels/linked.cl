// Two units and a header given to clCompileProgram, linked.
//! unit linked_other.inc
//! header shared/decl.h include/decl.h
//! kernel linked global 32 local 4
//! buffer int 32 zero
//! expect hidden group
#include "shared/decl.h"
int here(int a) { return a + (int)get_global_size(0); }
__kernel void linked(__global int *out)
{
    out[get_global_id(0)] = elsewhere(1) + plain_elsewhere(2) + TWICE(elsewhere(3));
}
