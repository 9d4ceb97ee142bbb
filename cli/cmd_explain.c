/* SPDX-License-Identifier: MIT */
/* gpusparc explain: what the kernels of a program read and write, whether and how a launch of them would be split. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/explain.h"
#include "cli/paths.h"
#include "common/file.h"
#include "common/log.h"
#include "common/options.h"
#include "shim/devices/group.h"
#include "translator/summary/translate.h"

static const char usage[] =
    "Usage: gpusparc explain FILE.cl [FILE.cl ...] [options] [-- BUILD OPTIONS]\n"
    "Says what each kernel of a program reads and writes, and whether and how its launches are split. Several files "
    "are\n"
    "compiled one by one and linked.\n\n"
    "  --kernel NAME     only this kernel\n"
    "  --global A[,B[,C]]  plan a launch of this size\n"
    "  --local A[,B[,C]]   ... with work-groups of this size; else the driver chooses it\n"
    "  --offset A[,B[,C]]  ... with this global offset\n"
    "  --gpus N          ... on N devices; default: 2\n"
    "  --memory SIZE     ... on devices of SIZE (24GiB) each, with gpusparc run --memory pooled: does it fit, and in\n"
    "                    how many turns does it run?\n"
    "  --allow reorder|race  ... where floating-point operations may take effect in another order, or parts may read\n"
    "                    what other parts write, as for gpusparc run\n"
    "  --arg NAME=VALUE  a value for the kernel's argument NAME; of a buffer, its size in bytes (64K, 16M, 1G)\n"
    "  --as FEATURES     as for a device that has these and no others: a list of fp16, fp64, images, 3d-image-writes,\n"
    "                    int64-atomics, subgroups, with commas between them; it may be empty. No device has to be\n"
    "                    there. Subgroups need -- -cl-std=CL2.0 or above\n"
    "  --source          show the program as it is compiled for a split\n"
    "  --json            JSON on stdout\n\n"
    "Without --as the program is read as for the first device of the group, where there is one.\n\n"
    "Exit status: 0; 1 where the program can't be read, or has no such kernel or argument; 2 for wrong usage.\n";

_Static_assert(GS_MAX_DEVICES == 16, "value_of says it");

static const struct option options[] = {
    {"kernel", required_argument, NULL, 'k'}, {"global", required_argument, NULL, 'g'},
    {"local", required_argument, NULL, 'l'},  {"offset", required_argument, NULL, 'o'},
    {"gpus", required_argument, NULL, 'n'},   {"arg", required_argument, NULL, 'a'},
    {"allow", required_argument, NULL, 'r'},  {"source", no_argument, NULL, 's'},
    {"memory", required_argument, NULL, 'm'}, {"json", no_argument, NULL, 'j'},
    {"as", required_argument, NULL, 'd'},     {NULL, 0, NULL, 0},
};

/* What --as may name. */
static const struct {
    const char *name, *extensions;
    bool images;
} device_features[] = {
    {"fp16", "cl_khr_fp16", false},
    {"fp64", "cl_khr_fp64", false},
    {"images", "", true},
    {"3d-image-writes", "cl_khr_3d_image_writes", true},
    {"int64-atomics", "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics", false},
    {"subgroups", "cl_khr_subgroups", false},
};

enum { DEVICE_FEATURES = sizeof device_features / sizeof *device_features };

/* "A", "A,B" or "A,B,C", also with x between them. The number of dimensions, or 0. */
static uint32_t read_sizes(const char *s, uint64_t v[3], uint64_t least)
{
    for (uint32_t d = 0; d < 3; d++) {
        char *end;
        errno = 0;
        v[d] = strtoull(s, &end, 10);
        if (errno || end == s || *s == '-' || v[d] < least || v[d] > (uint64_t)1 << 48)
            return 0;
        if (!*end)
            return d + 1;
        if (*end != ',' && *end != 'x')
            return 0;
        s = end + 1;
    }
    return 0;
}

