/* SPDX-License-Identifier: MIT */
/* Messages between a slow user's socket and the daemon, carried by another thread. Whoever waits here waits for that
 * thread, as long as it takes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/suite.h"
#include "common/wire.h"
#include "scheduler/porter.h"

#define S UINT64_C(1000000000)
enum { NOBODY = 65534 };

struct line {
    struct gs_porters porters;
    int client, daemon; /* the two outer ends */
};

/* One user's socket, which a porter has from now on. */
static void set_up(struct line *l)
{
    int fd[2];
    *l = (struct line){0};
    gs_porters_slow(&l->porters, NOBODY, false, S);
    struct gs_porter *p = gs_porters_of(&l->porters, NOBODY, false, S);
    assert_non_null(p);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
    l->client = fd[0];
    l->daemon = gs_porter_carry(p, fd[1]);
    assert_true(l->daemon >= 0);
}

static void clean_up(struct line *l)
{
    close(l->client);
    close(l->daemon);
    gs_porters_end(&l->porters);
}

static void say(int fd, char what, int passed)
{
    const struct gs_msg m = {.magic = (uint32_t)what};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec io = {.iov_base = (void *)&m, .iov_len = sizeof m};
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
    if (passed >= 0) {
        h.msg_control = control.bytes;
        h.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof passed)};
        memcpy(CMSG_DATA(c), &passed, sizeof passed);
    }
    assert_int_equal(sendmsg(fd, &h, MSG_NOSIGNAL), sizeof m);
}

static void wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    assert_int_equal(poll(&p, 1, 60000), 1);
}

/* The next message; 0: the end. *passed: the descriptor that came with it, or -1. */
static char hear(int fd, int *passed)
{
    struct gs_msg m = {0};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {.iov_base = &m, .iov_len = sizeof m};
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    wait_for(fd, POLLIN);
    const ssize_t n = recvmsg(fd, &h, 0);
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
    *passed = -1;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(passed, CMSG_DATA(c), sizeof *passed);
    assert_true(n == sizeof m || n == 0);
    return (char)m.magic;
}

static void messages_go_in_order(void **state)
{
    struct line l;
    int passed;
    set_up(&l);
    for (char i = 1; i <= 8; i++) {
        say(l.client, i, -1);
        say(l.daemon, (char)-i, -1);
    }
    for (char i = 1; i <= 8; i++) {
        assert_int_equal(hear(l.daemon, &passed), i);
        assert_int_equal(hear(l.client, &passed), (char)-i);
    }
    clean_up(&l);
}

