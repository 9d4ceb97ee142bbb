/* SPDX-License-Identifier: MIT */
/* Measures what links carry, for the probe: a program of its own, which cleans up by ending. */
#ifndef GS_CLI_LINK_PROBE_METER_H
#define GS_CLI_LINK_PROBE_METER_H

#include "common/links.h"
#include "shim/transfer/windows.h"

/* What a measurement needs; made once. */
struct gs_meter {
    unsigned n;
    cl_context ctx;
    cl_command_queue queue[GS_MAX_DEVICES];
    cl_mem buffer[GS_MAX_DEVICES], pinned_buffer;
    size_t bytes; /* of each buffer, and of a large transfer */
    char *pageable, *pinned;
    struct gs_windows windows;
    bool least;                                        /* of several times the least counts, not the median */
    enum { GS_BY_PEER, GS_BY_PINNED, GS_BY_COPY } way; /* between two devices */
};

/* One link, in one direction. `from`, `to`: devices; -1: the host. */
struct gs_meter_link {
    int from, to;
    bool pinned; /* the host's memory */
};

cl_int gs_meter_make(struct gs_meter *b, cl_context ctx, const cl_device_id *dev, unsigned n, size_t bytes);
/* For links to the host and GS_BY_PINNED; pageable memory too where it is wanted. */
cl_int gs_meter_host_memory(struct gs_meter *b, bool pageable);

/* Both figures of a link, of the median time of so many runs each, or the least. False: they can't be had. */
enum { GS_METER_RUNS = 21 }; /* at most */
bool gs_meter_measure(struct gs_meter *b, const struct gs_meter_link *l, int short_runs, int runs, double *latency_us,
                      double *gb_per_s);

/* In a few transfers: what it costs between the first two devices, at the least: beside an application that uses them;
 * zeros where that can't be told. */
struct gs_link_cost gs_meter_cost(struct gs_meter *b);

#endif
