/* SPDX-License-Identifier: MIT */
/* What is said: lines for the log, and notices, refusals and answers to clients. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/log.h"
#include "scheduler/session.h"

enum { LOG_LINES_PER_SECOND = 20 };
#define NS_PER_S UINT64_C(1000000000)

static void put_line(struct gs_core *core, bool warning, const char *text)
{
    if (core->ops.log)
        core->ops.log(core->ctx, warning, text);
    else if (warning)
        gs_warn("%s", text);
    else
        gs_info("%s", text);
}

static void begin_second(struct gs_core *core)
{
    const uint64_t second = core->now_ns / NS_PER_S;
    if (second == core->log_second)
        return;
    if (core->log_lost) {
        char text[64];
        snprintf(text, sizeof text, "%u more messages were left out", core->log_lost);
        put_line(core, true, text);
    }
    core->log_second = second;
    core->log_lines = core->log_lost = 0;
    memset(core->log_user, 0, sizeof core->log_user);
}

static void log_line(struct gs_core *core, bool warning, const char *fmt, va_list ap)
{
    char text[1024];
    if (core->log_lines++ >= LOG_LINES_PER_SECOND) {
        core->log_lost++;
        return;
    }
    vsnprintf(text, sizeof text, fmt, ap);
    put_line(core, warning, text);
}

void gs_core_log(struct gs_core *core, bool warning, const char *fmt, ...)
{
    va_list ap;
    begin_second(core);
    va_start(ap, fmt);
    log_line(core, warning, fmt, ap);
    va_end(ap);
}

void gs_core_log_of(struct gs_session *s, bool warning, const char *fmt, ...)
{
    enum { USERS = sizeof s->core->log_user / sizeof *s->core->log_user, MOST = LOG_LINES_PER_SECOND / 4 };
    struct gs_core *core = s->core;
    va_list ap;
    unsigned i = 0;
    begin_second(core);
    while (i < USERS - 1 && core->log_user[i].lines && core->log_user[i].uid != s->uid)
        i++;
    core->log_user[i].uid = s->uid;
    if (core->log_user[i].lines++ >= MOST || core->log_lines >= 3 * MOST) {
        core->log_lost++;
        gs_users_count(&core->users, s->uid, GS_USER_LOG_LEFT, core->now_ns);
        return;
    }
    va_start(ap, fmt);
    log_line(core, warning, fmt, ap);
    va_end(ap);
}

static void send_text(struct gs_session *s, enum gs_msg_type type, uint32_t code, const char *text)
{
    struct gs_msg m;
    gs_msg_init(&m, type);
    m.u.text.code = code;
    snprintf(m.u.text.text, sizeof m.u.text.text, "%s", text);
    s->core->ops.send(s->core->ctx, s->conn, &m, -1);
}

void gs_core_notice(struct gs_session *s, int level, const char *fmt, ...)
{
    char text[GS_WIRE_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    send_text(s, GS_MSG_NOTICE, (uint32_t)level, text);
}

int gs_core_refuse(struct gs_session *s, int why, const char *text)
{
    s->refused = true;
    s->core->refused++;
    s->core->bad_messages += why == GS_REFUSED_PROTOCOL;
    gs_users_count(&s->core->users, s->uid, GS_USER_REFUSED, s->core->now_ns);
    send_text(s, GS_MSG_REFUSED, (uint32_t)why, text);
    return -EPROTO;
}

/* A text too long for a message goes as a file that nobody can change any more (see `keep` in status.c). */
void gs_core_answer(struct gs_session *s, int err, const char *text)
{
    size_t n = strlen(text);
    if (n < GS_WIRE_TEXT) {
        send_text(s, GS_MSG_ANSWER, (uint32_t)-err, text);
        return;
    }
    int fd = memfd_create("gpusparc-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool ok = fd >= 0 && write(fd, text, n) == (ssize_t)n &&
              fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0;
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_ANSWER);
    m.u.text.code = ok ? (uint32_t)-err : ENOMEM;
    s->core->ops.send(s->core->ctx, s->conn, &m, ok ? fd : -1);
    if (fd >= 0)
        close(fd);
}

void gs_core_answer_file(struct gs_session *s, int fd, size_t bytes)
{
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_ANSWER);
    m.u.text.bytes = (uint32_t)bytes;
    s->core->ops.send(s->core->ctx, s->conn, &m, fd);
}
