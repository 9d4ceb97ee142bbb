/* SPDX-License-Identifier: MIT */
/* Translates test kernels, runs each launch once whole as it was written and once in parts as it was translated, and
 * compares all bytes: split_kernels [-v] [-s SEED] TRANSLATOR FILE… The parts run one after the other on the same
 * buffers, so what is tested is the translator alone: its text, its verdicts and the hidden argument; and, as the last
 * part runs first, that the test kernels' bytes don't depend on the order of their groups, which no device promises. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kernels/machine.h"
#include "translator/summary/translate.h"

struct check {
    const struct machine *m;
    const char *translator, *path;
    bool verbose;
    unsigned failures;
};

static void fail(struct check *c, const char *what, const char *detail)
{
    printf("%s: %s %s\n", c->path, what, detail);
    c->failures++;
}

static struct gs_summary *translate(struct check *c, const struct spec *s)
{
    struct gs_translate_unit units[SPEC_UNITS];
    struct gs_translate_header headers[SPEC_UNITS];
    char *extensions = machine_info(c->m, CL_DEVICE_EXTENSIONS), *vendor = machine_info(c->m, CL_DEVICE_VENDOR);
    char *version = machine_info(c->m, CL_DEVICE_OPENCL_C_VERSION), *device = machine_info(c->m, CL_DEVICE_VERSION);
    char platform[256] = "";
    cl_uint bits = 64;
    clGetPlatformInfo(c->m->platform, CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    clGetDeviceInfo(c->m->device, CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, NULL);
    for (unsigned i = 0; i < s->n_headers; i++)
        headers[i] = (struct gs_translate_header){s->headers[i].name, s->headers[i].text};
    for (unsigned i = 0; i < s->n_units; i++)
        units[i] = (struct gs_translate_unit){
            .source = s->units[i].text, .options = s->options, .headers = headers, .n_headers = s->n_headers};
    struct gs_translate_request req = {
        .units = units,
        .n_units = s->n_units,
        .device = {extensions, version, vendor, platform, bits, 1, device},
    };
    struct gs_summary *out;
    char why[512];
    if (gs_translate(&req, c->translator, 60000, &out, why, sizeof why) != 0) {
        fail(c, "not translated:", why);
        out = NULL;
    }
    free(extensions);
    free(vendor);
    free(version);
    free(device);
    return out;
}

/* Is the word among the expected ones? */
static bool expects(const struct spec_launch *l, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = l->expect; (p = strstr(p, word)); p += n)
        if ((p == l->expect || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
            return true;
    return false;
}

static const struct gs_kernel_summary *check_verdict(struct check *c, const struct gs_summary *t,
                                                     const struct spec_launch *l)
{
    const struct gs_kernel_summary *k = gs_summary_kernel(t, l->kernel);
    if (t->refusal) {
        if (!expects(l, "refused"))
            fail(c, "is refused:", t->refusal);
        return NULL;
    }
    if (!k) {
        fail(c, "has no kernel", l->kernel);
        return NULL;
    }
    if (expects(l, "hidden") != k->hidden && (expects(l, "hidden") || expects(l, "plain")))
        fail(c, k->hidden ? "hidden argument not expected:" : "no hidden argument:", l->kernel);
    if ((expects(l, "group") && !k->uses_group) || (expects(l, "nogroup") && k->uses_group))
        fail(c, "wrong in whether it depends on its work-groups:", l->kernel);
    if (expects(l, "refused") != (k->refusal != NULL))
        fail(c, k->refusal ? "is refused:" : "is not refused:", k->refusal ? k->refusal : l->kernel);
    return k->refusal ? NULL : k;
}

static void run_whole(const struct check *c, cl_kernel k, const struct spec_launch *l)
{
    machine_check(clEnqueueNDRangeKernel(c->m->queue, k, l->dims, l->offset, l->global, l->has_local ? l->local : NULL,
                                         0, NULL, NULL),
                  "clEnqueueNDRangeKernel");
}

/* Runs one launch in `parts` parts along `dim`, the last one first. */
static void run_parts(const struct check *c, cl_kernel k, const struct gs_kernel_summary *ks,
                      const struct spec_launch *l, unsigned dim, unsigned parts)
{
    struct gs_hidden h;
    size_t groups[3];
    for (unsigned d = 0; d < 3; d++) {
        size_t local = d < l->dims && l->has_local ? l->local[d] : 1;
        h.global_offset[d] = d < l->dims ? l->offset[d] : 0;
        h.global_size[d] = d < l->dims ? l->global[d] : 1;
        h.num_groups[d] = groups[d] = h.global_size[d] / local;
        h.group_base[d] = 0;
    }
    for (unsigned i = parts; i-- > 0;) {
        size_t begin = groups[dim] * i / parts, end = groups[dim] * (i + 1) / parts;
        size_t offset[3], global[3], local = l->has_local ? l->local[dim] : 1;
        if (begin == end)
            continue;
        memcpy(offset, l->offset, sizeof offset);
        memcpy(global, l->global, sizeof global);
        offset[dim] += begin * local;
        global[dim] = (end - begin) * local;
        h.group_base[dim] = begin;
        if (ks->hidden)
            machine_check(clSetKernelArg(k, ks->n_args, sizeof h, &h), "the hidden argument");
        machine_check(clEnqueueNDRangeKernel(c->m->queue, k, l->dims, offset, global, l->has_local ? l->local : NULL, 0,
                                             NULL, NULL),
                      "clEnqueueNDRangeKernel");
        clFinish(c->m->queue); /* the hidden argument is taken at the enqueue, but the order must be ours */
    }
}

/* Runs all launches; `parts` 0: as they were written. The bytes afterwards. What makes the translator refuse a kernel
 * is mostly that its parts on two memories may differ; on one memory they are work-groups in some order. */
static unsigned char *run_all(struct check *c, const struct spec *s, cl_program p, const struct gs_summary *t,
                              unsigned dim, unsigned parts, size_t *bytes)
{
    struct machine_memory mem;
    machine_fill(c->m, s, &mem);
    for (unsigned i = 0; i < s->n_launches; i++) {
        const struct spec_launch *l = &s->launches[i];
        const struct gs_kernel_summary *ks = parts ? gs_summary_kernel(t, l->kernel) : NULL;
        cl_kernel k = machine_kernel(c->m, p, s, i, &mem);
        bool whole = !ks || expects(l, "together");
        if (whole && ks && ks->hidden) /* the shim would run the original program */
            run_parts(c, k, ks, l, 0, 1);
        else if (whole)
            run_whole(c, k, l);
        else
            run_parts(c, k, ks, l, dim < l->dims ? dim : 0, parts);
        clReleaseKernel(k);
    }
    machine_check(clFinish(c->m->queue), "clFinish");
    unsigned char *all = machine_read(c->m, s, &mem, bytes);
    machine_release(s, &mem);
    return all;
}

static void compare(struct check *c, const unsigned char *a, const unsigned char *b, size_t n, unsigned dim,
                    unsigned parts)
{
    char detail[96];
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i]) {
            snprintf(detail, sizeof detail, "byte %zu of %zu, in %u parts along dimension %u", i, n, parts, dim);
            fail(c, "differs at", detail);
            return;
        }
}

