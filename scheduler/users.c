/* SPDX-License-Identifier: MIT */
#include "scheduler/users.h"

#define NS_PER_S UINT64_C(1000000000)
#define FLOOD_NS (10 * NS_PER_S)
enum { FLOOD_EVENTS = 100 /* in a second; `gpusparc top` has two */ };

static struct gs_user *find(struct gs_users *users, uid_t uid)
{
    struct gs_user *oldest = users->user;
    for (unsigned i = 0; i < users->n; i++) {
        struct gs_user *u = &users->user[i];
        if (u->uid == uid)
            return u;
        if (u->heard_ns < oldest->heard_ns)
            oldest = u;
    }
    struct gs_user *u = users->n < GS_USERS_KEPT ? &users->user[users->n++] : oldest;
    *u = (struct gs_user){.uid = uid};
    return u;
}

void gs_users_count(struct gs_users *users, uid_t uid, enum gs_user_event event, uint64_t now_ns)
{
    struct gs_user *u = find(users, uid);
    u->count[event]++;
    u->heard_ns = now_ns;
    if (now_ns / NS_PER_S != u->second) {
        u->second = now_ns / NS_PER_S;
        u->in_second = 0;
    }
    if (++u->in_second >= FLOOD_EVENTS || event == GS_USER_TURNED_AWAY)
        u->flood_ns = now_ns;
}

bool gs_user_floods(const struct gs_user *user, uint64_t now_ns)
{
    return user->flood_ns && now_ns - user->flood_ns < FLOOD_NS;
}
