/* SPDX-License-Identifier: MIT */
/* wrong_order: takes two locks in the wrong order, linked with what looks at that: does it notice? */
#include <pthread.h>

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
    return 0;
}
