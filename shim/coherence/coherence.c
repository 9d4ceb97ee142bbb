/* SPDX-License-Identifier: MIT */
#include "shim/coherence/coherence.h"

#include "common/log.h"
#include "shim/coherence/prefetch.h"
#include "shim/memory/bytes.h"
#include "shim/transfer/transfer.h"

/* With no memory to note the range, the whole object is given up, as if the device were lost. */
void gs_spoil(struct gs_mem *root, struct gs_range r)
{
    if (gs_rangeset_add(&root->bytes->spoiled, r) < 0)
        root->bytes->lost = root->home_only = true;
}

/* The bytes never arrived. Bytes valid nowhere else stay: they were written here since. */
static void distrust(struct gs_mem *root, unsigned place, const struct gs_rangeset *bytes)
{
    struct gs_rangeset elsewhere = {0};
    int err = 0;
    gs_debug("a transfer to device %u failed", place);
    for (unsigned i = 0; i < root->o.ctx->n && !err; i++)
        if (i != place)
            err = gs_rangeset_common_set(&root->bytes->place[i].valid, bytes, &elsewhere);
    if (!err)
        err = gs_rangeset_remove_set(&root->bytes->place[place].valid, &elsewhere);
    gs_rangeset_free(&elsewhere);
    for (size_t i = 0; i < bytes->n && err; i++)
        gs_spoil(root, bytes->v[i]);
}

/* Transfers end in the order of their queue, so the search stops at the first that is under way. */
static void settle_arrivals(struct gs_mem *root, unsigned place)
{
    struct gs_replica *r = &root->bytes->place[place];
    size_t n = 0;
    for (cl_int status; n < r->n_pending && (status = gs_event_status(r->pending[n].event)) <= CL_COMPLETE; n++) {
        if (status < CL_COMPLETE)
            distrust(root, place, &r->pending[n].brings);
        gs_pending_drop(&r->pending[n]);
    }
    if (n && n < r->n_pending)
        memmove(r->pending, r->pending + n, (r->n_pending - n) * sizeof *r->pending);
    r->n_pending -= n;
}

void gs_settle(struct gs_mem *root)
{
    for (unsigned i = 0; i < root->o.ctx->n; i++) {
        struct gs_replica *r = &root->bytes->place[i];
        if (r->n_pending)
            settle_arrivals(root, i);
        if (r->ready && gs_event_ended(r->ready))
            gs_event_replace(&r->ready, NULL);
    }
    if (root->bytes->split_end) {
        const cl_int status = gs_event_status(root->bytes->split_end);
        if (status < CL_COMPLETE) {
            gs_spoil(root, (struct gs_range){0, root->size});
            gs_compound_look(root->o.ctx, NULL);
        }
        if (status <= CL_COMPLETE)
            gs_event_replace(&root->bytes->split_end, NULL);
    }
}

