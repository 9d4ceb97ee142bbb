/* SPDX-License-Identifier: MIT */
/* Translates files, one unit each, and prints their summary in a form for people and golden files, with -s the texts
 * too: show [-s] [-o BUILD_OPTIONS] [-t TRANSLATOR] FILE… */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "translator/summary/translate.h"

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    char *text = NULL;
    size_t n = 0;
    if (getdelim(&text, &n, 0, f) < 0 && !text)
        text = calloc(1, 1);
    fclose(f);
    return text;
}

static void print_arg(const struct gs_arg_summary *a)
{
    static const char *const kinds[] = {"value", "global", "constant", "local", "image", "sampler", "other"};
    static const char *const ops[] = {"", " add", " min", " max", " and", " or", " xor", " atomics"};
    printf("    %s %s: %s of %u%s%s%s%s%s\n", a->type, a->name, kinds[a->kind], a->size, a->may_read ? " read" : "",
           a->may_write ? " write" : "", ops[a->atomic], a->atomic_mixed ? " mixed" : "", a->escapes ? " escapes" : "");
}

static void print_summary(const struct gs_summary *s, int texts)
{
    printf("program%s\n", s->changed ? " changed" : "");
    if (s->refusal)
        printf("  refused: %s\n", s->refusal);
    for (uint32_t i = 0; i < s->n_kernels; i++) {
        const struct gs_kernel_summary *k = &s->kernels[i];
        printf("  kernel %s%s%s", k->name, k->hidden ? " hidden" : "", k->uses_group ? " group" : "");
        if (k->reqd[0])
            printf(" reqd %u %u %u", k->reqd[0], k->reqd[1], k->reqd[2]);
        printf("\n");
        if (k->refusal)
            printf("    refused: %s (%s:%u:%u+%u)\n", k->refusal, k->refusal_site.file, k->refusal_site.line,
                   k->refusal_site.column, k->refusal_site.length);
        for (uint32_t a = 0; a < k->n_args; a++)
            print_arg(&k->args[a]);
    }
    for (uint32_t i = 0; texts && i < s->n_units; i++)
        printf("unit %u:\n%s", i, s->units[i]);
}

int main(int argc, char **argv)
{
    const char *options = "", *translator = getenv("GS_TRANSLATOR");
    int texts = 0, c;
    while ((c = getopt(argc, argv, "so:t:")) != -1) {
        texts |= c == 's';
        options = c == 'o' ? optarg : options;
        translator = c == 't' ? optarg : translator;
    }
    struct gs_translate_unit units[16];
    struct gs_translate_request req = {.units = units,
                                       .device = {.extensions = "cl_khr_fp64 cl_khr_int64_base_atomics",
                                                  .opencl_c_version = "OpenCL C 1.2 ",
                                                  .vendor = "test",
                                                  .platform = "test",
                                                  .address_bits = 64,
                                                  .image_support = 1}};
    for (int i = optind; i < argc && req.n_units < 16; i++)
        units[req.n_units++] = (struct gs_translate_unit){.source = read_file(argv[i]), .options = options};
    struct gs_summary *s;
    char why[512];
    int err = gs_translate(&req, translator, 20000, &s, why, sizeof why);
    if (err) {
        printf("failed (%d): %s\n", err, why);
        return 1;
    }
    print_summary(s, texts);
    gs_summary_free(s);
    for (size_t i = 0; i < req.n_units; i++)
        free((char *)(uintptr_t)units[i].source);
    return 0;
}
