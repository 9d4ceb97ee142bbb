/* SPDX-License-Identifier: MIT */
/* Runs each part of a launch alone and sees whether it keeps to what its access summary declares:
 *   alone [-v] [-s SEED] TRANSLATOR FILE…
 * Once on the buffers as they are, once with every byte poisoned that the part is not said to read. Then
 *   - what it changed lies among what it may write,
 *   - what it wrote is the same both times: nothing came from a poisoned byte,
 *   - what it surely overwrites was overwritten, poison or not.
 * Plain OpenCL; the files are those of tests/kernels (see spec.h there). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kernels/machine.h"
#include "translator/summary/translate.h"

struct counts {
    unsigned long parts, bytes_declared, bytes_changed, unknown_writes, unknown_reads, written_args, surely;
};

struct check {
    const struct machine *m;
    const char *translator, *path;
    const struct spec *s;
    const struct gs_summary *t;
    bool verbose;
    unsigned failures;
    uint64_t random;
    struct counts n;
};

static void fail(struct check *c, const char *kernel, const char *what, const char *detail)
{
    printf("%s: %s: %s%s%s\n", c->path, kernel, what, detail ? " " : "", detail ? detail : "");
    c->failures++;
}

static uint8_t next_random(struct check *c)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (uint8_t)(c->random >> 56);
}

static struct gs_summary *translate(struct check *c, const struct spec *s)
{
    struct gs_translate_unit units[SPEC_UNITS];
    struct gs_translate_header headers[SPEC_UNITS];
    char *extensions = machine_info(c->m, CL_DEVICE_EXTENSIONS), *vendor = machine_info(c->m, CL_DEVICE_VENDOR);
    char *version = machine_info(c->m, CL_DEVICE_OPENCL_C_VERSION);
    char platform[256] = "";
    clGetPlatformInfo(c->m->platform, CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    for (unsigned i = 0; i < s->n_headers; i++)
        headers[i] = (struct gs_translate_header){s->headers[i].name, s->headers[i].text};
    for (unsigned i = 0; i < s->n_units; i++)
        units[i] = (struct gs_translate_unit){
            .source = s->units[i].text, .options = s->options, .headers = headers, .n_headers = s->n_headers};
    char *device_version = machine_info(c->m, CL_DEVICE_VERSION);
    struct gs_translate_request req = {.units = units,
                                       .n_units = s->n_units,
                                       .device = {.extensions = extensions,
                                                  .opencl_c_version = version,
                                                  .device_version = device_version,
                                                  .vendor = vendor,
                                                  .platform = platform,
                                                  .address_bits = 64,
                                                  .image_support = 1}};
    struct gs_summary *out = NULL;
    char why[512];
    if (gs_translate(&req, c->translator, 60000, &out, why, sizeof why) != 0)
        fail(c, "-", "not translated:", why);
    free(extensions);
    free(vendor);
    free(version);
    free(device_version);
    return out;
}

/* The buffers of one launch, each once though several arguments may be it. */
struct buffers {
    unsigned n, of_arg[SPEC_ARGS]; /* index + 1, or 0 */
    cl_mem mem[SPEC_ARGS];
    const unsigned char *first[SPEC_ARGS];
    size_t bytes[SPEC_ARGS];
};

static void find_buffers(const struct spec *s, unsigned launch, const struct machine_memory *mem, struct buffers *b)
{
    memset(b, 0, sizeof *b);
    const struct spec_launch *l = &s->launches[launch];
    for (unsigned i = 0; i < l->n_args; i++) {
        const struct spec_arg *a = &l->args[i];
        if (a->kind != SPEC_BUFFER && a->kind != SPEC_SAME)
            continue;
        cl_mem m = a->kind == SPEC_SAME ? mem->v[0][a->same] : mem->v[launch][i];
        if (a->kind == SPEC_SAME)
            a = &s->launches[0].args[a->same];
        unsigned k = 0;
        while (k < b->n && b->mem[k] != m)
            k++;
        b->n += k == b->n;
        b->mem[k] = m;
        b->first[k] = a->data;
        b->bytes[k] = a->bytes;
        b->of_arg[i] = k + 1;
    }
}

/* What a part declares, by buffer. */
struct declared {
    bool reads_all[SPEC_ARGS], writes_unknown[SPEC_ARGS];
    struct gs_rangeset reads[SPEC_ARGS], writes[SPEC_ARGS], overwrites[SPEC_ARGS];
};

static void add(struct gs_rangeset *to, const struct gs_rangeset *from)
{
    if (gs_rangeset_add_set(to, from) < 0)
        abort();
}

