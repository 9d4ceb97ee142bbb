/* SPDX-License-Identifier: MIT */
/* A link with a delay, where the kernel has no netem: two tun devices, one here and one in a network namespace.
 *   delay NAME NAMESPACE MICROSECONDS [LOST]
 * Makes the device NAME here and `far` there; what goes into one comes out of the other so much later, but of each
 * thousand packets LOST. Runs until it is killed. As root. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4096, MOST_BYTES = 65536 };

/* One direction: packets in their order, each with the time when it is due. */
struct way {
    int from, to;
    struct {
        char *bytes;
        size_t n;
        int64_t due_ns;
    } slot[SLOTS];
    uint64_t in, out;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int make_device(const char *name)
{
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &r) < 0)
        fail(name);
    return fd;
}

static void take_in(struct way *w, int64_t delay_ns, long lost)
{
    static char bytes[MOST_BYTES];
    ssize_t n;
    while (w->in - w->out < SLOTS && (n = read(w->from, bytes, sizeof bytes)) > 0) {
        if (random() % 1000 < lost)
            continue;
        char *copy = malloc((size_t)n);
        if (!copy)
            fail("memory");
        memcpy(copy, bytes, (size_t)n);
        w->slot[w->in % SLOTS].bytes = copy;
        w->slot[w->in % SLOTS].n = (size_t)n;
        w->slot[w->in++ % SLOTS].due_ns = now_ns() + delay_ns;
    }
}

/* When the next one is due; INT64_MAX: there is none. */
static int64_t hand_out(struct way *w)
{
    for (; w->out < w->in; w->out++) {
        const unsigned i = w->out % SLOTS;
        if (w->slot[i].due_ns > now_ns())
            return w->slot[i].due_ns;
        if (write(w->to, w->slot[i].bytes, w->slot[i].n) < 0 && errno != EIO && errno != EAGAIN) /* it is lost */
            fail("write");
        free(w->slot[i].bytes);
    }
    return INT64_MAX;
}

int main(int argc, char **argv)
{
    static struct way there, back;
    char path[256];
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: delay NAME NAMESPACE MICROSECONDS [LOST]\n");
        return 2;
    }
    const int64_t delay_ns = strtoll(argv[3], NULL, 10) * 1000;
    const long lost = argc > 4 ? strtol(argv[4], NULL, 10) : 0; /* the same ones each time */
    prctl(PR_SET_TIMERSLACK, 1000);
    there.from = back.to = make_device(argv[1]);
    snprintf(path, sizeof path, "/run/netns/%s", argv[2]);
    const int ns = open(path, O_RDONLY | O_CLOEXEC);
    if (ns < 0 || setns(ns, CLONE_NEWNET) < 0)
        fail(path);
    there.to = back.from = make_device("far");
    for (;;) {
        struct pollfd fds[2] = {{.fd = there.from, .events = POLLIN}, {.fd = back.from, .events = POLLIN}};
        const int64_t a = hand_out(&there), b = hand_out(&back), due = a < b ? a : b, now = now_ns();
        const int64_t wait = due == INT64_MAX ? 1000000000 : due > now ? due - now : 0;
        const struct timespec t = {wait / 1000000000, wait % 1000000000};
        ppoll(fds, 2, &t, NULL);
        take_in(&there, delay_ns, lost);
        take_in(&back, delay_ns, lost);
    }
}