static void check_file(struct check *c, uint64_t seed)
{
    struct spec s;
    const char *texts[SPEC_UNITS];
    size_t bytes;
    unsigned dims = 1;
    spec_read(&s, c->path, seed);
    machine_name_version(c->m, &s);
    struct gs_summary *t = machine_can(c->m, &s) ? translate(c, &s) : NULL;
    if (!t) {
        spec_free(&s);
        return;
    }
    for (unsigned i = 0; i < s.n_launches; i++) {
        check_verdict(c, t, &s.launches[i]);
        dims = s.launches[i].dims > dims ? s.launches[i].dims : dims;
    }
    for (unsigned i = 0; i < s.n_units; i++)
        texts[i] = s.units[i].text;
    cl_program original = machine_build(c->m, &s, texts);
    cl_program translated = machine_build(c->m, &s, (const char *const *)t->units);
    unsigned char *expected = run_all(c, &s, original, NULL, 0, 0, &bytes);
    for (unsigned d = 0; d < dims; d++)
        for (unsigned parts = 1; parts <= 3; parts++) {
            unsigned char *got = run_all(c, &s, translated, t, d, parts, &bytes);
            compare(c, expected, got, bytes, d, parts);
            free(got);
        }
    free(expected);
    clReleaseProgram(original);
    clReleaseProgram(translated);
    gs_summary_free(t);
    spec_free(&s);
}

int main(int argc, char **argv)
{
    struct machine m;
    struct check c = {.m = &m};
    uint64_t seed = 1;
    int o;
    while ((o = getopt(argc, argv, "vs:")) != -1) {
        c.verbose |= o == 'v';
        seed = o == 's' ? strtoull(optarg, NULL, 0) : seed;
    }
    if (optind + 1 >= argc) {
        fprintf(stderr, "usage: split_kernels [-v] [-s SEED] TRANSLATOR FILE...\n");
        return 2;
    }
    machine_open(&m);
    c.translator = argv[optind];
    for (int i = optind + 1; i < argc; i++) {
        c.path = argv[i];
        if (c.verbose)
            printf("%s\n", c.path);
        fflush(stdout);
        check_file(&c, seed);
    }
    machine_close(&m);
    printf("%d files, %u failures\n", argc - optind - 1, c.failures);
    return c.failures > 0;
}
