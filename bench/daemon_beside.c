/* SPDX-License-Identifier: MIT */
/* What root's task feels of another user's flood: how long it takes to join, and how long it waits for a GPU that its
 * partner has let go. daemon_beside FLOOD CONNECTIONS SECONDS PID [SOCKET]: the daemon's process, at $GPUSPARC_SOCKET,
 * whose config has the tasks `high`, below it `partner`, and below both `low`, which is everybody's; with SOCKET the
 * flood goes to another daemon, so that what is felt is the machine's load alone. As root the flood is user 65534's,
 * else of the same user.
 * The machine stalls, too. On each processor that this program may use a control of the highest priority sleeps 0.1 ms
 * at a time. A wake-up that is 0.2 ms late is a stall: the machine's, unless the daemon ran for half of it. Samples of
 * which the machine's stalls are half or more are left out, and counted. Prints one JSON object; of fewer than 1,000
 * samples the 99.9th percentile is the longest. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/daemon_client.h"
#include "common/client/client.h"

enum {
    MOST = 1 << 18,
    FLOODERS = 2,
    THREADS = 20000,
    CHAINS = 16,
    CHAIN = 150,
    NOBODY = 65534,
    CONTROLS = 64,
    GPU = GS_RESOURCE_GPU(0)
};
#define NS_PER_MS UINT64_C(1000000)
#define CONTROL_NS (NS_PER_MS / 10) /* a control sleeps so long, */
#define STALL_NS (NS_PER_MS / 5)    /* and calls it a stall when it wakes up so late */

struct span {
    uint64_t begin_ns, end_ns;
};
struct spans {
    _Atomic uint32_t n;
    struct span at[MOST];
};

static struct {
    _Atomic uint64_t released_ns; /* by the partner; 0: not since the task had the GPU */
    _Atomic uint64_t joining_ns;  /* a join began then, and hasn't ended; 0: none is under way */
    _Atomic uint32_t ready, count, sent, own_stalls;
    struct spans grants, joins, stalls; /* own_stalls, during which the daemon ran, aren't among these */
} * s;
static const char *flooded; /* the socket that the flood goes to */
static pid_t daemon_pid;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

static void note(struct spans *to, uint64_t begin, uint64_t end)
{
    const uint32_t i = atomic_fetch_add(&to->n, 1);
    if (i < MOST)
        to->at[i] = (struct span){begin, end};
}

static uint32_t count_of(const struct spans *v)
{
    const uint32_t n = atomic_load(&v->n);
    return n < MOST ? n : MOST;
}

static pid_t start(void (*role)(unsigned n), unsigned n)
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    role(n);
    _exit(0);
}

/* ---- the machine ---- */

/* The processor time that the daemon has had. */
static uint64_t daemon_ns(void)
{
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(daemon_pid, &clock) == 0)
        clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

static void control(unsigned cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0 ||
        sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = sched_get_priority_max(SCHED_FIFO)}) <
            0)
        _exit(0); /* not ours, or not permitted: nothing is left out then */
    for (;;) {
        const uint64_t begin = now_ns(), had = daemon_ns();
        nanosleep(&(struct timespec){.tv_nsec = (long)CONTROL_NS}, NULL);
        const uint64_t end = now_ns();
        if (!atomic_load(&s->count) || end - begin < CONTROL_NS + STALL_NS)
            continue;
        if (daemon_ns() - had >= (end - begin) / 2)
            atomic_fetch_add(&s->own_stalls, 1);
        else
            note(&s->stalls, begin, end);
    }
}

/* ---- the task, and its partner ---- */

static struct gs_client *come(const char *task)
{
    struct gs_client *c = open_client(task);
    atomic_fetch_add(&s->ready, 1);
    return c;
}

