/* SPDX-License-Identifier: MIT */
/* See object.h, section sub_buffers.c. */
#include <unistd.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "shim/events/gates.h"
#include "shim/memory/bytes.h"

struct gs_place_window {
    struct gs_place_window *newer, *older;
    cl_mem mem;
    cl_mem_flags flags;
    struct gs_range range;
    /* The application uses it; only units need it; nobody needs it; the driver is releasing it. */
    enum { USED, RELEASED, LEFT, GOING } state;
    bool is_image;
    bool again; /* was LEFT, and is used again: older than the application knows */
    bool heard; /* see gs_sub_buffer_callback */
    bool early; /* goes without waiting for newer windows */
    bool met;   /* overlaps one that was there although the application had released it: see let_go_later */
};

static struct {
    pthread_mutex_t lock; /* each root's lists, and all below */
    unsigned outlasting;  /* windows not USED; 0: releases are in the application's order */
} windows = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(windows.lock, GS_RANK_PLACE_WINDOWS);

static void set_state(struct gs_place_window *w, int state)
{
    if (w->state == USED && state != USED)
        windows.outlasting++;
    else if (w->state != USED && state == USED)
        windows.outlasting--;
    w->state = state;
}

/* Does a newer window overlap w? used: only a newer window that is USED counts. */
static bool lies_below(const struct gs_place_window *w, bool used)
{
    const struct gs_place_window *n = w->newer;
    while (n && !(gs_ranges_overlap(n->range, w->range) && (!used || n->state == USED)))
        n = n->newer;
    return n;
}

static bool may_go(const struct gs_place_window *w)
{
    return w->state == LEFT && (w->early || !(w->met || lies_below(w, false)));
}

static struct gs_place_window *next_to_go(struct gs_place_window *w)
{
    while (w && !may_go(w))
        w = w->older;
    return w;
}

static void take_out(struct gs_place_window **newest, struct gs_place_window *w)
{
    *(w->newer ? &w->newer->older : newest) = w->older;
    if (w->older)
        w->older->newer = w->newer;
    set_state(w, USED); /* for the count in `outlasting` */
    free(w);
}

/* Releases w, or none if it is null, and what may go then. With the lock held. */
static void let_go(struct gs_place_window **newest, struct gs_place_window *w)
{
    for (; w; w = windows.outlasting ? next_to_go(*newest) : NULL) {
        set_state(w, GOING); /* stays in the list, so that older windows wait for the driver's call */
        pthread_mutex_unlock(&windows.lock);
        gs_release_now(w->mem); /* may call the application back */
        pthread_mutex_lock(&windows.lock);
        take_out(newest, w);
    }
}

/* Windows that have met wait for the application's user events, in the thread that releases: behind such an event their
 * commands may stand in a queue though their gates are open, and NVIDIA's driver crashes then (docs/drivers.md). */
static void let_go_later(void *object)
{
    enum { PAUSE_US = 2000 };
    struct gs_mem *root = object;
    if (atomic_load(&root->o.ctx->user_events)) {
        usleep(PAUSE_US);
        gs_gate_waits(let_go_later, root, true);
        return;
    }
    pthread_mutex_lock(&windows.lock);
    for (unsigned i = 0; i < root->o.ctx->n; i++) {
        for (struct gs_place_window *w = root->bytes->place[i].made; w; w = w->older)
            w->met = w->met && w->state != LEFT;
        let_go(&root->bytes->place[i].made, next_to_go(root->bytes->place[i].made));
    }
    pthread_mutex_unlock(&windows.lock);
    gs_drop(&root->o);
}

void gs_window_leave(struct gs_mem *root, unsigned place, struct gs_place_window *w)
{
    pthread_mutex_lock(&windows.lock);
    const bool later = w->met && !w->early;
    set_state(w, LEFT);
    let_go(&root->bytes->place[place].made, may_go(w) ? w : NULL);
    pthread_mutex_unlock(&windows.lock);
    if (!later)
        return;
    gs_hold(&root->o);
    gs_gate_waits(let_go_later, root, true);
}

bool gs_sub_buffer_released(struct gs_mem *m)
{
    struct gs_place_window *w = m->bytes->place[0].made;
    GS_LOCKED(&windows.lock);
    if (w->state != USED)
        return false;
    const bool needed = atomic_load(&m->o.holds) > 1, changed = needed || w->again || windows.outlasting;
    w->early = w->heard || !changed || (!w->again && lies_below(w, true));
    set_state(w, RELEASED);
    return true;
}

void gs_sub_buffer_callback(struct gs_mem *m)
{
    GS_LOCKED(&windows.lock);
    m->bytes->place[0].made->heard = true;
}

/* A LEFT sub-buffer of the same form, to be used again. */
static struct gs_place_window *left_before(struct gs_place_window *w, const struct gs_window_form *form)
{
    while (w && (w->state != LEFT || w->is_image || w->early || w->flags != form->flags ||
                 w->range.begin != form->range.begin || w->range.end != form->range.end))
        w = w->older;
    return w;
}

static cl_mem made_anew(struct gs_context *ctx, const struct gs_window_form *form, cl_int *err)
{
    if (form->format) {
        cl_image_desc desc = *form->desc;
        desc.mem_object = form->of;
        return gs_real()->clCreateImage(ctx->o.handle, form->flags, form->format, &desc, NULL, err);
    }
    const cl_buffer_region region = {(size_t)form->range.begin, (size_t)(form->range.end - form->range.begin)};
    return gs_real()->clCreateSubBuffer(form->of, form->flags, CL_BUFFER_CREATE_TYPE_REGION, &region, err);
}

struct gs_place_window *gs_window_make(struct gs_mem *root, unsigned place, const struct gs_window_form *form,
                                       cl_int *err)
{
    struct gs_place_window **newest = &root->bytes->place[place].made;
    GS_LOCKED(&windows.lock);
    struct gs_place_window *w = windows.outlasting && !form->format ? left_before(*newest, form) : NULL;
    *err = CL_SUCCESS;
    if (w) {
        set_state(w, USED);
        w->again = true;
        return w;
    }
    if (!(w = calloc(1, sizeof *w))) {
        *err = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    *w = (struct gs_place_window){
        .older = *newest, .flags = form->flags, .range = form->range, .is_image = form->format != NULL};
    if (!(w->mem = made_anew(root->o.ctx, form, err))) { /* with the lock: older windows can't go meanwhile */
        free(w);
        return NULL;
    }
    for (struct gs_place_window *n = windows.outlasting || place ? w->older : NULL; n; n = n->older)
        if ((place || n->state != USED) && gs_ranges_overlap(n->range, w->range))
            w->met = n->met = true; /* beside the first place it isn't known what the application has released */
    if (w->older)
        w->older->newer = w;
    return *newest = w;
}

cl_mem gs_window_mem(const struct gs_place_window *w)
{
    return w->mem;
}
