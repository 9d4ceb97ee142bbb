/* SPDX-License-Identifier: MIT */
#include "scheduler/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/patience.h"

enum { KIND_PCI, KIND_GPU, KINDS };
enum { ALONE_PATIENCE = 10 };            /* times as long as others is one who holds a resource alone left in peace */
#define COST_CAP_NS UINT64_C(1000000000) /* of an expectation, which a client may lie about */

enum { BEHIND = -1 }; /* in a line: below all others without a task */

struct waiter {
    bool joined;
    int priority;
    uint64_t since;                    /* how many had joined before it */
    unsigned user;                     /* its place in gs_policy_state.user */
    uint64_t chunk_ns[KINDS];          /* the longest chunk by the config; 0: it doesn't say */
    struct gs_offences offences;       /* its own, while it has no task */
    bool behind;                       /* and pays for them */
    uint32_t want;                     /* what its requests are for */
    uint32_t at[GS_MAX_RESOURCES];     /* its place in the line of each resource that it wants */
    unsigned n;                        /* requests waiting */
    uint64_t tag_ns[GS_MAX_RESOURCES]; /* of each resource: time it has had, or was level with others that had */
    uint64_t share_ns[KINDS];
    struct gs_policy_request *queue; /* GS_MAX_SLOTS, in the order they came */
};

/* One client in the line for a resource: all that decides who is first, side by side, so that a look along the line
 * costs few cache lines. */
struct place {
    uint64_t order; /* of the client's first request for it */
    uint64_t
        key; /* of a task how many had joined before; else its tag, ns, and what its units out are expected to take */
    int32_t priority;
    uint32_t client;
};

struct resource {
    struct place *line; /* the clients that wait, max_clients at most, in no order */
    unsigned waiting;   /* how many */
    uint32_t holder;
    bool asked; /* always, while it is held alone */
    bool alone;
    unsigned units;        /* out; valid while asked */
    uint64_t hurt_ns;      /* when others began to wait; while held alone: when the holder last renewed */
    uint64_t oldest_ns;    /* when the oldest unit out was granted, or the lease was asked back with it */
    uint64_t newest_ns;    /* ... the newest one */
    uint64_t accounted_ns; /* the holder's time is charged up to here */
    uint64_t expected_ns;  /* what the units out will take, by their client's word; 0 while it isn't asked */
    uint64_t start_ns;     /* tag of the client without a task that was served last, when it was: it only grows */
    uint64_t load_ns;      /* time used while asked: which of two idle GPUs is the less used */
    uint64_t grants, handovers;
};

/* A user, while it has clients, and for as long as something of it is to be remembered. */
struct owner {
    struct gs_user patience;
    uint64_t left_ns;                  /* when the last client left */
    uint64_t tag_ns[GS_MAX_RESOURCES]; /* the largest of its clients that have left: who comes again has it still */
};
enum { SPARE_USERS = 64, MOST_NEWS = 16 };

struct gs_policy_state {
    unsigned resources, depth, max_clients;
    const struct gs_policy_ops *ops;
    void *ctx;
    struct resource r[GS_MAX_RESOURCES];
    uint64_t orders, joins;
    unsigned tasks;                   /* clients with a priority */
    uint64_t now_ns;                  /* of the call under way */
    struct gs_policy_offence offence; /* the last one */
    uint64_t pardon_ns;               /* the next time at which one that is put behind may be so no more */
    struct owner *user;               /* max_clients + SPARE_USERS */
    struct waiter *w;
};

static unsigned kind_of(unsigned resource)
{
    return resource == GS_RESOURCE_PCI ? KIND_PCI : KIND_GPU;
}

struct gs_policy_state *gs_policy_new(unsigned resources, unsigned depth, unsigned max_clients,
                                      const struct gs_policy_ops *ops, void *ctx)
{
    struct gs_policy_state *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct gs_policy_state){
        .resources = resources, .depth = depth, .max_clients = max_clients, .ops = ops, .ctx = ctx};
    p->pardon_ns = UINT64_MAX;
    p->w = calloc(max_clients, sizeof *p->w);
    p->user = calloc(max_clients + SPARE_USERS, sizeof *p->user);
    bool ok = p->w && p->user;
    for (unsigned r = 0; r < resources; r++) {
        p->r[r].holder = GS_NO_CLIENT;
        p->r[r].line = calloc(max_clients, sizeof *p->r[r].line);
        ok = ok && p->r[r].line;
    }
    if (!ok) {
        gs_policy_free(p);
        return NULL;
    }
    return p;
}

