/* SPDX-License-Identifier: MIT */
/* Each kernel has records of its own, one for each step of its sizes, up to a bound. */
#include "tests/suite.h"

#include <string.h>

#include "shim/record/size.h"

/* Each number of a size tells records apart, and so do the kernel, its program and the number of devices. */
static void records_are_told_apart(void **state)
{
    const uint64_t size[6] = {4096, 64, 64, 64, 1, 1};
    struct gs_size *one = gs_size_make(7, "one", 2, size);
    assert_ptr_equal(gs_size_make(7, "one", 2, size), one);
    assert_ptr_not_equal(gs_size_make(7, "two", 2, size), one);
    assert_ptr_not_equal(gs_size_make(8, "one", 2, size), one);
    assert_ptr_not_equal(gs_size_make(7, "one", 3, size), one);
    for (unsigned d = 0; d < 6; d++) {
        uint64_t other[6];
        memcpy(other, size, sizeof other);
        other[d] *= 2;
        struct gs_size *s = gs_size_make(7, "one", 2, other);
        assert_ptr_not_equal(s, one);
        assert_memory_equal(s->size, other, sizeof other);
        assert_ptr_equal(gs_size_make(7, "one", 2, other), s);
    }
}

/* A dimension counts as the next of 16 steps to twice as much, up to 32 as it is; none is rounded down, or up by more
 * than a sixteenth. */
static void like_sizes_share_a_record(void **state)
{
    static const uint64_t most[] = {1, 2, 31, 32, 34, 34, 62, 64, 64, 68, 8192, 8704, UINT64_C(1) << 62},
                          given[] = {1, 2, 31, 32, 33, 34, 61, 63, 64, 65, 8191, 8193, (UINT64_C(1) << 62) - 5};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        for (unsigned d = 0; d < 3; d++) {
            uint64_t size[6] = {100, 100, 100, 7, 33, 8191};
            size[d] = given[i];
            const struct gs_size *s = gs_size_make(7, "like", 2, size);
            assert_int_equal(s->size[d], most[i]);
            assert_int_equal(s->size[(d + 1) % 3], 100);
            assert_memory_equal(s->size + 3, size + 3, 3 * sizeof *size); /* the work-group's is exact */
        }
    for (uint64_t v = 1; v < 100000; v++) {
        const struct gs_size *s = gs_size_make(7, "alike", 2, (const uint64_t[6]){v, 1, 1});
        assert_in_range(s->size[0], v, v + v / 16);
        assert_ptr_equal(gs_size_make(7, "alike", 2, s->size), s); /* as it is read from a file */
    }
    const uint64_t none[6] = {0, 1, 1}, all[6] = {UINT64_MAX, 1, 1};
    assert_int_equal(gs_size_make(7, "alike", 2, none)->size[0], 0);
    assert_non_null(gs_size_make(7, "alike", 2, all));
}

static const struct gs_size *find(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    const struct gs_op launch = gs_op_launch(NULL, dims, NULL, global, local);
    return gs_size_find(k, &launch);
}

/* What isn't given of a size is 1, or no local size: a launch finds its record whatever its number of dimensions. */
static void launches_find_their_record(void **state)
{
    const uint64_t size[6] = {100, 1, 1};
    const size_t global[3] = {100, 1, 1}, local[3] = {10, 1, 1}, other[3] = {100, 2, 1};
    struct gs_kernel_kind kind = {.name = (char *)"found"};
    struct gs_kernel k = {.kind = &kind};
    struct gs_size *s = gs_size_make(7, "found", 2, size);
    assert_null(find(&k, 1, global, NULL)); /* nobody has looked at the kernel yet */
    atomic_init(&k.id, gs_kernel_hash(7, "found", 2));
    for (cl_uint dims = 1; dims <= 3; dims++)
        assert_ptr_equal(find(&k, dims, global, NULL), s);
    assert_ptr_equal(find(&k, 1, (const size_t[]){99}, NULL), s); /* alike */
    assert_null(find(&k, 1, global, local));
    assert_null(find(&k, 2, other, NULL));
    assert_null(find(&k, 0, global, NULL));
    assert_null(find(&k, 4, global, NULL));
    assert_null(find(&k, 1, NULL, NULL));
}

/* Ever new sizes don't grow what is known without end: in the end all others have one record. Last of all tests. */
static void records_are_bounded(void **state)
{
    struct gs_size *s = NULL, *last;
    unsigned n = 0;
    for (uint64_t i = 1; i <= 100000; i++) {
        const uint64_t size[6] = {i, 1, 1};
        last = s;
        s = gs_size_make(9 + i, "ever new", 2, size);
        assert_non_null(s);
    }
    assert_ptr_equal(s, last);
    assert_int_equal(s->program, 0);
    for (s = gs_sizes(); s; s = s->older)
        n++;
    assert_in_range(n, 4096, 8193);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_told_apart),
        cmocka_unit_test(like_sizes_share_a_record),
        cmocka_unit_test(launches_find_their_record),
        cmocka_unit_test(records_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
