/* SPDX-License-Identifier: MIT */
/* libFuzzer: the text form of an access program. Whatever the text, it is refused, or what is read can be written, read
 * again, printed and evaluated, in bounded time. The first byte chooses the launch and the number of arguments. */
#include <stdlib.h>
#include <string.h>

#include "translator/summary/access.h"
#include "translator/summary/access_print.h"
#include "translator/summary/access_program.h"

enum { ARGS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const struct gs_access_program *p, uint32_t n_args, uint8_t choice)
{
    struct gs_arg_summary args[ARGS];
    struct gs_arg_value values[ARGS];
    struct gs_arg_access out[ARGS];
    const uint64_t number = choice & 1 ? 100 : UINT64_MAX - 3;
    memset(args, 0, sizeof args);
    memset(out, 0, sizeof out);
    for (unsigned i = 0; i < ARGS; i++) {
        args[i] = (struct gs_arg_summary){.name = "a", .type = "int", .size = 4, .may_read = true, .may_write = true};
        values[i] = (struct gs_arg_value){&number, choice & 2 ? 8 : 3, choice & 4 ? 4096 : (uint64_t)1 << 40, false};
    }
    const struct gs_kernel_summary k = {.name = "k", .n_args = n_args, .args = args, .access = p};
    struct gs_geometry g = {.dims = 2, .offset = {3, 0, 0}, .global = {64, 13, 1}, .local = {8, 3, 1}};
    struct gs_box box = {.begin = {2, 1, 0}, .end = {5, 5, 1}};
    if (choice & 8)
        g.global[0] = (uint64_t)1 << 50, box.end[0] = (uint64_t)1 << 45;
    if (gs_summary_eval(&k, &g, &box, values, out) != 0)
        abort();
    for (unsigned i = 0; i < n_args; i++) {
        if (gs_rangeset_bytes(&out[i].reads) > values[i].buffer_bytes ||
            gs_rangeset_bytes(&out[i].writes) > values[i].buffer_bytes)
            abort();
        gs_arg_access_free(&out[i]);
    }
    for (uint32_t i = 0; i < gs_access_lines(&k); i++) {
        struct gs_access_line l;
        if (gs_access_line(&k, i, &l) == 0)
            gs_access_line_free(&l);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct gs_arena arena = {0};
    struct gs_reader r = {.p = (const char *)data + 1, .end = (const char *)data + size, .arena = &arena};
    const uint32_t n_args = 1 + (data[0] >> 4) % ARGS;
    const struct gs_access_program *p = gs_access_parse(&r, n_args);
    if (p) {
        struct gs_writer w = {0};
        gs_access_write(&w, p);
        struct gs_reader again = {.p = w.text, .end = w.text + w.bytes, .arena = &arena};
        if (w.failed || !gs_access_parse(&again, n_args))
            abort();
        free(w.text);
        evaluate(p, n_args, data[0]);
    }
    gs_arena_free(&arena);
    return 0;
}
