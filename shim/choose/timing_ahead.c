/* SPDX-License-Identifier: MIT */
/* What a launch waits for, and what is done ahead (see timing.h, gs_timing_await and gs_timing_prepare): a kernel's
 * first measurement, while the application goes on enqueueing; and preparing a program for splits, in a thread. */

#include "common/cache.h"
#include "common/log.h"
#include "shim/order/completion.h"
#include "shim/plan/upward.h"
#include "shim/process/threads.h"
#include "shim/choose/timing_book.h"

/* ---- the first measurement ---- */

enum {
    LITTLE_NS = 50 * 1000 * 1000, /* to wait for a first measurement, in any case */
    AWAITED_SHARE = 8,            /* of the time elapsed, one part for all such waits */
    COMPILING_NS = 1000 * 1000 * 1000,
    TIMES = 2 * GS_CHOICE_TRIES, /* to wait for splits' times, in all, as a multiple of one device's time */
};
static const double in_multi_ns = 2e9; /* the same in multi mode */

/* Is the kernel's time unknown, and may a measurement tell? */
static bool is_new(const struct gs_timing *t)
{
    return gs_settings()->mode == GS_MODE_AUTO && gs_choice_not_measured(&t->h) && !t->h.failures &&
           !gs_choice_is_short(&t->h, &gs_book.machine, t->at->n);
}

/* Are splits under way whose times aren't known, so that more splits may be a loss? The first ones; or, where devices
 * differ, one that is to show whether the cut is right. Not such as say nothing (windows were opened). */
static bool splits_unheard(const struct gs_timing *t)
{
    const struct gs_balance *b = &t->h.balance;
    const bool cut = gs_book.machine.unlike && (!b->n || (b->before_ns && !b->measured));
    const bool tries = t->h.last_split && t->h.tried >= GS_CHOICE_TRIES && !gs_choice_split_known(&t->h);
    return (cut || tries) && gs_measured_splits(t);
}

/* The longest wait for t's first measurement. Before that launch begins the driver may be compiling: all such waits
 * together take a second at most. After its begin: a little, and as long as the launches since should take. */
static uint64_t most_for_first_ns(const struct gs_timing *t)
{
    const uint64_t left = (gs_now_ns() - gs_book.budget.begin_ns) / AWAITED_SHARE,
                   share = left > gs_book.awaited_ns ? left - gs_book.awaited_ns : 0;
    const uint64_t little = share < LITTLE_NS ? share : LITTLE_NS;
    if (!t->begun && gs_book.machine.compiles && gs_book.compiled_ns < COMPILING_NS)
        return little + COMPILING_NS - gs_book.compiled_ns;
    return little + (uint64_t)((double)t->h.launches * t->h.running_ns);
}

/* Should the application wait for a measurement? more_ns: the wait since the last question. */
static bool awaits(struct gs_timing *t, uint64_t more_ns)
{
    GS_LOCKED(&gs_book.lock);
    bool first = is_new(t), splits = splits_unheard(t);
    if (first || splits) {
        const bool had_begun = t->begun;
        if (first && !t->begun && gs_book.machine.compiles)
            gs_book.compiled_ns += more_ns;
        else if (first)
            gs_book.awaited_ns += more_ns;
        else
            t->tries_ns += more_ns;
        t->awaited_ns += first ? more_ns : 0;
        gs_measured_look();
        if (t->begun && !had_begun)
            t->awaited_ns = 0;
        const bool measuring = t->h.tried ? t->h.tried >= GS_CHOICE_TRIES : t->h.asked;
        /* Before any try, a long-running launch may be enough to know. */
        const bool enough = !t->h.tried && t->h.running_ns > 0 &&
                            gs_choice_may_gain(&t->h, &gs_book.machine, t->at->n, gs_prepare_cost_ns(t));
        first = is_new(t) && measuring && !enough && t->awaited_ns < most_for_first_ns(t);
        /* In multi mode one device's time is unknown. */
        const double most_ns =
            gs_settings()->mode == GS_MODE_AUTO ? (double)TIMES * t->h.single_ns + (double)LITTLE_NS : in_multi_ns;
        splits = !is_new(t) && splits_unheard(t) && (double)t->tries_ns < most_ns;
    }
    return first || splits;
}

/* Flushes the command's queue, for commands that must end before. Without locks. */
static void flush(const struct gs_command *cmd)
{
    GS_LOCKED(&cmd->ctx->lock);
    gs_command_flush(cmd->q);
}

void gs_timing_await(struct gs_timing *t, const struct gs_command *cmd)
{
    enum { SHORTEST_NS = 20000, LONGEST_NS = 5000000, SHARE = 8 }; /* each look asks the driver */
    const uint64_t begin_ns = gs_now_ns();
    uint64_t waited_ns = 0, before_ns = 0;
    if (atomic_load(&cmd->ctx->user_events) || gs_in_callback())
        return;
    while (awaits(t, waited_ns - before_ns)) {
        const uint64_t share_ns = waited_ns / SHARE, most_ns = share_ns < LONGEST_NS ? share_ns : LONGEST_NS;
        if (!waited_ns)
            flush(cmd);
        nanosleep(&(struct timespec){0, (long)(most_ns > SHORTEST_NS ? most_ns : SHORTEST_NS)}, NULL);
        before_ns = waited_ns;
        waited_ns = gs_now_ns() - begin_ns;
    }
    if (waited_ns)
        gs_debug("%s: waited %.1f ms for what its launches take", t->at->name, (double)waited_ns / 1e6);
}