cl_int gs_check_spoiled(const struct gs_mem *root, struct gs_range r)
{
    const bool spoiled = root->bytes->lost || (root->bytes->spoiled.n && gs_rangeset_touches(&root->bytes->spoiled, r));
    return spoiled ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int gs_undo(struct gs_mem *root, unsigned place, const struct gs_rangeset *changed)
{
    struct gs_rangeset lost = {0};
    int err = gs_rangeset_copy(&lost, changed);
    if (!err)
        err = gs_rangeset_remove_set(&root->bytes->place[place].valid, changed);
    for (unsigned i = 0; i < root->o.ctx->n && !err; i++)
        err = gs_rangeset_remove_set(&lost, &root->bytes->place[i].valid);
    if (!err)
        err = gs_rangeset_remove_set(&lost, &root->bytes->undefined);
    const cl_int result = err || lost.n ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (err)
        gs_spoil(root, (struct gs_range){0, root->size});
    for (size_t i = 0; i < lost.n && !err; i++)
        gs_spoil(root, lost.v[i]);
    gs_rangeset_free(&lost);
    return result;
}

void gs_split_writes(struct gs_mem *root, cl_event end)
{
    if (gs_real()->clRetainEvent(end) == CL_SUCCESS)
        gs_event_replace(&root->bytes->split_end, end);
}

bool gs_at_home(struct gs_mem *root, struct gs_range r)
{
    gs_settle(root);
    return !root->bytes->place[0].ready && gs_rangeset_contains(&root->bytes->place[0].valid, r) &&
           gs_check_spoiled(root, r) == CL_SUCCESS;
}

/* The bytes of `missing` that `from` holds. `settled`: leaves out bytes that may still be on their way to `from`. */
static int find_given(const struct gs_mem *root, unsigned from, bool settled, const struct gs_rangeset *missing,
                      struct gs_rangeset *given)
{
    const struct gs_replica *place = &root->bytes->place[from];
    int err = gs_rangeset_common_set(&place->valid, missing, given);
    for (size_t i = 0; i < place->n_pending && !err && settled && given->n; i++)
        err = gs_rangeset_remove_set(given, &place->pending[i].brings);
    return err;
}

/* A place that takes bytes: the bytes missing there, and bytes that other places may be reading there meanwhile. */
struct target {
    const struct gs_need *need;
    struct gs_rangeset *missing, read;
};

/* Lets `from` send the missing bytes that it holds, and takes these off `missing`. Gaps travel along, but for bytes in
 * t->read; not while a call reads or writes without the context's lock, whose bytes a gap could overwrite. */
static int send_from(const struct gs_mem *root, unsigned from, bool settled, const struct target *t,
                     struct gs_sends *sends)
{
    const struct gs_need *to = t->need;
    struct gs_rangeset given = {0}, along = {0}, sent = {0};
    int err = find_given(root, from, settled, t->missing, &given);
    if (!err && !root->bytes->uses)
        err = gs_rangeset_rest(&root->bytes->place[from].valid, &t->read, &along);
    for (size_t i = 0; i < given.n && !err;) {
        /* Bands of an image are boxes of whole rows already. */
        const struct gs_rect r = root->image ? gs_one_row(given.v[i++]) : gs_rect_next(&given, &i, &along);
        const struct gs_send send = {
            .from = from, .rect = r, .n = 1, .to = {{.place = to->place, .part = to->part, .done = to->done}}};
        err = gs_sends_add(sends, &send);
        if (!err)
            err = gs_rect_add_rows(&r, &sent);
    }
    if (!err)
        err = gs_rangeset_remove_set(t->missing, &sent);
    gs_rangeset_free(&given);
    gs_rangeset_free(&along);
    gs_rangeset_free(&sent);
    return err;
}

/* For each of n places: bytes that the other places may fetch from there, and the gaps between. */
static int find_read(const struct gs_mem *root, struct target *t, unsigned n)
{
    int err = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n && !err; k++) {
            struct gs_rangeset both = {0};
            if (k != i)
                err = gs_rangeset_common_set(&root->bytes->place[t[i].need->place].valid, t[k].missing, &both);
            if (!err)
                err = gs_rect_reach(&both, &t[i].read);
            gs_rangeset_free(&both);
        }
    return err;
}

/* Finds senders for the bytes missing at each of n places: a different one for each, if several have the bytes. */
static int find_senders(const struct gs_mem *root, const struct gs_need *w, unsigned n, struct gs_rangeset *missing,
                        struct gs_sends *sends)
{
    const unsigned places = root->o.ctx->n;
    struct target t[GS_MAX_DEVICES];
    for (unsigned i = 0; i < n; i++)
        t[i] = (struct target){&w[i], &missing[i], {0}};
    int err = find_read(root, t, n);
    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < n && !err; i++)
            for (unsigned step = 1; step < places && !err && missing[i].n; step++)
                err = send_from(root, (w[i].place + step) % places, pass == 0, &t[i], sends);
    for (unsigned i = 0; i < n; i++)
        gs_rangeset_free(&t[i].read);
    return err;
}

