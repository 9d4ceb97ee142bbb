/* SPDX-License-Identifier: MIT */
#include "shim/objects.h"

#include <stdlib.h>

#include "shim/destroy.h"

enum { BUCKETS = 4096 };

/* Readers far outnumber writers, and each call of the application is a reader: one lock per bucket group. */
enum { LOCKS = 64 };
static struct gs_object *buckets[BUCKETS];
static pthread_rwlock_t locks[LOCKS];

/* The first object of each bucket, which was put there last, to be found without its lock, which costs as much as the
 * rest of a short call. Written with the lock held. A reader believes the object if the key is the same before and
 * after: the application doesn't release a handle that it is using, so that the object is still there. */
static struct {
    _Atomic uintptr_t key;            /* handle + type; 0: none */
    struct gs_object *_Atomic object; /* null: the bucket is empty */
} newest[BUCKETS];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool forked;

static void in_child(void)
{
    atomic_store(&forked, true);
}

static void set_up(void)
{
    for (int i = 0; i < LOCKS; i++)
        pthread_rwlock_init(&locks[i], NULL);
    pthread_atfork(NULL, NULL, in_child);
}

bool gs_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

static unsigned bucket_of(const void *handle)
{
    uint64_t x = (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u;
    return (unsigned)(x >> 52) % BUCKETS;
}

/* 0: it can't be told apart from the others. */
static uintptr_t key_of(enum gs_type type, const void *handle)
{
    return (uintptr_t)handle % 8 ? 0 : (uintptr_t)handle + type;
}

static void *find_newest(unsigned b, uintptr_t key)
{
    if (!key || atomic_load_explicit(&newest[b].key, memory_order_acquire) != key)
        return NULL;
    struct gs_object *o = atomic_load_explicit(&newest[b].object, memory_order_acquire);
    return atomic_load_explicit(&newest[b].key, memory_order_relaxed) == key ? o : NULL;
}

/* So are most of those of handles that are none of ours: events. */
static bool is_empty(unsigned b)
{
    return !atomic_load_explicit(&newest[b].object, memory_order_acquire);
}

static void set_newest(unsigned b, struct gs_object *o)
{
    atomic_store(&newest[b].key, 0);
    atomic_store(&newest[b].object, o);
    if (o)
        atomic_store(&newest[b].key, key_of(o->type, o->handle));
}

static struct gs_object *find_locked(unsigned b, enum gs_type type, const void *handle)
{
    for (struct gs_object *o = buckets[b]; o; o = o->next)
        if (o->handle == handle && o->type == type)
            return o;
    return NULL;
}

void *gs_find(enum gs_type type, const void *handle)
{
    if (!handle || gs_forked())
        return NULL;
    unsigned b = bucket_of(handle);
    struct gs_object *o = find_newest(b, key_of(type, handle));
    if (o || is_empty(b))
        return o;
    pthread_once(&once, set_up);
    pthread_rwlock_rdlock(&locks[b % LOCKS]);
    o = find_locked(b, type, handle);
    pthread_rwlock_unlock(&locks[b % LOCKS]);
    return o;
}

void *gs_find_hold(enum gs_type type, const void *handle)
{
    if (!handle || gs_forked())
        return NULL;
    unsigned b = bucket_of(handle);
    if (is_empty(b))
        return NULL;
    pthread_once(&once, set_up);
    pthread_rwlock_rdlock(&locks[b % LOCKS]);
    struct gs_object *o = find_locked(b, type, handle);
    /* Once nobody holds it it is as good as gone, though it may still be in the table. */
    int holds = o ? atomic_load(&o->holds) : 0;
    while (holds && !atomic_compare_exchange_weak(&o->holds, &holds, holds + 1))
        ;
    pthread_rwlock_unlock(&locks[b % LOCKS]);
    return holds ? o : NULL;
}

void gs_insert(struct gs_object *o, enum gs_type type, void *handle, struct gs_context *ctx)
{
    pthread_once(&once, set_up);
    o->type = type;
    o->handle = handle;
    o->ctx = ctx;
    atomic_init(&o->refs, 1);
    atomic_init(&o->holds, 1);
    if (ctx && &ctx->o != o)
        gs_hold(&ctx->o);
    unsigned b = bucket_of(handle);
    pthread_rwlock_wrlock(&locks[b % LOCKS]);
    o->next = buckets[b];
    buckets[b] = o;
    set_newest(b, o);
    pthread_rwlock_unlock(&locks[b % LOCKS]);
}

bool gs_retain(enum gs_type type, const void *handle)
{
    struct gs_object *o = gs_find(type, handle);
    if (o && atomic_fetch_add(&o->refs, 1) == 0)
        gs_hold(o);
    return o;
}

struct gs_object *gs_release(enum gs_type type, const void *handle)
{
    struct gs_object *o = gs_find(type, handle);
    return o && atomic_fetch_sub(&o->refs, 1) == 1 ? o : NULL;
}

static void take_out(struct gs_object *o)
{
    unsigned b = bucket_of(o->handle);
    pthread_rwlock_wrlock(&locks[b % LOCKS]);
    for (struct gs_object **at = &buckets[b]; *at; at = &(*at)->next) {
        if (*at == o) {
            *at = o->next;
            break;
        }
    }
    if (atomic_load(&newest[b].object) == o)
        set_newest(b, buckets[b]);
    pthread_rwlock_unlock(&locks[b % LOCKS]);
}

void gs_hold(struct gs_object *o)
{
    atomic_fetch_add(&o->holds, 1);
}

void gs_drop(struct gs_object *o)
{
    if (atomic_fetch_sub(&o->holds, 1) != 1)
        return;
    struct gs_context *ctx = o->ctx;
    bool is_context = o->type == GS_CONTEXT;
    take_out(o);
    gs_destroy(o);
    if (ctx && !is_context)
        gs_drop(&ctx->o);
}