void gs_policy_free(struct gs_policy_state *p)
{
    if (!p)
        return;
    for (unsigned i = 0; p->w && i < p->max_clients; i++)
        free(p->w[i].queue);
    for (unsigned r = 0; r < p->resources; r++)
        free(p->r[r].line);
    free(p->user);
    free(p->w);
    free(p);
}

/* ---- who waits ---- */

/* Whether the request stands in line: one for a resource alone doesn't while tasks are there. */
static bool stands_in_line(const struct gs_policy_state *p, const struct gs_policy_request *rq)
{
    return !rq->alone || !p->tasks;
}

/* The client's first request in line for the resource. */
static unsigned first_for(const struct gs_policy_state *p, const struct waiter *w, unsigned resource)
{
    unsigned i = 0;
    while (w->queue[i].resource != resource || !stands_in_line(p, &w->queue[i]))
        i++;
    return i;
}

static uint64_t key_of(const struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    const struct waiter *w = &p->w[client];
    const struct resource *r = &p->r[resource];
    return w->priority ? w->since : w->tag_ns[resource] + (r->holder == client ? r->expected_ns : 0);
}

static struct place place_of(const struct gs_policy_state *p, uint32_t client, unsigned resource, uint64_t order)
{
    const struct waiter *w = &p->w[client];
    return (struct place){.order = order,
                          .key = key_of(p, client, resource),
                          .priority = w->behind ? BEHIND : w->priority,
                          .client = client};
}

/* Brings the client's places up to date, after its queue, its time or its priority has changed. */
static void refresh(struct gs_policy_state *p, uint32_t client)
{
    const struct waiter *w = &p->w[client];
    for (uint32_t m = w->want; m; m &= m - 1) {
        unsigned r = (unsigned)__builtin_ctz(m);
        p->r[r].line[w->at[r]] = place_of(p, client, r, w->queue[first_for(p, w, r)].order);
    }
}

/* A client that begins to want a resource is level with those who have had it meanwhile: having been away gives it no
 * claim on their time. */
static void catch_up(struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    uint64_t *tag = &p->w[client].tag_ns[resource];
    if (*tag < p->r[resource].start_ns)
        *tag = p->r[resource].start_ns;
}

static void step_into_line(struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    struct resource *r = &p->r[resource];
    catch_up(p, client, resource);
    p->w[client].at[resource] = r->waiting++;
}

static void step_out_of_line(struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    struct resource *r = &p->r[resource];
    uint32_t at = p->w[client].at[resource];
    r->line[at] = r->line[--r->waiting];
    p->w[r->line[at].client].at[resource] = at;
}

/* The client's queue has changed: puts it into the lines of what it wants now, and takes it out of the others. */
static void update_want(struct gs_policy_state *p, uint32_t client)
{
    struct waiter *w = &p->w[client];
    uint32_t want = 0;
    for (unsigned i = 0; i < w->n; i++)
        if (stands_in_line(p, &w->queue[i]))
            want |= GS_MASK(w->queue[i].resource);
    for (uint32_t diff = want ^ w->want; diff; diff &= diff - 1) {
        unsigned r = (unsigned)__builtin_ctz(diff);
        if (want & GS_MASK(r))
            step_into_line(p, client, r);
        else
            step_out_of_line(p, client, r);
    }
    w->want = want;
    refresh(p, client);
}

static void push(struct gs_policy_state *p, uint32_t client, const struct gs_policy_request *rq)
{
    struct waiter *w = &p->w[client];
    w->queue[w->n++] = *rq;
    update_want(p, client);
}

static void remove_at(struct gs_policy_state *p, uint32_t client, unsigned i)
{
    struct waiter *w = &p->w[client];
    memmove(&w->queue[i], &w->queue[i + 1], (w->n - i - 1) * sizeof *w->queue);
    w->n--;
    update_want(p, client);
}

static bool before(const struct place *a, const struct place *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->key != b->key)
        return a->key < b->key;
    return a->order < b->order;
}