static cl_int find_missing(const struct gs_mem *root, unsigned place, const struct gs_rangeset *want, bool exactly,
                           struct gs_rangeset *missing)
{
    if (gs_rangeset_contains_set(&root->bytes->place[place].valid, want))
        return CL_SUCCESS;
    int err = gs_rangeset_copy(missing, want);
    if (!err)
        err = gs_rangeset_remove_set(missing, &root->bytes->place[place].valid);
    if (!err && !exactly && missing->n)
        err = gs_rangeset_remove_set(missing, &root->bytes->undefined);
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

int gs_count_invalid(const struct gs_mem *root, unsigned place, const struct gs_rangeset *want, uint64_t *bytes,
                     uint64_t *pieces)
{
    struct gs_rangeset missing = {0};
    if (root->shared)
        return 0;
    const int err = find_missing(root, place, want, false, &missing) ? -ENOMEM : 0;
    *bytes += gs_rangeset_bytes(&missing);
    *pieces += gs_rect_count(&missing, NULL);
    gs_rangeset_free(&missing);
    return err;
}

int gs_count_prefetched(const struct gs_mem *root, unsigned place, const struct gs_rangeset *want, uint64_t *bytes,
                        uint64_t *pieces)
{
    const struct gs_rangeset *brought = root->bytes->prefetch ? gs_prefetched(root->bytes->prefetch) : NULL;
    struct gs_rangeset both = {0};
    const int err = brought ? gs_rangeset_common_set(&brought[place], want, &both) : 0;
    *bytes += gs_rangeset_bytes(&both);
    *pieces += gs_rect_count(&both, NULL);
    gs_rangeset_free(&both);
    return err;
}

bool gs_home_is_invalid(const struct gs_mem *root, struct gs_range r)
{
    uint64_t bytes = 0, pieces = 0;
    const struct gs_rangeset range = {.v = &r, .n = r.begin < r.end};
    return gs_count_invalid(root, 0, &range, &bytes, &pieces) < 0 || bytes;
}

static cl_int look_for_missing(struct gs_command *cmd, struct gs_mem *root, const struct gs_need *w, unsigned n,
                               bool exactly, struct gs_rangeset *missing)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < n && !err; i++) {
        if (w[i].place)
            atomic_store(&cmd->ctx->spread, true);
        if (w[i].bytes->n && (root->bytes->lost || gs_rangeset_overlap(&root->bytes->spoiled, w[i].bytes)))
            err = CL_OUT_OF_RESOURCES;
        else
            err = find_missing(root, w[i].place, w[i].bytes, exactly, &missing[i]);
        if (!w[i].place && !cmd->turns_back)
            root->bytes->traffic.fetched += gs_rangeset_bytes(&missing[i]);
    }
    return err;
}

/* Notes what a launch in parts fetches, for gs_prefetch_root. Not of the application's own memory, which it may free
 * once it has waited for its commands and let the object go. */
static void note_fetched(struct gs_mem *root, const struct gs_need *w, unsigned n, const struct gs_rangeset *missing)
{
    enum { SHARE = 4 }; /* of the root: what is more isn't worth its bytes if it comes in vain */
    for (unsigned i = 0; i < n; i++) {
        if (!root->bytes->prefetch && missing[i].n && !(root->flags & CL_MEM_USE_HOST_PTR))
            root->bytes->prefetch = gs_prefetch_new(root->o.ctx->n, root->size / SHARE);
        if (root->bytes->prefetch)
            gs_prefetch_note(root->bytes->prefetch, w[i].place, w[i].bytes, &missing[i]);
    }
}

cl_int gs_require_all(struct gs_command *cmd, struct gs_mem *root, const struct gs_need *w, unsigned n, bool exactly)
{
    struct gs_rangeset missing[GS_MAX_DEVICES] = {{0}};
    struct gs_sends sends = {0};
    if (root->shared) {
        gs_compound_look(cmd->ctx, cmd->q); /* for shared bytes nothing else tells of failed writes */
        cl_int err = CL_SUCCESS;
        for (unsigned i = 0; i < n && !err; i++) {
            err = gs_make_room(cmd, root, &w[i]);
            err = err ? err : gs_compound_await(cmd->ctx, w[i].done);
        }
        return err;
    }
    if (!cmd->settled && (!cmd->serial || root->bytes->settled != cmd->serial))
        gs_settle(root);
    root->bytes->settled = cmd->serial;
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < n && !err; i++)
        err = gs_make_room(cmd, root, &w[i]);
    if (!err)
        err = look_for_missing(cmd, root, w, n, exactly, missing);
    if (!err && w[0].part >= 0)
        note_fetched(root, w, n, missing);
    for (unsigned i = 0; i < n && !err; i++)
        if (missing[i].n)
            err = gs_command_order(cmd);
    if (!err && find_senders(root, w, n, missing, &sends) < 0)
        err = CL_OUT_OF_HOST_MEMORY;
    if (!err && sends.n)
        err = gs_transfer(cmd, root, &sends);
    gs_sends_free(&sends);
    for (unsigned i = 0; i < n; i++) {
        gs_rangeset_free(&missing[i]);
        if (!err && root->bytes->place[w[i].place].ready)
            err = gs_events_share(w[i].done, root->bytes->place[w[i].place].ready);
        if (!err)
            err = gs_compound_await(cmd->ctx, w[i].done);
    }
    return err;
}

