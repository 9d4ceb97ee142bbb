/* SPDX-License-Identifier: MIT */
/* The threads that copy for large transfers: every byte arrives and no other, whoever else has something to copy; a
 * copy is all threads' work; and who has nothing to do sleeps. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/suite.h"
#include "shim/process/threads.h"
#include "shim/staging/pool.h"

enum { THREADS = 5, JOBS = 8, ROUNDS = 60, MOST = 700 * 1000 };

bool gs_threads_start(const char *name, pthread_t *thread, void *(*run)(void *), void *arg)
{
    return pthread_create(thread, NULL, run, arg) == 0;
}

/* Asked of images alone. */
bool gs_op_crosses_host(const struct gs_op *op)
{
    return false;
}

static size_t pick(unsigned *seed, size_t most)
{
    return (size_t)rand_r(seed) % most + 1;
}

/* A copy that fits into MOST bytes on both sides. */
static struct gs_copy_job pick_job(unsigned *seed, char *dst, char *src)
{
    struct gs_copy_job job = {.dst = {.at = dst}, .src = {.at = src}, .region = {pick(seed, MOST), 1, 1}};
    const int shape = rand_r(seed) % 4;
    if (shape == 1)
        job.region[0] = pick(seed, 9000);
    if (shape >= 2) {
        job.region[0] = pick(seed, 3000);
        job.region[1] = pick(seed, 40);
        job.region[2] = shape == 3 ? pick(seed, 5) : 1;
        job.dst.row = job.region[0] + pick(seed, 50);
        job.src.row = job.region[0] + pick(seed, 50);
        job.dst.slice = job.dst.row * job.region[1];
        job.src.slice = job.src.row * job.region[1];
    }
    job.fresh = (rand_r(seed) & 7) == 0;
    return job;
}

static void copy_slowly(char *dst, const struct gs_copy_job *job)
{
    for (size_t z = 0; z < job->region[2]; z++)
        for (size_t y = 0; y < job->region[1]; y++)
            for (size_t x = 0; x < job->region[0]; x++)
                dst[z * job->dst.slice + y * job->dst.row + x] = job->src.at[z * job->src.slice + y * job->src.row + x];
}

struct user {
    pthread_t thread;
    struct gs_pool *pool;
    unsigned seed;
    bool right;
};

static void *use(void *arg)
{
    struct user *u = arg;
    char *src = malloc(MOST), *got[JOBS], *due = malloc(MOST);
    u->right = true;
    for (size_t i = 0; i < MOST; i++)
        src[i] = (char)rand_r(&u->seed);
    for (int k = 0; k < JOBS; k++)
        got[k] = malloc(MOST);
    for (int round = 0; round < ROUNDS; round++) {
        struct gs_copy_job job[JOBS];
        const int n = (int)pick(&u->seed, JOBS);
        for (int k = 0; k < n; k++) {
            memset(got[k], round, MOST);
            job[k] = pick_job(&u->seed, got[k], src);
            gs_pool_submit(u->pool, &job[k]);
        }
        for (int k = 0; k < n; k++)
            gs_pool_wait(u->pool, &job[k]);
        for (int k = 0; k < n; k++) {
            memset(due, round, MOST);
            copy_slowly(due, &job[k]);
            u->right = u->right && memcmp(due, got[k], MOST) == 0;
        }
        if (round % 20 == 19) /* long enough for them to fall asleep */
            nanosleep(&(struct timespec){0, 3000000}, NULL);
    }
    for (int k = 0; k < JOBS; k++)
        free(got[k]);
    free(src);
    free(due);
    return NULL;
}

static void every_byte_arrives(void **state)
{
    for (unsigned threads = 1; threads <= THREADS; threads += THREADS - 1) {
        struct gs_pool *pool = gs_pool_start(threads);
        struct user u[2] = {{.pool = pool, .seed = threads}, {.pool = pool, .seed = threads + 77}};
        print_message("seeds %u and %u\n", u[0].seed, u[1].seed);
        assert_non_null(pool);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&u[i].thread, NULL, use, &u[i]), 0);
        for (int i = 0; i < 2; i++) {
            pthread_join(u[i].thread, NULL);
            assert_true(u[i].right);
        }
        gs_pool_stop(pool);
    }
}

/* A share for each, and the first ones begin with the first bytes; together they are all. */
static void a_copy_is_all_threads_work(void **state)
{
    struct gs_pool *pool = gs_pool_start(THREADS);
    const size_t bytes = 1 << 20;
    char *src = calloc(1, bytes), *dst = malloc(bytes);
    struct gs_copy_job job = {.dst = {.at = dst}, .src = {.at = src}, .region = {bytes, 1, 1}};
    size_t sum = 0;
    gs_pool_submit(pool, &job);
    gs_pool_wait(pool, &job);
    assert_int_equal(job.taken, job.cut.n);
    assert_in_range(job.cut.n, THREADS, 2 * THREADS);
    for (unsigned i = 0; i < job.cut.n; i++) {
        struct gs_box box;
        gs_cut_box(&job.cut, i, &box);
        assert_int_equal(box.begin[0], sum);
        assert_in_range(box.end[0] - sum, 1, bytes / THREADS);
        sum = box.end[0];
    }
    assert_int_equal(sum, bytes);
    gs_pool_stop(pool);
    free(src);
    free(dst);
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void who_has_nothing_to_do_sleeps(void **state)
{
    const struct timespec moment = {0, 50 * 1000 * 1000}, rest = {0, 200 * 1000 * 1000};
    struct gs_pool *pool = gs_pool_start(THREADS);
    char src[4096] = {0}, dst[4096];
    struct gs_copy_job job = {.dst = {.at = dst}, .src = {.at = src}, .region = {sizeof src, 1, 1}};
    gs_pool_submit(pool, &job);
    gs_pool_wait(pool, &job);
    nanosleep(&moment, NULL);
    const double begin = cpu_ms();
    nanosleep(&rest, NULL);
    assert_true(cpu_ms() - begin < 20);
    gs_pool_stop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_arrives),
        cmocka_unit_test(a_copy_is_all_threads_work),
        cmocka_unit_test(who_has_nothing_to_do_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
