/* SPDX-License-Identifier: MIT */
#include "tests/access/oracle/machine.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include "tests/access/oracle/traced.h"

/* Each buffer stands in the midst of 4 TiB of addresses, so that an access beyond it is known for one; and not at the
 * same place of them, as indices that wrap around like powers of two. */
#define ARENA ((uintptr_t)0x200000000000) /* behind AddressSanitizer's own memory */
enum { SLOT_BITS = 42, MOST_ACCESSES = 400000, TICKS = 3, TICK_US = 5000, STACK = 64 << 10 };

/* Stamps tell who touched a byte last: each work-item has one of its own between two barriers, and they rise. */
struct slot {
    uint64_t *bits; /* [group][kind][word] */
    uint64_t raced[MACHINE_WORDS];
    uint32_t written_by[MACHINE_LIMIT], read_by[MACHINE_LIMIT];
    size_t touched;
    char kind; /* of the contents */
    unsigned width;
    int64_t lo, hi;
    bool filled;
};

struct pool {
    char kind;
    unsigned width;
    int64_t lo, hi;
    unsigned char *bytes;
};

enum { POOLS = 64 };

static struct {
    struct slot *slots;
    struct pool pools[POOLS];
    unsigned n_pools;
    struct machine_launch launch;
    uint64_t groups[3], group[3], local[3], size[3]; /* size: of this group */
    uint32_t n_groups, at_group;
    uint32_t item, items;                     /* of the group */
    uint32_t group_base, epoch_base, highest; /* stamps: of an epoch they are epoch_base + 1 + item */
    unsigned long accesses;
    volatile sig_atomic_t running, ticks;
    sigjmp_buf out;
    machine_kernel *kernel;
    const uint64_t *args;
    ucontext_t scheduler, items_at[MACHINE_ITEMS];
    bool ended[MACHINE_ITEMS], coroutines;
    unsigned char *stacks;
    uint64_t rng;
} m;

/* ---- what is recorded ---- */

unsigned char *machine_buffer(unsigned slot)
{
    const uintptr_t within = ((uintptr_t)1 << (SLOT_BITS - 1)) + (uintptr_t)slot * 1003 * MACHINE_LIMIT;
    return (unsigned char *)(ARENA + ((uintptr_t)slot << SLOT_BITS) + within);
}

static void stop(enum machine_outcome why)
{
    siglongjmp(m.out, (int)why);
}

static void mark(struct slot *s, enum machine_kind kind, uint32_t at)
{
    s->bits[((size_t)m.at_group * MACHINE_KINDS + kind) * MACHINE_WORDS + at / 64] |= (uint64_t)1 << at % 64;
}

static void read_byte(struct slot *s, uint32_t at, uint32_t stamp)
{
    const uint32_t w = s->written_by[at], r = s->read_by[at];
    if (w > m.epoch_base && w != stamp)
        s->raced[at / 64] |= (uint64_t)1 << at % 64;
    if (w <= m.group_base)
        mark(s, MACHINE_READ, at);
    s->read_by[at] = r > m.epoch_base && r != stamp ? m.epoch_base + m.items + 1 : stamp; /* the last: several did */
}

static void write_byte(struct slot *s, uint32_t at, uint32_t stamp)
{
    const uint32_t r = s->read_by[at];
    if (r > m.epoch_base && r != stamp)
        s->raced[at / 64] |= (uint64_t)1 << at % 64;
    s->written_by[at] = stamp;
    mark(s, MACHINE_WRITE, at);
}

static void trace(uintptr_t address, size_t n, enum traced how)
{
    const uintptr_t off = address - ARENA;
    if (off >> SLOT_BITS >= MACHINE_SLOTS || n == 0)
        return;
    struct slot *s = &m.slots[off >> SLOT_BITS];
    const uint64_t at = address - (uintptr_t)machine_buffer((unsigned)(off >> SLOT_BITS));
    if (!m.running) {
        fprintf(stderr, "oracle: a buffer is touched while nothing runs\n");
        abort();
    }
    if (at >= MACHINE_LIMIT || n > MACHINE_LIMIT - at)
        stop(MACHINE_OUT_OF_BOUNDS);
    if (++m.accesses > MOST_ACCESSES || n > 1 << 16)
        stop(MACHINE_TOO_LONG);
    if (at + n > s->touched)
        s->touched = at + n;
    const uint32_t stamp = m.epoch_base + 1 + m.item;
    for (uint32_t i = (uint32_t)at; i < (uint32_t)(at + n); i++) {
        if (how == TRACED_READ)
            read_byte(s, i, stamp);
        else if (how == TRACED_WRITE)
            write_byte(s, i, stamp);
        else
            mark(s, MACHINE_MAY, i);
        if (how == TRACED_ATOMIC)
            mark(s, MACHINE_READ, i);
    }
}

