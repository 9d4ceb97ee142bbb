/* SPDX-License-Identifier: MIT */
/* overlaps renewed|nested|chained|heard|marked: sub-buffers that overlap, let go while their commands wait for a user
 * event, in orders that NVIDIA's driver takes: of two that exist at a time the newer one goes first. heard: the end of
 * one is heard of while a newer one over it is still there. marked: used before a user event is made, which the
 * application marks at both its ends by asking for the platform's profile. */
#include "plain.h"

enum { N = 1 << 18, LOCAL = 16 }; /* several units on a GPU, too */

static const char source[] =
    "__kernel void bump(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = v[i] * 7u + k; }\n";

static cl_kernel bump;
static cl_mem all;
static cl_event gate;
static int gone;

static cl_mem window(size_t first, size_t words)
{
    return sub_buffer(all, CL_MEM_READ_WRITE, first * 4, words * 4);
}

/* Behind the user event. */
static void use(cl_mem m, size_t words, cl_uint k)
{
    SET(bump, m, k);
    launch(queue, bump, words, LOCAL, 1, &gate, NULL);
}

static void begin(void)
{
    gate = new_user_event();
}

static void end(const char *what)
{
    CL(clFlush(queue));
    end_user_event(gate);
    show_buffer(what, queue, all, 0, N * 4);
}

static cl_uint references(cl_mem m)
{
    cl_uint n = 0;
    CL(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof n, &n, NULL));
    return n;
}

/* One is let go while its command waits, and another made over it. */
static void renewed(void)
{
    begin();
    cl_mem older = window(0, N / 2);
    use(older, N / 2, 1);
    CL(clReleaseMemObject(older));
    cl_mem newer = window(N / 4, N / 2);
    use(newer, N / 2, 2);
    end("renewed");
    cl_mem like = window(0, N / 2); /* like one that is gone, and newer than both */
    printf("references %u %u\n", references(like), references(newer));
    begin();
    use(like, N / 2, 3);
    use(newer, N / 2, 4);
    end("like it");
    RELEASE(like, newer);
}

/* The newer one's command waits, the older one's doesn't. */
static void nested(void)
{
    cl_mem older = window(0, N / 2);
    CL(clEnqueueWriteBuffer(queue, older, CL_TRUE, 0, 4, "word", 0, NULL, NULL));
    cl_mem newer = window(N / 4, N / 2);
    begin();
    use(newer, N / 2, 5);
    RELEASE(newer, older);
    end("nested");
}

/* Each is let go before the next is made. */
static void chained(void)
{
    begin();
    for (cl_uint i = 0; i < 12; i++) {
        cl_mem m = window(i % 3 * N / 8, N / 2);
        use(m, N / 2, i);
        CL(clReleaseMemObject(m));
    }
    end("chained");
}

static void CL_CALLBACK hear(cl_mem m, void *data)
{
    __atomic_store_n(&gone, 1, __ATOMIC_SEQ_CST);
}

static void heard(void)
{
    begin();
    cl_mem older = window(0, N / 2);
    CL(clSetMemObjectDestructorCallback(older, hear, NULL));
    use(older, N / 2, 1);
    set_mem(bump, 0, all); /* the kernel's argument may keep it */
    CL(clReleaseMemObject(older));
    cl_mem newer = window(N / 4, N / 2);
    end("heard");
    for (int i = 0; i < 20000 && !__atomic_load_n(&gone, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    printf("gone %d\n", __atomic_load_n(&gone, __ATOMIC_SEQ_CST));
    CL(clReleaseMemObject(newer));
}

static void mark(void)
{
    char text[64];
    CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
}

static void marked(void)
{
    for (cl_uint i = 0; i < 12; i++) {
        cl_mem older = window(0, N / 2), newer;
        SET(bump, older, i);
        launch(queue, bump, N / 2, LOCAL, 0, NULL, NULL);
        CL(clReleaseMemObject(older));
        newer = window(N / 4, N / 2);
        SET(bump, newer, i + 1);
        launch(queue, bump, N / 2, LOCAL, 0, NULL, NULL);
        CL(clReleaseMemObject(newer));
        begin();
        mark();
        CL(clFlush(queue));
        sleep_ms(20);
        mark();
        end("marked");
    }
}

int main(int argc, char **argv)
{
    static uint32_t host[N];
    start(0);
    cl_program p = build(source, "");
    bump = kernel_of(p, "bump");
    fill_words(host, N, 5);
    all = buffer_of(host, sizeof host);
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "renewed") == 0)
        renewed();
    else if (strcmp(way, "nested") == 0)
        nested();
    else if (strcmp(way, "chained") == 0)
        chained();
    else if (strcmp(way, "marked") == 0)
        marked();
    else
        heard();
    return FINISH(all, bump, p);
}