static void a_descriptor_goes_to_the_client(void **state)
{
    struct line l;
    int pipe_end[2], passed;
    char byte = 0;
    set_up(&l);
    assert_int_equal(pipe2(pipe_end, O_CLOEXEC), 0);
    say(l.daemon, 'd', pipe_end[0]);
    assert_int_equal(hear(l.client, &passed), 'd');
    close(pipe_end[0]);
    assert_int_equal(write(pipe_end[1], "x", 1), 1);
    assert_int_equal(read(passed, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    /* The porter has kept none: the pipe ends with ours. */
    say(l.daemon, 'e', -1);
    close(passed);
    assert_int_equal(hear(l.client, &passed), 'e');
    wait_for(pipe_end[1], POLLERR);
    close(pipe_end[1]);
    clean_up(&l);
}

/* However much it is sent: so one answer at a time is under way to a client that doesn't read, and one behind it. */
static void a_client_has_one_message_at_a_time(void **state)
{
    struct line l;
    int bytes = 0, passed;
    set_up(&l);
    say(l.daemon, 'a', -1);
    say(l.daemon, 'b', -1);
    say(l.client, 'c', -1);
    wait_for(l.client, POLLIN);
    assert_int_equal(hear(l.daemon, &passed), 'c'); /* the porter has been here since */
    say(l.client, 'd', -1);
    assert_int_equal(hear(l.daemon, &passed), 'd');
    assert_int_equal(ioctl(l.client, FIONREAD, &bytes), 0);
    assert_int_equal(bytes, sizeof(struct gs_msg));
    assert_false(gs_all_received(l.daemon));
    assert_int_equal(hear(l.client, &passed), 'a');
    assert_int_equal(hear(l.client, &passed), 'b');
    clean_up(&l);
}

static void what_was_said_before_the_end_is_heard(void **state)
{
    struct line l;
    int passed;
    set_up(&l);
    for (char i = 1; i <= 5; i++)
        say(l.client, i, -1);
    close(l.client);
    for (char i = 1; i <= 5; i++)
        assert_int_equal(hear(l.daemon, &passed), i);
    assert_int_equal(hear(l.daemon, &passed), 0);
    clean_up(&l);

    set_up(&l);
    say(l.client, 'x', -1); /* which the daemon hasn't heard when it closes its end */
    wait_for(l.daemon, POLLIN);
    for (char i = 1; i <= 5; i++)
        say(l.daemon, i, -1);
    close(l.daemon);
    l.daemon = -1;
    for (char i = 1; i <= 5; i++)
        assert_int_equal(hear(l.client, &passed), i);
    assert_int_equal(hear(l.client, &passed), 0);
    clean_up(&l);
}

/* The daemon speaks to a client that has gone, or that hears no more: what the client had said still comes. */
static void a_failed_send_drops_nothing_that_was_said(void **state)
{
    for (int goes = 0; goes < 2; goes++) {
        struct line l;
        int passed;
        set_up(&l);
        for (char i = 1; i <= 5; i++)
            say(l.client, i, -1);
        wait_for(l.daemon, POLLIN); /* the first one; the others wait for it to be heard */
        if (goes)
            close(l.client);
        else
            assert_int_equal(shutdown(l.client, SHUT_RD), 0);
        say(l.daemon, 'x', -1);
        while (!gs_all_received(l.daemon))
            usleep(1000); /* until the porter has it, and passes it on in vain */
        for (char i = 1; i <= 5; i++)
            assert_int_equal(hear(l.daemon, &passed), i);
        if (goes)
            assert_int_equal(hear(l.daemon, &passed), 0);
        clean_up(&l);
    }
}

/* More of them than there are places, one after the other: a place is free again when its socket has ended. */
static void places_are_used_again(void **state)
{
    struct line l;
    struct rlimit most;
    int fd[2], passed;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    most.rlim_cur = most.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
    set_up(&l);
    for (unsigned i = 0; i < 2 * GS_CARRIED; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
        const int daemon = gs_porter_carry(gs_porters_of(&l.porters, NOBODY, false, S), fd[1]);
        assert_true(daemon >= 0);
        close(daemon);
        assert_int_equal(hear(fd[0], &passed), 0);
        close(fd[0]);
    }
    int clients[GS_CARRIED], kept[GS_CARRIED];
    for (unsigned i = 1; i < GS_CARRIED; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
        clients[i] = fd[0];
        while ((kept[i] = gs_porter_carry(gs_porters_of(&l.porters, NOBODY, false, S), fd[1])) < 0)
            usleep(1000); /* the last one's place is about to be free */
    }
    assert_int_equal(gs_porter_carry(gs_porters_of(&l.porters, NOBODY, false, S), STDERR_FILENO), -1);
    for (unsigned i = 1; i < GS_CARRIED; i++) {
        close(kept[i]);
        close(clients[i]);
    }
    clean_up(&l);
}

static _Atomic uint32_t word;

static void *sleep_on_word(void *arg)
{
    while (syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0) != 0)
        ;
    return arg; /* it was woken */
}

/* A word that is gone is nothing; of more wake-ups than the porter can keep some are left out. */
static void a_sleeper_is_woken(void **state)
{
    struct gs_porters porters = {0};
    pthread_t thread;
    gs_porters_slow_to_wake(&porters, NOBODY, false, S);
    struct gs_porter *p = gs_porters_of(&porters, NOBODY, false, S);
    _Atomic uint32_t *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(gone, MAP_FAILED);
    munmap(gone, 4096);
    for (unsigned i = 0; i < 2 * GS_CHORES; i++)
        gs_porter_wake(p, gone);
    assert_int_equal(pthread_create(&thread, NULL, sleep_on_word, NULL), 0);
    struct timespec end;
    do {
        gs_porter_wake(p, &word); /* again: it may not sleep yet, or this be left out */
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec = (end.tv_nsec + 1000000) % 1000000000;
    } while (pthread_timedjoin_np(thread, NULL, &end) != 0);
    gs_porters_end(&porters);
}

static void a_socket_is_closed(void **state)
{
    struct line l;
    int fd[2], passed;
    set_up(&l);
    for (unsigned i = 0; i < 2 * GS_CHORES; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
        assert_true(gs_porter_close(gs_porters_of(&l.porters, NOBODY, false, S), fd[1]));
        assert_int_equal(hear(fd[0], &passed), 0);
        close(fd[0]);
    }
    /* What the porter hasn't come to is closed at its end. */
    int many[100];
    for (unsigned i = 0; i < sizeof many / sizeof *many; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
        assert_true(gs_porter_close(gs_porters_of(&l.porters, NOBODY, false, S), fd[1]));
        many[i] = fd[0];
    }
    clean_up(&l);
    for (unsigned i = 0; i < sizeof many / sizeof *many; i++) {
        assert_int_equal(hear(many[i], &passed), 0);
        close(many[i]);
    }
}

/* Two ends of a connection over the loopback of which nobody reads the second: whoever closes the first waits until
 * the second has been read or closed. -1: there is no loopback. */
static int make_lingering(int *other)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    const struct linger for_long = {1, 600};
    const int little = 4096;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    static char bytes[65536];
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    if (bind(listener, (struct sockaddr *)&a, n) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&a, &n) < 0 || connect(fd, (struct sockaddr *)&a, n) < 0)
        return -1;
    *other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &for_long, sizeof for_long), 0);
    return fd;
}