void gs_prefetch_root(struct gs_command *cmd, struct gs_mem *root)
{
    const struct gs_rangeset *next = root->bytes->prefetch ? gs_prefetch_next(root->bytes->prefetch) : NULL;
    struct gs_need w[GS_MAX_DEVICES];
    struct gs_events done = {0};
    unsigned n = 0;
    for (unsigned i = 0; next && !root->bytes->uses && i < root->o.ctx->n; i++)
        if (next[i].n)
            w[n++] = (struct gs_need){.place = i, .part = -1, .bytes = &next[i], .done = &done};
    if (n)
        gs_events_free(&cmd->before); /* only the parts need have ended */
    if (n && gs_events_share_all(&cmd->before, &cmd->ended) == CL_SUCCESS)
        gs_require_all(cmd, root, w, n, false); /* what it can't bring the next launch fetches */
    gs_command_prefetches(cmd, &done);
    gs_events_free(&done);
}

cl_int gs_require_home(struct gs_command *cmd, struct gs_mem *root, struct gs_range want, struct gs_events *done)
{
    const struct gs_rangeset set = {.v = &want, .n = want.begin < want.end};
    const struct gs_need w = {.part = -1, .bytes = &set, .done = done};
    return gs_require_all(cmd, root, &w, 1, false);
}

struct change {
    struct gs_rangeset *set, to;
};

/* Makes all new sets before any replaces its old one, so -ENOMEM changes nothing. */
static int make_changes(struct gs_mem *root, unsigned place, const struct gs_rangeset *what, struct change *v,
                        unsigned *n)
{
    struct gs_rangeset *without[GS_MAX_DEVICES + 2];
    unsigned k = 0;
    int err = 0;
    for (unsigned i = 0; i < root->o.ctx->n; i++)
        if (i != place)
            without[k++] = &root->bytes->place[i].valid;
    without[k++] = &root->bytes->undefined;
    without[k++] = &root->bytes->spoiled;
    struct gs_rangeset *valid = &root->bytes->place[place].valid;
    if (!gs_rangeset_contains_set(valid, what)) {
        err = gs_rangeset_sum(valid, what, &v[*n].to);
        v[*n].set = valid;
        *n += !err;
    }
    for (unsigned i = 0; i < k && !err; i++) {
        if (!gs_rangeset_overlap(without[i], what))
            continue;
        err = gs_rangeset_rest(without[i], what, &v[*n].to);
        v[*n].set = without[i];
        *n += !err;
    }
    return err;
}

void gs_host_use_begin(struct gs_side *use)
{
    struct gs_bytes *root = use->m->root->bytes;
    use->m->bytes->calls++;
    use->done = false;
    root->carried++;
    use->next = root->uses;
    root->uses = use;
}

void gs_host_use_done(struct gs_side *use)
{
    struct gs_side **at = &use->m->root->bytes->uses;
    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
    use->done = true;
}

void gs_host_use_end(struct gs_side *use)
{
    if (!use->done)
        gs_host_use_done(use);
    use->m->root->bytes->carried--;
    use->m->bytes->calls--;
}

cl_int gs_call_unlocked(const struct gs_command *cmd, struct gs_side *use, cl_uint n, const cl_event *v)
{
    gs_host_use_begin(use);
    pthread_mutex_unlock(&cmd->ctx->lock);
    const cl_int err = gs_enqueue(&cmd->op, cmd->queue, n, v, cmd->event);
    pthread_mutex_lock(&cmd->ctx->lock);
    gs_host_use_end(use);
    return err;
}

struct gs_traffic *gs_traffic(const struct gs_mem *root)
{
    return &root->bytes->traffic;
}

