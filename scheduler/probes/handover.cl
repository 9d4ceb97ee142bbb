/* SPDX-License-Identifier: MIT */
/* Keeps its work-item busy for so many steps, each of which needs the one before. */
kernel void busy(global uint *out, uint steps)
{
    uint x = (uint)get_global_id(0);
    for (uint i = 0; i < steps; i++)
        x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}
