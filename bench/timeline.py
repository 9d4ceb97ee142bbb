#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows one job of bench/daemon_app, the median one, call by call: who was in the driver when, in microseconds from the
job's begin. usage: timeline.py TIMELINE TIMES     of bench/timeline.c, and of daemon_app TIMES
    timeline.py TIMELINE                            of any application: what ran on the devices between the last two
                                                    times that it had all finished (clFinish), by the devices' clock"""
import sys

calls, commands = [], []
for line in open(sys.argv[1]):
    f = line.split()
    if f[0] == 'C':
        calls.append((int(f[2]), int(f[3]), int(f[1]), f[4][2:], int(f[5]), int(f[6])))
    else:
        commands.append([int(x) for x in f[1:6]] + [f[6][2:]])
calls.sort()
if len(sys.argv) == 2:
    # A command's line stands where its call returned: of those since the clFinish before the last that had some.
    finishes = [c for c in calls if c[3] == 'Finish']
    order = sorted(c for c in calls if c[3].startswith('Enqueue') and not c[3].startswith(('EnqueueM', 'EnqueueBarrier')))
    by_end = sorted(range(len(order)), key=lambda i: order[i][1])
    spans = [(a[1], b[1]) for a, b in zip(finishes, finishes[1:])]
    for begin, end in reversed(spans):
        inside = [n for n, i in enumerate(by_end) if begin <= order[i][0] < end and n < len(commands)]
        if any(commands[n][5] == 'EnqueueNDRangeKernel' for n in inside):
            break
    zero = {}
    for n in inside:
        q = commands[n][0]
        zero[q] = min(zero.get(q, commands[n][1]), commands[n][1])
    first = min(zero.values())
    print('%.1f us between two clFinish; queue, called, sent, started, ended' % ((end - begin) / 1e3))
    for c in sorted((commands[n] for n in inside), key=lambda c: (c[0], c[3])):
        print('  q%d %9.1f %9.1f %9.1f %9.1f  %s' % (c[0], *((x - first) / 1e3 for x in c[1:5]), c[5]))
    sys.exit()
jobs = [tuple(int(x) for x in line.split()) for line in open(sys.argv[2])]
# The median of the later half: what is learnt has been learnt.
late = sorted(jobs[len(jobs) // 2:], key=lambda j: j[2] - j[0])
begin, launched, end = late[len(late) // 2]
print('%d jobs; the median of the later half: %.1f us, of which the launch\'s call %.1f' %
      (len(jobs), (end - begin) / 1e3, (launched - begin) / 1e3))
names, last = {}, None
for c in calls:
    if c[1] < begin - 30000 or c[0] > end + 60000:
        continue
    who = names.setdefault(c[2], 'app' if c[3] == 'EnqueueNDRangeKernel' and not names else 't%d' % (c[2] % 1000))
    polled = c[3] == 'GetEventInfo' and c[5] > 0
    if polled and last == (who, 'poll'):
        count += 1
        continue
    if last and last[1] == 'poll' and count:
        print('%42s (and %d more looks)' % ('', count))
    count, last = 0, (who, 'poll' if polled else '')
    print('%9.1f %7.1f  %-5s %s%s %d' % ((c[0] - begin) / 1e3, (c[1] - c[0]) / 1e3, who, c[3],
                                        ' q%d' % c[4] if c[4] >= 0 else '', c[5]))
inside = {}
for c in calls:
    if begin <= c[0] < end:
        s = inside.setdefault((c[2], c[3]), [0, 0])
        s[0] += 1
        s[1] += c[1] - c[0]
print('in all:', '; '.join('%s %s %d x %.1f' % (names.get(t, t), f, n, ns / n / 1e3)
                           for (t, f), (n, ns) in sorted(inside.items())))
if commands:
    # Jobs by the read that ends each; the device's clock is another one.
    of_job, this = [], []
    for c in commands:
        this.append(c)
        if c[5] == 'EnqueueReadBuffer':
            of_job.append(this)
            this = []
    of_job = of_job[-len(jobs):]
    job = of_job[jobs.index((begin, launched, end))] if len(of_job) == len(jobs) else of_job[len(of_job) // 2]
    zero = min(c[1] for c in job)
    print('on the device, from the first command\'s call on: queue, called, sent, started, ended')
    for c in sorted(job, key=lambda c: c[3]):
        print('  q%d %9.1f %9.1f %9.1f %9.1f  %s' % (c[0], (c[1] - zero) / 1e3, (c[2] - zero) / 1e3, (c[3] - zero) / 1e3,
                                                    (c[4] - zero) / 1e3, c[5]))