/* Who is first for the resource; GS_NO_CLIENT if nobody waits. */
static uint32_t first_waiter(const struct gs_policy_state *p, unsigned resource)
{
    const struct resource *r = &p->r[resource];
    if (!r->waiting)
        return GS_NO_CLIENT;
    const struct place *best = &r->line[0];
    for (unsigned i = 1; i < r->waiting; i++)
        if (before(&r->line[i], best))
            best = &r->line[i];
    return best->client;
}

/* ---- time that was had ---- */

/* Charges the holder for the time since the last call; `gone` of its units are back. */
static void account(struct gs_policy_state *p, unsigned resource, unsigned gone, uint64_t now_ns)
{
    struct resource *r = &p->r[resource];
    if (r->holder == GS_NO_CLIENT || !r->asked || !r->units)
        return;
    struct waiter *w = &p->w[r->holder];
    const uint64_t had = now_ns - r->accounted_ns;
    if (w->priority == 0) {
        w->tag_ns[resource] += had;
        w->share_ns[kind_of(resource)] += had;
    }
    r->expected_ns = r->expected_ns / r->units * (r->units - gone);
    r->load_ns += had;
    r->accounted_ns = now_ns;
    refresh(p, r->holder);
}

/* The client, which has no task, is served: nobody who waits has a smaller tag. */
static void start(struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    catch_up(p, client, resource);
    p->r[resource].start_ns = p->w[client].tag_ns[resource];
}

/* ---- who keeps units too long ---- */

static struct gs_user *user_of(struct gs_policy_state *p, uint32_t client)
{
    return &p->user[p->w[client].user].patience;
}

static uint64_t chunk_of(const struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    return p->w[client].chunk_ns[kind_of(resource)];
}

/* One unit at a time, and no lease without asking: its user has kept others waiting. */
static bool is_short(const struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    const struct waiter *w = &p->w[client];
    return w->priority == 0 && chunk_of(p, client, resource) && gs_user_is_short(&p->user[w->user].patience, p->now_ns);
}

/* Does anybody but the holder wait for it? */
static bool keeps_others_waiting(const struct gs_policy_state *p, unsigned resource)
{
    const struct resource *r = &p->r[resource];
    if (r->holder == GS_NO_CLIENT || !r->asked || !r->units)
        return false;
    return r->waiting > ((p->w[r->holder].want & GS_MASK(resource)) != 0);
}

/* Since when the oldest unit out keeps others waiting, ... */
static uint64_t hurts_since(const struct gs_policy_state *p, unsigned resource)
{
    const struct resource *r = &p->r[resource];
    return r->oldest_ns > r->hurt_ns ? r->oldest_ns : r->hurt_ns;
}

/* ... and since when its time counts. One that is short knows that others may come. */
static uint64_t kept_since(const struct gs_policy_state *p, unsigned resource)
{
    const struct resource *r = &p->r[resource];
    return is_short(p, r->holder, resource) ? r->oldest_ns : hurts_since(p, resource);
}

/* Where tasks are there it is as any other unit. */
static bool is_in_peace(const struct gs_policy_state *p, unsigned resource)
{
    return p->r[resource].alone && !p->tasks;
}

/* What the holder's oldest unit has kept others waiting until now counts. */
static void charge(struct gs_policy_state *p, unsigned resource)
{
    const struct resource *r = &p->r[resource];
    if (is_in_peace(p, resource) || p->w[r->holder].priority)
        return;
    gs_user_spend(user_of(p, r->holder), chunk_of(p, r->holder, resource), p->depth,
                  p->now_ns - kept_since(p, resource), p->now_ns);
}

/* The holder's oldest unit is back, or will be no more. */
static void spend_patience(struct gs_policy_state *p, unsigned resource)
{
    if (keeps_others_waiting(p, resource))
        charge(p, resource);
}

static void put_behind(struct gs_policy_state *p, uint32_t client)
{
    struct waiter *w = &p->w[client];
    gs_offend(&w->offences, p->now_ns);
    w->behind = true;
    if (w->offences.until_ns < p->pardon_ns)
        p->pardon_ns = w->offences.until_ns;
    refresh(p, client);
}

/* Those whose time is over stand among the others again, level with them. */
static void pardon(struct gs_policy_state *p)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t c = 0; c < p->max_clients; c++) {
        struct waiter *w = &p->w[c];
        if (!w->joined || !w->behind)
            continue;
        if (w->offences.until_ns > p->now_ns) {
            next = w->offences.until_ns < next ? w->offences.until_ns : next;
            continue;
        }
        w->behind = false;
        for (unsigned r = 0; r < p->resources; r++)
            catch_up(p, c, r);
        refresh(p, c);
    }
    p->pardon_ns = next;
}

