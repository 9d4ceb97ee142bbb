/* SPDX-License-Identifier: MIT */
/* Taking units and giving them back, with and without a message. */
#include "common/lock/rank.h"
#include "common/client/internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
/* A waiter asks after this long whether the daemon is alive, and goes on without it if it doesn't answer for as long.
 */
#define STALL_NS NS_PER_S
/* Who hasn't been asked for a resource for so long is alone with it. */
#define ALONE_NS (100 * UINT64_C(1000000))

uint64_t gs_client_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void gs_futex_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Sleeps while *word is `value`, for at most timeout_ns. */
static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    struct timespec t = {.tv_sec = (time_t)(timeout_ns / NS_PER_S), .tv_nsec = (long)(timeout_ns % NS_PER_S)};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

/* ---- who looks for the ends of units ---- */

void gs_client_need_ends(struct gs_client *c)
{
    atomic_fetch_add(&c->page->needed, 1);
    if (atomic_load(&c->page->watched))
        gs_futex_wake_all(&c->page->needed);
}

/* The daemon schedules no GPU that it doesn't know of: that one needs no grant. */
static bool is_known(const struct gs_client *c, unsigned resource)
{
    return atomic_load_explicit(&c->known, memory_order_relaxed) & GS_MASK(resource);
}

/* Is there a resource leased to this client, with units of it out, that has one of these flags? */
static bool any_out(const struct gs_client *c, uint32_t flags)
{
    for (uint32_t rest = atomic_load_explicit(&c->known, memory_order_relaxed); rest; rest &= rest - 1) {
        const uint32_t w = atomic_load(&c->page->lease[__builtin_ctz(rest)].word);
        if (w & GS_LEASE_LEASED && w & flags && w & GS_LEASE_UNITS)
            return true;
    }
    return false;
}

/* Has nobody else wanted it for a while? */
static bool is_unwanted(const struct gs_client *c, unsigned resource, uint64_t now_ns)
{
    const uint64_t at = atomic_load_explicit(&c->wanted_ns[resource], memory_order_relaxed);
    return !at || now_ns >= at + ALONE_NS;
}

static bool was_wanted(const struct gs_client *c)
{
    const uint64_t now = gs_client_now_ns();
    unsigned r = 0;
    while (r < GS_MAX_RESOURCES && is_unwanted(c, r, now))
        r++;
    return r < GS_MAX_RESOURCES;
}

void gs_client_sleep_unneeded(struct gs_client *c, bool (*also)(void), uint64_t ns)
{
    enum { SHORT_NS = 50 * 1000 };
    /* Where others want the resources now and then they get them sooner than it takes to be woken. */
    if (ns > SHORT_NS && (!atomic_load_explicit(&c->online, memory_order_acquire) || was_wanted(c)))
        ns = SHORT_NS;
    const uint32_t was = atomic_load(&c->page->needed);
    atomic_store(&c->page->watched, 1);
    if (!any_out(c, GS_LEASE_ASK | GS_LEASE_WAITED) && !also())
        futex_wait(&c->page->needed, was, ns);
    atomic_store(&c->page->watched, 0);
}

bool gs_client_is_sole(const struct gs_client *c)
{
    return c->wide && atomic_load_explicit(&c->page->sole, memory_order_relaxed);
}

/* ---- units taken without asking ---- */

static void took(struct gs_client *c, unsigned resource, uint32_t client, uint32_t word, struct gs_grant *g)
{
    struct gs_lease *l = &c->page->lease[resource];
    g->resource = resource;
    g->client = client;
    g->generation = GS_LEASE_GENERATION(word);
    g->asked = g->piece = false;
    g->alone = gs_client_is_sole(c);
    g->begin_ns = gs_client_now_ns();
    if ((word & GS_LEASE_UNITS) == 1)
        atomic_store_explicit(&l->since_ns, g->begin_ns, memory_order_relaxed);
    if (resource != GS_RESOURCE_PCI)
        atomic_store_explicit(&c->last_gpu, resource - 1, memory_order_relaxed);
}

/* How many units it may take without asking, so many being out. Where nobody else has wanted the resource for a while
 * pieces, which are short, don't count, up to as many as there are units; and each GPU has a link of its own, each of
 * which may have as many, which have ended as soon as those of one have. Who is alone may have far more. */
