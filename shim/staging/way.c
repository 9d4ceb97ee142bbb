/* SPDX-License-Identifier: MIT */
/* See staging.h, section way.c. */
#include "shim/staging/staging.h"

/* The first row counts of which all facts hold of `all` and none of `none`. */
static const struct {
    unsigned all, none;
    enum gs_host_way way;
} rows[] = {
    /* A small read that blocks took 0.7 us more beside NVIDIA's driver where it was looked at. */
    {GS_FACT_DIRECT, GS_FACT_UNITS | GS_FACT_NEW | GS_FACT_FOUND, GS_AS_IT_IS},
    /* Behind a unit the read of 4 bytes is set up only once the launch before it has ended: 14 us of 98 (an H200).
     * Also a small write. Without this and home.c's unit in the call, jobs of 47 to 211 us with a write or a read of up
     * to 256 KiB took -5 to +26 % longer (bench/results/h200x2-2026-11-30.md). */
    {GS_FACT_DIRECT | GS_FACT_SOLE, GS_FACT_NEW | GS_FACT_FOUND, GS_AT_ONCE},
    {0, GS_FACT_FOUND, GS_LOOK},
    /* An H200 writes 256 MiB of pageable memory at 44 GB/s and reads at 50; NVIDIA's driver at 10 and 18. */
    {GS_FACT_RING, 0, GS_BY_RING},
    /* A read at home changes nothing that the lock protects. */
    {0, GS_FACT_WRITES | GS_FACT_UNITS | GS_FACT_AWAY, GS_BY_CALL},
    /* NVIDIA's non-blocking transfers of pageable memory take up to twice as long as blocking ones. */
    {GS_FACT_BLOCKS, GS_FACT_UNITS | GS_FACT_AWAY, GS_BY_CALL},
    /* By the queue, jobs of 180 to 800 us that read 4 bytes to 1 MiB of two GPUs took 4 to 25 % longer. */
    {GS_FACT_BLOCKS | GS_FACT_FEW | GS_FACT_AWAY, GS_FACT_WRITES | GS_FACT_UNITS, GS_BY_CALLS},
    {0, 0, GS_BY_QUEUE},
};

enum gs_host_way gs_host_way(unsigned facts)
{
    size_t i = 0;
    while ((facts & rows[i].all) != rows[i].all || facts & rows[i].none)
        i++;
    return rows[i].way;
}
