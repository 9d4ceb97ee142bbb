/* SPDX-License-Identifier: MIT */
/* Holds what kernels really do against what the translator says that they do:
 *   oracle [-v] [-n] [-o OPTIONS] TRANSLATOR KERNELS.cl KERNELS.plan KERNELS.so BUILTINS.so
 * Each launch of the plan runs once, work-group by work-group; then for many parts of it (boxes of whole groups)
 *   - every byte that the part reads before it has written it is among its reads,
 *   - every byte that it writes is among its writes,
 *   - every byte that it surely overwrites is written, and not read before.
 * -n: clang has optimized, so that less may be touched than the text says. One line per kernel that differs, and the
 * counts at the end. Run by campaign.py. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/access/oracle/bits.h"
#include "tests/access/oracle/plan.h"
#include "translator/summary/translate.h"

struct counts {
    unsigned long kernels, refused, launches, out_of_bounds, too_long, trapped, parts;
    unsigned long checked; /* kernels with a launch that was checked */
    unsigned long sure;    /* of these: those that surely overwrite something in a part of several groups */
    unsigned long finite;  /* … those whose reads are all known */
    unsigned long known;   /* … those whose writes are all known */
    unsigned long written_bytes, sure_bytes, different;
};

/* What a part declares or does to one buffer. */
struct sets {
    bool reads_all, writes_unknown, leaves;
    uint64_t reads[MACHINE_WORDS], writes[MACHINE_WORDS], sure[MACHINE_WORDS];                      /* declared */
    uint64_t read[MACHINE_WORDS], written[MACHINE_WORDS], may[MACHINE_WORDS], raced[MACHINE_WORDS]; /* done */
};

struct check {
    const struct gs_kernel_summary *summary;
    const struct plan_kernel *kernel;
    const struct plan_launch *launch;
    uint32_t at_launch; /* counted within the kernel */
    struct gs_geometry geometry;
    struct gs_arg_value values[MACHINE_ARGS];
    unsigned slot[MACHINE_ARGS]; /* of a buffer, or MACHINE_SLOTS */
    unsigned n_slots;
    size_t bytes[MACHINE_SLOTS];
    const char *first_arg[MACHINE_SLOTS]; /* its name */
    struct gs_box box;
    struct gs_arg_access access[MACHINE_ARGS];
    bool sure, finite, known;
};

static struct counts n;
static struct sets sets[MACHINE_SLOTS];
static bool verbose, narrowed;
static bool free_launches; /* are printed */

enum { MOST_BYTES_FREE = 16 << 10 };

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "oracle: out of memory\n");
        exit(2);
    }
    return p;
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t cap = 0;
    FILE *f = fopen(path, "r");
    if (!f || getdelim(&text, &cap, 0, f) < 0) {
        perror(path);
        exit(2);
    }
    fclose(f);
    return text;
}

static struct gs_summary *translate(const char *translator, const char *path, const char *options)
{
    char *source = read_file(path), why[512];
    const struct gs_translate_unit unit = {.source = source, .options = options};
    const struct gs_translate_request request = {.units = &unit,
                                                 .n_units = 1,
                                                 .device = {.extensions =
                                                                "cl_khr_fp64 cl_khr_fp16 cl_khr_byte_addressable_store "
                                                                "cl_khr_int64_base_atomics",
                                                            .opencl_c_version = "OpenCL C 3.0",
                                                            .device_version = "OpenCL 3.0",
                                                            .vendor = "",
                                                            .platform = "",
                                                            .address_bits = 64,
                                                            .image_support = 1}};
    struct gs_summary *s = NULL;
    if (gs_translate(&request, translator, 300000, &s, why, sizeof why) != 0 || s->refusal) {
        fprintf(stderr, "oracle: %s: %s\n", path, s ? s->refusal : why);
        exit(2);
    }
    free(source);
    return s;
}

static size_t words_of(const struct check *c, unsigned slot)
{
    return (c->bytes[slot] + 63) / 64;
}

/* ---- what a part really does ---- */

static void add_group(const struct check *c, uint32_t group)
{
    for (unsigned s = 0; s < c->n_slots; s++) {
        const uint64_t *r = machine_bits(s, group, MACHINE_READ), *w = machine_bits(s, group, MACHINE_WRITE);
        const uint64_t *may = machine_bits(s, group, MACHINE_MAY);
        struct sets *t = &sets[s];
        for (size_t i = 0; i < words_of(c, s);
             i++) { /* what one group reads and another writes: who knows which first */
            t->raced[i] |= (t->read[i] & w[i]) | (t->written[i] & r[i]);
            t->read[i] |= r[i];
            t->written[i] |= w[i];
            t->may[i] |= may[i];
        }
    }
}