static uint32_t most_units(const struct gs_client *c, unsigned resource, uint32_t out, enum gs_length length)
{
    enum { MOST = 128, WIDE = 16 };
    const uint32_t depth = atomic_load_explicit(&c->depth, memory_order_relaxed);
    if (out < depth)
        return depth;
    const uint32_t all = resource == GS_RESOURCE_PCI ? depth * c->gpus : depth;
    const uint32_t pieces =
        atomic_load_explicit(&c->pieces[resource], memory_order_relaxed) + (length == GS_LENGTH_PIECE);
    const bool wide = all * WIDE <= MOST && gs_client_is_sole(c);
    const uint32_t most =
        wide && length != GS_LENGTH_UNKNOWN ? all * WIDE : all + (wide || pieces < all ? pieces : all);
    if (out >= most || most > MOST)
        return depth;
    return gs_client_is_alone(c, resource) ? most : depth;
}

static bool take_unit(struct gs_client *c, unsigned resource, uint32_t client, enum gs_length length,
                      struct gs_grant *g)
{
    struct gs_lease *l = &c->page->lease[resource];
    uint32_t w = atomic_load_explicit(&l->word, memory_order_acquire);
    do {
        const uint32_t out = w & GS_LEASE_UNITS;
        if ((w & (GS_LEASE_LEASED | GS_LEASE_ASK)) != GS_LEASE_LEASED || out >= most_units(c, resource, out, length))
            return false;
    } while (!atomic_compare_exchange_weak(&l->word, &w, w + 1));
    took(c, resource, client, w + 1, g);
    g->piece = length == GS_LENGTH_PIECE;
    if (g->piece)
        atomic_fetch_add_explicit(&c->pieces[resource], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&l->taken, 1, memory_order_relaxed);
    return true;
}

static void grant_alone(struct gs_client *c, unsigned resource, struct gs_grant *g)
{
    *g = (struct gs_grant){.resource = resource, .begin_ns = gs_client_now_ns()};
    if (resource != GS_RESOURCE_PCI)
        atomic_store_explicit(&c->last_gpu, resource - 1, memory_order_relaxed);
}

int gs_client_try(struct gs_client *c, unsigned resource, enum gs_length length, struct gs_grant *g)
{
    if (resource >= GS_MAX_RESOURCES)
        return -EINVAL;
    const uint32_t client = atomic_load_explicit(&c->online, memory_order_acquire);
    if (!client)
        grant_alone(c, resource, g);
    return !client || take_unit(c, resource, client, length, g) ? 0 : -EAGAIN;
}

bool gs_client_own_out(const struct gs_client *c, unsigned resource, enum gs_length length)
{
    if (resource >= GS_MAX_RESOURCES || !atomic_load_explicit(&c->online, memory_order_acquire))
        return false;
    const uint32_t w = atomic_load_explicit(&c->page->lease[resource].word, memory_order_relaxed);
    return (w & (GS_LEASE_LEASED | GS_LEASE_ASK)) == GS_LEASE_LEASED &&
           (w & GS_LEASE_UNITS) >= most_units(c, resource, w & GS_LEASE_UNITS, length);
}

bool gs_client_own_waits(const struct gs_client *c, unsigned resource)
{
    return resource < GS_MAX_RESOURCES && atomic_load_explicit(&c->online, memory_order_acquire) &&
           atomic_load_explicit(&c->page->lease[resource].word, memory_order_relaxed) & GS_LEASE_WAITED;
}

bool gs_client_is_alone(const struct gs_client *c, unsigned resource)
{
    if (resource >= GS_MAX_RESOURCES || !atomic_load_explicit(&c->online, memory_order_acquire))
        return false;
    const uint32_t w = atomic_load_explicit(&c->page->lease[resource].word, memory_order_relaxed);
    return (w & (GS_LEASE_LEASED | GS_LEASE_ASK)) == GS_LEASE_LEASED && is_unwanted(c, resource, gs_client_now_ns());
}

bool gs_client_wanted(const struct gs_client *c)
{
    return atomic_load_explicit(&c->online, memory_order_acquire) && any_out(c, GS_LEASE_ASK);
}

