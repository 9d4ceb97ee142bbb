/* SPDX-License-Identifier: MIT */
/* Memory of the application's that a large read is about to fill for the first time: the kernel takes longer to make
 * and clear the pages one by one than the copying takes. Only bytes that the read writes are touched. */
#ifndef GS_SHIM_STAGING_PREFAULT_H
#define GS_SHIM_STAGING_PREFAULT_H

#include <stdbool.h>
#include <stddef.h>

/* Are pages of it yet to be made? A few are looked at. Then asks for huge ones, where the range
 * holds some whole. */
bool gs_prefault_prepare(void *at, size_t bytes);

/* Makes the pages that lie wholly within the range, all by one call. */
void gs_prefault_make(void *at, size_t bytes);

#endif
