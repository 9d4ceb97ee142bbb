/* SPDX-License-Identifier: MIT */
/* What an application on the devices of several hosts tells `gpusparc run --hosts`, which watches over the servers and
 * names the kernel where one is lost. */
#ifndef GS_SHIM_RECORD_REMOTE_H
#define GS_SHIM_RECORD_REMOTE_H

enum { GS_REMOTE_STATE_BYTES = 128 };

/* The kernel that is launched now. Does nothing for a group of this machine's own devices. */
void gs_remote_note(const char *kernel);

#endif