/* Each asks while the other has the GPU. */
static void hand_over(const char *task, bool measures)
{
    struct gs_client *c = come(task);
    for (;;) {
        struct gs_grant g;
        gs_client_acquire(c, GPU, 500000, &g);
        const uint64_t from = measures ? atomic_exchange(&s->released_ns, 0) : 0, now = now_ns();
        if (from && atomic_load(&s->count))
            note(&s->grants, from, now);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        if (!measures)
            atomic_store(&s->released_ns, now_ns());
        gs_client_release(c, &g);
        /* Not in step with the daemon's turns, and the other one has the GPU by then. */
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

static void high(unsigned n)
{
    (void)n;
    hand_over("high", true);
}

static void partner(unsigned n)
{
    (void)n;
    hand_over("partner", false);
}

static int connect_socket(const char *path, bool waits)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static struct gs_msg message(enum gs_msg_type type)
{
    return (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = (uint16_t)type};
}

static struct gs_msg hello(const char *task)
{
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello = (struct gs_msg_hello){.flags = task ? 0 : GS_HELLO_NO_TASK, .gpus = 1};
    snprintf(m.u.hello.task, sizeof m.u.hello.task, "%s", task ? task : "");
    return m;
}

/* The next message, and the file that came with it (-1: none; the caller's). False: there is none; *ended. */
static bool receive(int fd, struct gs_msg *m, int *passed, bool *ended)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {.iov_base = m, .iov_len = sizeof *m};
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
    *ended = n == 0 || (n < 0 && errno != EAGAIN);
    *passed = -1;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(passed, CMSG_DATA(c), sizeof *passed);
    return n == sizeof *m;
}

static void join_again(unsigned n)
{
    char own_socket[128];
    (void)n;
    snprintf(own_socket, sizeof own_socket, GS_OWN_SOCKET, getenv("GPUSPARC_SOCKET"), (unsigned)geteuid());
    for (;;) {
        sched_setscheduler(0, SCHED_FIFO,
                           &(struct sched_param){.sched_priority = 60}); /* where it may: the daemon's time counts */
        const uint64_t begin = now_ns();
        atomic_store(&s->joining_ns, begin);
        const int own = connect_socket(own_socket, true);
        const int fd = own < 0 ? connect_socket(getenv("GPUSPARC_SOCKET"), true) : own;
        const struct gs_msg say = hello("high");
        struct gs_msg m;
        bool ended = fd < 0 || send(fd, &say, sizeof say, MSG_NOSIGNAL) < 0, welcome = false;
        for (int passed; !ended && !welcome && receive(fd, &m, &passed, &ended); welcome = m.type == GS_MSG_WELCOME)
            if (passed >= 0)
                close(passed);
        const bool noted = atomic_exchange(&s->joining_ns, 0) == 0; /* at the end, with the time until then */
        if (welcome && !noted && atomic_load(&s->count))
            note(&s->joins, begin, now_ns());
        else if (!welcome && atomic_load(&s->count))
            fprintf(stderr, "daemon_beside: the task can't join\n");
        close(fd);
        nanosleep(&(struct timespec){.tv_nsec = 5 * NS_PER_MS}, NULL);
    }
}

/* ---- floods ---- */

struct enemy {
    int fd;
    struct gs_page *page; /* null: it hasn't joined */
    uint32_t client, calls;
};

static void drop(struct enemy *e)
{
    if (e->page)
        munmap(e->page, GS_PAGE_BYTES);
    if (e->fd >= 0)
        close(e->fd);
    *e = (struct enemy){.fd = -1};
}

static void say(struct enemy *e, struct gs_msg m)
{
    atomic_fetch_add(&s->sent, 1);
    if (send(e->fd, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
        drop(e);
}

/* What has come. False: the connection has ended. */
static bool listen_to(struct enemy *e)
{
    struct gs_msg m;
    bool ended = false;
    for (int passed; receive(e->fd, &m, &passed, &ended);) {
        if (m.type == GS_MSG_WELCOME && !e->page && passed >= 0) {
            void *p = mmap(NULL, GS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, passed, 0);
            e->page = p == MAP_FAILED ? NULL : p;
            e->client = m.u.welcome.client;
        }
        if (passed >= 0)
            close(passed);
    }
    if (ended)
        drop(e);
    return !ended;
}

/* Stays, as a task or as none. False: not yet. */
static bool is_in(struct enemy *e, const char *task)
{
    if (e->fd < 0 && (e->fd = connect_socket(flooded, false)) >= 0)
        say(e, hello(task));
    if (e->fd >= 0 && !e->page)
        listen_to(e);
    return e->page;
}

/* All job records at once, each longer than the one before, so that all is decided on again. */
static void records(struct enemy *e)
{
    if (!is_in(e, "low"))
        return;
    struct gs_page *p = e->page;
    const uint64_t now = now_ns();
    uint32_t k = atomic_load(&p->jobs);
    for (unsigned i = 0; i < GS_JOB_RECORDS; i++, k++) {
        struct gs_job_record *r = &p->job[k % GS_JOB_RECORDS];
        atomic_store(&r->gpus, 1);
        atomic_store(&r->release_ns, now - NS_PER_MS - k);
        atomic_store(&r->end_ns, now);
        atomic_store(&r->pci_ns, k);
        atomic_store(&r->gpu_ns, k);
        atomic_store(&r->serial, k + 1);
    }
    atomic_store(&p->jobs, k);
    say(e, message(GS_MSG_JOBS));
}

static void units(struct enemy *e)
{
    if (!is_in(e, "low"))
        return;
    struct gs_page *p = e->page;
    const uint64_t now = now_ns();
    uint32_t k = atomic_load(&p->records);
    for (unsigned i = 0; i < GS_UNIT_RECORDS; i++, k++) {
        struct gs_unit_record *r = &p->record[k % GS_UNIT_RECORDS];
        atomic_store(&r->resource, GS_RECORD_ASKED | GPU);
        atomic_store(&r->begin_ns, now - 1000 - 10 * (k % GS_UNIT_RECORDS));
        atomic_store(&r->end_ns, atomic_load(&r->begin_ns) + 5);
        atomic_store(&r->serial, k + 1);
    }
    atomic_store(&p->records, k);
    say(e, message(GS_MSG_DRAIN));
}

static void *sleep_on(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static bool start_thread(void *(*run)(void *), void *arg)
{
    pthread_attr_t a;
    pthread_t t;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16384);
    return pthread_create(&t, &a, run, arg) == 0;
}

static void threads(struct enemy *e)
{
    static bool made;
    unsigned n = 0;
    for (; !made && n < THREADS / FLOODERS && start_thread(sleep_on, NULL); n++)
        ;
    if (!made && n < THREADS / FLOODERS)
        fprintf(stderr, "daemon_beside: only %u threads\n", n);
    made = true;
    if (is_in(e, "low"))
        say(e, message(GS_MSG_JOBS));
}

static void joins(struct enemy *e)
{
    if (is_in(e, "low"))
        drop(e);
}

static void knocks(struct enemy *e)
{
    if (is_in(e, NULL))
        drop(e);
}

/* Chains of locks with priority inheritance: each thread has one and waits for the one before it. Who gives or takes
 * the priority of a thread at the end of a chain has the kernel go along all of it. */
static _Atomic uint32_t chain[CHAINS][CHAIN + 1];
static atomic_uint locked;

static void *lock_one(void *arg)
{
    _Atomic uint32_t *const own = arg;
    atomic_store(own, (uint32_t)gettid());
    atomic_fetch_add(&locked, 1);
    if (own != chain[(own - chain[0]) / (CHAIN + 1)])
        syscall(SYS_futex, own - 1, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
    return sleep_on(NULL);
}

/* The process's first threads, which get its priority. */
static void *wait_at_end(void *arg)
{
    while (atomic_load(&locked) < CHAINS * CHAIN)
        usleep(10000);
    return lock_one(arg);
}

static void pichain(struct enemy *e)
{
    static bool made;
    for (unsigned c = 0; !made && c < CHAINS; c++)
        start_thread(wait_at_end, &chain[c][CHAIN]);
    for (unsigned i = 0; !made && i < CHAINS * CHAIN; i++)
        for (start_thread(lock_one, &chain[i / CHAIN][i % CHAIN]); atomic_load(&locked) == i;)
            sched_yield();
    made = true;
    if (is_in(e, "low"))
        drop(e);
}

/* Never says a word. */
static void silent(struct enemy *e)
{
    if (e->fd >= 0 && !listen_to(e))
        return;
    if (e->fd < 0)
        e->fd = connect_socket(flooded, false);
}

/* Gone before the daemon takes it in. */
static void goes_at_once(struct enemy *e)
{
    if ((e->fd = connect_socket(flooded, false)) >= 0)
        atomic_fetch_add(&s->sent, 1);
    drop(e);
}

static void unread(struct enemy *e)
{
    if (is_in(e, NULL))
        say(e, message(GS_MSG_STATUS));
}

static void reads(struct enemy *e)
{
    if (is_in(e, NULL) && listen_to(e))
        say(e, message(GS_MSG_STATUS));
}

static void plans(struct enemy *e)
{
    struct gs_msg m = message(GS_MSG_PLAN);
    snprintf(m.u.name, sizeof m.u.name, "low");
    if (is_in(e, NULL) && listen_to(e))
        say(e, m);
}

static void requests_of(struct enemy *e, const char *task)
{
    static const enum gs_msg_type kind[] = {GS_MSG_CHOOSE, GS_MSG_CANCEL, GS_MSG_LOOK, GS_MSG_PING};
    if (!is_in(e, task))
        return;
    struct gs_msg m = message(e->calls % 2 ? kind[e->calls / 2 % 4] : GS_MSG_REQUEST);
    const uint32_t slot = e->calls++ / 2 % GS_MAX_SLOTS;
    if (m.type == GS_MSG_REQUEST)
        m.u.request = (struct gs_msg_request){.slot = slot, .client = e->client, .resource = GS_RESOURCE_GPU(1)};
    else if (m.type == GS_MSG_CHOOSE)
        m.u.choose = (struct gs_msg_choose){.slot = 1, .client = e->client, .gpus = GS_MASK(GPU), .prefer = GPU};
    else if (m.type == GS_MSG_CANCEL)
        m.u.cancel.slot = slot;
    else
        m.u.look.resource = GS_RESOURCE_GPU(1);
    if (m.type == GS_MSG_REQUEST && e->calls > 2 * GS_MAX_SLOTS)
        m.type = GS_MSG_PING; /* all slots wait */
    say(e, m);
}

static void requests(struct enemy *e)
{
    requests_of(e, NULL);
}

static void orders(struct enemy *e)
{
    requests_of(e, "low");
}

static const struct {
    const char *name;
    void (*act)(struct enemy *e);
} floods[] = {
    {"nothing", NULL},      {"records", records}, {"units", units},       {"threads", threads}, {"joins", joins},
    {"knocks", knocks},     {"silent", silent},   {"unread", unread},     {"reads", reads},     {"plans", plans},
    {"requests", requests}, {"orders", orders},   {"gone", goes_at_once}, {"pichain", pichain},
};
enum { FLOODS = sizeof floods / sizeof *floods };
static unsigned kind;

static void flood(unsigned n)
{
    if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct enemy *e = calloc(n, sizeof *e);
    for (unsigned i = 0; i < n; i++)
        e[i].fd = -1;
    for (;;) {
        for (unsigned i = 0; i < n; i++)
            floods[kind].act(&e[i]);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* a task has SCHED_FIFO, and others work here, too */
    }
}

/* ---- what is said of it ---- */

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Several processors stall at the same time. */
static void join_stalls(void)
{
    struct span *v = s->stalls.at;
    uint32_t n = 0;
    qsort(v, count_of(&s->stalls), sizeof *v, by_begin);
    for (uint32_t i = 0; i < count_of(&s->stalls); i++)
        if (n && v[i].begin_ns <= v[n - 1].end_ns)
            v[n - 1].end_ns = v[i].end_ns > v[n - 1].end_ns ? v[i].end_ns : v[n - 1].end_ns;
        else
            v[n++] = v[i];
    atomic_store(&s->stalls.n, n);
}

/* Was the machine stalled for half of it? */
static bool is_stalled(const struct span *x)
{
    uint64_t stalled = 0;
    for (uint32_t i = 0; i < count_of(&s->stalls); i++) {
        const struct span *y = &s->stalls.at[i];
        const uint64_t begin = y->begin_ns > x->begin_ns ? y->begin_ns : x->begin_ns;
        const uint64_t end = y->end_ns < x->end_ns ? y->end_ns : x->end_ns;
        stalled += end > begin ? end - begin : 0;
    }
    return 2 * stalled >= x->end_ns - x->begin_ns;
}

static uint64_t p999(const uint64_t *sorted, uint32_t n)
{
    return n ? sorted[(uint64_t)n * 999 / 1000] : 0;
}

static void print(const char *what, const struct spans *v)
{
    static uint64_t all[MOST], kept[MOST];
    const uint32_t n = count_of(v);
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        all[i] = v->at[i].end_ns - v->at[i].begin_ns;
        if (!is_stalled(&v->at[i]))
            kept[k++] = all[i];
    }
    qsort(all, n, sizeof *all, by_size);
    qsort(kept, k, sizeof *kept, by_size);
    printf(",\"%ss\":%u,\"%ss_left_out\":%u", what, k, what, n - k);
    printf(",\"%s_median_ns\":%llu,\"%s_p999_ns\":%llu,\"%s_max_ns\":%llu,\"%s_p999_of_all_ns\":%llu,\"%s_max_of_all_"
           "ns\":%llu",
           what, k ? (unsigned long long)kept[k / 2] : 0, what, (unsigned long long)p999(kept, k), what,
           k ? (unsigned long long)kept[k - 1] : 0, what, (unsigned long long)p999(all, n), what,
           n ? (unsigned long long)all[n - 1] : 0);
}

static void print_stalls(void)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < count_of(&s->stalls); i++) {
        const uint64_t ns = s->stalls.at[i].end_ns - s->stalls.at[i].begin_ns;
        longest = ns > longest ? ns : longest;
    }
    printf(",\"stalls\":%u,\"longest_stall_ns\":%llu,\"daemon_stalls\":%u", count_of(&s->stalls),
           (unsigned long long)longest, atomic_load(&s->own_stalls));
}

static unsigned long daemon_kib(const char *pid)
{
    char path[64], line[128];
    unsigned long kib = 0;
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %lu", &kib);
    if (f)
        fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    const unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    const unsigned seconds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    while (kind < FLOODS && (argc < 2 || strcmp(argv[1], floods[kind].name) != 0))
        kind++;
    if (argc < 5 || argc > 6 || kind == FLOODS || !n || !seconds || !getenv("GPUSPARC_SOCKET")) {
        fprintf(stderr,
                "usage: daemon_beside FLOOD CONNECTIONS SECONDS PID [SOCKET], with the daemon's $GPUSPARC_SOCKET\n");
        return 2;
    }
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED)
        return 1;
    flooded = argc > 5 ? argv[5] : getenv("GPUSPARC_SOCKET");
    daemon_pid = (pid_t)strtol(argv[4], NULL, 10);
    pid_t child[3 + FLOODERS + CONTROLS] = {start(high, 0), start(partner, 0)};
    unsigned children = 2;
    cpu_set_t ours;
    sched_getaffinity(0, sizeof ours, &ours);
    for (unsigned cpu = 0; cpu < CONTROLS; cpu++)
        if (CPU_ISSET(cpu, &ours))
            child[children++] = start(control, cpu);
    while (atomic_load(&s->ready) < 2)
        usleep(1000);
    child[children++] = start(join_again, 0);
    for (unsigned i = 0; i < FLOODERS && floods[kind].act; i++)
        child[children++] = start(flood, (n + FLOODERS - 1) / FLOODERS);
    sleep(2);
    atomic_store(&s->sent, 0);
    atomic_store(&s->count, 1);
    sleep(seconds);
    const uint64_t begun = atomic_exchange(&s->joining_ns, 0);
    if (begun)
        note(&s->joins, begun, now_ns());
    atomic_store(&s->count, 0);
    const uint32_t sent = atomic_load(&s->sent);
    printf("{\"figure\":\"beside %s%s\",\"connections\":%u,\"sent\":%u,\"daemon_kib\":%lu", floods[kind].name,
           argc > 5 ? ", another daemon's" : "", n, sent, daemon_kib(argv[4]));
    join_stalls();
    print("join", &s->joins);
    print("grant", &s->grants);
    print_stalls();
    printf("}\n");
    for (unsigned i = 0; i < children; i++)
        kill(child[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    return 0;
}
