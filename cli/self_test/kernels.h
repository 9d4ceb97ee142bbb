/* SPDX-License-Identifier: MIT */
/* The kernels of the self-test, for gpusparc-self-test and for the translator. */
#ifndef GS_CLI_SELF_TEST_KERNELS_H
#define GS_CLI_SELF_TEST_KERNELS_H

/* Integers, so that every device has the same bytes. Each work-item of `mirror` reads an element that another part of
 * `scramble` has written: bytes go from each device to another. */
static const char gs_self_test_kernels[] = "kernel void scramble(global const uint *in, global uint *out)\n"
                                           "{\n"
                                           "    const size_t i = get_global_id(0);\n"
                                           "    uint v = in[i];\n"
                                           "    for (int k = 0; k < 64; k++)\n"
                                           "        v = (v * 1664525u + 1013904223u) ^ (v >> 7);\n"
                                           "    out[i] = v;\n"
                                           "}\n"
                                           "kernel void mirror(global const uint *in, global uint *out)\n"
                                           "{\n"
                                           "    const size_t i = get_global_id(0);\n"
                                           "    out[i] = in[get_global_size(0) - 1 - i] + (uint)i;\n"
                                           "}\n";

#endif
