/* SPDX-License-Identifier: MIT */
/* What a driver does to the caches. */
#include "fake.h"

#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096, LINES_PER_PAGE = PAGE / LINE };
static size_t evict_lines;
static char *evict_data;
static void (*evict_code)(void);

/* Line i of those that are gone through: each on another page than the one before, which adjacent lines' prefetching
 * doesn't foresee. */
static size_t place_of_line(size_t i)
{
    const size_t pages = (evict_lines + LINES_PER_PAGE - 1) / LINES_PER_PAGE;
    return i % pages * PAGE + (i / pages * 5 + i % pages * 3) % LINES_PER_PAGE * LINE;
}

/* From line i of the code to the next; from the last one back to the caller. */
static void write_jump(char *code, size_t i)
{
    char *at = code + place_of_line(i);
    const bool last = i + 1 == evict_lines;
    const int32_t distance = last ? 0 : (int32_t)(place_of_line(i + 1) - place_of_line(i));
#if defined(__x86_64__)
    const int32_t relative = distance - 5;
    at[0] = (char)(last ? 0xc3 : 0xe9);
    memcpy(at + 1, &relative, sizeof relative);
#elif defined(__aarch64__)
    const uint32_t jump = last ? 0xd65f03c0u : 0x14000000u | ((uint32_t)(distance / 4) & 0x3ffffffu);
    memcpy(at, &jump, sizeof jump);
#else
    abort();
#endif
}

void fake_set_up_eviction(size_t bytes)
{
    const size_t room = (bytes + PAGE - 1) / PAGE * PAGE;
    evict_lines = room / LINE;
    char *code = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    evict_data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED || evict_data == MAP_FAILED)
        abort();
    memset(evict_data, 1, room);
    for (size_t i = 0; i < evict_lines; i++)
        write_jump(code, i);
    if (mprotect(code, room, PROT_READ | PROT_EXEC) < 0)
        abort();
    __builtin___clear_cache(code, code + room);
    memcpy(&evict_code, &code, sizeof code);
}

void fake_evict(void)
{
    for (size_t i = 0; i < evict_lines; i++)
        (void)*(volatile char *)(evict_data + place_of_line(i));
    if (evict_code)
        evict_code();
}