/* ---- giving back ---- */

/* The daemon doesn't take messages or doesn't answer, or its socket was closed: the listener is woken, and tells the
 * user. All go on without the daemon, also where the listener is in a call of the application's or the kernel's that
 * lasts. */
static void give_up_daemon(struct gs_client *c, uint32_t client)
{
    if (atomic_load(&c->online) == client && gs_descriptor_is_ours(&c->socket_fd))
        shutdown(atomic_load(&c->socket_fd.fd), SHUT_RDWR);
    gs_connection_lost(c, client);
    gs_connection_wake(c);
}

static void send_look(struct gs_client *c, uint32_t client, unsigned resource)
{
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_LOOK);
    m.u.look.resource = resource;
    int err = gs_connection_send(c, &m, 0);
    if (err == -EBADF)
        give_up_daemon(c, client);
    if (err != -EAGAIN)
        return;
    atomic_fetch_or(&c->looks, GS_MASK(resource));
    gs_connection_wake(c);
}

static void record(struct gs_client *c, const struct gs_grant *g, uint64_t end_ns)
{
    enum { TOLD = 32 };
    struct gs_page *p = c->page;
    uint32_t serial = atomic_fetch_add(&p->records, 1);
    struct gs_unit_record *r = &p->record[serial % GS_UNIT_RECORDS];
    atomic_store_explicit(&r->serial, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    uint32_t how = g->asked ? GS_RECORD_ASKED : 0;
    atomic_store_explicit(&r->resource, g->resource | how, memory_order_relaxed);
    atomic_store_explicit(&r->begin_ns, g->begin_ns, memory_order_relaxed);
    atomic_store_explicit(&r->end_ns, end_ns, memory_order_relaxed);
    atomic_store_explicit(&r->serial, serial + 1, memory_order_release);
    if ((serial + 1) % TOLD == 0) {
        struct gs_msg m;
        gs_msg_init(&m, GS_MSG_DRAIN);
        gs_connection_send(c, &m, 0);
    }
}

static void note_length(struct gs_lease *l, uint64_t ns)
{
    const uint64_t us = (ns + 999) / 1000;
    const uint32_t length = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
    uint32_t longest = atomic_load_explicit(&l->longest_us, memory_order_relaxed);
    while (length > longest && !atomic_compare_exchange_weak(&l->longest_us, &longest, length))
        ;
}

/* Also of a daemon that is no more. */
static void forget_piece(struct gs_client *c, unsigned resource)
{
    uint32_t pieces = atomic_load_explicit(&c->pieces[resource], memory_order_relaxed);
    while (pieces && !atomic_compare_exchange_weak(&c->pieces[resource], &pieces, pieces - 1))
        ;
}

void gs_client_release(struct gs_client *c, const struct gs_grant *g)
{
    if (g->piece)
        forget_piece(c, g->resource);
    if (!g->client || g->client != atomic_load_explicit(&c->online, memory_order_acquire))
        return;
    struct gs_lease *l = &c->page->lease[g->resource];
    uint64_t since = atomic_load_explicit(&l->since_ns, memory_order_relaxed);
    uint64_t now = gs_client_now_ns();
    uint32_t w = atomic_load_explicit(&l->word, memory_order_relaxed), left;
    do {
        if (GS_LEASE_GENERATION(w) != g->generation || !(w & GS_LEASE_LEASED) || !(w & GS_LEASE_UNITS))
            return;
        left = (w - 1) & ~GS_LEASE_WAITED;
    } while (!atomic_compare_exchange_weak(&l->word, &w, left));
    if (!(left & GS_LEASE_UNITS) && now > since)
        atomic_fetch_add_explicit(&l->busy_ns, now - since, memory_order_relaxed);
    if (!g->alone && now > g->begin_ns)
        note_length(l, now - g->begin_ns);
    if (w & GS_LEASE_WAITED)
        gs_futex_wake_all(&l->word);
    if (left & GS_LEASE_ASK) {
        atomic_store_explicit(&c->wanted_ns[g->resource], now, memory_order_relaxed);
        send_look(c, g->client, g->resource);
    }
    if (atomic_load_explicit(&c->page->recording, memory_order_relaxed))
        record(c, g, now);
}

/* ---- units asked for ---- */

/* One in which the daemon is to answer. */
static int take_slot(struct gs_client *c, struct gs_request *rq)
{
    uint64_t used = atomic_load(&c->slots_used);
    do {
        if (used == UINT64_MAX)
            return -EBUSY;
        rq->slot = (uint32_t)__builtin_ctzll(~used);
    } while (!atomic_compare_exchange_weak(&c->slots_used, &used, used | UINT64_C(1) << rq->slot));
    rq->serial = atomic_fetch_add(&c->serial, 1) & 0xffff;
    rq->sent = true;
    atomic_store(&c->page->slot[rq->slot], GS_SLOT_WORD(rq->serial, GS_SLOT_WAITING, 0));
    return 0;
}

static void give_slot(struct gs_client *c, uint32_t slot)
{
    atomic_fetch_and(&c->slots_used, ~(UINT64_C(1) << slot));
}

static void send_or_give_up(struct gs_client *c, const struct gs_msg *m, uint32_t client)
{
    int err = gs_connection_send(c, m, (int)(STALL_NS / 1000000));
    if (err < 0)
        give_up_daemon(c, client);
}

static void hold(struct gs_request *rq)
{
    rq->held = true;
    rq->sent = false;
}

/* Puts the request into the daemon's queue; without a daemon it is granted. */
static int send_request(struct gs_client *c, struct gs_request *rq)
{
    rq->client = atomic_load(&c->online);
    if (!rq->client || !is_known(c, rq->resource)) {
        grant_alone(c, rq->resource, &rq->grant);
        hold(rq);
        return 0;
    }
    int err = take_slot(c, rq);
    if (err < 0)
        return err;
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_REQUEST);
    m.u.request = (struct gs_msg_request){.slot = rq->slot,
                                          .serial = rq->serial,
                                          .client = rq->client,
                                          .resource = rq->resource,
                                          .flags = rq->alone ? GS_REQUEST_ALONE : 0,
                                          .cost_ns = rq->cost_ns};
    send_or_give_up(c, &m, rq->client);
    return 0;
}