/* Each call that may grant something begins with it. */
static void begin(struct gs_policy_state *p, uint64_t now_ns)
{
    p->now_ns = now_ns;
    if (now_ns >= p->pardon_ns)
        pardon(p);
}

/* The place of the user with this number. A new one takes the place of one that has no clients: one of which nothing is
 * to be remembered, if there is such, and of those the one that left first. */
static unsigned find_user(struct gs_policy_state *p, uint32_t id)
{
    const unsigned n = p->max_clients + SPARE_USERS;
    unsigned best = n;
    for (unsigned i = 0; i < n; i++) {
        const struct owner *o = &p->user[i];
        if (o->patience.id == id)
            return i;
        if (o->patience.clients)
            continue;
        const bool blank = gs_user_is_blank(&o->patience, p->now_ns);
        const bool best_blank = best < n && gs_user_is_blank(&p->user[best].patience, p->now_ns);
        if (best == n || (blank && !best_blank) || (blank == best_blank && o->left_ns < p->user[best].left_ns))
            best = i;
    }
    p->user[best] = (struct owner){.patience = {.id = id}};
    return best;
}

/* ---- leases ---- */

static void ask(struct gs_policy_state *p, unsigned resource, uint64_t now_ns)
{
    struct resource *r = &p->r[resource];
    if (r->asked)
        return;
    unsigned units = p->ops->ask(p->ctx, r->holder, resource);
    r->asked = true;
    r->units = units < p->depth ? units : p->depth;
    r->hurt_ns = r->oldest_ns = r->newest_ns = r->accounted_ns = now_ns;
}

static void forget_holder(struct resource *r)
{
    r->holder = GS_NO_CLIENT;
    r->asked = r->alone = false;
    r->units = 0;
    r->expected_ns = 0;
}

static void end(struct gs_policy_state *p, unsigned resource, bool forced, uint64_t now_ns)
{
    struct resource *r = &p->r[resource];
    account(p, resource, r->units, now_ns);
    uint32_t holder = r->holder;
    forget_holder(r);
    p->ops->end(p->ctx, holder, resource, forced);
}

/* Could the client have a unit now, or the resource alone? Asks a lease back where it must, and ends one that is idle.
 */
static bool make_free(struct gs_policy_state *p, unsigned resource, uint32_t client, bool alone, uint64_t now_ns)
{
    struct resource *r = &p->r[resource];
    if (r->holder == GS_NO_CLIENT)
        return true;
    ask(p, resource, now_ns);
    if (r->holder == client && !alone && !r->alone)
        return r->units < (is_short(p, client, resource) ? 1 : p->depth);
    if (r->units)
        return false;
    end(p, resource, false, now_ns);
    return true;
}

static void grant(struct gs_policy_state *p, uint32_t client, unsigned at, uint64_t now_ns)
{
    struct waiter *w = &p->w[client];
    const struct gs_policy_request rq = w->queue[at];
    const unsigned resource = rq.resource;
    struct resource *r = &p->r[resource];
    remove_at(p, client, at);
    bool fresh = r->holder == GS_NO_CLIENT;
    account(p, resource, 0, now_ns);
    if (fresh) {
        r->holder = client;
        r->units = 0;
        r->handovers++;
    }
    if (!r->units)
        r->accounted_ns = r->oldest_ns = now_ns;
    r->newest_ns = now_ns;
    bool others = r->waiting > 0;
    if (fresh)
        r->alone = rq.alone;
    const bool always_asks = r->alone || is_short(p, client, resource);
    r->asked = others || !fresh || always_asks; /* a lease that was asked back stays so until `settle` */
    r->units++;
    r->grants++;
    if (w->priority == 0)
        start(p, client, resource);
    if (r->asked)
        r->expected_ns += rq.cost_ns < COST_CAP_NS ? rq.cost_ns : COST_CAP_NS;
    refresh(p, client);
    p->ops->grant(p->ctx, client, &rq, resource, fresh, r->asked);
}

/* ---- serving ---- */