static int add_value(struct gs_explain *e, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || e->n_values == GS_EXPLAIN_ARGS)
        return -EINVAL;
    *equals = 0;
    e->values[e->n_values++] = (struct gs_explain_value){text, equals + 1};
    return 0;
}

/* What an option's value is, for who gave another one. */
static const char *value_of(int opt)
{
    switch (opt) {
    case 'n':
        return "a number from 2 to 16";
    case 'a':
        return "an argument's name and its value, as in n=4096";
    case 'r':
        return "reorder or race";
    case 'd':
        return "a list of fp16, fp64, images, 3d-image-writes, int64-atomics, subgroups, as in fp16,fp64";
    case 'm':
        return "a size such as 24GiB";
    case 'o':
        return "up to three numbers, as in 64,0";
    default:
        return "up to three numbers above zero, as in 1024,768";
    }
}

/* The features that a list names, a bit each: false where it names another one. */
static bool read_features(const char *list, unsigned *features)
{
    *features = 0;
    for (const char *word = list; *list; word += strcspn(word, ",") + 1) {
        const size_t n = strcspn(word, ",");
        unsigned i = 0;
        while (i < DEVICE_FEATURES &&
               (strlen(device_features[i].name) != n || memcmp(device_features[i].name, word, n) != 0))
            i++;
        if (i == DEVICE_FEATURES)
            return false;
        *features |= 1u << i;
        if (!word[n])
            break;
    }
    return true;
}

static int set_option(struct gs_explain *e, int opt, char *value, uint32_t dims[3])
{
    char *end;
    switch (opt) {
    case 'k':
        e->kernel = value;
        return 0;
    case 'g':
        e->has_global = true;
        return (dims[0] = read_sizes(value, e->launch.global, 1)) ? 0 : -EINVAL;
    case 'l':
        e->has_local = true;
        return (dims[1] = read_sizes(value, e->launch.local, 1)) ? 0 : -EINVAL;
    case 'o':
        return (dims[2] = read_sizes(value, e->launch.offset, 0)) ? 0 : -EINVAL;
    case 'n':
        e->parts = (unsigned)strtoul(value, &end, 10);
        return *end || e->parts < 2 || e->parts > GS_MAX_DEVICES ? -EINVAL : 0;
    case 'a':
        return add_value(e, value);
    case 'r':
        return gs_parse_allowed(value, &e->may_reorder, &e->may_race) ? 0 : -EINVAL;
    case 'm':
        return gs_explain_bytes(value, &e->memory) || !e->memory ? -EINVAL : 0;
    case 'd':
        e->has_features = true;
        return read_features(value, &e->features) ? 0 : -EINVAL;
    case 's':
        e->source = true;
        return 0;
    default:
        e->json = true;
        return 0;
    }
}

/* All words after "--", joined as the application would write them. */
static char *join(int argc, char **argv, int from)
{
    size_t n = 1;
    for (int i = from; i < argc; i++)
        n += strlen(argv[i]) + 1;
    char *s = calloc(1, n);
    for (int i = from; s && i < argc; i++) {
        strcat(s, argv[i]);
        strcat(s, i + 1 < argc ? " " : "");
    }
    return s;
}

