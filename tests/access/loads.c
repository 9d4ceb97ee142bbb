/* SPDX-License-Identifier: MIT */
/* Access programs that depend on what buffers hold: read back as they were written, refused where they are damaged, and
 * evaluated with every answer that there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "translator/summary/access.h"
#include "translator/summary/access_program.h"

/* data[row[i]], data[row[i] + 1]: of 4-byte words, i = get_global_id(0). Arguments: row, data. */
enum { ID, FOUR, AT, ROW, SAME, WIDE, OFFSET, FURTHER, NODES };

static void make(struct gs_node *n, uint8_t type)
{
    const struct gs_node nodes[NODES] = {
        [ID] = {.op = GS_N_GLOBAL_ID, .type = GS_I64},
        [FOUR] = {.op = GS_N_CONST, .type = GS_I64, .imm = 4},
        [AT] = {.op = GS_N_MUL, .type = GS_I64, .a = ID, .b = FOUR},
        [ROW] = {.op = GS_N_LOAD, .type = type, .a = AT, .c = 0},
        [SAME] = {.op = GS_N_LOAD, .type = type, .a = AT, .c = 0},
        [WIDE] = {.op = GS_N_CAST, .type = GS_I64, .a = ROW},
        [OFFSET] = {.op = GS_N_MUL, .type = GS_I64, .a = WIDE, .b = FOUR},
        [FURTHER] = {.op = GS_N_ADD, .type = GS_I64, .a = OFFSET, .b = FOUR},
    };
    memcpy(n, nodes, sizeof nodes);
    for (unsigned i = 0; i < NODES; i++)
        n[i].partner = GS_NO_NODE;
    n[SAME].partner = ROW;
}

static const struct gs_scope root = {.kind = GS_C_ROOT};
static const struct gs_access accesses[] = {
    {.kind = GS_A_READ, .arg = 1, .offset = OFFSET, .bytes = 4},
    {.kind = GS_A_READ, .arg = 1, .offset = FURTHER, .bytes = 4},
    {.kind = GS_A_READ, .arg = 0, .offset = AT, .bytes = 4},
};

static struct gs_access_program program(const struct gs_node *nodes)
{
    return (struct gs_access_program){2, NODES, 0, 1, 3, nodes, NULL, &root, accesses};
}

/* Written and read again. */
static bool is_read(const struct gs_node *nodes, const char **why)
{
    const struct gs_access_program p = program(nodes);
    struct gs_writer w = {0};
    struct gs_arena arena = {0};
    gs_access_write(&w, &p);
    assert_false(w.failed);
    struct gs_reader r = {.p = w.text, .end = w.text + w.bytes, .arena = &arena};
    const struct gs_access_program *again = gs_access_parse(&r, 2);
    if (again)
        assert_memory_equal(again->nodes, nodes, NODES * sizeof *nodes);
    *why = r.why;
    free(w.text);
    gs_arena_free(&arena);
    return again;
}

static void a_damaged_load_is_refused(void **state)
{
    struct gs_node n[NODES];
    const char *why;
    (void)state;
    make(n, GS_U32);
    assert_true(is_read(n, &why));
    n[ROW].c = 2; /* an argument that there isn't */
    assert_false(is_read(n, &why));
    make(n, GS_U32);
    n[ROW].a = ROW; /* its place depends on itself, on what follows */
    assert_false(is_read(n, &why));
    n[ROW].a = OFFSET;
    assert_false(is_read(n, &why));
    static const uint32_t others[] = {SAME, OFFSET, AT, NODES, 1000000};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) { /* the same as itself, as something else */
        make(n, GS_U32);
        n[SAME].partner = others[i];
        assert_false(is_read(n, &why));
    }
    make(n, GS_U32);
    n[SAME].type = GS_I32;
    assert_false(is_read(n, &why));
    make(n, GS_U32);
    n[SAME].c = 1;
    assert_false(is_read(n, &why));
    make(n, GS_U32);
    n[SAME].a = ID;
    assert_false(is_read(n, &why));
    assert_string_equal(why, "a load is said to be the same as something else");
    make(n, GS_U32);
    n[ROW].type = GS_N_INT_TYPES;
    assert_false(is_read(n, &why));
}

struct answer {
    bool known;
    uint64_t least, largest;
    struct gs_words asked;
};

static bool answer(void *ctx, const struct gs_words *words, uint64_t *least, uint64_t *largest)
{
    struct answer *a = ctx;
    a->asked = *words;
    *least = a->least;
    *largest = a->largest;
    return a->known;
}

enum { BYTES = 1000 };

/* What work-items 8 to 15 read of `data`. */
static void evaluate(const struct gs_node *nodes, struct answer *a, struct gs_arg_access out[2])
{
    static const struct gs_arg_summary args[2] = {
        {.name = "row", .type = "uint *", .kind = GS_ARG_GLOBAL, .size = 4, .may_read = true},
        {.name = "data", .type = "uint *", .kind = GS_ARG_GLOBAL, .size = 4, .may_read = true}};
    const struct gs_access_program p = program(nodes);
    const struct gs_kernel_summary k = {.name = "k", .n_args = 2, .args = args, .access = &p};
    const struct gs_geometry g = {.dims = 1, .global = {16, 1, 1}, .local = {8, 1, 1}};
    const struct gs_box box = {{1, 0, 0}, {2, 1, 1}};
    const struct gs_contents contents = {answer, a};
    const struct gs_arg_value values[2] = {{.buffer_bytes = 64, .contents = a ? &contents : NULL},
                                           {.buffer_bytes = BYTES}};
    memset(out, 0, 2 * sizeof *out);
    assert_int_equal(gs_summary_eval(&k, &g, &box, values, out), 0);
    assert_int_equal(gs_summary_sources(&k, 1), 1);
    assert_int_equal(gs_summary_sources(&k, 0), 0);
}