/* A holder that nobody else makes wait any more need not ask. */
static void settle(struct gs_policy_state *p, uint32_t resources, uint64_t now_ns)
{
    for (uint32_t m = resources; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctz(m);
        struct resource *r = &p->r[i];
        if (r->holder == GS_NO_CLIENT || !r->asked || r->waiting || r->alone || is_short(p, r->holder, i))
            continue;
        account(p, i, r->units, now_ns);
        if (p->w[r->holder].priority == 0)
            start(p, r->holder, i);
        r->asked = false;
        p->ops->allow(p->ctx, r->holder, i);
    }
}

/* Grants whatever can be granted on these resources. */
static void serve(struct gs_policy_state *p, uint32_t resources, uint64_t now_ns)
{
    for (unsigned r = 0; r < p->resources; r++) /* who is first depends on it */
        account(p, r, 0, now_ns);
    for (uint32_t left = resources; left;) {
        const unsigned r = (unsigned)__builtin_ctz(left);
        const uint32_t client = first_waiter(p, r);
        const unsigned at = client == GS_NO_CLIENT ? 0 : first_for(p, &p->w[client], r);
        if (client != GS_NO_CLIENT && make_free(p, r, client, p->w[client].queue[at].alone, now_ns))
            grant(p, client, at, now_ns);
        else
            left &= left - 1;
    }
    settle(p, resources, now_ns);
}

/* ---- what happens ---- */

/* Counts a client whose priority was `before`, and is `after`. The first task withdraws who wants a resource alone, and
 * asks who has one to yield; with the last one they stand in line again. Returns the resources to serve. */
static uint32_t count_task(struct gs_policy_state *p, int before, int after)
{
    bool were = p->tasks > 0;
    p->tasks = p->tasks + (after > 0) - (before > 0);
    if (were == (p->tasks > 0))
        return 0;
    uint32_t touched = 0;
    for (uint32_t c = 0; c < p->max_clients; c++) {
        const struct waiter *w = &p->w[c];
        uint32_t alone = 0;
        for (unsigned i = 0; w->joined && i < w->n; i++)
            alone |= w->queue[i].alone ? GS_MASK(w->queue[i].resource) : 0;
        if (alone)
            update_want(p, c);
        touched |= alone;
    }
    for (unsigned i = 0; p->tasks && i < p->resources; i++)
        if (p->r[i].alone) {
            p->r[i].hurt_ns = p->now_ns; /* from now on it isn't left in peace */
            p->ops->yield(p->ctx, p->r[i].holder, i);
        }
    return touched;
}

int gs_policy_join(struct gs_policy_state *p, uint32_t client, uint32_t user, int priority, uint64_t now_ns)
{
    if (client >= p->max_clients || p->w[client].joined || priority < 0)
        return -EINVAL;
    struct waiter *w = &p->w[client];
    struct gs_policy_request *queue = w->queue ? w->queue : calloc(GS_MAX_SLOTS, sizeof *queue);
    if (!queue)
        return -ENOMEM;
    begin(p, now_ns);
    *w = (struct waiter){.joined = true, .since = p->joins++, .queue = queue, .user = find_user(p, user)};
    struct owner *owner = &p->user[w->user];
    owner->patience.clients++;
    memcpy(w->tag_ns, owner->tag_ns, sizeof w->tag_ns);
    gs_policy_set_priority(p, client, priority, now_ns);
    return 0;
}

void gs_policy_set_priority(struct gs_policy_state *p, uint32_t client, int priority, uint64_t now_ns)
{
    begin(p, now_ns);
    int old = p->w[client].priority;
    if (priority == old) /* said of all clients at each decision, and of most it is so */
        return;
    for (unsigned r = 0; r < p->resources; r++) /* until now it has had them as what it was */
        if (p->r[r].holder == client) {
            account(p, r, 0, now_ns);
            spend_patience(p, r);
        }
    p->w[client].priority = priority;
    p->w[client].behind = p->w[client].behind && !priority;
    uint32_t touched = count_task(p, old, priority);
    for (unsigned r = 0; r < p->resources; r++)
        catch_up(p, client, r);
    refresh(p, client);
    serve(p, touched | p->w[client].want, now_ns);
}

void gs_policy_set_chunks(struct gs_policy_state *p, uint32_t client, uint64_t pci_ns, uint64_t gpu_ns)
{
    p->w[client].chunk_ns[KIND_PCI] = pci_ns;
    p->w[client].chunk_ns[KIND_GPU] = gpu_ns;
}

