#ifndef GUARDED_H
#define GUARDED_H
#include "once.h"
int from_guarded(int a);
int from_guarded(int a) { return a + (int)get_group_id(0); }
#endif
