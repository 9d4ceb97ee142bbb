/* SPDX-License-Identifier: MIT */
/* What the machine offers to the built-in functions of builtins.cl, beside what clang's instrumentation calls. */
#ifndef GS_TESTS_ACCESS_ORACLE_TRACED_H
#define GS_TESTS_ACCESS_ORACLE_TRACED_H

enum traced { TRACED_READ, TRACED_WRITE, TRACED_MAY, TRACED_ATOMIC };

#ifndef __OPENCL_VERSION__
#include <stdint.h>
void oracle_trace(uint64_t address, uint64_t bytes, int how);
void oracle_barrier(void);
#endif

#endif
