/* SPDX-License-Identifier: MIT */
#include "shim/record/objects.h"

#include "common/lock/rank.h"

#include "shim/record/upward.h"

enum { BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };

static struct {
    pthread_rwlock_t lock;
    struct gs_object *_Atomic buckets[BUCKETS];
    /* The first object of each bucket, but for events, is here too until released: found without the lock. */
    struct {
        _Alignas(16) atomic_uintptr_t key; /* 0: none */
        struct gs_object *_Atomic object;
    } first[BUCKETS];
    pthread_once_t once;
    atomic_uint events; /* of ours */
} handles = {.lock = PTHREAD_RWLOCK_INITIALIZER, .once = PTHREAD_ONCE_INIT};
GS_RANKED(handles.lock, GS_RANK_OBJECTS);

static unsigned bucket_of(const void *handle)
{
    return (unsigned)((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >> (64 - BUCKET_BITS));
}

/* Handles of two objects are as far apart as the pointers that they begin with are long. */
static uintptr_t key_of(enum gs_type type, const void *handle)
{
    return (uintptr_t)handle + type;
}

static void set_up(void)
{
    pthread_atfork(NULL, NULL, gs_forked_begin);
}

static struct gs_object *find_locked(unsigned b, enum gs_type type, const void *handle)
{
    for (struct gs_object *o = handles.buckets[b]; o; o = o->next)
        if (o->handle == handle && o->type == type)
            return o;
    return NULL;
}

/* Holds the object, unless nobody holds it any more: such an object is as good as gone, though still in the table. */
static bool hold_if_held(struct gs_object *o)
{
    int holds = atomic_load(&o->holds);
    while (holds && !atomic_compare_exchange_weak(&o->holds, &holds, holds + 1))
        ;
    return holds;
}

static struct gs_object *find(enum gs_type type, const void *handle, bool hold)
{
    if (!handle || gs_forked() ||
        (type == GS_EVENT && !atomic_load_explicit(&handles.events, memory_order_relaxed))) /* it is the driver's */
        return NULL;
    unsigned b = bucket_of(handle);
    if (!atomic_load_explicit(&handles.buckets[b],
                              memory_order_acquire)) /* as most are of handles none of ours: events */
        return NULL;
    pthread_rwlock_rdlock(&handles.lock);
    struct gs_object *o = find_locked(b, type, handle);
    if (o && hold && !hold_if_held(o))
        o = NULL;
    pthread_rwlock_unlock(&handles.lock);
    return o;
}

void *gs_find(enum gs_type type, const void *handle)
{
    const unsigned b = bucket_of(handle);
    if (type != GS_EVENT && !gs_forked() &&
        atomic_load_explicit(&handles.first[b].key, memory_order_acquire) == key_of(type, handle))
        return atomic_load_explicit(&handles.first[b].object, memory_order_relaxed);
    return find(type, handle, false);
}

void *gs_find_hold(enum gs_type type, const void *handle)
{
    return find(type, handle, true);
}

void gs_insert(struct gs_object *o, enum gs_type type, void *handle, struct gs_context *ctx)
{
    pthread_once(&handles.once, set_up);
    o->type = type;
    o->handle = handle;
    o->ctx = ctx;
    atomic_init(&o->refs, 1);
    atomic_init(&o->holds, 1);
    if (ctx && &ctx->o != o)
        gs_hold(&ctx->o);
    unsigned b = bucket_of(handle);
    if (type == GS_EVENT)
        atomic_fetch_add(&handles.events, 1);
    pthread_rwlock_wrlock(&handles.lock);
    o->next = handles.buckets[b];
    handles.buckets[b] = o;
    const uintptr_t key = key_of(type, handle), first = atomic_load(&handles.first[b].key);
    if (type != GS_EVENT && (!first || first == key)) {
        atomic_store(&handles.first[b].object, o);
        atomic_store(&handles.first[b].key, key);
    }
    pthread_rwlock_unlock(&handles.lock);
}

struct gs_object *gs_retain(enum gs_type type, const void *handle)
{
    struct gs_object *o = gs_find_hold(type, handle); /* a thread of ours may be the last that holds it */
    if (!o || atomic_fetch_add(&o->refs, 1) == 0)
        return o;
    gs_drop(o);
    return NULL;
}

struct gs_object *gs_release(enum gs_type type, const void *handle)
{
    struct gs_object *o = gs_find(type, handle);
    return o && atomic_fetch_sub(&o->refs, 1) == 1 ? o : NULL;
}

static void take_out(struct gs_object *o)
{
    unsigned b = bucket_of(o->handle);
    pthread_rwlock_wrlock(&handles.lock);
    struct gs_object *before = NULL, *at = handles.buckets[b];
    for (; at && at != o; at = at->next)
        before = at;
    if (before)
        before->next = o->next;
    else
        handles.buckets[b] = o->next;
    if (atomic_load(&handles.first[b].object) == o)
        atomic_store(&handles.first[b].key, 0);
    pthread_rwlock_unlock(&handles.lock);
    if (o->type == GS_EVENT)
        atomic_fetch_sub(&handles.events, 1);
}

void gs_hold(struct gs_object *o)
{
    atomic_fetch_add(&o->holds, 1);
}

void gs_drop(void *record)
{
    struct gs_object *o = record;
    if (atomic_fetch_sub(&o->holds, 1) != 1)
        return;
    struct gs_context *ctx = o->ctx;
    bool is_context = o->type == GS_CONTEXT;
    take_out(o);
    gs_above_objects.destroy(o);
    if (ctx && !is_context)
        gs_drop(&ctx->o);
}

struct gs_mapping *gs_mapping_at(const struct gs_mem *m, const void *ptr)
{
    struct gs_mapping *map = m->mappings.newest;
    while (map && map->ptr != ptr)
        map = map->next;
    return map;
}

bool gs_mapping_take(struct gs_mem *m, const struct gs_mapping *map)
{
    struct gs_mapping **at = &m->mappings.newest;
    while (*at && *at != map)
        at = &(*at)->next;
    const bool is = *at;
    if (is)
        *at = map->next;
    return is;
}
