/* SPDX-License-Identifier: MIT */
#include "shim/report/pool.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "common/settings.h"

static struct {
    atomic_uint_fast64_t peak[GS_MAX_DEVICES], room[GS_MAX_DEVICES], evictions, evicted, brought, images;
} told;

void gs_report_pool_holds(unsigned device, uint64_t bytes, uint64_t of)
{
    uint_fast64_t most = atomic_load(&told.peak[device]);
    while (most < bytes && !atomic_compare_exchange_weak(&told.peak[device], &most, bytes)) {
    }
    atomic_store(&told.room[device], of);
}

void gs_report_pool_evicted(uint64_t bytes)
{
    atomic_fetch_add(&told.evictions, 1);
    atomic_fetch_add(&told.evicted, bytes);
}

void gs_report_pool_moved(uint64_t bytes)
{
    atomic_fetch_add(&told.brought, bytes);
}

void gs_report_pool_no_image(void)
{
    atomic_fetch_add(&told.images, 1);
}

static unsigned count_devices(void)
{
    unsigned n = GS_MAX_DEVICES;
    while (n && !atomic_load(&told.room[n - 1]))
        n--;
    return n;
}

void gs_report_pool_print(FILE *f)
{
    const unsigned n = count_devices();
    if (atomic_load(&told.images))
        fprintf(f, "gpusparc: pooled memory: %" PRIuFAST64 " images of kinds that it doesn't have were refused\n",
                atomic_load(&told.images));
    if (!n)
        return;
    fputs("gpusparc: pooled memory, MiB at most of room:", f);
    for (unsigned d = 0; d < n; d++)
        fprintf(f, "%s %.1f of %.1f", d ? "," : "", (double)told.peak[d] / 1048576, (double)told.room[d] / 1048576);
    fprintf(f, "; evicted: %" PRIuFAST64 " windows, %.1f MiB to the host; brought to devices: %.1f MiB\n",
            atomic_load(&told.evictions), (double)told.evicted / 1048576, (double)told.brought / 1048576);
}

static void print_list(FILE *f, const char *name, const atomic_uint_fast64_t *v, unsigned n)
{
    fprintf(f, "\"%s\": [", name);
    for (unsigned d = 0; d < n; d++)
        fprintf(f, "%s%" PRIuFAST64, d ? ", " : "", atomic_load(&v[d]));
    fputs("], ", f);
}

void gs_report_pool_json(FILE *f)
{
    const unsigned n = count_devices();
    if (!n && !atomic_load(&told.images))
        return;
    fputs("  \"memory\": {", f);
    print_list(f, "peak", told.peak, n);
    print_list(f, "room", told.room, n);
    fprintf(f,
            "\"evictions\": %" PRIuFAST64 ", \"evicted\": %" PRIuFAST64 ", \"brought\": %" PRIuFAST64
            ", \"images_refused\": %" PRIuFAST64 "},\n",
            atomic_load(&told.evictions), atomic_load(&told.evicted), atomic_load(&told.brought),
            atomic_load(&told.images));
}
