/* SPDX-License-Identifier: MIT */
#include "shim/client/client.h"

#include <errno.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/process/threads.h"
#include "shim/order/completion.h"
#include "shim/order/upward.h"
#include "shim/report/report.h"

enum { LOOK_AGAIN_NS = 500 * 1000 * 1000 };
enum { PATIENT_MS = 5000, NO_TASK_STATUS = 125 }; /* where a task is required */

static struct {
    pthread_mutex_t lock;                     /* one thread at a time looks for a daemon */
    bool said;                                /* that there is none */
    atomic_int_fast64_t used[GS_MAX_DEVICES]; /* bytes of memory objects on each place; without the lock */
} search = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(search.lock, GS_RANK_DAEMON_SEARCH);

/* ---- joining ---- */

/* --task-required: ends a process that can't be a task; by _exit, as the application's handlers may wait for us. */
static void end_unless_optional(void)
{
    if (gs_settings()->task_required)
        _exit(NO_TASK_STATUS);
}

static void notice(void *arg, int level, const char *text)
{
    (void)arg;
    if (level == GS_NOTICE_INFO)
        gs_debug("%s", text);
    else if (*text)
        gs_error("%s", text);
    if (level == GS_NOTICE_NO_TASK)
        end_unless_optional();
}

/* The client has joined: as the task that was wanted? */
static void check_task(struct gs_client *c)
{
    struct gs_client_mode mode;
    gs_client_mode(c, &mode);
    if (!gs_settings()->task_required || !mode.scheduled || (mode.task[0] && mode.priority > 0))
        return;
    if (!mode.task[0])
        gs_error("this program is no task of the daemon's config");
    end_unless_optional();
}

static void tell_memory(struct gs_client *c, unsigned place, int64_t bytes)
{
    if (c && bytes)
        gs_client_memory(c, gs_resource_of(place) - GS_RESOURCE_GPU(0), bytes);
}

void gs_memory_used(unsigned place, int64_t bytes)
{
    const int64_t before = atomic_fetch_add_explicit(&search.used[place], bytes, memory_order_relaxed);
    if (atomic_load_explicit(&gs_process.large, memory_order_relaxed))
        gs_report_holds(place, (uint64_t)(before + bytes), gs_group()->memory[place]);
    tell_memory(atomic_load(&gs_process.client), place, bytes);
}

/* 0, or -errno: -EAGAIN, no thread could be started. */
static int open_client(void)
{
    char path[128];
    gs_client_socket_path(path, sizeof path);
    if (access(path, F_OK) < 0)
        return -ENOENT;
    struct gs_client *c;
    const struct gs_client_options options = {.task = gs_settings()->task,
                                              .no_task = gs_settings()->pooled,
                                              .paced = gs_settings()->pace,
                                              .wide = gs_group()->type & CL_DEVICE_TYPE_GPU,
                                              .jobs = atomic_load(&gs_jobs_ended),
                                              .gpus = gs_group()->n ? gs_group()->n : 1,
                                              .hello_wait_ms = gs_settings()->task_required ? PATIENT_MS : 0,
                                              .notice = notice};
    const int err = gs_units_start_threads() ? gs_client_open(&c, &options) : -EAGAIN;
    if (err < 0) {
        gs_debug("the daemon can't be joined (error %d)", -err);
        return err;
    }
    check_task(c);
    for (unsigned p = 0; p < GS_MAX_DEVICES; p++)
        tell_memory(c, p, atomic_load(&search.used[p]));
    atomic_store(&gs_process.client, c);
    return 0;
}

/* There is no client yet, and it is time to look for a daemon. */
static void look_for_daemon(void)
{
    if (pthread_mutex_trylock(&search.lock) != 0)
        return;
    const int err = atomic_load(&gs_process.client) ? 0 : open_client();
    if (err == -EAGAIN && !search.said)
        gs_error("no thread could be started to wait for the daemon");
    else if (err && gs_settings()->task && !search.said)
        gs_error("there is no daemon: task %s runs unscheduled until one comes", gs_settings()->task);
    else if (err && gs_settings()->task_required && !gs_settings()->task)
        gs_error("there is no daemon: this program is no task");
    search.said |= err == -EAGAIN || (err && gs_settings()->task);
    if (err)
        end_unless_optional();
    atomic_store(&gs_process.look_at_ns, atomic_load(&gs_process.client) ? UINT64_MAX : gs_now_ns() + LOOK_AGAIN_NS);
    atomic_store(&gs_process.looked, true);
    pthread_mutex_unlock(&search.lock);
}

bool gs_look_scheduled(void)
{
    const struct gs_settings *s = gs_settings();
    if (gs_forked())
        return false;
    if (!atomic_load(&gs_process.looked))
        look_for_daemon();
    if (gs_online() || s->pace) {
        gs_threads_open_again(); /* the application still calls: threads serve again */
        return true;
    }
    if (atomic_load_explicit(&gs_job_open, memory_order_relaxed))
        gs_job_drop(); /* the daemon has gone during a job */
    return false;
}

