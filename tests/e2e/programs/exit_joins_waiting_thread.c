/* SPDX-License-Identifier: MIT */
/* exit_joins_waiting_thread HOW [BY]: a thread waits for two launches of 2^20 work-items by clFinish (`finish`),
 * clWaitForEvents (`event`), a read that blocks (`read`), by asking for their state or times again and again (`status`,
 * `profile`), for a callback (`callback`), or for a user event that is set in the end (`user`). Meanwhile main returns,
 * and a handler of exit() that was registered before OpenCL was used joins the thread; with `destructor` the program's
 * destructor does, with `library` a handler of a library that is loaded once OpenCL is used, with the path of
 * destructor_hook.so its destructor, with `left` nobody. With `driver` nobody does, and a handler of the driver's takes
 * three seconds: the status is 70 where the wait ends meanwhile, and libc's own exit is called, which nothing comes
 * before. */
#include <dlfcn.h>
#include <err.h>
#include <link.h>
#include <semaphore.h>

#include "plain.h"

enum { ITEMS = 1 << 20 };

static const char source[] =
    "__kernel void count(__global uint *v)\n"
    "{ uint i = get_global_id(0), x = v[i]; for (uint n = 0; n < 200; n++) x = x * 1664525u + i; v[i] = x; }";

static const char *how, *by = "";
static bool by_destructor;
static atomic_bool waited;
static pthread_t thread;
static sem_t launched, called_back;
static cl_kernel kernel;
static cl_mem mem;
static cl_event user, event;

static bool is(const char *way)
{
    return strcmp(how, way) == 0;
}

static void CL_CALLBACK called(cl_event e, cl_int status, void *data)
{
    sem_post(&called_back);
}

static bool has_ended(void)
{
    cl_int status = CL_QUEUED;
    cl_ulong ns;
    if (is("profile"))
        return clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ns, &ns, NULL) == CL_SUCCESS;
    CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status == CL_COMPLETE;
}

static void *compute(void *unused)
{
    uint32_t got;
    launch(queue, kernel, ITEMS, 64, user ? 1 : 0, user ? &user : NULL, NULL);
    launch(queue, kernel, ITEMS, 64, 0, NULL, &event);
    if (is("callback"))
        CL(clSetEventCallback(event, CL_COMPLETE, called, NULL));
    sem_post(&launched);
    if (is("finish"))
        CL(clFinish(queue));
    else if (is("event") || is("user"))
        CL(clWaitForEvents(1, &event));
    else if (is("callback"))
        sem_wait(&called_back);
    else if (!is("read"))
        while (!has_ended())
            usleep(1000);
    atomic_store(&waited, true);
    CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    printf("%s has ended\n", how);
    fflush(stdout);
    return NULL;
}

static void join(void)
{
    if (user)
        CL(clSetUserEventStatus(user, CL_COMPLETE));
    pthread_join(thread, NULL);
}

static void join_for_library(void *unused)
{
    join();
}

static void take_apart(void *unused)
{
    const bool before = atomic_load(&waited);
    sleep(3);
    if (atomic_load(&waited) != before)
        _exit(70);
}

/* As what the library itself registers. */
int __cxa_atexit(void (*handler)(void *), void *arg, void *library);
static int register_handler(void)
{
    cl_platform_id first;
    void *code = NULL;
    Dl_info driver;
    CL(clGetPlatformIDs(1, &first, NULL));
    if (strcmp(by, "library") == 0) {
        const struct link_map *library = dlopen("libresolv.so.2", RTLD_NOW);
        return library ? __cxa_atexit(join_for_library, NULL, library->l_ld) : -1;
    }
    if (strchr(by, '/')) {
        void *library = dlopen(by, RTLD_NOW), (**at_last)(void);
        *(void **)&at_last = library ? dlsym(library, "at_last") : NULL;
        return at_last ? (*at_last = join, 0) : -1;
    }
    if (strcmp(by, "driver") != 0)
        return 0;
    memcpy(&code, *(char **)first + sizeof code, sizeof code); /* clGetPlatformInfo in its table (cl_khr_icd) */
    return dladdr(code, &driver) ? __cxa_atexit(take_apart, NULL, driver.dli_fbase) : -1;
}

__attribute__((destructor)) static void end(void)
{
    if (by_destructor)
        join();
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "finish";
    by = argc > 2 ? argv[2] : "";
    if ((!*by && atexit(join) != 0) || sem_init(&launched, 0, 0) != 0 || sem_init(&called_back, 0, 0) != 0 ||
        register_handler() != 0)
        return 1;
    start(CL_QUEUE_PROFILING_ENABLE);
    kernel = kernel_of(build(source, ""), "count");
    mem = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(kernel, 0, mem);
    launch(queue, kernel, ITEMS, 64, 0, NULL, NULL); /* nothing is compiled in the end */
    CL(clFinish(queue));
    if (is("user"))
        user = new_user_event();
    thread = new_thread(compute, NULL);
    sem_wait(&launched);
    usleep(50000); /* it waits by now, in most runs */
    by_destructor = strcmp(by, "destructor") == 0;
    if (strcmp(by, "driver") == 0)
        errx(0, "ends");
    return 0;
}
