/* SPDX-License-Identifier: MIT */
/* Memory objects that a unit or a transfer of ours uses later, when the application may have let them go. Any thread.
 */
#ifndef GS_SHIM_RECORD_KEEP_H
#define GS_SHIM_RECORD_KEEP_H

#include "shim/record/objects.h"

/* Keeps the driver's object; of one of the application's also what we know of it, with its replicas and windows. */
cl_int gs_keep_mem(cl_mem mem);

/* The end of that. Of a sub-buffer that the application has let go this may be the driver's last release. */
void gs_let_go_of_mem(cl_mem mem);

#endif