/* what: null for all bytes. */
static bool is_used(const struct gs_mem *root, const struct gs_rangeset *what, bool reads)
{
    const struct gs_side *use = root->bytes->uses;
    while (use && !((reads || use->writes) && (!what || gs_rangeset_touches(what, use->range))))
        use = use->next;
    return use;
}

bool gs_is_host_writing(const struct gs_mem *root, const struct gs_rangeset *what)
{
    return is_used(root, what, false);
}

bool gs_is_host_using(const struct gs_mem *root, const struct gs_rangeset *what)
{
    return is_used(root, what, true);
}

int gs_wrote(struct gs_mem *root, unsigned place, const struct gs_rangeset *what)
{
    struct change change[GS_MAX_DEVICES + 3] = {0};
    unsigned n = 0;
    if (root->shared) {
        atomic_store(&root->defined, true);
        return 0;
    }
    const int err = make_changes(root, place, what, change, &n);
    for (unsigned i = 0; i < n; i++) {
        gs_rangeset_free(err ? &change[i].to : change[i].set);
        if (!err)
            *change[i].set = change[i].to;
    }
    if (err)
        return err;
    if (place) {
        atomic_store(&root->o.ctx->spread, true);
        root->bytes->traffic.left += gs_rangeset_bytes(what);
    }
    if (!root->bytes->undefined.n)
        atomic_store(&root->defined, true);
    return 0;
}

void gs_note_write(struct gs_mem *root, unsigned place, struct gs_range what)
{
    if (what.begin == what.end || gs_wrote(root, place, &GS_ONE_RANGE(what)) == 0)
        return;
    gs_debug("there is no memory to note what is written");
    gs_spoil(root, what);
}

void gs_note_write_again(struct gs_mem *root, struct gs_range what)
{
    struct gs_rangeset at_home = {0};
    if (gs_rangeset_common(&root->bytes->place[0].valid, what, &at_home) < 0 || gs_wrote(root, 0, &at_home) < 0)
        gs_spoil(root, what);
    gs_rangeset_free(&at_home);
}

int gs_invalidate(struct gs_mem *root, struct gs_range what)
{
    int err = 0;
    for (unsigned p = 0; p < root->o.ctx->n && !err; p++)
        err = gs_rangeset_remove(&root->bytes->place[p].valid, what);
    return err;
}

cl_int gs_define(struct gs_mem *root)
{
    struct gs_rangeset undefined = {0};
    int err = gs_rangeset_copy(&undefined, &root->bytes->undefined);
    if (!err)
        err = gs_wrote(root, 0, &undefined);
    gs_rangeset_free(&undefined);
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

unsigned gs_holder(const struct gs_mem *root, struct gs_range r, uint64_t *end)
{
    for (unsigned i = 0; i < root->o.ctx->n; i++) {
        const struct gs_rangeset *valid = &root->bytes->place[i].valid;
        const size_t at = gs_rangeset_find(valid, r.begin);
        if (at == valid->n || valid->v[at].begin > r.begin)
            continue;
        *end = valid->v[at].end < r.end ? valid->v[at].end : r.end;
        return i;
    }
    /* an undefined byte that no place holds: any value will do */
    *end = r.begin + 1;
    return 0;
}

cl_int gs_ready_events(struct gs_command *cmd, struct gs_mem *src, unsigned from, struct gs_mem *dst, unsigned to,
                       struct gs_events *wait)
{
    struct gs_replica *places[2] = {&src->bytes->place[from], &dst->bytes->place[to]};
    cl_int err = gs_command_order(cmd);
    gs_settle(src);
    gs_settle(dst);
    if (!err)
        err = gs_events_share_all(wait, &cmd->before);
    if (!err)
        err = gs_compound_await(cmd->ctx, wait);
    for (int i = 0; i < 2; i++)
        if (places[i]->ready && !err)
            err = gs_events_share(wait, places[i]->ready);
    return err;
}

cl_int gs_gather_all(struct gs_command *cmd, struct gs_events *done)
{
    cl_int err = CL_SUCCESS;
    for (struct gs_mem *m = cmd->ctx->mems; m && !err; m = m->next)
        err = gs_require_home(cmd, m, (struct gs_range){0, m->size}, done);
    return err;
}
