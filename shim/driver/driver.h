/* SPDX-License-Identifier: MIT */
/* What a driver may be asked for. A loader hands every call on, whether or not the driver behind a device has such
 * a function: Mesa's rusticl has null entries in its table, at which a call crashes, and Oclgrind, of OpenCL 1.2, has
 * entries of 2.1 that call themselves. So gpusparc calls of its own accord only what this file says is there. What the
 * application calls is handed on as it is. */
#ifndef GS_SHIM_DRIVER_DRIVER_H
#define GS_SHIM_DRIVER_DRIVER_H

#include "shim/driver/real.h"

/* An address in the library of the platform's driver; in the loader's where its table isn't the driver's own. */
const void *gs_driver_address(cl_platform_id platform);

/* Do the version of the device and that of its platform promise this core function, and does the driver's table have
 * it? False for functions of extensions. */
bool gs_driver_has(cl_device_id dev, const char *function);

/* What the driver says of a device, malloc'd; NULL where it says nothing. */
char *gs_device_text(cl_device_id dev, cl_device_info what);

/* Does the device name this extension? */
bool gs_driver_extends(cl_device_id dev, const char *extension);

/* Can the device be divided into equal parts? */
bool gs_driver_divides(cl_device_id dev);

/* May gpusparc work with this platform: is it of OpenCL 1.2 or newer, and so its devices, and is there all that
 * gpusparc calls? False with a sentence. */
bool gs_driver_usable(cl_platform_id platform, char *why, size_t why_bytes);

#endif
