/* SPDX-License-Identifier: MIT */
#include "scheduler/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* One thread only: a client that lets thousands sleep here wakes them in its own time, not in the daemon's. */
void gs_lease_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wake_one(const struct gs_lease_side *s, _Atomic uint32_t *word)
{
    if (s->waker.wake)
        s->waker.wake(s->waker.ctx, s->waker.conn, word);
    else
        gs_lease_wake(word);
}

/* Nobody opens the file again, by /proc/self/fd, and so nobody watches it (inotify): whoever has it last, as the daemon
 * may when a client leaves, would wake all who wait for news of its end. */
static bool let_nobody_watch(int fd)
{
    return fchmod(fd, 0) == 0;
}

/* The file's memory can be written, but neither taken out nor put in (fallocate, MADV_REMOVE): whoever touches a page
 * meanwhile waits for it, and a client that is without a processor would let the daemon wait. No seal forbids that and
 * allows to map it. */
static bool keep_whole(int fd)
{
    int flags = FS_IMMUTABLE_FL;
    return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

/* The client gets an open file of its own, not the daemon's: its locks are gone with its own last descriptor, and not
 * taken away one by one when the daemon ends the session. */
int gs_lease_open(struct gs_lease_side *s, int *out)
{
    char path[32];
    const int own = memfd_create("gpusparc", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (own < 0)
        return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", own);
    const int given = open(path, O_RDWR | O_CLOEXEC);
    void *p = MAP_FAILED;
    if (given >= 0 && let_nobody_watch(own) && ftruncate(own, GS_PAGE_BYTES) == 0 &&
        fcntl(own, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        p = mmap(NULL, GS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    const int err = p == MAP_FAILED ? -errno : 0;
    s->whole = err == 0 && keep_whole(own);
    close(own);
    if (err < 0) {
        if (given >= 0)
            close(given);
        return err;
    }
    s->page = p;
    s->page->magic = GS_WIRE_MAGIC;
    s->page->version = GS_WIRE_VERSION;
    for (unsigned r = 0; r < GS_MAX_RESOURCES; r++)
        s->generation[r] = 0;
    *out = given;
    return 0;
}

void gs_lease_close(struct gs_lease_side *s)
{
    if (s->page)
        munmap(s->page, GS_PAGE_BYTES);
    s->page = NULL;
}

/* Replaces the word whatever it was. */
static void put(struct gs_lease_side *s, unsigned resource, uint32_t flags)
{
    _Atomic uint32_t *word = &s->page->lease[resource].word;
    s->generation[resource]++;
    uint32_t old = atomic_exchange(word, GS_LEASE_WORD(s->generation[resource], flags));
    if (old & GS_LEASE_WAITED)
        wake_one(s, word);
}

/* Somebody waits for the client's units: who looks for their ends now and then is to look often. */
static void need_ends(struct gs_lease_side *s)
{
    atomic_fetch_add(&s->page->needed, 1);
    if (atomic_load(&s->page->watched))
        wake_one(s, &s->page->needed);
}

void gs_lease_begin(struct gs_lease_side *s, unsigned resource, bool ask)
{
    atomic_fetch_and(&s->page->yield, ~GS_MASK(resource));
    put(s, resource, GS_LEASE_LEASED | (ask ? GS_LEASE_ASK : 0) | 1);
    if (ask)
        need_ends(s);
}

void gs_lease_end(struct gs_lease_side *s, unsigned resource)
{
    put(s, resource, 0);
}

void gs_lease_yield(struct gs_lease_side *s, unsigned resource)
{
    atomic_fetch_or(&s->page->yield, GS_MASK(resource));
}

void gs_lease_add(struct gs_lease_side *s, unsigned resource)
{
    atomic_fetch_add(&s->page->lease[resource].word, 1);
}

static unsigned units_of(const struct gs_lease_side *s, unsigned resource, uint32_t word)
{
    bool ours = GS_LEASE_GENERATION(word) == s->generation[resource] && word & GS_LEASE_LEASED;
    return ours ? word & GS_LEASE_UNITS : 0;
}

unsigned gs_lease_ask(struct gs_lease_side *s, unsigned resource)
{
    _Atomic uint32_t *word = &s->page->lease[resource].word;
    uint32_t old = atomic_fetch_or(word, GS_LEASE_ASK);
    if (old & GS_LEASE_WAITED) {
        /* They wait for a unit of their own client's: now they have to stand in the queue like all others. */
        atomic_fetch_and(word, ~GS_LEASE_WAITED);
        wake_one(s, word);
    }
    if (!(old & GS_LEASE_ASK))
        need_ends(s);
    return units_of(s, resource, old);
}

void gs_lease_allow(struct gs_lease_side *s, unsigned resource)
{
    atomic_fetch_and(&s->page->lease[resource].word, ~GS_LEASE_ASK);
}

unsigned gs_lease_units(const struct gs_lease_side *s, unsigned resource)
{
    return units_of(s, resource, atomic_load(&s->page->lease[resource].word));
}

void gs_lease_answer(struct gs_lease_side *s, uint32_t slot, uint32_t serial, uint32_t state, unsigned resource)
{
    atomic_store(&s->page->slot[slot], GS_SLOT_WORD(serial, state, resource));
    wake_one(s, &s->page->slot[slot]);
}

void gs_lease_tell_sole(struct gs_lease_side *s, bool sole)
{
    atomic_store(&s->page->sole, sole);
}

void gs_lease_tell(struct gs_lease_side *s, const struct gs_told *told)
{
    struct gs_page *p = s->page;
    atomic_fetch_or(&p->told, 1);
    atomic_store(&p->gpus, told->gpus);
    atomic_store(&p->gpu_mask, told->gpu_mask);
    atomic_store(&p->kernel_chunk, told->kernel_chunk);
    atomic_store(&p->transfer_chunk, told->transfer_chunk);
    atomic_fetch_add(&p->told, 1);
}
