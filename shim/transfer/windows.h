/* SPDX-License-Identifier: MIT */
/* Windows: memory of each GPU that the other GPUs reach over their link (NVLink, PCIe), from plain OpenCL. CUDA's
 * driver makes the memory and exports a file descriptor; cl_khr_external_memory imports that for one device at a time.
 * For NVIDIA GPUs; libcuda is opened at run time. gpusparc-link-probe has this code too, and tries it first. */
#ifndef GS_SHIM_TRANSFER_WINDOWS_H
#define GS_SHIM_TRANSFER_WINDOWS_H

#include "common/settings.h"
#include "shim/driver/real.h"

/* The driver (580.159) imports windows up to 510 MiB and crashes at 512. */
enum { GS_WINDOW_MAX_BYTES = 256 * 1024 * 1024 };

struct gs_windows {
    unsigned n;
    uint64_t bytes;                              /* of each window */
    cl_mem seen[GS_MAX_DEVICES][GS_MAX_DEVICES]; /* [i][j]: the window on GPU i as GPU j reaches it */
};

/* Opens a window of w->bytes on each of the context's w->n devices, for all of them. -ENOTSUP, with the reason in `why`
 * as one sentence. The driver may crash on the way. */
int gs_windows_open(struct gs_windows *w, cl_context ctx, const cl_device_id *dev, char *why, size_t why_bytes);
void gs_windows_close(struct gs_windows *w);

/* Writes the key of a probe's answer: driver and devices. 0 or -ENOTSUP: not NVIDIA's. */
int gs_windows_identity(const cl_device_id *dev, unsigned n, char *text, size_t bytes);

#endif
