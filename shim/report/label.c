/* SPDX-License-Identifier: MIT */
#include "shim/report/label.h"

#include <errno.h>

#include "shim/process/process.h"
#include "shim/process/threads.h"
#include "shim/report/watch.h"

_Thread_local struct gs_label gs_label = {GS_FOR_APP, GS_WAY_DIRECT, -1};
static _Thread_local unsigned depth; /* of calls of the application: 1 within one */

/* A shorter one hasn't blocked, and isn't in the trace. */
enum { BLOCKED_NS = 20 * 1000 };

struct gs_call gs_call_begin(const char *name)
{
    if (!gs_settings()->trace || gs_threads_own())
        return (struct gs_call){.errno_before = errno};
    return (struct gs_call){depth++ ? NULL : name, errno, gs_now_ns()};
}

void gs_call_end(const struct gs_call *call)
{
    if (call->begin_ns) {
        depth--;
        const uint64_t now = gs_now_ns();
        if (call->name && now - call->begin_ns >= BLOCKED_NS && !gs_forked())
            gs_trace_call(call->name, call->begin_ns, now);
    }
    errno = call->errno_before;
}
