/* SPDX-License-Identifier: MIT */
/* While another process (marker_before_launch hog) has the device, a launch comes right behind a write; over the layer
 * call_hooks.c another thread has a marker come before it in its queue, right after a unit has been asked for. That
 * marker waits for a launch in another queue, which can run only then. All of it ends once the other process does,
 * which is killed. */
#include "plain.h"

#include <signal.h>

enum { ITEMS = 64, BYTES = ITEMS * 4, PIECE = 32 << 20, PATIENCE_MS = 5000, WARM = 8, HOG_SECONDS = 60 };

static const char source[] = "__kernel void add(__global uint *v) { v[get_global_id(0)] += get_global_id(0); }\n"
                             "__kernel void lasting(__global uint *v, uint times, uint k)\n"
                             "{ uint i = get_global_id(0), x = v[i];\n"
                             "  for (uint t = 0; t < times; t++) for (uint n = 0; n < k; n++) x = x * 1664525u + n;\n"
                             "  v[i] = x; }\n";

enum stage { BEFORE, LAUNCHES, IS_ABOUT_TO_MARK, IS_MARKED, HAS_LAUNCHED };
static atomic_int stage;
static _Thread_local bool launches;
static cl_event gate, behind;
static pid_t hog_pid;

static void await_stage(int which)
{
    for (int i = 0; i < PATIENCE_MS && atomic_load(&stage) < which; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

__attribute__((visibility("default"))) void will_mark(void);
void will_mark(void)
{
    if (!launches || atomic_load(&stage) != LAUNCHES)
        return;
    atomic_store(&stage, IS_ABOUT_TO_MARK);
    await_stage(IS_MARKED);
}

static void *come_between(void *unused)
{
    cl_event marker;
    await_stage(IS_ABOUT_TO_MARK);
    CL(clEnqueueMarkerWithWaitList(queue, 1, &behind, &marker));
    atomic_store(&stage, IS_MARKED);
    await_stage(HAS_LAUNCHED);
    kill(hog_pid, SIGKILL);
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    CL(clReleaseEvent(marker));
    return NULL;
}

/* One work-group, and so one unit, that lasts HOG_SECONDS. */
static int have_device(cl_kernel k)
{
    cl_uint n = 500 * 1000;
    double took = 0;
    set_uint(k, 1, 1);
    while (took < 0.05 && n < 1u << 30) {
        n *= 2;
        const double begin = seconds();
        set_uint(k, 2, n);
        launch(queue, k, ITEMS, ITEMS, 0, NULL, NULL);
        CL(clFinish(queue));
        took = seconds() - begin;
    }
    set_uint(k, 1, (cl_uint)((double)HOG_SECONDS / took));
    launch(queue, k, ITEMS, ITEMS, 0, NULL, NULL);
    CL(clFlush(queue));
    sleep_ms(300);
    printf("%d runs\n", (int)getpid());
    fflush(stdout);
    CL(clFinish(queue));
    return 0;
}

/* Starts the other process, and returns once it has the device. */
static FILE *start_hog(const char *program)
{
    char command[4096], line[64];
    snprintf(command, sizeof command, "'%s' hog", program);
    FILE *hog = popen(command, "r");
    if (!hog || !fgets(line, sizeof line, hog) || (hog_pid = (pid_t)strtol(line, NULL, 10)) <= 0)
        exit(1);
    return hog;
}

int main(int argc, char **argv)
{
    uint32_t words[ITEMS];
    static unsigned char bytes[PIECE];
    start(0);
    cl_program p = build(source, "");
    cl_kernel add = kernel_of(p, "add"), lasting = kernel_of(p, "lasting");
    fill_words(words, ITEMS, 1);
    cl_mem m = buffer_of(words, BYTES), piece = buffer(0, PIECE, NULL);
    set_mem(lasting, 0, m);
    if (argc > 1 && strcmp(argv[1], "hog") == 0)
        return have_device(lasting);
    set_mem(add, 0, m);
    cl_command_queue other = new_queue(0);
    for (int i = 0; i < WARM; i++) { /* it is known to be short */
        launch(queue, add, ITEMS, ITEMS, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    FILE *hog = start_hog(argv[0]);
    gate = new_user_event();
    launch(other, add, ITEMS, ITEMS, 1, &gate, &behind);
    CL(clFlush(other));
    CL(clEnqueueWriteBuffer(queue, piece, CL_TRUE, 0, PIECE, bytes, 0, NULL, NULL)); /* the link is this one's again */
    pthread_t thread = new_thread(come_between, NULL);
    CL(clEnqueueWriteBuffer(queue, piece, CL_FALSE, 0, PIECE, bytes, 0, NULL, NULL));
    launches = true;
    atomic_store(&stage, LAUNCHES);
    launch(queue, add, ITEMS, ITEMS, 0, NULL, NULL);
    const bool between = atomic_load(&stage) == IS_MARKED;
    atomic_store(&stage, HAS_LAUNCHED);
    CL(clFinish(queue));
    CL(clFinish(other));
    pthread_join(thread, NULL);
    pclose(hog);
    printf("the marker came %s\n", between ? "between" : "elsewhere");
    show_buffer("sum", queue, m, 0, BYTES);
    return FINISH(gate, behind, m, piece, add, lasting, p, other);
}