/* ---- units ---- */

unsigned gs_resource_of(unsigned place)
{
    const struct gs_settings *s = gs_settings();
    /* The machine's number of the place's GPU, as `gpusparc devices` has it. */
    const unsigned number = s->spec == GS_SPEC_INDICES && place < s->spec_n ? s->spec_index[place] : place;
    return GS_RESOURCE_GPU(number < GS_MAX_GPUS ? number : place);
}

uint64_t gs_transfer_chunk(void)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    struct gs_client_mode mode = {0};
    if (c)
        gs_client_mode(c, &mode);
    return mode.scheduled ? mode.transfer_chunk : 0;
}

enum unit_action { STAYS = 1, GIVES_BACK };

/* What is missing in the table must not happen. */
static const struct {
    enum unit_action action;
    enum gs_unit_state to;
} unit_on[GS_UNIT_STATES][GS_UNIT_EVENTS] = {
    [GS_UNIT_QUEUED] = {[GS_UNIT_GRANT] = {STAYS, GS_UNIT_GRANTED}},
    [GS_UNIT_GRANTED] = {[GS_UNIT_FORGET] = {GIVES_BACK, GS_UNIT_QUEUED},
                         [GS_UNIT_SUBMIT] = {STAYS, GS_UNIT_SUBMITTED},
                         [GS_UNIT_FAILS] = {GIVES_BACK, GS_UNIT_FAILED}},
    [GS_UNIT_SUBMITTED] =
        {[GS_UNIT_COMPLETES] = {GIVES_BACK, GS_UNIT_COMPLETE}, [GS_UNIT_FAILS] = {GIVES_BACK, GS_UNIT_FAILED}},
};

void gs_unit_on(struct gs_unit *u, enum gs_unit_event event)
{
    enum gs_unit_state from = atomic_load(&u->state);
    while (unit_on[from][event].action && !atomic_compare_exchange_weak(&u->state, &from, unit_on[from][event].to))
        ;
    GS_CHECK(unit_on[from][event].action, "a unit's state", from, event);
    if (!unit_on[from][event].action)
        return;
    GS_NOTE("unit %p %d %d", (void *)u, (int)from, (int)unit_on[from][event].to);
    if (unit_on[from][event].action != GIVES_BACK)
        return;
    struct gs_client *c = atomic_load(&gs_process.client);
    GS_NOTE("give %p", (void *)u);
    if (c)
        gs_client_release(c, &u->grant);
}

/* Returns `granted`, which says whether the unit has its grant. */
static bool note_grant(struct gs_unit *u, bool granted)
{
    if (!granted)
        return false;
    GS_NOTE("grant %p %u %u %u %d", (void *)u, u->grant.resource, u->grant.client, u->grant.generation, u->grant.piece);
    gs_unit_on(u, GS_UNIT_GRANT);
    return true;
}

bool gs_unit_try(struct gs_unit *u, unsigned resource, enum gs_length length)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    return note_grant(u, c && gs_client_try(c, resource, length, &u->grant) == 0);
}

static bool await_request(struct gs_unit *u, struct gs_request *request, uint64_t ns)
{
    if (!request->open)
        return false;
    GS_NOTE("wait grant");
    return note_grant(u, gs_client_wait(atomic_load(&gs_process.client), request, ns, &u->grant) == 0);
}

bool gs_unit_try_wait(struct gs_unit *u, unsigned resource, uint64_t ns, struct gs_request *request)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    *request = (struct gs_request){0};
    return c && gs_client_request(c, resource, 0, request) == 0 && await_request(u, request, ns);
}

void gs_unit_take(struct gs_unit *u, unsigned resource, struct gs_request *request)
{
    if (request && await_request(u, request, UINT64_MAX))
        return;
    struct gs_client *c = atomic_load(&gs_process.client);
    const struct gs_grant at_once = {.resource = resource, .begin_ns = gs_now_ns()}; /* of no daemon */
    GS_NOTE("wait grant");
    if (!c || gs_client_acquire(c, resource, 0, &u->grant) < 0)
        u->grant = at_once;
    note_grant(u, true);
}

void gs_unit_drop_request(struct gs_request *request)
{
    GS_NOTE("wait cancellation");
    gs_client_cancel(atomic_load(&gs_process.client), request, NULL);
}

bool gs_unit_is_alone(unsigned resource)
{
    return gs_process.client && gs_client_is_alone(gs_process.client, resource);
}

bool gs_app_is_sole(void)
{
    return gs_process.client && gs_client_is_sole(gs_process.client);
}

static bool sleep_unneeded(bool (*also)(void), uint64_t ns)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    if (c)
        gs_client_sleep_unneeded(c, also, ns);
    return c;
}

static void wake(void)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    if (c)
        gs_client_need_ends(c);
}

const struct gs_above_completion gs_above_completion = {
    .sole = gs_app_is_sole, .wanted = gs_units_wanted, .sleep = sleep_unneeded, .wake = wake};