static void reads(uint8_t type, struct answer a, uint64_t begin, uint64_t end)
{
    struct gs_node n[NODES];
    struct gs_arg_access out[2];
    make(n, type);
    evaluate(n, &a, out);
    assert_int_equal(a.asked.begin, 32);
    assert_int_equal(a.asked.end, 60 + gs_int_bits(type) / 8);
    assert_int_equal(a.asked.step, 4);
    assert_int_equal(a.asked.type, type);
    if (begin == 0 && end == BYTES) {
        assert_true(out[1].reads_all);
    } else {
        assert_false(out[1].reads_all);
        assert_int_equal(out[1].reads.n, begin < end);
        if (begin < end) {
            assert_int_equal(out[1].reads.v[0].begin, begin);
            assert_int_equal(out[1].reads.v[0].end, end);
        }
    }
    gs_arg_access_free(&out[0]);
    gs_arg_access_free(&out[1]);
}

static void what_is_known_bounds_the_reads(void **state)
{
    (void)state;
    reads(GS_U32, (struct answer){true, 10, 20, {0}}, 40, 88);
    reads(GS_U32, (struct answer){true, 7, 7, {0}}, 28, 36);
    reads(GS_U32, (struct answer){true, 200, UINT32_MAX, {0}}, 800, BYTES);
    reads(GS_U32, (struct answer){true, 0, UINT32_MAX, {0}}, 0, BYTES);
    reads(GS_U32, (struct answer){false, 10, 20, {0}}, 0, BYTES);
    reads(GS_U32, (struct answer){true, 1000, 2000, {0}}, 0, 0); /* outside of the buffer: nowhere */
    reads(GS_I32, (struct answer){true, (uint64_t)-5, 3, {0}}, 0, 20);
    reads(GS_I32, (struct answer){true, (uint64_t)INT32_MIN, (uint64_t)-9, {0}}, 0, 0);
    reads(GS_U8, (struct answer){true, 240, 255, {0}}, 960, BYTES);
    reads(GS_I8, (struct answer){true, (uint64_t)-128, 100, {0}}, 0, 408);
    reads(GS_U16, (struct answer){true, 100, 101, {0}}, 400, 412);
}

static void without_an_answer_everything_is_read(void **state)
{
    struct gs_node n[NODES];
    struct gs_arg_access out[2];
    struct answer a = {true, 10, 20, {0}};
    (void)state;
    make(n, GS_U32);
    evaluate(n, NULL, out);
    assert_true(out[1].reads_all);
    gs_arg_access_free(&out[0]);
    gs_arg_access_free(&out[1]);
    n[FOUR].imm = 6; /* across words: nothing is asked */
    evaluate(n, &a, out);
    assert_int_equal(a.asked.end, 0);
    assert_true(out[1].reads_all);
    for (unsigned i = 0; i < 2; i++)
        gs_arg_access_free(&out[i]);
}

/* A load from where a load from where a load ... says. */
static void a_long_chain_is_bounded(void **state)
{
    enum { LONG = 60000 };
    struct gs_node *n = calloc(LONG, sizeof *n);
    struct gs_arg_access out[2];
    struct answer a = {true, 4, 8, {0}};
    (void)state;
    assert_non_null(n);
    n[0] = (struct gs_node){.op = GS_N_GLOBAL_ID, .type = GS_I64, .partner = GS_NO_NODE};
    for (uint32_t i = 1; i < LONG; i++)
        n[i] = (struct gs_node){.op = GS_N_LOAD, .type = GS_I64, .a = i - 1, .partner = GS_NO_NODE};
    const struct gs_access last = {.kind = GS_A_READ, .arg = 1, .offset = LONG - 1, .bytes = 4};
    const struct gs_access_program p = {2, LONG, 0, 1, 1, n, NULL, &root, &last};
    const struct gs_arg_summary args[2] = {{.name = "row", .type = "", .kind = GS_ARG_GLOBAL, .size = 4},
                                           {.name = "data", .type = "", .kind = GS_ARG_GLOBAL, .size = 4}};
    const struct gs_kernel_summary k = {.name = "k", .n_args = 2, .args = args, .access = &p};
    const struct gs_geometry g = {.dims = 1, .global = {16, 1, 1}, .local = {8, 1, 1}};
    const struct gs_box box = {{1, 0, 0}, {2, 1, 1}};
    const struct gs_contents contents = {answer, &a};
    const struct gs_arg_value values[2] = {{.buffer_bytes = 64, .contents = &contents}, {.buffer_bytes = BYTES}};
    memset(out, 0, sizeof out);
    assert_int_equal(gs_summary_sources(&k, 1), 1);
    assert_int_equal(gs_summary_eval(&k, &g, &box, values, out), 0);
    assert_true(out[1].reads_all || out[1].reads.v[0].begin <= 4);
    gs_arg_access_free(&out[0]);
    gs_arg_access_free(&out[1]);
    free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_load_is_refused),
        cmocka_unit_test(what_is_known_bounds_the_reads),
        cmocka_unit_test(without_an_answer_everything_is_read),
        cmocka_unit_test(a_long_chain_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