void oracle_trace(uint64_t address, uint64_t bytes, int how)
{
    trace(address, bytes, (enum traced)how);
}

/* What clang's instrumentation calls: -fsanitize=kernel-address with calls for every access. */
#define TRACED(n)                                                                                                      \
    void __asan_load##n##_noabort(uintptr_t p);                                                                        \
    void __asan_store##n##_noabort(uintptr_t p);                                                                       \
    void __asan_load##n##_noabort(uintptr_t p)                                                                         \
    {                                                                                                                  \
        trace(p, n, TRACED_READ);                                                                                      \
    }                                                                                                                  \
    void __asan_store##n##_noabort(uintptr_t p)                                                                        \
    {                                                                                                                  \
        trace(p, n, TRACED_WRITE);                                                                                     \
    }
TRACED(1)
TRACED(2)
TRACED(4)
TRACED(8)
TRACED(16)

void __asan_loadN_noabort(uintptr_t p, size_t n);
void __asan_storeN_noabort(uintptr_t p, size_t n);
void *__asan_memcpy(void *to, const void *from, size_t n);
void *__asan_memmove(void *to, const void *from, size_t n);
void *__asan_memset(void *to, int c, size_t n);
void __asan_handle_no_return(void);

void __asan_loadN_noabort(uintptr_t p, size_t n)
{
    trace(p, n, TRACED_READ);
}

void __asan_storeN_noabort(uintptr_t p, size_t n)
{
    trace(p, n, TRACED_WRITE);
}

void *__asan_memcpy(void *to, const void *from, size_t n)
{
    trace((uintptr_t)from, n, TRACED_READ);
    trace((uintptr_t)to, n, TRACED_WRITE);
    return memmove(to, from, n);
}

void *__asan_memmove(void *to, const void *from, size_t n)
{
    return __asan_memcpy(to, from, n);
}

void *__asan_memset(void *to, int c, size_t n)
{
    trace((uintptr_t)to, n, TRACED_WRITE);
    return memset(to, c, n);
}

void __asan_handle_no_return(void)
{
}

/* ---- work-item functions, by the names that clang makes of them ---- */

#define GEOMETRY(mangled, name, within, beyond)                                                                        \
    size_t mangled(unsigned d);                                                                                        \
    size_t mangled(unsigned d)                                                                                         \
    {                                                                                                                  \
        return d < m.launch.dims ? (within) : (beyond);                                                                \
    }
GEOMETRY(_Z13get_global_idj, get_global_id, m.launch.offset[d] + m.group[d] * m.launch.local[d] + m.local[d], 0)
GEOMETRY(_Z12get_local_idj, get_local_id, m.local[d], 0)
GEOMETRY(_Z12get_group_idj, get_group_id, m.group[d], 0)
GEOMETRY(_Z15get_global_sizej, get_global_size, m.launch.global[d], 1)
GEOMETRY(_Z14get_local_sizej, get_local_size, m.size[d], 1)
GEOMETRY(_Z23get_enqueued_local_sizej, get_enqueued_local_size, m.launch.local[d], 1)
GEOMETRY(_Z14get_num_groupsj, get_num_groups, m.groups[d], 1)
GEOMETRY(_Z17get_global_offsetj, get_global_offset, m.launch.offset[d], 0)

unsigned _Z12get_work_dimv(void);
size_t _Z20get_global_linear_idv(void);
size_t _Z19get_local_linear_idv(void);

unsigned _Z12get_work_dimv(void)
{
    return m.launch.dims;
}

size_t _Z20get_global_linear_idv(void)
{
    size_t id = 0;
    for (unsigned d = 3; d-- > 0;)
        id = id * m.launch.global[d] + m.group[d] * m.launch.local[d] + m.local[d];
    return id;
}

size_t _Z19get_local_linear_idv(void)
{
    return (m.local[2] * m.size[1] + m.local[1]) * m.size[0] + m.local[0];
}

void oracle_barrier(void)
{
    if (!m.coroutines) {
        fprintf(stderr, "oracle: a barrier in a kernel that is said to have none\n");
        abort();
    }
    if (swapcontext(&m.items_at[m.item], &m.scheduler) != 0)
        abort();
}

