/* SPDX-License-Identifier: MIT */
/* Each kernel and size has a record of its own, up to a bound. */
#include "tests/suite.h"

#include <string.h>

#include "shim/record/size.h"

/* Each number of a size tells records apart, and so do the kernel, its program and the number of devices. */
static void records_are_told_apart(void **state)
{
    const uint64_t size[6] = {4096, 64, 64, 64, 1, 1};
    struct gs_size *one = gs_size_make(7, "one", 2, size);
    (void)state;
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

/* What isn't given of a size is 1, or no local size: a launch finds its record whatever its number of dimensions. */
static void launches_find_their_record(void **state)
{
    const uint64_t size[6] = {100, 1, 1};
    const size_t global[3] = {100, 1, 1}, local[3] = {10, 1, 1}, other[3] = {100, 2, 1};
    struct gs_kernel k = {.name = "found"};
    struct gs_size *s = gs_size_make(7, "found", 2, size);
    (void)state;
    assert_null(gs_size_find(&k, 1, global, NULL)); /* nobody has looked at the kernel yet */
    atomic_init(&k.id, gs_kernel_hash(7, "found", 2));
    for (cl_uint dims = 1; dims <= 3; dims++)
        assert_ptr_equal(gs_size_find(&k, dims, global, NULL), s);
    assert_null(gs_size_find(&k, 1, global, local));
    assert_null(gs_size_find(&k, 2, other, NULL));
    assert_null(gs_size_find(&k, 0, global, NULL));
    assert_null(gs_size_find(&k, 4, global, NULL));
    assert_null(gs_size_find(&k, 1, NULL, NULL));
}

/* Ever new sizes don't grow what is known without end: in the end all others have one record. Last of all tests. */
static void records_are_bounded(void **state)
{
    struct gs_size *s = NULL, *last;
    unsigned n = 0;
    (void)state;
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
        cmocka_unit_test(launches_find_their_record),
        cmocka_unit_test(records_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
