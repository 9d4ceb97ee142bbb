/* SPDX-License-Identifier: MIT */
/* Runs kernels that clang compiled for the host, one work-item after the other, and records which bytes of which buffer
 * each work-group reads and writes. Knows nothing of the access analysis. Not thread-safe. */
#ifndef GS_TESTS_ACCESS_ORACLE_MACHINE_H
#define GS_TESTS_ACCESS_ORACLE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MACHINE_SLOTS = 8,       /* buffers */
    MACHINE_LIMIT = 1 << 18, /* bytes of a buffer that kernels may touch */
    MACHINE_WORDS = MACHINE_LIMIT / 64,
    MACHINE_GROUPS = 96, /* of a launch, at most */
    MACHINE_ITEMS = 256, /* of a group, at most */
    MACHINE_ARGS = 16
};

/* What a byte's bit tells of a work-group. */
enum machine_kind {
    MACHINE_READ,  /* it reads the byte, and has not written it before */
    MACHINE_WRITE, /* it writes the byte */
    MACHINE_MAY,   /* a compiler may let it write the byte: padding; or an atomic does */
    MACHINE_KINDS
};

enum machine_outcome { MACHINE_DONE, MACHINE_OUT_OF_BOUNDS, MACHINE_TOO_LONG, MACHINE_TRAP };

struct machine_launch {
    uint32_t dims;
    uint64_t offset[3], global[3], local[3];
};

typedef void machine_kernel(const uint64_t *args);

void machine_open(void);

/* The first byte of a buffer. */
unsigned char *machine_buffer(unsigned slot);

/* Fills a buffer: words of `width` bytes, with numbers from lo to hi; `kind`: 'u' in any order, 'm' each larger than
 * the one before by such a number. */
void machine_fill(unsigned slot, char kind, unsigned width, int64_t lo, int64_t hi);

/* Runs all work-items. `barriers`: the kernel has some. Afterwards the functions below tell what it did. */
enum machine_outcome machine_run(machine_kernel *kernel, const uint64_t *args, const struct machine_launch *launch,
                                 bool barriers);

uint32_t machine_groups(void);
/* Behind the last byte touched. */
size_t machine_touched(unsigned slot);
/* MACHINE_WORDS words. Groups are numbered with dimension 0 first. */
const uint64_t *machine_bits(unsigned slot, uint32_t group, enum machine_kind kind);
/* Bytes that work-items of one group read and write with no barrier between. */
const uint64_t *machine_raced(unsigned slot);

#endif