/* The porter is stopped by its first chore, and is given more than it can keep: nothing waits for it, what doesn't go
 * in is the caller's still, and what went in is done, once it can. */
static void a_full_ring(void **state)
{
    struct gs_porters porters = {0};
    pthread_t thread;
    int mine[GS_CHORES + 2], given[GS_CHORES + 2], blocking = -1, passed;
    const int lingering = make_lingering(&blocking);
    if (lingering < 0)
        LEFT_OUT("there is no loopback");
    gs_porters_slow_to_wake(&porters, NOBODY, false, S);
    struct gs_porter *p = gs_porters_of(&porters, NOBODY, false, S);
    assert_true(gs_porter_close(p, lingering)); /* its chore until the end of `blocking` */
    unsigned n = 0;
    for (bool goes = true; goes; n++) {
        int fd[2];
        assert_true(n <= GS_CHORES);
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
        mine[n] = fd[0];
        given[n] = fd[1];
        goes = gs_porter_close(p, fd[1]);
    }
    assert_int_equal(n, GS_CHORES); /* one of them is the lingering one, and the last didn't go in */
    atomic_store(&word, 0);
    for (unsigned i = 0; i < GS_CHORES; i++)
        gs_porter_wake(p, &word);
    close(given[n - 1]); /* it was open: the caller's */
    assert_int_equal(hear(mine[n - 1], &passed), 0);
    for (unsigned i = 0; i + 1 < n; i++)
        assert_int_equal(poll(&(struct pollfd){.fd = mine[i]}, 1, 0), 0); /* not closed yet: the porter is stopped */
    close(blocking);
    for (unsigned i = 0; i + 1 < n; i++)
        assert_int_equal(hear(mine[i], &passed), 0);
    for (unsigned i = 0; i < n; i++)
        close(mine[i]);
    /* There is room again. */
    assert_int_equal(pthread_create(&thread, NULL, sleep_on_word, NULL), 0);
    struct timespec end;
    do {
        gs_porter_wake(p, &word);
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec = (end.tv_nsec + 1000000) % 1000000000;
    } while (pthread_timedjoin_np(thread, NULL, &end) != 0);
    gs_porters_end(&porters);
}

