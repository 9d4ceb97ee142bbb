/* SPDX-License-Identifier: MIT */
/* What generate.py says about the kernels of a batch: their launches and arguments. */
#ifndef GS_TESTS_ACCESS_ORACLE_PLAN_H
#define GS_TESTS_ACCESS_ORACLE_PLAN_H

#include "tests/access/oracle/machine.h"

enum plan_arg_kind { PLAN_VALUE, PLAN_BUFFER, PLAN_SAME, PLAN_NULL, PLAN_LOCAL };

struct plan_arg {
    enum plan_arg_kind kind;
    _Alignas(64) unsigned char value[64];
    uint32_t bytes; /* of a value, or of local memory */
    char contents;  /* of a buffer, with the next three: see machine_fill */
    unsigned width;
    int64_t lo, hi;
    uint32_t same; /* an earlier argument with the same buffer */
};

struct plan_launch {
    struct machine_launch geometry;
    uint32_t slack; /* bytes of each buffer behind those that are touched */
    uint64_t seed;  /* of the parts */
    struct plan_arg args[MACHINE_ARGS];
};

struct plan_kernel {
    uint64_t seed;
    char name[32];
    uint32_t n_args;
    bool barriers;
};

struct plan;

/* Ends the program where the file can't be read. */
struct plan *plan_open(const char *path);
void plan_close(struct plan *p);
/* False at the end. */
bool plan_next_kernel(struct plan *p, struct plan_kernel *k);
/* False behind the last launch of the kernel. */
bool plan_next_launch(struct plan *p, const struct plan_kernel *k, struct plan_launch *l);

#endif