/* In all versions of the language clang declares it with a generic pointer, which not all of them can define. */
void _Z17wait_group_eventsiPU9CLgeneric9ocl_event(int n, void *events);
void _Z17wait_group_eventsiPU9CLgeneric9ocl_event(int n, void *events)
{
    oracle_barrier();
}

/* ---- the contents of buffers ---- */

static uint64_t next_random(void)
{
    m.rng ^= m.rng << 13;
    m.rng ^= m.rng >> 7;
    m.rng ^= m.rng << 17;
    return m.rng;
}

static unsigned char *make_pool(char kind, unsigned width, int64_t lo, int64_t hi)
{
    unsigned char *p = malloc(MACHINE_LIMIT);
    if (!p)
        abort();
    m.rng = 0x9e3779b97f4a7c15u ^ ((uint64_t)width << 40) ^ (uint64_t)lo ^ ((uint64_t)hi << 20) ^ (uint64_t)kind;
    int64_t v = 0;
    for (size_t i = 0; i < MACHINE_LIMIT; i += width) {
        const int64_t any = lo + (int64_t)(next_random() % (uint64_t)(hi - lo + 1));
        v = kind == 'm' ? v + any : any;
        memcpy(p + i, &v, width);
    }
    return p;
}

static const unsigned char *find_pool(char kind, unsigned width, int64_t lo, int64_t hi)
{
    for (unsigned i = 0; i < m.n_pools; i++) {
        const struct pool *p = &m.pools[i];
        if (p->kind == kind && p->width == width && p->lo == lo && p->hi == hi)
            return p->bytes;
    }
    if (m.n_pools == POOLS) {
        fprintf(stderr, "oracle: too many kinds of contents\n");
        abort();
    }
    m.pools[m.n_pools] = (struct pool){kind, width, lo, hi, make_pool(kind, width, lo, hi)};
    return m.pools[m.n_pools++].bytes;
}

void machine_fill(unsigned slot, char kind, unsigned width, int64_t lo, int64_t hi)
{
    struct slot *s = &m.slots[slot];
    const bool same = s->filled && s->kind == kind && s->width == width && s->lo == lo && s->hi == hi;
    memcpy(machine_buffer(slot), find_pool(kind, width, lo, hi), same ? s->touched : MACHINE_LIMIT);
    s->kind = kind;
    s->width = width;
    s->lo = lo;
    s->hi = hi;
    s->filled = true;
}

/* ---- running ---- */

static void forget(void)
{
    for (unsigned i = 0; i < MACHINE_SLOTS; i++) {
        struct slot *s = &m.slots[i];
        const size_t words = (s->touched + 63) / 64;
        for (size_t k = 0; k < (size_t)m.n_groups * MACHINE_KINDS && words; k++)
            memset(s->bits + k * MACHINE_WORDS, 0, words * sizeof *s->bits);
        memset(s->raced, 0, words * sizeof *s->raced);
        s->touched = 0;
    }
    if (m.highest < 1u << 31)
        return;
    m.highest = 0;
    for (unsigned i = 0; i < MACHINE_SLOTS; i++) {
        memset(m.slots[i].written_by, 0, sizeof m.slots[i].written_by);
        memset(m.slots[i].read_by, 0, sizeof m.slots[i].read_by);
    }
}

static void choose_item(uint32_t item)
{
    m.item = item;
    m.local[0] = item % m.size[0];
    m.local[1] = item / m.size[0] % m.size[1];
    m.local[2] = item / m.size[0] / m.size[1];
}

static void begin_epoch(void)
{
    m.epoch_base = m.highest;
    m.highest += m.items + 2;
}

static void one_item(void)
{
    m.kernel(m.args);
    m.ended[m.item] = true;
}

static void run_coroutines(void)
{
    for (uint32_t i = 0; i < m.items; i++) {
        m.ended[i] = false;
        if (getcontext(&m.items_at[i]) != 0)
            abort();
        m.items_at[i].uc_stack.ss_sp = m.stacks + (size_t)i * STACK;
        m.items_at[i].uc_stack.ss_size = STACK;
        m.items_at[i].uc_link = &m.scheduler;
        makecontext(&m.items_at[i], one_item, 0);
    }
    for (bool more = true; more; begin_epoch()) {
        more = false;
        for (uint32_t i = 0; i < m.items; i++) {
            if (m.ended[i])
                continue;
            choose_item(i);
            if (swapcontext(&m.scheduler, &m.items_at[i]) != 0)
                abort();
            more = true;
        }
    }
}