static void who_is_slow(void **state)
{
    struct gs_porters p = {0};
    const uint64_t later = 2 * GS_SLOW_FOR_NS;
    assert_null(gs_porters_of(&p, 1, false, S));
    for (uid_t u = 1; u <= GS_PORTERS; u++) {
        assert_null(gs_porters_of(&p, u, false, S));
        gs_porters_slow(&p, u, false, S);
        assert_non_null(gs_porters_of(&p, u, false, S));
        assert_true(u == 1 || gs_porters_of(&p, u, false, S) != gs_porters_of(&p, 1, false, S));
    }
    /* All places are taken: whom the config doesn't name may be one more number of the same person's. */
    assert_ptr_equal(gs_porters_of(&p, 99, false, S), gs_porters_of(&p, GS_PORTERS, false, S));
    assert_null(gs_porters_of(&p, 99, true, S));
    gs_porters_slow(&p, 99, false, S);
    assert_non_null(gs_porters_of(&p, 99, true, S));
    assert_int_equal(p.n, GS_PORTERS);
    /* Ten minutes after the last time nobody is slow, and places are free. */
    gs_porters_slow(&p, 1, false, later);
    assert_null(gs_porters_of(&p, 2, false, later));
    assert_null(gs_porters_of(&p, 99, false, later));
    gs_porters_slow(&p, 100, false, later);
    assert_non_null(gs_porters_of(&p, 100, false, later));
    assert_non_null(gs_porters_of(&p, 1, false, later));
    assert_null(gs_porters_of(&p, 101, false, later));
    assert_int_equal(p.n, GS_PORTERS);
    /* Who has slow sockets may be woken by the daemon itself. */
    assert_null(gs_porters_waker(&p, 1, later));
    gs_porters_slow_to_wake(&p, 1, false, later);
    assert_ptr_equal(gs_porters_waker(&p, 1, later), gs_porters_of(&p, 1, false, later));
    assert_null(gs_porters_waker(&p, 1, later + GS_SLOW_FOR_NS));
    gs_porters_end(&p);
}

/* All places are taken, the last one by a user whom the config names. */
static void places_of_others(void **state)
{
    const uid_t named = GS_PORTERS, last = GS_PORTERS - 1;
    struct gs_porters p = {0};
    for (uid_t u = 1; u < named; u++)
        gs_porters_slow_to_wake(&p, u, false, S);
    gs_porters_slow_to_wake(&p, named, true, S);
    assert_ptr_equal(gs_porters_of(&p, 99, false, S), gs_porters_of(&p, last, false, S));
    assert_null(gs_porters_waker(&p, 99, S));
    struct gs_porter *its = gs_porters_of(&p, named, true, S);
    gs_porters_slow(&p, 99, false, S);
    assert_ptr_equal(gs_porters_of(&p, named, true, S), its);
    assert_ptr_equal(gs_porters_waker(&p, named, S), its);
    assert_ptr_not_equal(gs_porters_of(&p, 99, false, S), its);
    assert_null(gs_porters_waker(&p, 99, S)); /* that was the other's */
    gs_porters_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_go_in_order),
        cmocka_unit_test(a_descriptor_goes_to_the_client),
        cmocka_unit_test(a_client_has_one_message_at_a_time),
        cmocka_unit_test(what_was_said_before_the_end_is_heard),
        cmocka_unit_test(a_failed_send_drops_nothing_that_was_said),
        cmocka_unit_test(places_are_used_again),
        cmocka_unit_test(a_sleeper_is_woken),
        cmocka_unit_test(a_socket_is_closed),
        cmocka_unit_test(a_full_ring),
        cmocka_unit_test(who_is_slow),
        cmocka_unit_test(places_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