/* 0, or -EINVAL with a sentence. */
static int read_command(struct gs_explain *e, int argc, char **argv, char *why, size_t why_bytes)
{
    uint32_t dims[3] = {0};
    int opt, which = 0, own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    e->build_options = join(argc, argv, own + 1);
    opterr = 0;
    while ((opt = getopt_long(own, argv, "", options, &which)) != -1) {
        if (opt == '?') {
            gs_option_why(why, why_bytes, argv, options);
            return -EINVAL;
        }
        if (set_option(e, opt, optarg, dims) < 0) {
            snprintf(why, why_bytes, "'%s' is no value for --%s: it takes %s", optarg, options[which].name,
                     value_of(opt));
            return -EINVAL;
        }
    }
    for (; optind < own && e->n_files < GS_EXPLAIN_FILES; optind++)
        e->files[e->n_files++] = argv[optind];
    if (e->n_files == 0 || optind < own) {
        snprintf(why, why_bytes, e->n_files ? "there are too many files" : "there is no file to explain");
        return -EINVAL;
    }
    e->launch.dims = dims[0];
    if (e->memory && !dims[0]) {
        snprintf(why, why_bytes, "--memory asks about a launch: --global says its size");
        return -EINVAL;
    }
    if ((dims[1] && dims[1] != dims[0]) || dims[2] > dims[0]) {
        snprintf(why, why_bytes, "--global, --local and --offset must have the same number of dimensions");
        return -EINVAL;
    }
    for (uint32_t d = 0; d < 3; d++) {
        e->launch.global[d] = d < dims[0] ? e->launch.global[d] : 1;
        e->launch.local[d] = d < dims[1] ? e->launch.local[d] : 1;
        e->launch.offset[d] = d < dims[2] ? e->launch.offset[d] : 0;
    }
    return 0;
}

/* What the group's first device is; else what most devices are. */
struct device_text {
    char extensions[8192], version[256], vendor[256], platform[256], device[256];
    cl_uint bits;
    cl_bool images;
};

static void read_device(struct device_text *t, size_t *most_items)
{
    struct gs_settings settings;
    struct gs_group g;
    char why[256];
    *t = (struct device_text){.extensions = "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics",
                              .version = "OpenCL C 1.2",
                              .bits = 64,
                              .images = CL_TRUE};
    gs_settings_from_env(&settings, why, sizeof why);
    if (gs_group_make(&g, &settings, why, sizeof why) < 0)
        return;
    const struct _cl_icd_dispatch *cl = gs_real();
    cl->clGetDeviceInfo(g.dev[0], CL_DEVICE_EXTENSIONS, sizeof t->extensions, t->extensions, NULL);
    cl->clGetDeviceInfo(g.dev[0], CL_DEVICE_OPENCL_C_VERSION, sizeof t->version, t->version, NULL);
    cl->clGetDeviceInfo(g.dev[0], CL_DEVICE_VERSION, sizeof t->device, t->device, NULL);
    cl->clGetDeviceInfo(g.dev[0], CL_DEVICE_VENDOR, sizeof t->vendor, t->vendor, NULL);
    cl->clGetDeviceInfo(g.dev[0], CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof *most_items, most_items, NULL);
    cl->clGetPlatformInfo(g.platform, CL_PLATFORM_NAME, sizeof t->platform, t->platform, NULL);
    cl->clGetDeviceInfo(g.dev[0], CL_DEVICE_ADDRESS_BITS, sizeof t->bits, &t->bits, NULL);
    cl->clGetDeviceInfo(g.dev[0], CL_DEVICE_IMAGE_SUPPORT, sizeof t->images, &t->images, NULL);
}

/* A device with the features of --as, and with what each device of OpenCL 1.1 has. */
static void make_device(struct device_text *t, unsigned features)
{
    *t = (struct device_text){.extensions = "cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics "
                                            "cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics "
                                            "cl_khr_local_int32_extended_atomics",
                              .version = "OpenCL C 1.2",
                              .bits = 64};
    for (unsigned i = 0; i < DEVICE_FEATURES; i++) {
        const char *extensions = device_features[i].extensions;
        if (!(features & 1u << i))
            continue;
        if (device_features[i].images)
            t->images = CL_TRUE;
        strcat(strcat(t->extensions, " "), extensions);
    }
}