/* The slot's answer: true, and the request holds its unit, or it was lost with its daemon, and holds one of nobody's.
 */
static bool answered(struct gs_client *c, struct gs_request *rq, uint32_t word)
{
    bool lost = atomic_load(&c->online) != rq->client || GS_SLOT_SERIAL(word) != rq->serial;
    unsigned resource = GS_SLOT_RESOURCE(word);
    if (!lost && (GS_SLOT_STATE(word) != GS_SLOT_GRANTED || resource >= GS_MAX_RESOURCES))
        return false;
    if (lost)
        grant_alone(c, rq->resource, &rq->grant);
    else
        took(c, resource, rq->client, atomic_load(&c->page->lease[resource].word), &rq->grant);
    rq->grant.asked = !lost;
    rq->grant.alone |= rq->alone;
    give_slot(c, rq->slot);
    hold(rq);
    return true;
}

static void ping(struct gs_client *c)
{
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_PING);
    gs_connection_send(c, &m, 0);
}

static uint64_t left_until(uint64_t deadline_ns)
{
    uint64_t now = gs_client_now_ns();
    return deadline_ns > now ? deadline_ns - now : 0;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Waits for the slot. The daemon is asked after each STALL_NS whether it lives. */
static int wait_slot(struct gs_client *c, struct gs_request *rq, uint64_t deadline_ns)
{
    _Atomic uint32_t *slot = &c->page->slot[rq->slot];
    uint32_t pong = atomic_load(&c->page->pong);
    uint64_t check_at = gs_client_now_ns() + STALL_NS;
    bool asked = false;
    for (;;) {
        uint32_t w = atomic_load(slot);
        if (answered(c, rq, w))
            return 0;
        if (GS_SLOT_STATE(w) == GS_SLOT_CANCELLED || GS_SLOT_STATE(w) == GS_SLOT_CHOSEN) { /* by the daemon */
            give_slot(c, rq->slot);
            rq->open = false;
            rq->grant.resource = GS_SLOT_RESOURCE(w);
            return GS_SLOT_STATE(w) == GS_SLOT_CHOSEN ? 0 : -EPERM;
        }
        uint64_t left = left_until(deadline_ns);
        if (!left)
            return -ETIMEDOUT;
        futex_wait(slot, w, min_u64(left, STALL_NS));
        if (left_until(check_at))
            continue;
        uint32_t now = atomic_load(&c->page->pong);
        if (asked && now == pong)
            give_up_daemon(c, rq->client);
        pong = now;
        asked = true;
        ping(c);
        check_at = gs_client_now_ns() + STALL_NS;
    }
}

/* The resource is leased to this very client, nobody else wants it, and all units it may have are out: one of its own
 * threads gives one back, and no message is needed. Returns when something has changed. */
static bool wait_for_own_unit(struct gs_client *c, unsigned resource, uint64_t timeout_ns)
{
    struct gs_lease *l = &c->page->lease[resource];
    uint32_t w = atomic_load(&l->word);
    if ((w & (GS_LEASE_LEASED | GS_LEASE_ASK)) != GS_LEASE_LEASED)
        return false;
    if ((w & GS_LEASE_UNITS) < atomic_load(&c->depth) || !timeout_ns)
        return true;
    if (!(w & GS_LEASE_WAITED) && !atomic_compare_exchange_strong(&l->word, &w, w | GS_LEASE_WAITED))
        return true;
    gs_client_need_ends(c);
    futex_wait(&l->word, w | GS_LEASE_WAITED, timeout_ns);
    /* The daemon wakes one thread: it tells the others that they have to ask now. */
    if ((atomic_load(&l->word) & (GS_LEASE_LEASED | GS_LEASE_ASK)) != GS_LEASE_LEASED)
        gs_futex_wake_all(&l->word);
    return true;
}

/* True if the request needs no slot (any more) for now. */
static bool fast(struct gs_client *c, struct gs_request *rq)
{
    if (gs_client_try(c, rq->resource, GS_LENGTH_UNKNOWN, &rq->grant) < 0)
        return false;
    hold(rq);
    return true;
}

int gs_client_request(struct gs_client *c, unsigned resource, uint64_t cost_ns, struct gs_request *rq)
{
    *rq = (struct gs_request){.resource = resource, .cost_ns = cost_ns};
    if (resource >= GS_MAX_RESOURCES)
        return -EINVAL;
    int err = fast(c, rq) || wait_for_own_unit(c, resource, 0) ? 0 : send_request(c, rq);
    rq->open = err == 0;
    return err;
}

int gs_client_request_alone(struct gs_client *c, unsigned resource, struct gs_request *rq)
{
    if (resource >= GS_MAX_RESOURCES)
        return -EINVAL;
    *rq = (struct gs_request){.resource = resource, .alone = true};
    int err = send_request(c, rq);
    rq->open = err == 0;
    return err;
}

int gs_client_renew(struct gs_client *c, const struct gs_grant *g)
{
    uint32_t client = atomic_load(&c->online);
    if (!g->client)
        return client && is_known(c, g->resource) ? -ENOENT : 0;
    uint32_t w = atomic_load(&c->page->lease[g->resource].word);
    if (g->client != client || GS_LEASE_GENERATION(w) != g->generation || !(w & GS_LEASE_LEASED))
        return -ENOENT;
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_RENEW);
    m.u.look.resource = g->resource;
    gs_connection_send(c, &m, 0); /* if it can't be sent now, the next one will do */
    return atomic_load(&c->page->yield) & GS_MASK(g->resource) ? -EAGAIN : 0;
}

