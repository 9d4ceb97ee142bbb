/* SPDX-License-Identifier: MIT */
/* The fast path takes no lock: once a thread that closes the fast path has waited, no other thread is on it, however
 * the processors order their stores; and now and then a thread goes by the slow path. Each kernel and size has a record
 * of its own, up to a bound. */
#include "tests/suite.h"
#include "shim/fast_path/fast_path.h"

#include <pthread.h>
#include <string.h>

#include "shim/devices/group.h"
#include "shim/fast_path/fast_path.h"
#include "shim/record/size.h"
#include "shim/report/watch.h"

/* What fast_path.c asks of the rest. */
struct _cl_icd_dispatch gs_real_table;
_Atomic bool gs_real_ready = true;

void gs_real_load(void)
{
}

const struct gs_settings *gs_settings(void)
{
    static const struct gs_settings none;
    return &none;
}

static cl_int CL_API_CALL nothing(cl_event e)
{
    (void)e;
    return CL_SUCCESS;
}

static void start(void)
{
    /* Any function will do: none is called. */
    memset(&gs_real_table, 0, sizeof gs_real_table);
    gs_real_table.clReleaseEvent = nothing;
    memcpy(&gs_real_table.clSetKernelArg, &gs_real_table.clReleaseEvent, sizeof gs_real_table.clSetKernelArg);
    memcpy(&gs_real_table.clEnqueueNDRangeKernel, &gs_real_table.clReleaseEvent, sizeof(void *));
    memcpy(&gs_real_table.clEnqueueWriteBuffer, &gs_real_table.clReleaseEvent, sizeof(void *));
    memcpy(&gs_real_table.clEnqueueReadBuffer, &gs_real_table.clReleaseEvent, sizeof(void *));
    memcpy(&gs_real_table.clWaitForEvents, &gs_real_table.clReleaseEvent, sizeof(void *));
    memcpy(&gs_real_table.clFinish, &gs_real_table.clReleaseEvent, sizeof(void *));
    gs_fast_path_start();
}

enum { THREADS = 3, ROUNDS = 20000 };
static atomic_bool over;
static atomic_uint passed, wrong;
static atomic_char contended[8 * GS_LINE];
static unsigned closed; /* not atomic: the bar alone orders it */

static void *hand_on(void *arg)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    (void)arg;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        if (!gs_fast_path_may(t)) {
            gs_fast_path_look();
            continue;
        }
        /* What others write, too, keeps the processor from showing what comes after. */
        for (int i = 0; i < 8; i++)
            atomic_store_explicit(&contended[i * GS_LINE], (char)i, memory_order_relaxed);
        if (!gs_fast_path_begin(t))
            continue;
        for (int i = 0; i < 50; i++)
            if (*(volatile unsigned *)&closed) {
                atomic_fetch_add(&wrong, 1);
                break;
            }
        gs_fast_path_end(t);
        atomic_fetch_add_explicit(&passed, 1, memory_order_relaxed);
    }
    return NULL;
}

static void nobody_is_at_it_behind_the_bar(void **state)
{
    pthread_t thread[THREADS];
    (void)state;
    start();
    if (gs_fast_path_cares(~0u))
        skip();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, hand_on, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        const unsigned before = atomic_load(&passed);
        const uint64_t until = gs_now_ns() + 20000;
        while (atomic_load(&passed) < before + 10 && gs_now_ns() < until)
            ;
        gs_fast_path_care(GS_CARE_DIVIDED);
        gs_fast_path_barrier();
        *(volatile unsigned *)&closed = 1;
        for (int i = 0; i < 8; i++)
            atomic_store_explicit(&contended[i * GS_LINE], (char)i, memory_order_relaxed);
        for (volatile int i = 0; i < 200; i++)
            ;
        *(volatile unsigned *)&closed = 0;
        atomic_fetch_and(&gs_fast_path.care, ~(unsigned)GS_CARE_DIVIDED);
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_true(atomic_load(&passed) > 1000);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void now_and_then_one_goes_the_other_way(void **state)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    unsigned n = 0;
    (void)state;
    start();
    gs_fast_path_look();
    if (!gs_fast_path_may(t))
        skip();
    for (; gs_fast_path_may(t) && n < 1000; n++) {
        assert_true(gs_fast_path_begin(t));
        gs_fast_path_end(t);
    }
    assert_in_range(n, 1, 200);
    gs_fast_path_look();
    unsigned blocking = 0;
    for (; gs_fast_path_may(t) && blocking < 1000; blocking++)
        gs_fast_path_count(t, GS_FAST_PATH_BLOCKS);
    assert_in_range(blocking, 1, n / 4);
    gs_fast_path_look();
    gs_fast_path_care(GS_CARE_DAEMON);
    assert_false(gs_fast_path_may(t));
    atomic_fetch_and(&gs_fast_path.care, ~(unsigned)GS_CARE_DAEMON);
}

/* A call within the one that is being handed on: a callback of the driver's. It doesn't wait for itself. */
static void one_within_another(void **state)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    (void)state;
    start();
    gs_fast_path_look();
    if (!gs_fast_path_may(t))
        skip();
    assert_true(gs_fast_path_begin(t));
    assert_true(gs_fast_path_begin(t));
    gs_fast_path_end(t);
    gs_fast_path_care(GS_CARE_DIVIDED);
    gs_fast_path_barrier();
    assert_false(gs_fast_path_begin(t));
    assert_int_equal(atomic_load(&t->passing), 1);
    gs_fast_path_end(t);
    assert_int_equal(atomic_load(&t->passing), 0);
    atomic_fetch_and(&gs_fast_path.care, ~(unsigned)GS_CARE_DIVIDED);
}

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
    assert_null(gs_size_of_last(&k, 1, global, NULL));
    assert_ptr_equal(gs_size_of(&k, 1, global, NULL), s);
    assert_ptr_equal(gs_size_of_last(&k, 1, global, NULL), s);
    assert_null(gs_size_of_last(&k, 2, other, NULL));
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
        cmocka_unit_test(now_and_then_one_goes_the_other_way), cmocka_unit_test(one_within_another),
        cmocka_unit_test(nobody_is_at_it_behind_the_bar),      cmocka_unit_test(records_are_told_apart),
        cmocka_unit_test(launches_find_their_record),          cmocka_unit_test(records_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
