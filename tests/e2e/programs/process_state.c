/* SPDX-License-Identifier: MIT */
/* What the process has one of, and a program may count on: the C library's random sequences, umask, locale, masks and
 * handlers of signals, folder, floating-point modes and flags, errno. It sets each to something unusual, and looks at
 * all after each call of OpenCL; what has changed has a line. */
#include "plain.h"

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

enum { N = 1 << 12, BYTES = N * 4, UNUSUAL = 4242 };

static const char source[] =
    "__kernel void bump(__global uint *v, uint by) { v[get_global_id(0)] += by; }\n"
    "__kernel void gather(__global uint *to, __global const uint *v, __global const uint *at)\n"
    "{ uint i = get_global_id(0); to[i] = v[at[i]]; }\n"
    "__kernel void scatter(__global uint *to, __global const uint *at, uint by)\n"
    "{ uint i = get_global_id(0); to[at[i]] = i * by; }\n"
    "__kernel void count(__global uint *n, __global const uint *v)\n"
    "{ atomic_add(&n[v[get_global_id(0)] & 15], 1); }\n"
    "__kernel void list(__global uint *n, __global uint *to, __global const uint *v)\n"
    "{ uint i = get_global_id(0); if (v[i] & 1) to[atomic_inc(n)] = v[i]; }\n";

static bool asks_errno; /* not of a plain run: a driver may change it, sometimes */

struct state {
    mode_t mask;
    sigset_t signals;
    void (*handler[32])(int);
    char locale[256], folder[1024];
    locale_t own_locale;
    int rounding, traps, err;
    unsigned control;
};

static void look(struct state *s)
{
    memset(s, 0, sizeof *s);
    s->err = errno;
    umask(s->mask = umask(0));
    pthread_sigmask(SIG_BLOCK, NULL, &s->signals);
    for (int i = 1; i < 32; i++) {
        struct sigaction a;
        if (sigaction(i, NULL, &a) == 0)
            s->handler[i] = a.sa_handler;
    }
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    s->own_locale = uselocale((locale_t)0);
    if (!getcwd(s->folder, sizeof s->folder))
        s->folder[0] = 0;
    s->rounding = fegetround();
    s->traps = fegetexcept();
#if defined __x86_64__
    s->control = _mm_getcsr() & ~0x3fu;
#endif
}

/* By the calls within which gpusparc does more than to hand on. */
static bool left_alone(const char *call)
{
    return asks_errno &&
           (strncmp(call, "launch", 6) == 0 || strncmp(call, "show", 4) == 0 || strstr(call, "kernel_of"));
}

/* The numbers before and after show whether somebody has taken some between them. */
static void look_after(const char *call, const struct state *before)
{
    struct state now;
    look(&now);
#define SAME(what, same) (same) ? (void)0 : (void)printf("%s: another %s\n", call, what)
    SAME("umask", now.mask == before->mask);
    SAME("mask of signals", memcmp(&now.signals, &before->signals, sizeof now.signals) == 0);
    SAME("handler of a signal", memcmp(now.handler, before->handler, sizeof now.handler) == 0);
    SAME("locale", strcmp(now.locale, before->locale) == 0);
    SAME("locale of the thread", now.own_locale == before->own_locale);
    SAME("folder", strcmp(now.folder, before->folder) == 0);
    SAME("rounding", now.rounding == before->rounding);
    SAME("traps", now.traps == before->traps);
    SAME("floating-point control", now.control == before->control);
    if (left_alone(call))
        SAME("errno", now.err == UNUSUAL);
    printf("%s: %ld %d %ld %.9f\n", call, random(), rand(), lrand48(), drand48());
}

#define AFTER(call)                                                                                                    \
    do {                                                                                                               \
        struct state before_;                                                                                          \
        errno = UNUSUAL;                                                                                               \
        look(&before_);                                                                                                \
        errno = UNUSUAL;                                                                                               \
        call;                                                                                                          \
        look_after(#call, &before_);                                                                                   \
    } while (0)

int main(int argc, char **argv)
{
    asks_errno = argc > 1 && strcmp(argv[1], "errno") == 0;
    static uint32_t v[N], at[N];
    cl_kernel k[5];
    cl_mem m[4];
    cl_program p;
    sigset_t some;
    srandom(7);
    srand48(11);
    umask(027);
    setlocale(LC_ALL, "C.UTF-8");
    uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    fesetround(FE_UPWARD);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#if defined __x86_64__
    _mm_setcsr(_mm_getcsr() | 0x8040); /* what is too small is 0 */
#endif
    AFTER(start(0)); /* a driver may set up handlers here: so it does in a plain run */
    for (uint32_t i = 0; i < N; i++) {
        v[i] = scramble(i);
        at[i] = (i * 5 + 3) % N;
    }
    AFTER(m[0] = buffer(CL_MEM_COPY_HOST_PTR, BYTES, v));
    AFTER(m[1] = buffer(CL_MEM_COPY_HOST_PTR, BYTES, at));
    AFTER(m[2] = buffer(CL_MEM_READ_WRITE, BYTES, NULL));
    AFTER(m[3] = buffer(CL_MEM_COPY_HOST_PTR, BYTES, v));
    AFTER(p = build(source, "-DA"));
    const char *const names[] = {"bump", "gather", "scatter", "count", "list"};
    for (int i = 0; i < 5; i++)
        AFTER(k[i] = kernel_of(p, names[i]));
    for (cl_uint turn = 1; turn <= 3; turn++) {
        SET(k[0], m[0], turn);
        AFTER(launch(queue, k[0], N, 64, 0, NULL, NULL));
        SET(k[1], m[2], m[0], m[1]);
        AFTER(launch(queue, k[1], N, 64, 0, NULL, NULL));
        SET(k[2], m[3], m[1], turn);
        AFTER(launch(queue, k[2], N, 64, 0, NULL, NULL));
        AFTER(CL(clEnqueueFillBuffer(queue, m[2], &(cl_uint){0}, 4, 0, 64, 0, NULL, NULL)));
        SET(k[3], m[2], m[0]);
        AFTER(launch(queue, k[3], N, 64, 0, NULL, NULL));
        AFTER(show_buffer("counts", queue, m[2], 0, BYTES));
        AFTER(show_buffer("words", queue, m[3], 0, BYTES));
        AFTER(CL(clEnqueueFillBuffer(queue, m[2], &(cl_uint){0}, 4, 0, 4, 0, NULL, NULL)));
        SET(k[4], m[2], m[3], m[0]);
        AFTER(launch(queue, k[4], N, 64, 0, NULL, NULL));
        AFTER(CL(clFinish(queue)));
        AFTER(show_buffer("length", queue, m[2], 0, 4));
        AFTER(CL(clEnqueueWriteBuffer(queue, m[3], CL_TRUE, 0, BYTES, v, 0, NULL, NULL)));
    }
    for (int i = 0; i < 5; i++)
        AFTER(CL(clReleaseKernel(k[i])));
    for (int i = 0; i < 4; i++)
        AFTER(CL(clReleaseMemObject(m[i])));
    AFTER(CL(clReleaseProgram(p)));
    AFTER(finish());
    return 0;
}
