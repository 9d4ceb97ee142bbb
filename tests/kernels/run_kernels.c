/* SPDX-License-Identifier: MIT */
/* An ordinary OpenCL application: runs the launches of test kernels one after the other and writes the bytes of all
 * their buffers and images: run_kernels [-s SEED] OUTPUT FILE… (OUTPUT "-": a line with their sum for each file). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kernels/machine.h"

static void run_launches(const struct machine *m, cl_program p, const struct spec *s, const struct machine_memory *mem)
{
    for (unsigned i = 0; i < s->n_launches; i++) {
        const struct spec_launch *l = &s->launches[i];
        cl_kernel k = machine_kernel(m, p, s, i, mem);
        machine_check(clEnqueueNDRangeKernel(m->queue, k, l->dims, l->offset, l->global, l->has_local ? l->local : NULL,
                                             0, NULL, NULL),
                      "clEnqueueNDRangeKernel");
        clReleaseKernel(k);
    }
    machine_check(clFinish(m->queue), "clFinish");
}

static uint64_t sum_of(const unsigned char *v, size_t n)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ v[i]) * 1099511628211u;
    return h;
}

static void run_file(const struct machine *m, const char *path, uint64_t seed, FILE *out)
{
    struct spec s;
    struct machine_memory mem;
    const char *texts[SPEC_UNITS];
    size_t bytes;
    spec_read(&s, path, seed);
    if (machine_can(m, &s)) {
        for (unsigned i = 0; i < s.n_units; i++)
            texts[i] = s.units[i].text;
        cl_program p = machine_build(m, &s, texts);
        machine_fill(m, &s, &mem);
        run_launches(m, p, &s, &mem);
        unsigned char *all = machine_read(m, &s, &mem, &bytes);
        if (out)
            fwrite(all, 1, bytes, out);
        else
            printf("%s %zu %016llx\n", path, bytes, (unsigned long long)sum_of(all, bytes));
        free(all);
        machine_release(&s, &mem);
        clReleaseProgram(p);
    }
    spec_free(&s);
}

int main(int argc, char **argv)
{
    struct machine m;
    uint64_t seed = 1;
    int c;
    while ((c = getopt(argc, argv, "s:")) != -1)
        seed = strtoull(optarg, NULL, 0);
    if (optind + 1 >= argc) {
        fprintf(stderr, "usage: run_kernels [-s SEED] OUTPUT FILE...\n");
        return 2;
    }
    FILE *out = strcmp(argv[optind], "-") == 0 ? NULL : fopen(argv[optind], "wb");
    machine_open(&m);
    for (int i = optind + 1; i < argc; i++)
        run_file(&m, argv[i], seed, out);
    if (out)
        fclose(out);
    machine_close(&m);
    return 0;
}