static void declare(struct check *c, const struct spec_launch *l, const struct gs_kernel_summary *k,
                    const struct gs_geometry *g, const struct gs_box *box, const struct buffers *b, struct declared *d)
{
    struct gs_arg_access access[SPEC_ARGS];
    struct gs_arg_value values[SPEC_ARGS];
    memset(access, 0, sizeof access);
    memset(values, 0, sizeof values);
    memset(d, 0, sizeof *d);
    for (unsigned i = 0; i < l->n_args; i++) {
        if (l->args[i].kind == SPEC_VALUE)
            values[i] = (struct gs_arg_value){.bytes = l->args[i].data, .size = l->args[i].bytes};
        else if (b->of_arg[i])
            values[i].buffer_bytes = b->bytes[b->of_arg[i] - 1];
    }
    if (gs_summary_eval(k, g, box, values, access) != 0)
        abort();
    for (unsigned i = 0; i < l->n_args; i++) {
        unsigned at = b->of_arg[i] - 1;
        if (b->of_arg[i]) {
            d->reads_all[at] |= access[i].reads_all;
            d->writes_unknown[at] |= access[i].writes_unknown;
            add(&d->reads[at], &access[i].reads);
            add(&d->writes[at], &access[i].writes);
            add(&d->overwrites[at], &access[i].overwrites);
            c->n.unknown_reads += access[i].reads_all;
            c->n.unknown_writes += access[i].writes_unknown;
            c->n.written_args += k->args[i].may_write;
        }
        gs_arg_access_free(&access[i]);
    }
    for (unsigned i = 0; i < b->n; i++) /* the shim does so where two arguments are one buffer */
        if (gs_rangeset_remove_set(&d->overwrites[i], &d->reads[i]) < 0)
            abort();
}

static void free_declared(struct declared *d)
{
    for (unsigned i = 0; i < SPEC_ARGS; i++) {
        gs_rangeset_free(&d->reads[i]);
        gs_rangeset_free(&d->writes[i]);
        gs_rangeset_free(&d->overwrites[i]);
    }
}

static bool has(const struct gs_rangeset *s, size_t byte)
{
    return gs_rangeset_contains(s, (struct gs_range){byte, byte + 1});
}