static void do_part(const struct check *c)
{
    uint64_t groups[3];
    for (unsigned d = 0; d < 3; d++)
        groups[d] = (c->geometry.global[d] + c->geometry.local[d] - 1) / c->geometry.local[d];
    for (uint64_t z = c->box.begin[2]; z < c->box.end[2]; z++)
        for (uint64_t y = c->box.begin[1]; y < c->box.end[1]; y++)
            for (uint64_t x = c->box.begin[0]; x < c->box.end[0]; x++)
                add_group(c, (uint32_t)((z * groups[1] + y) * groups[0] + x));
}

/* ---- what it declares ---- */

static void declare_part(struct check *c)
{
    if (gs_summary_eval(c->summary, &c->geometry, &c->box, c->values, c->access) != 0)
        need(NULL);
    for (uint32_t i = 0; i < c->summary->n_args; i++) {
        if (c->slot[i] == MACHINE_SLOTS)
            continue;
        struct sets *t = &sets[c->slot[i]];
        t->reads_all |= c->access[i].reads_all;
        t->writes_unknown |= c->access[i].writes_unknown;
        t->leaves |= c->access[i].leaves;
        bits_add_set(t->reads, &c->access[i].reads);
        bits_add_set(t->writes, &c->access[i].writes);
        bits_add_set(t->sure, &c->access[i].overwrites);
    }
    for (uint32_t i = 0; i < c->summary->n_args; i++) /* the shim does so where two arguments are one buffer */
        if (c->launch->args[i].kind == PLAN_SAME)
            for (size_t w = 0; w < words_of(c, c->slot[i]); w++)
                sets[c->slot[i]].sure[w] &= sets[c->slot[i]].reads_all ? 0 : ~sets[c->slot[i]].reads[w];
}

/* ---- the comparison ---- */

static void print_value(const struct plan_arg *a)
{
    int64_t v = 0;
    memcpy(&v, a->value, a->bytes < 8 ? a->bytes : 8);
    if (a->bytes < 8)
        v = (int64_t)((uint64_t)v << (64 - 8 * a->bytes)) >> (64 - 8 * a->bytes);
    printf("%" PRId64, v);
}

static void print_launch(const struct check *c)
{
    const struct machine_launch *g = &c->launch->geometry;
    printf("launch %u (offset %" PRIu64 ",%" PRIu64 ",%" PRIu64 " global %" PRIu64 ",%" PRIu64 ",%" PRIu64
           " local %" PRIu64 ",%" PRIu64 ",%" PRIu64,
           c->at_launch, g->offset[0], g->offset[1], g->offset[2], g->global[0], g->global[1], g->global[2],
           g->local[0], g->local[1], g->local[2]);
    for (uint32_t i = 0; i < c->kernel->n_args; i++) {
        printf("%s%s=", i ? " " : "; ", c->summary->args[i].name);
        if (c->launch->args[i].kind == PLAN_VALUE)
            print_value(&c->launch->args[i]);
        else if (c->slot[i] < MACHINE_SLOTS)
            printf("%zu bytes%s", c->bytes[c->slot[i]], c->launch->args[i].kind == PLAN_SAME ? " again" : "");
        else
            printf("-");
    }
    printf("), part ");
    for (unsigned d = 0; d < g->dims; d++)
        printf("%s%" PRIu64 "..%" PRIu64, d ? "," : "", c->box.begin[d], c->box.end[d]);
}

static bool report(const struct check *c, unsigned slot, const char *what, const struct gs_range *r)
{
    printf("different: seed %" PRIu64 ", kernel %s, ", c->kernel->seed, c->kernel->name);
    print_launch(c);
    printf(", argument %s, bytes %" PRIu64 "..%" PRIu64 ": %s\n", c->first_arg[slot], r->begin, r->end, what);
    return true;
}

/* Is what the part does to the buffer other than what it declares? */
static bool differs(struct check *c, unsigned s)
{
    static const uint64_t none[MACHINE_WORDS];
    static uint64_t both[MACHINE_WORDS];
    struct sets *t = &sets[s];
    const size_t words = words_of(c, s);
    struct gs_range r = {0, 0};
    /* Where its writes are unknown a part has the whole buffer before it begins. */
    if (!t->reads_all && !t->writes_unknown && bits_find_missing(t->read, t->reads, t->raced, words, &r))
        return report(c, s, "read, which it doesn't declare", &r);
    if (!t->writes_unknown && bits_find_missing(t->written, t->writes, none, words, &r))
        return report(c, s, "written, which it doesn't declare", &r);
    if (!t->writes_unknown && bits_find_missing(t->may, t->writes, none, words, &r))
        return report(c, s, "perhaps written, which it doesn't declare", &r);
    if (bits_find_missing(t->sure, t->written, none, words, &r))
        return report(c, s, "surely overwritten, it declares, but not written", &r);
    for (size_t i = 0; i < words; i++)
        both[i] = t->sure[i] & t->read[i];
    if (bits_find_missing(both, none, t->raced, words, &r))
        return report(c, s, "surely overwritten, it declares, but read before", &r);
    if (t->leaves && !narrowed)
        return report(c, s, "surely written behind the buffer's end, it declares", &r);
    return false;
}