int gs_client_wait(struct gs_client *c, struct gs_request *rq, uint64_t timeout_ns, struct gs_grant *g)
{
    if (!rq->open)
        return -EINVAL;
    if (timeout_ns && !rq->held)
        GS_WAITS_FOR("a grant", NULL, timeout_ns);
    uint64_t now = gs_client_now_ns();
    uint64_t deadline = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    while (!rq->held) {
        int err = 0;
        if (rq->sent)
            err = wait_slot(c, rq, deadline);
        else if (fast(c, rq))
            break;
        else if (!wait_for_own_unit(c, rq->resource, min_u64(left_until(deadline), STALL_NS)))
            err = send_request(c, rq);
        else if (!left_until(deadline))
            err = -ETIMEDOUT;
        if (err < 0)
            return err;
    }
    rq->open = false;
    *g = rq->grant;
    return 0;
}

int gs_client_acquire(struct gs_client *c, unsigned resource, uint64_t cost_ns, struct gs_grant *g)
{
    int err = gs_client_try(c, resource, GS_LENGTH_UNKNOWN, g);
    if (err != -EAGAIN)
        return err;
    struct gs_request rq;
    /* All slots taken: other threads of ours wait too; one of them will be served. */
    while ((err = gs_client_request(c, resource, cost_ns, &rq)) == -EBUSY)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    while (err == 0 && (err = gs_client_wait(c, &rq, UINT64_MAX, g)) == -EBUSY) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        err = 0;
    }
    return err;
}

