/* SPDX-License-Identifier: MIT */
/* The chain that gpusparc profile makes of a daemon's trace, to the nanosecond. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/suite.h"
#include "cli/profile.h"

static FILE *out;
static int jobs, units;

/* A unit of the link (0) or a GPU (1, 2), in microseconds. */
static void unit(int resource, int begin, int end)
{
    fprintf(out,
            ",\n{\"ph\":\"X\",\"name\":\"t\",\"pid\":1,\"tid\":%d,\"ts\":%d.000,\"dur\":%d.000,\"args\":{\"client\":9,"
            "\"resource\":%d}}",
            resource + 100 * (units++ % 2), begin, end - begin, resource); /* on one track or another */
}

static void job(int begin, int end)
{
    jobs++;
    fprintf(out, ",\n{\"ph\":\"b\",\"cat\":\"job\",\"name\":\"t\",\"id\":%d,\"pid\":2,\"tid\":9,\"ts\":%d.000}", jobs,
            begin);
    fprintf(out, ",\n{\"ph\":\"e\",\"cat\":\"job\",\"name\":\"t\",\"id\":%d,\"pid\":2,\"tid\":9,\"ts\":%d.000}", jobs,
            end);
}

static void begin_trace(void)
{
    jobs = 0;
    out = fopen("units.json", "w");
    assert_non_null(out);
    fprintf(out, "[\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":9,\"args\":{\"name\":\"t, process "
                 "1\",\"gpus\":2}}");
}

static void end_trace(struct gs_profile *p, struct gs_profile_chain *c, int warm_up, bool single)
{
    fprintf(out, "\n]\n");
    assert_int_equal(fclose(out), 0);
    *p = (struct gs_profile){0};
    assert_int_equal(gs_profile_read_units(p, "units.json", warm_up, single), 0);
    assert_int_equal(gs_profile_chain(p, c), 0);
    unlink("units.json");
}

/* One after the other: "pci 1000/2/50" is a time, and pauses. */
static void expect(const struct gs_profile_chain *c, const char *want)
{
    char text[1000] = "";
    for (size_t i = 0; i < c->n; i++) {
        const struct gs_profile_times *t = &c->segments[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %d", i ? ", " : "",
                 gs_resource_names[t->resource], (int)(t->longest_ns / 1000));
        if (t->pauses)
            snprintf(text + strlen(text), sizeof text - strlen(text), "/%d/%d", t->pauses, (int)(t->pause_ns / 1000));
    }
    assert_string_equal(text, want);
}

/* Two chunks at a time, two queues: units overlap. Gaps of a transfer are its pauses, wherever they come; what the host
 * does in each job, for more than 1 ms, is the host's. */
static void one_gpu(void **state)
{
    struct gs_profile p;
    struct gs_profile_chain c;
    begin_trace();
    for (int k = 0, at = 10000; k < 4; k++, at += 100000) {
        if (k == 3) /* another gap, and a longer one */
            unit(0, at + 10, at + 200), unit(0, at + 250, at + 300), unit(0, at + 290, at + 470);
        else
            unit(0, at + 10, at + 200), unit(0, at + 190, at + 400);
        unit(1 + k % 2, at + 500, at + 1500);
        unit(1 + k % 2, at + 1000, at + 2000);
        unit(1 + k % 2, at + 2020, at + 2100);
        unit(1 + k % 2, at + 5100, at + 5600);
        unit(0, at + 5700, at + 5750);
        job(at, at + 5800);
    }
    end_trace(&p, &c, -1, true); /* the first on each GPU counts for nothing */
    assert_int_equal(p.devices, 2);
    assert_int_equal(c.jobs, 2);
    assert_int_equal(c.others, 0);
    assert_int_equal(p.longest_ns[GS_GPU], 1000000); /* from the grant, behind another one */
    expect(&c, "cpu 10, pci 410/1/50, cpu 100, gpu 1580/1/20, cpu 3000, gpu 500, cpu 100, pci 50, cpu 50");
    static const int chunks[] = {0, 3, 0, 3, 0, 1, 0, 1, 0};
    for (size_t i = 0; i < c.n; i++)
        assert_int_equal(c.segments[i].chunks, chunks[i]);
    gs_profile_chain_free(&c);
    gs_profile_free(&p);
}

/* Where one job pauses for longer than the others do anything, and jobs are not alike but for that, it is a pause too.
 */
static void long_gap(void **state)
{
    struct gs_profile p;
    struct gs_profile_chain c;
    begin_trace();
    for (int k = 0, at = 10000; k < 4; k++, at += 100000) {
        const int gap = k == 2 ? 4000 : 0;
        unit(0, at, at + 100);
        unit(0, at + 100 + gap, at + 200 + gap);
        unit(1, at + 200 + gap, at + 900 + gap);
        job(at, at + 900 + gap);
    }
    end_trace(&p, &c, 1, true);
    expect(&c, "pci 200/1/4000, gpu 700");
    assert_int_equal(c.jobs, 3);
    gs_profile_chain_free(&c);
    gs_profile_free(&p);
}

/* A job that fetches from its last GPU is on one after the other; one that has both is on both. */
static void two_gpus(void **state)
{
    struct gs_profile p;
    struct gs_profile_chain c;
    for (int single = 0; single < 2; single++) {
        begin_trace();
        for (int k = 0, at = 10000; k < 4; k++, at += 100000) {
            if (k != 1 || !single) /* one that has its data where it is */
                unit(1, at, at + 30);
            unit(2, k != 1 || !single ? at + 40 : at, at + 100);
            unit(2, at + 100, at + 400);
            unit(0, at + 400, at + 450);
            job(at, at + 450);
        }
        end_trace(&p, &c, 1, single);
        expect(&c, single ? "gpu 30, cpu 10, gpu 400, pci 50" : "gpu 390/1/10, pci 50");
        assert_int_equal(c.others, single);
        assert_int_equal(p.used, 2);
        gs_profile_chain_free(&c);
        gs_profile_free(&p);
    }
}

/* Three units of 35, 20 and 46 us, with 20 % on top: the segment has 121 us, a chunk 28, since a unit may be two. */
static void chunks_cover_their_segment(void **state)
{
    assert_int_equal(gs_profile_chunks(4, 121000, 28000), 5);
    assert_int_equal(gs_profile_chunks(4, 112000, 28000), 4);
    assert_int_equal(gs_profile_chunks(9, 121000, 28000), 9);
    assert_int_equal(gs_profile_chunks(4, 121000, 0), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_gpu), cmocka_unit_test(long_gap),
                                       cmocka_unit_test(two_gpus), cmocka_unit_test(chunks_cover_their_segment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
