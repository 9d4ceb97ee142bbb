/* SPDX-License-Identifier: MIT */
/* The end of each kind of object, called once nobody holds it any more. */
#ifndef GS_SHIM_DESTROY_H
#define GS_SHIM_DESTROY_H

#include "shim/objects.h"

void gs_destroy(struct gs_object *o);

#endif
