/* SPDX-License-Identifier: MIT */
/* What each user has asked of the daemon beside grants, and what the daemon refused: `status` names those who flood. */
#ifndef GS_SCHEDULER_USERS_H
#define GS_SCHEDULER_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Root and the daemon's own user, who may stop the daemon anyway. */
static inline bool gs_user_is_trusted(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

/* What is counted. */
enum gs_user_event {
    GS_USER_CONNECTED,
    GS_USER_ASKED,       /* a question: the state, a plan, a change, a reload */
    GS_USER_TURNED_AWAY, /* a connection for which there was no place */
    GS_USER_REFUSED,     /* a connection that made no sense, or may not join as what it says */
    GS_USER_LOG_LEFT,    /* a line for the log that was left out */
    GS_USER_SLOW,        /* a call on a socket that took long: see porter.h */
    GS_USER_EVENTS
};

enum { GS_USERS_KEPT = 32 /* of more users, those who were heard of last */ };

struct gs_user {
    uid_t uid;
    uint64_t count[GS_USER_EVENTS];
    uint64_t heard_ns;          /* of its last event */
    uint64_t second, in_second; /* events in the second of that number */
    uint64_t flood_ns;          /* when it last flooded the daemon; 0: never */
};

struct gs_users {
    struct gs_user user[GS_USERS_KEPT];
    unsigned n;
};

void gs_users_count(struct gs_users *users, uid_t uid, enum gs_user_event event, uint64_t now_ns);

/* Had the user, in the last ten seconds, 100 events within a second, or a connection for which there was no place? */
bool gs_user_floods(const struct gs_user *user, uint64_t now_ns);

#endif
