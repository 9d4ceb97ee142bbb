/* SPDX-License-Identifier: MIT */
/* wrong_order: takes two locks in the wrong order, and waits under one, for too long as well, linked with what looks at
 * that: does it notice? */
#include <pthread.h>
#include <unistd.h>

#include "common/lock/rank.h"

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
GS_RANKED(outer, GS_RANK_CONTEXT);
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
GS_RANKED(inner, GS_RANK_BOOK);

int main(void)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner); /* this is the order */
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_lock(&outer);
    pthread_mutex_unlock(&outer);
    pthread_mutex_unlock(&inner);
    pthread_mutex_lock(&outer);
    {
        GS_MAY_WAIT("this is said", GS_WITHOUT_LIMIT);
        GS_WAITS("something", NULL);
    }
    {
        GS_MAY_WAIT("a moment", 2 * GS_MS);
        GS_WAITS_FOR("an hour at most", NULL, 2 * GS_MS);
        GS_WAITS_FOR("an hour at most", NULL, 3600 * GS_S);
    }
    {
        GS_MAY_WAIT("what never ends", 1 * GS_US);
        sleep(2); /* GS_BUSY times a quarter of a second is admitted */
    }
    pthread_mutex_lock(&inner);
    GS_WAITS("the other", &inner); /* for the outer one's sake alone */
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
    return 0;
}