/* Runs the part on these contents, in place. */
static void run_part(struct check *c, cl_kernel k, const struct gs_kernel_summary *ks, const struct spec_launch *l,
                     const struct gs_geometry *g, const struct gs_box *box, const struct buffers *b,
                     unsigned char **data)
{
    struct gs_hidden h;
    size_t offset[3], global[3], local[3];
    for (unsigned d = 0; d < 3; d++) {
        h.global_offset[d] = g->offset[d];
        h.global_size[d] = g->global[d];
        h.num_groups[d] = (g->global[d] + g->local[d] - 1) / g->local[d];
        h.group_base[d] = box->begin[d];
        size_t end = box->end[d] * g->local[d] < g->global[d] ? box->end[d] * g->local[d] : g->global[d];
        offset[d] = g->offset[d] + box->begin[d] * g->local[d];
        global[d] = end - box->begin[d] * g->local[d];
        local[d] = g->local[d];
    }
    for (unsigned i = 0; i < b->n; i++)
        machine_check(clEnqueueWriteBuffer(c->m->queue, b->mem[i], CL_TRUE, 0, b->bytes[i], data[i], 0, NULL, NULL),
                      "clEnqueueWriteBuffer");
    if (ks->hidden)
        machine_check(clSetKernelArg(k, ks->n_args, sizeof h, &h), "the hidden argument");
    machine_check(
        clEnqueueNDRangeKernel(c->m->queue, k, l->dims, offset, global, l->has_local ? local : NULL, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
    for (unsigned i = 0; i < b->n; i++)
        machine_check(clEnqueueReadBuffer(c->m->queue, b->mem[i], CL_TRUE, 0, b->bytes[i], data[i], 0, NULL, NULL),
                      "clEnqueueReadBuffer");
}

/* One buffer after both runs: as it was and as it became, plain and poisoned. */
static void compare(struct check *c, const char *kernel, unsigned at, const struct buffers *b, const struct declared *d,
                    const unsigned char *plain, const unsigned char *poisoned, const unsigned char *poison)
{
    char detail[128];
    size_t bytes = b->bytes[at];
    const unsigned char *first = b->first[at];
    c->n.bytes_declared += d->writes_unknown[at] ? bytes : gs_rangeset_bytes(&d->writes[at]);
    c->n.surely += gs_rangeset_bytes(&d->overwrites[at]);
    for (size_t i = 0; i < bytes; i++) {
        bool changed = plain[i] != first[i], changed_again = poisoned[i] != poison[i];
        c->n.bytes_changed += changed;
        snprintf(detail, sizeof detail, "byte %zu of %zu of buffer %u", i, bytes, at);
        if ((changed || changed_again) && !d->writes_unknown[at] && !has(&d->writes[at], i)) {
            fail(c, kernel, "writes what it doesn't declare:", detail);
            return;
        }
        if ((changed || changed_again) && plain[i] != poisoned[i]) {
            fail(c, kernel, "what it writes depends on bytes that it doesn't declare to read:", detail);
            return;
        }
        if (plain[i] != poisoned[i] && has(&d->overwrites[at], i)) {
            fail(c, kernel, "doesn't overwrite what it surely does:", detail);
            return;
        }
    }
}

static void check_part(struct check *c, cl_kernel k, const struct gs_kernel_summary *ks, const struct spec_launch *l,
                       const struct gs_geometry *g, const struct gs_box *box, const struct buffers *b)
{
    struct declared d;
    declare(c, l, ks, g, box, b, &d);
    unsigned char *plain[SPEC_ARGS], *poisoned[SPEC_ARGS], *poison[SPEC_ARGS];
    for (unsigned i = 0; i < b->n; i++) {
        plain[i] = malloc(b->bytes[i] + 1);
        poisoned[i] = malloc(b->bytes[i] + 1);
        poison[i] = malloc(b->bytes[i] + 1);
        if (!plain[i] || !poisoned[i] || !poison[i])
            abort();
        memcpy(plain[i], b->first[i], b->bytes[i]);
        memcpy(poison[i], b->first[i], b->bytes[i]);
        for (size_t j = 0; j < b->bytes[i] && !d.reads_all[i]; j++)
            if (!has(&d.reads[i], j))
                poison[i][j] ^= (unsigned char)(next_random(c) | 1);
        memcpy(poisoned[i], poison[i], b->bytes[i]);
    }
    run_part(c, k, ks, l, g, box, b, plain);
    run_part(c, k, ks, l, g, box, b, poisoned);
    unsigned before = c->failures;
    for (unsigned i = 0; i < b->n && c->failures == before; i++)
        compare(c, l->kernel, i, b, &d, plain[i], poisoned[i], poison[i]);
    for (unsigned i = 0; i < b->n; i++) {
        free(plain[i]);
        free(poisoned[i]);
        free(poison[i]);
    }
    free_declared(&d);
    c->n.parts++;
}

static void check_launch(struct check *c, cl_program p, unsigned launch, const struct machine_memory *mem)
{
    const struct spec_launch *l = &c->s->launches[launch];
    const struct gs_kernel_summary *ks = gs_summary_kernel(c->t, l->kernel);
    if (!ks || ks->refusal || c->t->refusal || (!l->has_local && ks->uses_group))
        return;
    for (unsigned i = 0; i < ks->n_args; i++)
        if (ks->args[i].escapes || ks->args[i].kind == GS_ARG_OTHER)
            return;
    struct gs_geometry g = {.dims = l->dims};
    struct gs_box box;
    for (unsigned d = 0; d < 3; d++) {
        g.offset[d] = d < l->dims ? l->offset[d] : 0;
        g.global[d] = d < l->dims ? l->global[d] : 1;
        g.local[d] = d < l->dims && l->has_local ? l->local[d] : 1;
        box.begin[d] = 0;
        box.end[d] = (g.global[d] + g.local[d] - 1) / g.local[d];
    }
    struct buffers b;
    find_buffers(c->s, launch, mem, &b);
    cl_kernel k = machine_kernel(c->m, p, c->s, launch, mem);
    const struct gs_box whole = box;
    for (unsigned d = 0; d < l->dims; d++)
        for (unsigned parts = 1; parts <= 3; parts++)
            for (unsigned i = 0; i < parts; i++) {
                box = whole;
                box.begin[d] = whole.end[d] * i / parts;
                box.end[d] = whole.end[d] * (i + 1) / parts;
                if (box.begin[d] < box.end[d])
                    check_part(c, k, ks, l, &g, &box, &b);
            }
    clReleaseKernel(k);
}

static void check_file(struct check *c, uint64_t seed)
{
    struct spec s;
    spec_read(&s, c->path, seed);
    machine_name_version(c->m, &s);
    struct gs_summary *t = machine_can(c->m, &s) ? translate(c, &s) : NULL;
    if (t && !t->refusal) {
        c->s = &s;
        c->t = t;
        cl_program p = machine_build(c->m, &s, (const char *const *)t->units);
        struct machine_memory mem;
        machine_fill(c->m, &s, &mem);
        for (unsigned i = 0; i < s.n_launches; i++)
            check_launch(c, p, i, &mem);
        machine_release(&s, &mem);
        clReleaseProgram(p);
    }
    gs_summary_free(t);
    spec_free(&s);
}

int main(int argc, char **argv)
{
    struct machine m;
    struct check c = {.m = &m, .random = 1};
    uint64_t seed = 1;
    int o;
    while ((o = getopt(argc, argv, "vs:")) != -1) {
        c.verbose |= o == 'v';
        seed = o == 's' ? strtoull(optarg, NULL, 0) : seed;
    }
    if (optind + 1 >= argc) {
        fprintf(stderr, "usage: alone [-v] [-s SEED] TRANSLATOR FILE...\n");
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
    printf("%d files, %lu parts, %u failures; written arguments %lu, of them unknown %lu; reads unknown %lu; bytes "
           "declared as written %lu, surely %lu, changed %lu\n",
           argc - optind - 1, c.n.parts, c.failures, c.n.written_args, c.n.unknown_writes, c.n.unknown_reads,
           c.n.bytes_declared, c.n.surely, c.n.bytes_changed);
    return c.failures > 0;
}