/* The daemon says in the slot whether the cancellation or the grant came first. */
static void cancel_sent(struct gs_client *c, struct gs_request *rq)
{
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_CANCEL);
    m.u.cancel = (struct gs_msg_cancel){.slot = rq->slot, .serial = rq->serial};
    send_or_give_up(c, &m, rq->client);
    _Atomic uint32_t *slot = &c->page->slot[rq->slot];
    uint32_t w;
    while (w = atomic_load(slot), !answered(c, rq, w)) {
        if (GS_SLOT_STATE(w) == GS_SLOT_CANCELLED) {
            give_slot(c, rq->slot);
            return;
        }
        uint64_t before = gs_client_now_ns();
        futex_wait(slot, w, STALL_NS);
        /* The answer may have come without a wake-up. */
        if (gs_client_now_ns() - before >= STALL_NS && atomic_load(slot) == w)
            give_up_daemon(c, rq->client);
    }
}

bool gs_client_cancel(struct gs_client *c, struct gs_request *rq, struct gs_grant *g)
{
    if (!rq->open)
        return false;
    if (rq->sent) {
        GS_WAITS("the daemon's answer", NULL);
        cancel_sent(c, rq);
    }
    if (rq->held && g)
        *g = rq->grant;
    else if (rq->held)
        gs_client_release(c, &rq->grant);
    rq->open = false;
    return rq->held;
}

unsigned gs_client_choose(struct gs_client *c, uint32_t gpus)
{
    const unsigned last = GS_RESOURCE_GPU(atomic_load_explicit(&c->last_gpu, memory_order_relaxed));
    const uint32_t known = gpus & atomic_load_explicit(&c->known, memory_order_relaxed);
    const uint32_t w = atomic_load(&c->page->lease[last].word);
    struct gs_request rq = {.resource = gpus & GS_MASK(last) ? last : (unsigned)__builtin_ctz(gpus),
                            .client = atomic_load(&c->online)};
    if ((rq.resource == last && (w & (GS_LEASE_LEASED | GS_LEASE_ASK)) == GS_LEASE_LEASED) || !rq.client || !known ||
        take_slot(c, &rq) < 0)
        return rq.resource;
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_CHOOSE);
    m.u.choose = (struct gs_msg_choose){rq.slot, rq.serial, rq.client, .gpus = known, .prefer = last};
    GS_WAITS("the daemon's answer", NULL);
    send_or_give_up(c, &m, rq.client);
    return wait_slot(c, &rq, UINT64_MAX) < 0 ? rq.resource : rq.grant.resource;
}

/* ---- jobs and modes ---- */

bool gs_client_scheduled(const struct gs_client *c)
{
    return atomic_load_explicit(&c->online, memory_order_relaxed);
}

/* What the page tells, taken between two changes of it. */
static void read_told(const struct gs_page *p, struct gs_client_mode *mode)
{
    uint32_t before;
    do {
        before = atomic_load(&p->told);
        mode->gpus = atomic_load(&p->gpus);
        mode->gpu_mask = atomic_load(&p->gpu_mask);
        mode->kernel_chunk = atomic_load(&p->kernel_chunk);
        mode->transfer_chunk = atomic_load(&p->transfer_chunk);
    } while (before & 1 ? sched_yield(), true : atomic_load(&p->told) != before);
}

