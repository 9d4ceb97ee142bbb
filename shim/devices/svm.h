/* SPDX-License-Identifier: MIT */
/* Shared virtual memory where the driver has it in contexts of one device alone (docs/drivers.md). Any thread. */
#ifndef GS_SHIM_DEVICES_SVM_H
#define GS_SHIM_DEVICES_SVM_H

#include "shim/devices/group.h"

/* Are contexts to be made over one device, as the program uses such memory: it imports clSVMAlloc, or a process of the
 * same program has called it before? */
bool gs_svm_alone(const struct gs_group *g);

/* The application has called clSVMAlloc in a context of n devices: must it get nothing? Says so, and keeps it for the
 * program's next process. */
bool gs_svm_refuse(const struct gs_group *g, unsigned n);

#endif