static void run_group(uint32_t group)
{
    m.at_group = group;
    m.group[0] = group % m.groups[0];
    m.group[1] = group / m.groups[0] % m.groups[1];
    m.group[2] = group / m.groups[0] / m.groups[1];
    m.items = 1;
    for (unsigned d = 0; d < 3; d++) {
        const uint64_t left = m.launch.global[d] - m.group[d] * m.launch.local[d];
        m.size[d] = left < m.launch.local[d] ? left : m.launch.local[d];
        m.items *= (uint32_t)m.size[d];
    }
    m.group_base = m.highest;
    begin_epoch();
    if (m.coroutines) {
        run_coroutines();
        return;
    }
    for (uint32_t i = 0; i < m.items; i++) {
        choose_item(i);
        m.kernel(m.args);
    }
}

enum machine_outcome machine_run(machine_kernel *kernel, const uint64_t *args, const struct machine_launch *launch,
                                 bool barriers)
{
    forget();
    m.launch = *launch;
    m.n_groups = 1;
    for (unsigned d = 0; d < 3; d++) {
        m.groups[d] = (launch->global[d] + launch->local[d] - 1) / launch->local[d];
        m.n_groups *= (uint32_t)m.groups[d];
    }
    if (m.n_groups > MACHINE_GROUPS || launch->local[0] * launch->local[1] * launch->local[2] > MACHINE_ITEMS) {
        fprintf(stderr, "oracle: the launch is too large\n");
        abort();
    }
    m.kernel = kernel;
    m.args = args;
    m.coroutines = barriers;
    m.accesses = 0;
    m.ticks = 0;
    const int why = sigsetjmp(m.out, 1);
    if (why == 0) {
        m.running = 1;
        for (uint32_t g = 0; g < m.n_groups; g++)
            run_group(g);
    }
    m.running = 0;
    return (enum machine_outcome)why;
}

uint32_t machine_groups(void)
{
    return m.n_groups;
}

size_t machine_touched(unsigned slot)
{
    return m.slots[slot].touched;
}

const uint64_t *machine_bits(unsigned slot, uint32_t group, enum machine_kind kind)
{
    return m.slots[slot].bits + ((size_t)group * MACHINE_KINDS + kind) * MACHINE_WORDS;
}

const uint64_t *machine_raced(unsigned slot)
{
    return m.slots[slot].raced;
}

/* ---- set-up ---- */

static void on_trap(int sig)
{
    if (m.running)
        stop(MACHINE_TRAP);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void on_tick(int sig)
{
    if (m.running && ++m.ticks > TICKS)
        stop(MACHINE_TOO_LONG);
}

static void *map(void *at, size_t bytes, int protection)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    void *p = mmap(at, bytes, protection, flags, -1, 0);
    if (p == MAP_FAILED) {
        perror("oracle: mmap");
        exit(2);
    }
    return p;
}

void machine_open(void)
{
    const int both = PROT_READ | PROT_WRITE;
    map((void *)ARENA, (size_t)MACHINE_SLOTS << SLOT_BITS, PROT_NONE);
    m.slots = map(NULL, MACHINE_SLOTS * sizeof *m.slots, both);
    m.stacks = map(NULL, (size_t)MACHINE_ITEMS * STACK, both);
    for (unsigned i = 0; i < MACHINE_SLOTS; i++) {
        map(machine_buffer(i), MACHINE_LIMIT, both);
        m.slots[i].bits =
            map(NULL, (size_t)MACHINE_GROUPS * MACHINE_KINDS * MACHINE_WORDS * sizeof *m.slots[i].bits, both);
    }
    stack_t alternative = {.ss_sp = map(NULL, 1 << 16, both), .ss_size = 1 << 16};
    sigaltstack(&alternative, NULL);
    struct sigaction trap = {.sa_handler = on_trap, .sa_flags = SA_ONSTACK | SA_NODEFER};
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(SIGSEGV, &trap, NULL);
    sigaction(SIGBUS, &trap, NULL);
    sigaction(SIGFPE, &trap, NULL);
    sigaction(SIGILL, &trap, NULL);
    sigaction(SIGVTALRM, &tick, NULL);
    struct itimerval every = {{0, TICK_US}, {0, TICK_US}};
    setitimer(ITIMER_VIRTUAL, &every, NULL);
}