/* ---- programs ---- */

enum {
    MOST_PATIENCE_NS = 1000 * 1000000, /* to wait for a translation */
    CACHED_NS = 20 * 1000 * 1000, /* NVIDIA's driver loads its compiler and reads its cache: bench/results/h200x2.md */
    AGAIN = 32,                   /* preparing again takes a part of the first time: one of so many */
};
static const double least_ns = 125e6, soon_ns = 200e6; /* to prepare a program: two H200s, bench/results/h200x2.md */

static bool on_cpu(void)
{
    return gs_group()->type & CL_DEVICE_TYPE_CPU;
}

/* How long NVIDIA's compiler took for the application's own build, once for all devices of a kind
 * (bench/results/h200x2.md). A build much quicker than the text's size suggests came from the driver's cache, so then
 * the size counts: NVIDIA's compiler takes 2.3 s for CLBlast's 138 KB, PoCL 2.5 s for 370 KB and two devices
 * (Mandelbulber). PoCL's builds say little, since most compiling comes with the first launches. */
double gs_compile_ns(const struct gs_program *p)
{
    enum { CPU_BYTE_NS = 4000, BYTE_NS = 16000, CACHED = 8 };
    const double built = (double)atomic_load(&p->build_ns), bytes = (double)atomic_load(&p->text_bytes);
    if (on_cpu())
        return CPU_BYTE_NS * bytes * p->o.ctx->n;
    return built > BYTE_NS * bytes / CACHED ? built : BYTE_NS * bytes;
}

double gs_prepare_ns(const struct gs_timing *t, const struct gs_program *p)
{
    const double own = (double)atomic_load(&p->prepare_ns), before = t->prepare_ns;
    return own > 0 ? own : before > 0 ? before : AGAIN * (double)atomic_load(&p->built_ns);
}

/* A program that was prepared before comes from the translator's cache and the driver's, but for PoCL's last step. Else
 * the whole cost has to be won, on GPUs twice: how many launches come is a guess, and an application waits for NVIDIA's
 * compiler, 22 to 39 ms or all of its time (docs/choice.md), as the process's end does. */
double gs_prepare_cost_ns(const struct gs_timing *t)
{
    enum { CACHED_CPU = 4, TWICE = 2 };
    return t->prepare_ns > 0 ? t->prepare_ns / (on_cpu() ? CACHED_CPU : AGAIN)
                             : gs_max(t->compile_ns, least_ns) * (on_cpu() ? 1 : TWICE);
}

/* Would it pay if the program, never prepared, had been prepared before this process? With the lock held. */
static bool pays_later(const struct gs_timing *t)
{
    static const double most_ns = 30e6; /* 7 to 30 ms of what had taken 0.6 to 5.8 s (six programs, two H200) */
    const double cost = gs_min(gs_max(t->compile_ns, least_ns) / AGAIN, most_ns);
    return t->prepare_ns <= 0 && !t->h.failures && gs_choice_may_gain(&t->h, &gs_book.machine, t->at->n, cost);
}

/* How long the application may wait for a program that comes from caches, as an earlier process has prepared it: half
 * of this launch's expected gain (docs/choice.md). 0: not long enough. */
static uint64_t patience_ns(struct gs_timing *t)
{
    enum { SHARE = 2 };
    GS_LOCKED(&gs_book.lock);
    const double most = gs_min((t->h.single_ns - t->h.split_ns) / (double)SHARE, (double)MOST_PATIENCE_NS);
    const double expected = on_cpu() ? t->prepare_ns : gs_min(t->prepare_ns, (double)CACHED_NS);
    return t->waited || t->prepare_ns <= 0 || most < expected ? 0 : (uint64_t)most;
}

/* Is an earlier launch still running, or will several run for a while? */
static bool is_busy(struct gs_timing *t, const struct gs_command *cmd)
{
    enum { FOR_A_WHILE_NS = 1000000 };
    if (atomic_load(&cmd->ctx->user_events))
        return false;
    GS_LOCKED(&gs_book.lock);
    gs_measured_look();
    return (t->h.asked && !t->h.single.n) || atomic_load(&cmd->q->times->busy_until_ns) > gs_now_ns() + FOR_A_WHILE_NS;
}

