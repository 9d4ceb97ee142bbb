/* SPDX-License-Identifier: MIT */
/* libFuzzer: the summary's text form. Whatever the text, it is read or refused, and what is read can be written, read
 * again and evaluated. */
#include <stdlib.h>
#include <string.h>

#include "translator/summary/request.h"
#include "translator/summary/summary_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const struct gs_kernel_summary *k)
{
    const struct gs_geometry launch = {.dims = 2, .offset = {3, 0, 0}, .global = {64, 12, 1}, .local = {8, 3, 1}};
    const struct gs_box box = {.begin = {2, 1, 0}, .end = {5, 4, 1}};
    struct gs_arg_value *values = calloc((size_t)k->n_args + 1, sizeof *values);
    struct gs_arg_access *out = calloc((size_t)k->n_args + 1, sizeof *out);
    static const unsigned char bytes[16] = {9};
    if (!values || !out)
        abort();
    for (uint32_t i = 0; i < k->n_args; i++)
        values[i] = (struct gs_arg_value){.bytes = bytes, .size = 8, .buffer_bytes = 4096};
    gs_summary_eval(k, &launch, &box, values, out);
    for (uint32_t i = 0; i < k->n_args; i++) {
        if (!gs_rangeset_contains(&(struct gs_rangeset){&(struct gs_range){0, 4096}, 1, 1},
                                  (struct gs_range){out[i].reads.n ? out[i].reads.v[0].begin : 0,
                                                    out[i].reads.n ? out[i].reads.v[out[i].reads.n - 1].end : 0}))
            abort();
        gs_arg_access_free(&out[i]);
    }
    free(values);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gs_arena arena = {0};
    struct gs_summary s = {0};
    struct gs_reader r = {.p = (const char *)data, .end = (const char *)data + size, .arena = &arena};
    gs_summary_read_body(&r, &s);
    if (!r.why) {
        struct gs_writer w = {0};
        struct gs_summary *again;
        char why[256];
        gs_summary_write(&w, &s);
        if (w.failed || gs_summary_parse(w.text, w.bytes, &again, why, sizeof why) != 0)
            abort();
        for (uint32_t i = 0; i < again->n_kernels; i++)
            evaluate(&again->kernels[i]);
        gs_summary_free(again);
        free(w.text);
    }
    struct gs_reply reply;
    r = (struct gs_reader){.p = (const char *)data, .end = (const char *)data + size, .arena = &arena};
    gs_get_reply(&r, &reply);
    gs_arena_free(&arena);
    return 0;
}