void gs_policy_leave(struct gs_policy_state *p, uint32_t client, uint64_t now_ns)
{
    struct waiter *w = &p->w[client];
    if (!w->joined)
        return;
    begin(p, now_ns);
    struct owner *owner = &p->user[w->user];
    uint32_t touched = w->want;
    for (unsigned i = 0; i < p->resources; i++)
        if (p->r[i].holder == client)
            spend_patience(p, i);
    w->n = 0;
    update_want(p, client);
    for (unsigned i = 0; i < p->resources; i++) {
        if (p->r[i].holder != client)
            continue;
        account(p, i, p->r[i].units, now_ns);
        forget_holder(&p->r[i]);
        touched |= GS_MASK(i);
    }
    for (unsigned i = 0; i < p->resources; i++)
        if (owner->tag_ns[i] < w->tag_ns[i])
            owner->tag_ns[i] = w->tag_ns[i];
    owner->patience.clients--;
    owner->left_ns = now_ns;
    w->joined = false;
    touched |= count_task(p, w->priority, 0);
    serve(p, touched, now_ns);
}

int gs_policy_request(struct gs_policy_state *p, uint32_t client, const struct gs_policy_request *rq, uint64_t now_ns)
{
    if (client >= p->max_clients || !p->w[client].joined || rq->slot >= GS_MAX_SLOTS || rq->resource >= p->resources)
        return -EINVAL;
    struct waiter *w = &p->w[client];
    for (unsigned i = 0; i < w->n; i++)
        if (w->queue[i].slot == rq->slot)
            return -EBUSY;
    begin(p, now_ns);
    struct gs_policy_request copy = *rq;
    copy.at_ns = now_ns;
    copy.order = p->orders++;
    const bool hurt = keeps_others_waiting(p, rq->resource);
    push(p, client, &copy);
    if (!hurt)
        p->r[rq->resource].hurt_ns = now_ns;
    serve(p, GS_MASK(rq->resource), now_ns);
    return 0;
}

/* How late would the client be served? Two for each that goes before it, one for a holder that it only waits for. */
static unsigned delay_of(const struct gs_policy_state *p, uint32_t client, unsigned resource)
{
    const struct resource *r = &p->r[resource];
    const struct place mine = place_of(p, client, resource, UINT64_MAX);
    unsigned delay = 0;
    for (unsigned i = 0; i < r->waiting; i++)
        if (r->line[i].client != r->holder && before(&r->line[i], &mine))
            delay += 2;
    if (r->holder == GS_NO_CLIENT || r->holder == client ||
        !(r->asked ? r->units : p->ops->units(p->ctx, r->holder, resource)))
        return delay;
    const struct place holders = place_of(p, r->holder, resource, 0);
    return delay + (before(&holders, &mine) ? 2 : 1);
}

unsigned gs_policy_choose(const struct gs_policy_state *p, uint32_t client, uint32_t mask, unsigned prefer)
{
    unsigned best = GS_MAX_RESOURCES, least = 0;
    if (mask & ~GS_MASK_ALL_GPUS(p->resources - 1))
        return GS_MAX_RESOURCES;
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned r = (unsigned)__builtin_ctz(m), delay = delay_of(p, client, r);
        const bool equal = best < GS_MAX_RESOURCES && delay == least && best != prefer;
        if (best == GS_MAX_RESOURCES || delay < least ||
            (equal && (r == prefer || p->r[r].load_ns < p->r[best].load_ns))) {
            best = r;
            least = delay;
        }
    }
    return best;
}

bool gs_policy_cancel(struct gs_policy_state *p, uint32_t client, uint32_t slot, uint32_t serial, uint64_t now_ns)
{
    struct waiter *w = &p->w[client];
    for (unsigned i = 0; i < w->n; i++) {
        if (w->queue[i].slot != slot || w->queue[i].serial != serial)
            continue;
        const unsigned resource = w->queue[i].resource;
        begin(p, now_ns);
        const bool hurt = keeps_others_waiting(p, resource);
        remove_at(p, client, i);
        if (hurt && !keeps_others_waiting(p, resource)) /* whoever asks next begins to wait then */
            charge(p, resource);
        serve(p, GS_MASK(resource), now_ns); /* the one behind it may be served where this one could not */
        return true;
    }
    return false;
}