/* The program is being prepared: waits while the device is busy, two seconds at most. */
static void await_beside(struct gs_timing *t, const struct gs_command *cmd, const struct gs_program *p)
{
    enum { MOST_BUSY_NS = 2000000000 };
    const uint64_t begin_ns = gs_now_ns();
    if (gs_in_callback() || !atomic_load(&p->preparing) || !is_busy(t, cmd))
        return;
    flush(cmd);
    while (atomic_load(&p->preparing) && is_busy(t, cmd) && gs_now_ns() - begin_ns < MOST_BUSY_NS)
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

static void leave_for_later(struct gs_timing *t, struct gs_program *p)
{
    bool later = false;
    if (gs_later_look(p)) {
        GS_LOCKED(&gs_book.lock);
        later = pays_later(t);
    }
    if (later)
        gs_later_write(p);
}

void gs_leave_for_later(struct gs_timing *t)
{
    struct gs_program *p = gs_find_hold(GS_PROGRAM, atomic_exchange(&t->asks, NULL));
    if (p && atomic_load(&p->id) == t->at->program) /* else the handle is another's by now */
        leave_for_later(t, p);
    if (p)
        gs_drop(&p->o);
}

const char *gs_timing_prepare(struct gs_timing *t, const struct gs_command *cmd, struct gs_program *p)
{
    const char *reason;
    if (!gs_timing_may_plan(t, false, &reason)) {
        if (strcmp(reason, GS_R_NOT_KNOWN) == 0)
            atomic_store(&t->asks, p->o.handle);
        leave_for_later(t, p);
        return reason;
    }
    gs_prepare_by_thread(p, patience_ns(t));
    await_beside(t, cmd, p);
    if (gs_prepared(p))
        return NULL;
    GS_LOCKED(&gs_book.lock);
    t->h.launches++;
    t->h.reason = GS_R_TRANSLATING;
    t->h.last_split = false;
    t->waited = true;
    gs_timing_log(t);
    return GS_R_TRANSLATING;
}

/* Should the program be prepared for the kernel's first launch: has the kernel gained by splits before, or was there
 * never time for a try? Multi mode splits kernels that were split before. */
static bool will_split(struct gs_timing *t)
{
    if (gs_settings()->mode != GS_MODE_AUTO)
        return t->h.balance.n;
    return (gs_choice_split_known(&t->h) || !t->h.failures) &&
           gs_choice_may_gain(&t->h, &gs_book.machine, t->at->n, gs_prepare_cost_ns(t));
}

void gs_timing_prepare_known(struct gs_program *p, const char *name)
{
    bool worth = false;
    if (p && gs_later_compiles() && !p->refusal) {
        gs_later_compile(p);
        return;
    }
    if (!p || !gs_book_is_kept(p->o.ctx) || atomic_load(&p->preparing) || p->refusal)
        return;
    gs_book_open(p->o.ctx);
    if (!gs_sizes() || gs_prepared(p))
        return;
    const uint64_t program = gs_program_id(p);
    gs_later_look(p);
    pthread_mutex_lock(&gs_book.lock);
    for (struct gs_timing *t = NULL; (t = gs_book_next(t, program, name, p->o.ctx->n));) {
        t->compile_ns = gs_compile_ns(p);
        t->prepare_ns = gs_prepare_ns(t, p);
        worth |= will_split(t);
    }
    pthread_mutex_unlock(&gs_book.lock);
    if (worth)
        gs_prepare_by_thread(p, 0);
}

/* The program is translated: is compiling the translation worth its cost, for any kernel? Any thread. */
static bool may_gain(struct gs_program *p)
{
    const uint64_t program = atomic_load(&p->id);
    bool pays = gs_settings()->mode != GS_MODE_AUTO;
    GS_LOCKED(&gs_book.lock);
    for (struct gs_timing *t = NULL; !pays && (t = gs_book_next(t, program, NULL, p->o.ctx->n));) {
        struct gs_history h = t->h;
        h.launches++; /* the launch that asks may not be counted yet */
        t->compile_ns = gs_compile_ns(p);
        pays = gs_choice_may_gain(&h, &gs_book.machine, t->at->n, gs_prepare_cost_ns(t));
    }
    return pays;
}

/* Keeps the time that preparing took, even if no launch follows. Splits may need our own kernels. Any thread. */
static void compiled(struct gs_program *p)
{
    enum { MANY = 4 };
    const uint64_t program = atomic_load(&p->id);
    const double took = (double)atomic_load(&p->prepare_ns);
    bool wrong = false;
    pthread_mutex_lock(&gs_book.lock);
    for (struct gs_timing *t = NULL; program && (t = gs_book_next(t, program, NULL, p->o.ctx->n));)
        wrong |= !on_cpu() && t->prepare_ns > 0 && took > gs_max(MANY * gs_prepare_cost_ns(t), soon_ns);
    if (wrong) /* the driver's cache hadn't got it: preparing will take as long again */
        atomic_store(&p->prepare_ns, (uint64_t)(AGAIN * took));
    for (struct gs_timing *t = NULL; program && (t = gs_book_next(t, program, NULL, p->o.ctx->n));)
        t->prepare_ns = (double)atomic_load(&p->prepare_ns);
    gs_later_compiled(p);
    pthread_mutex_unlock(&gs_book.lock);
    if (gs_threads_own())
        gs_own_compile(p->o.ctx);
}

const struct gs_above_plan gs_above_plan = {.pays = may_gain, .compiled = compiled};
