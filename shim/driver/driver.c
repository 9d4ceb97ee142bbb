/* SPDX-License-Identifier: MIT */
#include "shim/driver/real.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LISTED = 256, LEAST_VERSION = 12 };

/* What gpusparc calls of its own accord, or in the place of another function; and where there are images. */
static const char needed[] =
    "clBuildProgram clCreateBuffer clCreateCommandQueue clCreateContext clCreateKernel clCreateProgramWithSource "
    "clCreateUserEvent clEnqueueBarrierWithWaitList clEnqueueCopyBuffer clEnqueueFillBuffer clEnqueueMapBuffer "
    "clEnqueueMarkerWithWaitList clEnqueueNDRangeKernel clEnqueueReadBuffer clEnqueueUnmapMemObject "
    "clEnqueueWriteBuffer clFinish clFlush clGetCommandQueueInfo clGetDeviceIDs clGetDeviceInfo clGetEventInfo "
    "clGetEventProfilingInfo clGetKernelInfo clGetMemObjectInfo clGetProgramBuildInfo clGetProgramInfo "
    "clReleaseCommandQueue clReleaseContext clReleaseEvent clReleaseKernel clReleaseMemObject clReleaseProgram "
    "clRetainCommandQueue clRetainContext clRetainEvent clRetainMemObject clSetEventCallback clSetKernelArg "
    "clSetMemObjectDestructorCallback clSetUserEventStatus clWaitForEvents";
static const char needed_for_images[] =
    "clCreateImage clEnqueueCopyBufferToImage clEnqueueCopyImage clEnqueueCopyImageToBuffer clEnqueueMapImage "
    "clEnqueueReadImage clEnqueueWriteImage clGetImageInfo";

/* "OpenCL 1.2 ..." -> 12; 0 for another text. */
static unsigned version_in(const char *text)
{
    unsigned major, minor;
    return sscanf(text, "OpenCL %u.%u", &major, &minor) == 2 && minor < 10 ? 10 * major + minor : 0;
}

static unsigned platform_version(cl_platform_id platform)
{
    char text[256] = "";
    gs_real()->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text, text, NULL);
    return version_in(text);
}

static unsigned device_version(cl_device_id dev)
{
    char text[256] = "";
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_VERSION, sizeof text, text, NULL);
    return version_in(text);
}

static bool lists(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

char *gs_device_text(cl_device_id dev, cl_device_info what)
{
    size_t n = 0;
    if (gs_real()->clGetDeviceInfo(dev, what, 0, NULL, &n) != CL_SUCCESS)
        return NULL;
    char *s = calloc(1, n + 1);
    if (s)
        gs_real()->clGetDeviceInfo(dev, what, n, s, NULL);
    return s;
}

bool gs_driver_extends(cl_device_id dev, const char *extension)
{
    char *words = gs_device_text(dev, CL_DEVICE_EXTENSIONS);
    const bool found = words && lists(words, extension);
    free(words);
    return found;
}

/* The table by which the loader finds the driver's functions: the first member of each of the driver's objects
 * (cl_khr_icd). Null: no such extension, or the loader makes the tables (cl_khr_icd 2.0), with functions of its own. */
static const struct _cl_icd_dispatch *table_of(cl_platform_id platform)
{
    static const size_t made_by_loader = 0x4f50454e434c3331; /* CL_ICD2_TAG_KHR */
    char words[4096] = "";
    const struct _cl_icd_dispatch *table = NULL;
    if (gs_real()->clGetPlatformInfo(platform, CL_PLATFORM_EXTENSIONS, sizeof words, words, NULL) != CL_SUCCESS ||
        !lists(words, "cl_khr_icd"))
        return NULL;
    memcpy(&table, platform, sizeof table);
    return table && memcmp(&table->clGetPlatformIDs, &made_by_loader, sizeof made_by_loader) != 0 ? table : NULL;
}

void *gs_driver_address(cl_platform_id platform)
{
    const struct _cl_icd_dispatch *table = table_of(platform);
    void *address;
    memcpy(&address, table ? &table->clGetPlatformInfo : &gs_real()->clGetPlatformInfo, sizeof address);
    return address;
}

/* Doesn't look up functions of later versions: an old driver's table may end before them. */
static bool has(const struct _cl_icd_dispatch *table, unsigned version, const char *function)
{
    static const char none[sizeof(void (*)(void))];
    for (const struct gs_real_function *f = gs_real_functions; f->name; f++)
        if (strcmp(f->name, function) == 0)
            return f->version && f->version <= version &&
                   memcmp((const char *)gs_real() + f->offset, none, sizeof none) != 0 &&
                   (!table || memcmp((const char *)table + f->offset, none, sizeof none) != 0);
    return false;
}

bool gs_driver_has(cl_device_id dev, const char *function)
{
    cl_platform_id platform = NULL;
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (!platform)
        return false;
    const unsigned of_platform = platform_version(platform), of_device = device_version(dev);
    return has(table_of(platform), of_platform < of_device ? of_platform : of_device, function);
}

/* Does the platform lack a function that gpusparc calls? Its name is in `missing` then. */
static bool lacks_one(cl_platform_id platform, const char *words, char missing[64])
{
    const struct _cl_icd_dispatch *table = table_of(platform);
    for (int n; sscanf(words, "%63s%n", missing, &n) == 1; words += n)
        if (!has(table, LEAST_VERSION, missing))
            return true;
    return false;
}

/* The least version of the platform's devices, or `version` where that is less; and whether one has images. */
static unsigned least_version(cl_platform_id platform, unsigned version, bool *images)
{
    cl_device_id dev[MAX_LISTED];
    cl_uint n = 0;
    if (gs_real()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_LISTED, dev, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint i = 0; i < n && i < MAX_LISTED; i++) {
        const unsigned of_device = device_version(dev[i]);
        cl_bool has_images = CL_FALSE;
        version = of_device < version ? of_device : version;
        gs_real()->clGetDeviceInfo(dev[i], CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, NULL);
        *images |= has_images;
    }
    return version;
}

bool gs_driver_usable(cl_platform_id platform, char *why, size_t why_bytes)
{
    char name[128] = "a platform", missing[64];
    bool images = false;
    gs_real()->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    unsigned version = platform_version(platform);
    bool lacks = version >= LEAST_VERSION && lacks_one(platform, needed, missing);
    if (version >= LEAST_VERSION && !lacks)
        version = least_version(platform, version, &images);
    if (version < LEAST_VERSION) {
        snprintf(why, why_bytes, "%s has OpenCL %u.%u; gpusparc needs 1.2 or newer", name, version / 10, version % 10);
        return false;
    }
    lacks = lacks || (images && lacks_one(platform, needed_for_images, missing));
    if (lacks)
        snprintf(why, why_bytes, "%s has no %s, which gpusparc needs", name, missing);
    return !lacks;
}
