/* SPDX-License-Identifier: MIT */
/* The instruction timing model of papers/fermi-time-predictability-report.txt, section 6: what one warp needs for an
 * instruction mix or a program, in the best, the average and the worst case. docs/timing.md has the equations and what
 * the report's own tables say of them. Times are in cycles. */
#ifndef GS_GEMA_TIMING_H
#define GS_GEMA_TIMING_H

#include "gema/ptx.h"

enum gs_timing_case { GS_TIMING_BEST, GS_TIMING_AVERAGE, GS_TIMING_WORST, GS_TIMING_CASES };

/* What one class of instructions costs a warp. */
struct gs_timing_cost {
    double issue;                    /* until the same warp's next instruction may start */
    double latency[GS_TIMING_CASES]; /* until an instruction that reads the result may start */
};

/* A device, as measured. */
struct gs_timing_profile {
    char name[64];
    double clock_mhz;          /* 0: unknown */
    unsigned warp_schedulers;  /* of one multiprocessor */
    unsigned scheduler_cycles; /* between two instructions of one scheduler */
    struct gs_timing_cost cost[GS_PTX_CLASSES];
};

/* The Fermi of the report: its Table 7, sections 5.2 to 5.4 and appendix A.1. */
extern const struct gs_timing_profile gs_timing_fermi;

/* The class's name in a profile ("shared_load") and in a program ("lds"). */
const char *gs_timing_class_name(enum gs_ptx_class class);
const char *gs_timing_class_word(enum gs_ptx_class class);

/* Reads and writes a profile as JSON; the format is in docs/timing.md. Reading: 0 or -EINVAL with a sentence in `why`.
 * Writing: the text, which the caller frees, or null without memory. */
int gs_timing_profile_read(struct gs_timing_profile *p, const char *json, char *why, size_t why_size);
char *gs_timing_profile_write(const struct gs_timing_profile *p);

/* Changes one number: "shared_load=28" (issue and latency), "arithmetic.issue=4", "global_load.worst=470",
 * "clock_mhz=1215". 0 or -EINVAL with a sentence in `why`. */
int gs_timing_profile_set(struct gs_timing_profile *p, const char *assignment, char *why, size_t why_size);

/* An instruction mix, as in Tables 8 and 9. */
struct gs_timing_mix {
    uint64_t count[GS_PTX_CLASSES];
    uint64_t
        dependent[GS_PTX_CLASSES]; /* of these: the next instruction reads the result. Not of loads that can hide */
    double hidden;                 /* cycles of other instructions between loads and the first use (equation 8) */
};

/* Reads "arithmetic=78,arithmetic_dependent=1,shared_load=40,..."; `arithmetic` does not count the dependent ones, as
 * in the report's tables. 0 or -EINVAL with a sentence in `why`. */
int gs_timing_mix_read(struct gs_timing_mix *mix, const char *text, char *why, size_t why_size);

/* Equations 1 to 11: T = sum of CPI * N. Loads cost their latency each, less what is hidden, in the average case alone:
 * the report's best case takes the least latency, its worst case the greatest and hides nothing. */
double gs_timing_mix_cycles(const struct gs_timing_profile *p, const struct gs_timing_mix *mix, enum gs_timing_case c);

/* Hong and Kim's model for one warp, to which the report compares itself (Table 13, 14): memory latency * loads +
 * cycles per issue * instructions. */
double gs_timing_mwp_one_warp(double memory_latency, uint64_t loads, double issue_cycles, uint64_t instructions);

/* One instruction of a program. Registers are numbers below n_registers. */
struct gs_timing_op {
    enum gs_ptx_class class;
    uint32_t first; /* in operand: n_written registers, then n_read */
    uint16_t n_written, n_read;
};

struct gs_timing_program {
    struct gs_timing_op *op;
    size_t n;
    uint32_t *operand;
    size_t n_registers;
};

/* Reads words: alu sfu lds sts ld st ldc atom bar bra ret, each an instruction; "!" behind one says that it reads the
 * result of the one before it, "!3" that of the third before it; "x10" repeats the word before it so that it stands
 * there ten times. "ld alu x10 alu!11 st!". 0, -EINVAL with a sentence in `why`, or -ENOMEM.
 * The caller frees with gs_timing_program_free(). */
int gs_timing_program_read(struct gs_timing_program *p, const char *text, char *why, size_t why_size);

/* The program of a path through a kernel. 0 or -ENOMEM. */
int gs_timing_program_from_ptx(struct gs_timing_program *p, const struct gs_ptx_kernel *k,
                               const struct gs_ptx_trace *trace);
void gs_timing_program_free(struct gs_timing_program *p);

/* The program's mix: an instruction is dependent if the next one reads its result; what lies between a load and the
 * first instruction that reads it is hidden, as far as the average latency reaches. 0 or -ENOMEM. */
int gs_timing_program_mix(const struct gs_timing_program *p, const struct gs_timing_profile *profile,
                          struct gs_timing_mix *mix);

#endif
