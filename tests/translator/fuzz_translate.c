/* SPDX-License-Identifier: MIT */
/* libFuzzer: the translator's input. The first byte chooses options; the rest is a program, which is translated in this
 * process; what comes out must be readable. The request's own text form is tried with the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "translator/summary/request.h"
#include "translator/translation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct gs_writer *out)
{
    struct gs_arena arena = {0};
    struct gs_reader r = {.p = out->text, .end = out->text + out->bytes, .arena = &arena};
    struct gs_reply reply;
    struct gs_summary *s;
    char why[256];
    gs_get_reply(&r, &reply);
    if (r.why || gs_summary_parse(r.p, (size_t)(r.end - r.p), &s, why, sizeof why) != 0)
        abort();
    gs_summary_free(s);
    gs_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const options[] = {"", "-cl-std=CL1.1", "-cl-std=CL2.0", "-cl-std=CL3.0",
                                          "-DA=get_group_id -DB"};
    struct gs_writer request = {0}, out = {0};
    if (size == 0)
        return 0;
    char *text = calloc(1, size);
    if (!text)
        abort();
    memcpy(text, data + 1, size - 1);
    struct gs_translate_header header = {"a.h", "int in_header(int a) { return a + (int)get_group_id(0); }\n"};
    struct gs_translate_unit unit = {.source = text, .options = options[*data % 5], .headers = &header, .n_headers = 1};
    struct gs_translate_request req = {
        .units = &unit, .n_units = 1, .device = {"cl_khr_fp64", "OpenCL C 1.2", "", "", 64, 1, NULL}};
    gs_put_request(&request, &req);
    if (request.failed || gs_translation(request.text, request.bytes, &out) != NULL || out.failed)
        abort();
    check(&out);
    free(out.text);
    free(request.text);
    free(text);
    out = (struct gs_writer){0};
    gs_translation((const char *)data, size, &out);
    free(out.text);
    return 0;
}