void gs_client_mode(struct gs_client *c, struct gs_client_mode *mode)
{
    *mode = (struct gs_client_mode){.gpus = c->gpus, .gpu_mask = GS_MASK_ALL_GPUS(c->gpus), .depth = 2};
    pthread_mutex_lock(&c->lock);
    uint32_t client = atomic_load(&c->online);
    if (client) {
        mode->scheduled = true;
        mode->depth = atomic_load(&c->depth);
        mode->priority = c->welcome.priority;
        mode->period_ns = c->welcome.period_ns;
        mode->warmup = c->welcome.warmup;
        mode->chooses = c->welcome.flags & GS_WELCOME_CHOOSES;
        mode->moves = c->welcome.flags & GS_WELCOME_MOVES;
        memcpy(mode->task, c->welcome.task, sizeof mode->task);
        read_told(c->page, mode);
    }
    mode->refused = c->refused;
    pthread_mutex_unlock(&c->lock);
    /* The page was replaced under us, by zeroes: as without a daemon. */
    if (mode->gpus == 0 || mode->gpu_mask == 0) {
        mode->scheduled = false;
        mode->gpus = c->gpus;
        mode->gpu_mask = GS_MASK_ALL_GPUS(c->gpus);
    }
}

void gs_client_job_begin(struct gs_client *c, uint64_t release_ns, struct gs_client_mode *mode)
{
    gs_client_mode(c, mode);
    pthread_mutex_lock(&c->lock);
    if (!c->job_open) {
        c->job_open = true;
        c->job_release_ns = release_ns ? release_ns : gs_client_now_ns();
        c->job_gpus = mode->scheduled ? mode->gpus : 0;
        atomic_store(&c->page->job_since_ns, c->job_release_ns);
    }
    pthread_mutex_unlock(&c->lock);
}

/* What the page has counted of the resource up to now, with the units that are out. */
static uint64_t busy_ns(const struct gs_lease *l, uint64_t now_ns)
{
    uint64_t busy = atomic_load_explicit(&l->busy_ns, memory_order_relaxed);
    if (atomic_load_explicit(&l->word, memory_order_relaxed) & GS_LEASE_UNITS) {
        const uint64_t since = atomic_load_explicit(&l->since_ns, memory_order_relaxed);
        busy += since < now_ns ? now_ns - since : 0;
    }
    return busy;
}

/* For how long the job has kept the link, and the GPU that it kept longest. With c->lock held. */
static void take_use(struct gs_client *c, uint64_t end_ns, uint64_t *pci_ns, uint64_t *gpu_ns)
{
    *pci_ns = *gpu_ns = 0;
    for (unsigned r = 0; r <= c->welcome.gpus; r++) {
        const uint64_t busy = busy_ns(&c->page->lease[r], end_ns);
        const uint64_t used = busy > c->job_busy_ns[r] ? busy - c->job_busy_ns[r] : 0;
        uint64_t *most_ns = r == GS_RESOURCE_PCI ? pci_ns : gpu_ns;
        c->job_busy_ns[r] += used;
        *most_ns = used > *most_ns ? used : *most_ns;
    }
}

/* Has a job with so many GPUs used more than any that the daemon has been told of? Then the bounds may not hold. */
static bool uses_more(struct gs_client *c, uint32_t gpus, uint64_t pci_ns, uint64_t gpu_ns)
{
    if (c->job_used_gpus != gpus)
        c->job_pci_ns = c->job_gpu_ns = 0;
    c->job_used_gpus = gpus;
    const bool more = pci_ns > c->job_pci_ns || gpu_ns > c->job_gpu_ns;
    c->job_pci_ns = pci_ns > c->job_pci_ns ? pci_ns : c->job_pci_ns;
    c->job_gpu_ns = gpu_ns > c->job_gpu_ns ? gpu_ns : c->job_gpu_ns;
    return more;
}

/* Into the page, from which the daemon reads it when somebody asks it for the tasks' state, or when it is told to. With
 * c->lock held. True: it is to be told. */