void gs_policy_look(struct gs_policy_state *p, uint32_t client, unsigned resource, unsigned units, uint64_t now_ns)
{
    if (resource >= p->resources)
        return;
    struct resource *r = &p->r[resource];
    if (r->holder != client || !r->asked || units >= r->units)
        return;
    begin(p, now_ns);
    spend_patience(p, resource);
    account(p, resource, r->units - units, now_ns);
    r->units = units;
    r->oldest_ns = r->newest_ns;
    if (r->alone && !units)
        end(p, resource, false, now_ns);
    serve(p, GS_MASK(resource), now_ns);
}

void gs_policy_renew(struct gs_policy_state *p, uint32_t client, unsigned resource, uint64_t now_ns)
{
    if (resource < p->resources && p->r[resource].holder == client && is_in_peace(p, resource))
        p->r[resource].hurt_ns = now_ns;
}

/* When the watchdog takes the resource, if its holder does nothing until then. */
static uint64_t expiry(const struct gs_policy_state *p, unsigned resource, uint64_t watchdog_ns)
{
    const struct resource *r = &p->r[resource];
    if (!keeps_others_waiting(p, resource))
        return UINT64_MAX;
    if (is_in_peace(p, resource))
        return r->hurt_ns + watchdog_ns * ALONE_PATIENCE;
    const struct waiter *w = &p->w[r->holder];
    return kept_since(p, resource) + gs_user_limit(&p->user[w->user].patience, chunk_of(p, r->holder, resource),
                                                   p->depth, w->priority > 0, watchdog_ns, p->now_ns);
}

/* It is taken back from its holder, which is put behind if it has no task. */
static void take_back(struct gs_policy_state *p, unsigned resource)
{
    struct resource *r = &p->r[resource];
    const uint32_t holder = r->holder;
    struct waiter *w = &p->w[holder];
    p->offence = (struct gs_policy_offence){.kept_ns = p->now_ns - kept_since(p, resource),
                                            .waited_ns = p->now_ns - hurts_since(p, resource),
                                            .news = true};
    if (!w->priority) {
        gs_user_offends(user_of(p, holder), p->now_ns);
        put_behind(p, holder);
        p->offence.news = w->offences.n == 1 && user_of(p, holder)->offences.n <= MOST_NEWS;
        p->offence.behind_ns = w->offences.until_ns - p->now_ns;
    }
    end(p, resource, true, p->now_ns);
    for (unsigned i = 0; i < p->resources; i++)
        if (p->r[i].holder != GS_NO_CLIENT && is_short(p, p->r[i].holder, i))
            ask(p, i, p->now_ns);
}

uint64_t gs_policy_next_expiry(const struct gs_policy_state *p, uint64_t watchdog_ns)
{
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < p->resources; i++)
        if (expiry(p, i, watchdog_ns) < next)
            next = expiry(p, i, watchdog_ns);
    return next;
}

uint32_t gs_policy_expire(struct gs_policy_state *p, uint64_t now_ns, uint64_t watchdog_ns)
{
    begin(p, now_ns);
    uint32_t taken = 0;
    for (unsigned i = 0; i < p->resources; i++) {
        if (expiry(p, i, watchdog_ns) > now_ns)
            continue;
        take_back(p, i);
        taken |= GS_MASK(i);
    }
    serve(p, taken, now_ns);
    return taken;
}

/* ---- looking on ---- */

const struct gs_policy_offence *gs_policy_offence(const struct gs_policy_state *p)
{
    return &p->offence;
}

bool gs_policy_is_behind(const struct gs_policy_state *p, uint32_t client)
{
    return p->w[client].behind;
}

void gs_policy_view(const struct gs_policy_state *p, unsigned resource, struct gs_policy_view *view)
{
    const struct resource *r = &p->r[resource];
    *view = (struct gs_policy_view){.holder = r->holder,
                                    .asked = r->asked,
                                    .alone = r->alone,
                                    .units = r->units,
                                    .grants = r->grants,
                                    .handovers = r->handovers};
}

const struct gs_policy_request *gs_policy_waiting(const struct gs_policy_state *p, uint32_t client, unsigned i)
{
    const struct waiter *w = &p->w[client];
    return i < w->n ? &w->queue[i] : NULL;
}

uint64_t gs_policy_share_ns(const struct gs_policy_state *p, uint32_t client, unsigned kind)
{
    return kind < KINDS ? p->w[client].share_ns[kind] : 0;
}
