/* SPDX-License-Identifier: MIT */
/* release_during_transfer [early]: a thread blocks in a transfer of a buffer, over the layer call_hooks.c, and another
 * one lets the buffer go meanwhile, for the last time: once the driver has the command, or while the call waits for
 * what comes before; or, early, just before the driver gets the command. The call does what it would have done. So it
 * does of a sub-buffer whose buffer the application has let go before, and of a buffer that it gets back meanwhile,
 * from a sub-buffer, and lets go again. All of them go. */
#include "plain.h"

enum { WORDS = 1 << 18, BYTES = WORDS * 4, PATIENCE_MS = 500 };

static const char source[] = "__kernel void fill(__global uint *v, uint k) { v[get_global_id(0)] = k; }\n";

/* The transfer is of a buffer; of a part of one that was let go before; of a buffer that is let go twice. */
enum { BUFFER, PART, TWICE, CASES };
static const char *const cases[] = {"a buffer", "a part", "a buffer let go twice"};

static cl_kernel fill;
static cl_mem words, part_of;
static atomic_bool armed, gone;
static atomic_uint ended;
static bool early;
static _Thread_local bool is_first;
static pthread_t thread;

static void *release(void *unused)
{
    cl_mem again = words;
    CL(clReleaseMemObject(words));
    if (part_of) {
        CL(clGetMemObjectInfo(part_of, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof again, &again, NULL));
        CL(clRetainMemObject(again));
        CL(clReleaseMemObject(again));
    }
    atomic_store(&gone, true);
    return NULL;
}

static void CL_CALLBACK is_ended(cl_mem mem, void *unused)
{
    atomic_fetch_add(&ended, 1);
}

/* The other thread may have to wait for this one, which has a lock then. */
static void let_go(void)
{
    if (!is_first || !atomic_exchange(&armed, false))
        return;
    thread = new_thread(release, NULL);
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&gone); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

__attribute__((visibility("default"))) void will_read(void);
void will_read(void)
{
    if (early)
        let_go();
}

__attribute__((visibility("default"))) void will_write(void);
void will_write(void)
{
    will_read();
}

__attribute__((visibility("default"))) void waits_for_one(void);
void waits_for_one(void)
{
    let_go();
}

__attribute__((visibility("default"))) void has_waited(void);
void has_waited(void)
{
    let_go();
}

__attribute__((visibility("default"))) void has_written(size_t size);
void has_written(size_t size)
{
    let_go();
}

static void try(const char *what, bool launched, unsigned of)
{
    static uint32_t host[WORDS];
    static uint32_t value = 7;
    cl_int err;
    value++;
    for (size_t i = 0; i < WORDS; i++)
        host[i] = value;
    words = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    CL(clSetMemObjectDestructorCallback(words, is_ended, NULL));
    part_of = of == TWICE ? sub_buffer(words, 0, 0, BYTES) : NULL;
    if (of == PART) {
        cl_mem whole = words;
        words = sub_buffer(whole, 0, 0, BYTES);
        CL(clReleaseMemObject(whole));
    }
    CL(clEnqueueWriteBuffer(queue, words, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    SET(fill, words, value);
    if (launched)
        launch(queue, fill, WORDS, 64, 0, NULL, NULL);
    atomic_store(&gone, false);
    atomic_store(&armed, true);
    if (strcmp(what, "write") == 0)
        err = clEnqueueWriteBuffer(queue, words, CL_TRUE, 0, BYTES, host, 0, NULL, NULL);
    else if (strcmp(what, "map") == 0)
        clEnqueueMapBuffer(queue, words, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, &err);
    else
        err = clEnqueueReadBuffer(queue, words, CL_TRUE, 0, BYTES, memset(host, 0, BYTES), 0, NULL, NULL);
    CL(err);
    if (!atomic_exchange(&armed, false))
        CL(pthread_join(thread, NULL));
    else
        release(NULL);
    if (part_of)
        RELEASE(part_of);
    CL(clFinish(queue));
    size_t wrong = 0;
    for (size_t i = 0; i < WORDS; i++)
        wrong += host[i] != value;
    printf("%s, %s, %s: %zu wrong\n", what, cases[of], launched ? "launched before" : "written before", wrong);
}

int main(int argc, char **argv)
{
    early = argc > 1;
    is_first = true;
    start(0);
    cl_program p = build(source, "");
    fill = kernel_of(p, "fill");
    for (unsigned i = 0; i < 2 * CASES; i++) {
        try("read", i % 2, i / 2);
        try("write", i % 2, i / 2);
        try("map", i % 2, i / 2);
    }
    RELEASE(fill, p); /* the last argument */
    printf("%u buffers have ended\n", atomic_load(&ended));
    return finish();
}