static void count_part(struct check *c)
{
    uint64_t groups = 1;
    for (unsigned d = 0; d < 3; d++)
        groups *= c->box.end[d] - c->box.begin[d];
    for (unsigned s = 0; s < c->n_slots; s++)
        for (size_t i = 0; i < words_of(c, s); i++) {
            n.written_bytes += (unsigned long)__builtin_popcountll(sets[s].written[i]);
            n.sure_bytes += (unsigned long)__builtin_popcountll(sets[s].sure[i]);
            c->sure |= groups > 1 && sets[s].sure[i];
        }
    for (unsigned s = 0; s < c->n_slots; s++) {
        c->finite &= !sets[s].reads_all;
        c->known &= !sets[s].writes_unknown;
    }
    n.parts++;
}

static bool check_part(struct check *c)
{
    for (unsigned s = 0; s < c->n_slots; s++) {
        struct sets *t = &sets[s];
        const size_t bytes = words_of(c, s) * sizeof *t->reads;
        t->reads_all = t->writes_unknown = t->leaves = false;
        uint64_t *const clear[] = {t->reads, t->writes, t->sure, t->read, t->written, t->may};
        for (size_t i = 0; i < sizeof clear / sizeof *clear; i++)
            memset(clear[i], 0, bytes);
        memcpy(t->raced, machine_raced(s), bytes);
    }
    declare_part(c);
    do_part(c);
    count_part(c);
    for (unsigned s = 0; s < c->n_slots; s++)
        if (differs(c, s))
            return false;
    return true;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* The whole launch, two and three parts along each dimension, and boxes at random. */
static bool check_parts(struct check *c)
{
    struct gs_box whole = {{0, 0, 0}, {0, 0, 0}};
    for (unsigned d = 0; d < 3; d++)
        whole.end[d] = (c->geometry.global[d] + c->geometry.local[d] - 1) / c->geometry.local[d];
    c->box = whole;
    bool good = check_part(c);
    for (unsigned d = 0; d < c->geometry.dims; d++)
        for (unsigned parts = 2; parts <= 3 && whole.end[d] > 1; parts++)
            for (unsigned i = 0; i < parts && good; i++) {
                c->box = whole;
                c->box.begin[d] = whole.end[d] * i / parts;
                c->box.end[d] = whole.end[d] * (i + 1) / parts;
                good = c->box.begin[d] == c->box.end[d] || check_part(c);
            }
    uint64_t state = c->launch->seed;
    for (unsigned i = 0; i < 3 && good; i++) {
        for (unsigned d = 0; d < 3; d++) {
            c->box.begin[d] = next_random(&state) % whole.end[d];
            c->box.end[d] = c->box.begin[d] + 1 + next_random(&state) % (whole.end[d] - c->box.begin[d]);
        }
        good = check_part(c);
    }
    return good;
}

/* ---- launches ---- */

/* Fills the buffers; `words` is what the kernel is called with. */
static void set_args(struct check *c, uint64_t *words)
{
    static unsigned char local[1 << 16] __attribute__((aligned(128)));
    size_t local_used = 0;
    c->n_slots = 0;
    for (uint32_t i = 0; i < c->kernel->n_args; i++) {
        const struct plan_arg *a = &c->launch->args[i];
        c->slot[i] = MACHINE_SLOTS;
        words[i] = 0;
        if (a->kind == PLAN_VALUE) {
            words[i] = (uint64_t)(uintptr_t)a->value;
        } else if (a->kind == PLAN_LOCAL) {
            words[i] = (uint64_t)(uintptr_t)(local + local_used);
            local_used += (a->bytes + 127) / 128 * 128;
        } else if (a->kind != PLAN_NULL) {
            c->slot[i] = a->kind == PLAN_SAME ? c->slot[a->same] : c->n_slots++;
            words[i] = (uint64_t)(uintptr_t)machine_buffer(c->slot[i]);
        }
        if (a->kind == PLAN_BUFFER) {
            c->first_arg[c->slot[i]] = c->summary->args[i].name;
            machine_fill(c->slot[i], a->contents, a->width, a->lo, a->hi);
        }
    }
}

/* What the evaluation is told, now that is known how large the buffers must be. */
static void set_values(struct check *c)
{
    memset(c->values, 0, sizeof c->values);
    for (unsigned s = 0; s < c->n_slots; s++) {
        c->bytes[s] = machine_touched(s) + c->launch->slack;
        if (c->bytes[s] == 0 || c->bytes[s] > MACHINE_LIMIT)
            c->bytes[s] = c->bytes[s] ? MACHINE_LIMIT : 64;
    }
    for (uint32_t i = 0; i < c->kernel->n_args; i++) {
        const struct plan_arg *a = &c->launch->args[i];
        if (a->kind == PLAN_VALUE)
            c->values[i] = (struct gs_arg_value){.bytes = a->value, .size = a->bytes};
        if (c->slot[i] != MACHINE_SLOTS)
            c->values[i].buffer_bytes = c->bytes[c->slot[i]];
    }
}

/* May the launch be made anywhere, with any contents of what it writes? No two work-groups touch the same byte of that,
 * and it reads none. */
static bool is_free(const struct check *c)
{
    for (unsigned s = 0; s < c->n_slots; s++)
        for (size_t i = 0; i < words_of(c, s); i++) {
            uint64_t written = 0, twice = 0, read = 0;
            for (uint32_t g = 0; g < machine_groups(); g++) {
                const uint64_t w = machine_bits(s, g, MACHINE_WRITE)[i] | machine_bits(s, g, MACHINE_MAY)[i];
                twice |= written & w;
                written |= w;
                read |= machine_bits(s, g, MACHINE_READ)[i];
            }
            if (twice || (written & read) || machine_raced(s)[i])
                return false;
        }
    return true;
}

static bool is_written(const struct check *c, unsigned slot)
{
    for (uint32_t g = 0; g < machine_groups(); g++)
        for (size_t i = 0; i < words_of(c, slot); i++)
            if (machine_bits(slot, g, MACHINE_WRITE)[i])
                return true;
    return false;
}

static void put_bytes(const char *what, const unsigned char *v, size_t bytes)
{
    printf("%s", what);
    for (size_t i = 0; i < bytes; i++)
        printf("%02x", v[i]);
    printf("\n");
}

/* The launch as tests/e2e/programs/random_host_programs.c reads it, behind a line that says which. */
static void print_free(const struct check *c)
{
    const struct gs_geometry *g = &c->geometry;
    printf("free %" PRIu64 " %u\n//! kernel %s\n", c->kernel->seed, c->at_launch, c->kernel->name);
    const struct {
        const char *name;
        const uint64_t *v;
    } sizes[] = {{"global", g->global}, {"local", g->local}, {"offset", g->offset}};
    for (unsigned k = 0; k < 3; k++) {
        printf("//! %s", sizes[k].name);
        for (unsigned d = 0; d < g->dims; d++)
            printf(" %" PRIu64, sizes[k].v[d]);
        printf("\n");
    }
    for (uint32_t i = 0; i < c->kernel->n_args; i++) {
        const struct plan_arg *a = &c->launch->args[i];
        const unsigned s = c->slot[i];
        if (a->kind == PLAN_VALUE)
            put_bytes("//! raw ", a->value, a->bytes);
        else if (is_written(c, s))
            printf("//! output %zu\n", c->bytes[s]);
        else
            put_bytes("//! table ", machine_buffer(s), c->bytes[s]);
    }
}

static bool is_for_others(const struct check *c)
{
    for (uint32_t i = 0; i < c->kernel->n_args; i++) {
        const enum plan_arg_kind kind = c->launch->args[i].kind;
        if (kind != PLAN_VALUE && kind != PLAN_BUFFER)
            return false;
        if (kind == PLAN_VALUE ? c->launch->args[i].bytes > 8 : c->bytes[c->slot[i]] > MOST_BYTES_FREE)
            return false;
    }
    for (unsigned d = 0; d < c->geometry.dims; d++) /* not every driver takes the others */
        if (c->geometry.global[d] % c->geometry.local[d] != 0)
            return false;
    return is_free(c);
}

/* Runs and checks one launch. False where something differs. */
static bool check_launch(struct check *c, machine_kernel *run, bool *any)
{
    uint64_t words[MACHINE_ARGS];
    const struct machine_launch *l = &c->launch->geometry;
    c->geometry.dims = l->dims;
    for (unsigned d = 0; d < 3; d++) {
        c->geometry.offset[d] = l->offset[d];
        c->geometry.global[d] = l->global[d];
        c->geometry.local[d] = l->local[d];
    }
    set_args(c, words);
    const enum machine_outcome how = machine_run(run, words, l, c->kernel->barriers);
    n.launches++;
    n.out_of_bounds += how == MACHINE_OUT_OF_BOUNDS;
    n.too_long += how == MACHINE_TOO_LONG;
    n.trapped += how == MACHINE_TRAP;
    if (verbose)
        printf("%s launch %u: %s\n", c->kernel->name, c->at_launch,
               (const char *const[]){"done", "out of bounds", "too long", "trapped"}[how]);
    if (how != MACHINE_DONE)
        return true;
    *any = true;
    set_values(c);
    if (free_launches && is_for_others(c))
        print_free(c);
    return check_parts(c);
}

/* Is no launch of the kernel ever split? */
static bool is_refused(const struct gs_kernel_summary *k)
{
    bool refused = k->refusal != NULL;
    for (uint32_t i = 0; i < k->n_args; i++)
        refused |= k->args[i].escapes || k->args[i].kind == GS_ARG_OTHER;
    return refused;
}

static void check_kernel(struct check *c, struct plan *plan, void *object)
{
    struct plan_launch launch;
    char name[64];
    bool good = true, any = false;
    snprintf(name, sizeof name, "run_%s", c->kernel->name);
    machine_kernel *run;
    *(void **)&run = dlsym(object, name);
    if (!run || !c->summary || c->summary->n_args != c->kernel->n_args) {
        fprintf(stderr, "oracle: there is no kernel %s as in the plan\n", c->kernel->name);
        exit(2);
    }
    const bool refused = is_refused(c->summary);
    if (verbose && refused)
        printf("%s is refused: %s\n", c->kernel->name, c->summary->refusal ? c->summary->refusal : "escapes");
    for (uint32_t i = 0; verbose && i < c->summary->n_args; i++)
        if (*c->summary->args[i].write_unknown)
            printf("%s: writes of %s unknown: %s\n", c->kernel->name, c->summary->args[i].name,
                   c->summary->args[i].write_unknown);
    c->sure = false;
    c->finite = c->known = true;
    c->launch = &launch;
    for (c->at_launch = 0; plan_next_launch(plan, c->kernel, &launch); c->at_launch++)
        if (!refused && good)
            good = check_launch(c, run, &any);
    n.kernels++;
    n.refused += refused;
    n.different += !good;
    n.checked += any;
    n.sure += c->sure;
    n.finite += any && c->finite;
    n.known += any && c->known;
}

static void *open_object(const char *path, int flags)
{
    void *object = dlopen(path, RTLD_NOW | flags);
    if (!object) {
        fprintf(stderr, "oracle: %s\n", dlerror());
        exit(2);
    }
    return object;
}

int main(int argc, char **argv)
{
    const char *options = "-cl-std=CL1.2";
    int o;
    while ((o = getopt(argc, argv, "fvno:")) != -1) {
        verbose |= o == 'v';
        free_launches |= o == 'f';
        narrowed |= o == 'n';
        options = o == 'o' ? optarg : options;
    }
    if (argc - optind != 5) {
        fprintf(
            stderr,
            "usage: oracle [-f] [-v] [-n] [-o OPTIONS] TRANSLATOR KERNELS.cl KERNELS.plan KERNELS.so BUILTINS.so\n");
        return 2;
    }
    char **file = argv + optind;
    struct gs_summary *t = translate(file[0], file[1], options);
    machine_open();
    open_object(file[4], RTLD_GLOBAL);
    void *object = open_object(file[3], 0);
    struct plan *plan = plan_open(file[2]);
    struct plan_kernel kernel;
    static struct check c;
    while (plan_next_kernel(plan, &kernel)) {
        c.kernel = &kernel;
        c.summary = gs_summary_kernel(t, kernel.name);
        check_kernel(&c, plan, object);
    }
    plan_close(plan);
    gs_summary_free(t);
    for (unsigned i = 0; i < MACHINE_ARGS; i++)
        gs_arg_access_free(&c.access[i]);
    printf("counts kernels %lu refused %lu checked %lu sure %lu finite %lu known %lu launches %lu out_of_bounds %lu "
           "too_long %lu trapped %lu parts %lu written_bytes %lu sure_bytes %lu different %lu\n",
           n.kernels, n.refused, n.checked, n.sure, n.finite, n.known, n.launches, n.out_of_bounds, n.too_long,
           n.trapped, n.parts, n.written_bytes, n.sure_bytes, n.different);
    return n.different > 0;
}