static bool record_job(struct gs_client *c, uint64_t end_ns)
{
    enum { TELL_NS = 20 * 1000 * 1000 };
    struct gs_page *p = c->page;
    const uint32_t serial = atomic_load_explicit(&p->jobs, memory_order_relaxed);
    struct gs_job_record *r = &p->job[serial % GS_JOB_RECORDS];
    uint64_t pci_ns, gpu_ns;
    take_use(c, end_ns, &pci_ns, &gpu_ns);
    atomic_store_explicit(&r->serial, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&r->gpus, c->job_gpus, memory_order_relaxed);
    atomic_store_explicit(&r->release_ns, c->job_release_ns, memory_order_relaxed);
    atomic_store_explicit(&r->end_ns, end_ns, memory_order_relaxed);
    atomic_store_explicit(&r->pci_ns, pci_ns, memory_order_relaxed);
    atomic_store_explicit(&r->gpu_ns, gpu_ns, memory_order_relaxed);
    atomic_store_explicit(&r->serial, serial + 1, memory_order_release);
    atomic_store_explicit(&p->jobs, serial + 1, memory_order_release);
    const bool more = uses_more(c, c->job_gpus, pci_ns, gpu_ns);
    if (!more && end_ns < c->job_told_ns + TELL_NS && (serial + 1) % (GS_JOB_RECORDS / 4) &&
        c->jobs >= c->welcome.warmup && !atomic_load_explicit(&p->recording, memory_order_relaxed))
        return false;
    c->job_told_ns = end_ns;
    return true;
}

void gs_client_job_end(struct gs_client *c, uint64_t end_ns)
{
    bool tells = false;
    pthread_mutex_lock(&c->lock);
    if (c->job_open) {
        if (c->welcome.task[0]) /* who is no task has no statistics */
            tells = record_job(c, end_ns ? end_ns : gs_client_now_ns());
        c->jobs += c->jobs < UINT32_MAX;
    }
    c->job_open = false;
    atomic_store(&c->page->job_since_ns, 0);
    pthread_mutex_unlock(&c->lock);
    if (tells && atomic_load(&c->online)) {
        struct gs_msg m;
        gs_msg_init(&m, GS_MSG_JOBS);
        gs_connection_send(c, &m, 0);
    }
}

/* ---- open and close ---- */

static int copy_options(struct gs_client *c, const struct gs_client_options *o)
{
    if (o->gpus == 0 || o->gpus > GS_MAX_GPUS)
        return -EINVAL;
    if (o->task && strlen(o->task) >= sizeof c->task)
        return -EINVAL;
    if (o->socket && strlen(o->socket) >= sizeof c->socket)
        return -EINVAL;
    if (o->task)
        strcpy(c->task, o->task);
    if (o->socket)
        strcpy(c->socket, o->socket);
    c->no_task = o->no_task;
    c->paced = o->paced;
    c->wide = o->wide;
    c->jobs = o->jobs;
    c->gpus = o->gpus;
    c->hello_wait_ms = o->hello_wait_ms ? o->hello_wait_ms : 200;
    c->notice = o->notice;
    c->arg = o->arg;
    return 0;
}

int gs_client_open(struct gs_client **out, const struct gs_client_options *options)
{
    struct gs_client *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    atomic_init(&c->depth, 2);
    pthread_mutex_init(&c->lock, NULL);
    gs_rank_lock(&c->lock, GS_RANK_CLIENT);
    pthread_mutex_init(&c->leaving, NULL);
    gs_rank_lock(&c->leaving, GS_RANK_CLIENT_LOSS);
    int err = copy_options(c, options);
    if (err == 0) {
        void *page = mmap(NULL, GS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        c->page = page == MAP_FAILED ? NULL : page;
        err = c->page ? gs_connection_start(c) : -ENOMEM;
    }
    if (err < 0) {
        gs_client_close(c);
        return err;
    }
    *out = c;
    return 0;
}

void gs_client_close(struct gs_client *c)
{
    if (!c)
        return;
    gs_connection_stop(c);
    if (c->page)
        munmap(c->page, GS_PAGE_BYTES);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->leaving);
    free(c);
}

void gs_client_memory(struct gs_client *c, unsigned gpu, int64_t bytes)
{
    if (gpu < GS_MAX_GPUS)
        atomic_store(&c->page->memory[gpu], atomic_fetch_add(&c->memory[gpu], bytes) + bytes);
}