static int translate(struct gs_explain *e, struct gs_summary **out, char *why, size_t why_bytes)
{
    static struct device_text d;
    struct gs_translate_unit units[GS_EXPLAIN_FILES];
    char path[PATH_MAX];
    if (e->has_features)
        make_device(&d, e->features);
    else
        read_device(&d, &e->most_items);
    for (size_t i = 0; i < e->n_files; i++)
        units[i] = (struct gs_translate_unit){.source = e->texts[i], .options = e->build_options};
    const struct gs_translate_request req = {
        .units = units,
        .n_units = e->n_files,
        .device = {d.extensions, d.version, d.vendor, d.platform, d.bits, d.images == CL_TRUE, d.device},
        .windows = e->memory != 0};
    if (gs_library_path("gpusparc-translate", path, sizeof path) < 0) {
        snprintf(why, why_bytes, "%.400s can't be found; is gpusparc installed whole?", path);
        return -ENOENT;
    }
    return gs_translate(&req, path, 60000, out, why, why_bytes);
}

static bool has_arg(const struct gs_explain *e, const struct gs_summary *s, const char *name)
{
    for (uint32_t k = 0; k < s->n_kernels; k++)
        for (uint32_t i = 0; i < s->kernels[k].n_args; i++)
            if ((!e->kernel || strcmp(e->kernel, s->kernels[k].name) == 0) &&
                strcmp(s->kernels[k].args[i].name, name) == 0)
                return true;
    return false;
}

static int explain(struct gs_explain *e, struct gs_summary *s)
{
    struct gs_explain_launch *launches = NULL;
    const char *option = gs_reordering_option(e->build_options);
    e->reordering = option ? option : gs_reordering_pragma(s);
    gs_summary_reorders(s, e->reordering);
    char why[256] = "there is too little memory";
    int err = 0;
    if (e->kernel && !gs_summary_kernel(s, e->kernel)) {
        gs_error("the program has no kernel %s", e->kernel);
        return GS_EXIT_FAILED;
    }
    for (size_t i = 0; i < e->n_values && !s->refusal; i++)
        if (!has_arg(e, s, e->values[i].name)) {
            gs_error("--arg %s=%s: no kernel%s%s has such an argument", e->values[i].name, e->values[i].value,
                     e->kernel ? " " : "", e->kernel ? e->kernel : "");
            return GS_EXIT_FAILED;
        }
    if (e->has_global) {
        launches = calloc((size_t)s->n_kernels + 1, sizeof *launches);
        err = launches ? 0 : -ENOMEM;
        for (uint32_t i = 0; i < s->n_kernels && !err; i++)
            err = gs_explain_plan(e, &s->kernels[i], &launches[i], why, sizeof why);
    }
    if (err)
        gs_error("%s", why);
    else if (e->json)
        gs_explain_json(e, s, launches);
    else
        gs_explain_text(e, s, launches);
    for (uint32_t i = 0; launches && i < s->n_kernels; i++)
        gs_explain_plan_free(&launches[i]);
    free(launches);
    return err == -EINVAL ? GS_EXIT_USAGE : err || s->refusal ? GS_EXIT_FAILED : GS_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct gs_explain e = {.parts = 2};
    struct gs_summary *s = NULL;
    char why[512];
    int status = GS_EXIT_FAILED;
    if (read_command(&e, argc, argv, why, sizeof why) < 0 || !e.build_options) {
        gs_usage_error(why, "gpusparc explain");
        free(e.build_options);
        return GS_EXIT_USAGE;
    }
    for (size_t i = 0; i < e.n_files; i++) {
        size_t bytes;
        const int err = gs_read_file(e.files[i], GS_FILE_TEXT, &e.texts[i], &bytes);
        if (err < 0) {
            gs_error("%s can't be read: %s", e.files[i], strerror(-err));
            goto Done;
        }
    }
    if (translate(&e, &s, why, sizeof why) < 0)
        gs_error("%s", why);
    else
        status = explain(&e, s);
Done:
    gs_summary_free(s);
    for (size_t i = 0; i < e.n_files; i++)
        free(e.texts[i]);
    free(e.build_options);
    return status;
}

const struct gs_command gs_cmd_explain = {
    .name = "explain",
    .summary = "says what kernels read and write and how they are split",
    .usage = usage,
    .run = run,
};
