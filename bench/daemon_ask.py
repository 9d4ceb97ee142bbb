# SPDX-License-Identifier: MIT
"""What a flood of questions costs: how long a task of the config takes to join, and the daemon's memory, alone and
beside CONNECTIONS that ask for the state without end, read (`reads`) or not (`unread`). The flood is of one process.
daemon_ask.py PID CONNECTIONS [JOINS]: the daemon's process, at $GPUSPARC_SOCKET, with a task `high`. One JSON line a row;
memory is the daemon's own and that of the memory files that it has made and others hold."""
import json
import os
import select
import signal
import socket
import struct
import sys
import time

PID, CONNECTIONS = int(sys.argv[1]), int(sys.argv[2])
JOINS = int(sys.argv[3]) if len(sys.argv) > 3 else 300
WIRE = open(os.path.join(os.path.dirname(__file__), "../common/wire.h")).read()
VERSION = int(WIRE.split("#define GS_WIRE_VERSION ")[1].split()[0])
STATUS, NO_TASK, WELCOME, NOTICE = 9, 1, 64, 66


def message(kind, body=b""):
    return struct.pack("=IHH", 0x47535043, VERSION, kind) + body.ljust(248, b"\0")


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["GPUSPARC_SOCKET"])
    return s


def receive(s, flags=0):
    data, fds, _, _ = socket.recv_fds(s, 256, 4, flags)
    for fd in fds:
        os.close(fd)
    return struct.unpack("=IHH", data[:8])[2] if data else 0


def flood(reads):
    poll, crowd = select.epoll(), {}
    question = message(STATUS)
    while True:
        while len(crowd) < CONNECTIONS:
            try:
                s = connect()
                s.setblocking(False)
                # Those that have joined may be more than those that haven't.
                s.send(message(1, struct.pack("=II64sI", NO_TASK, 1, b"", 0)))
                crowd[s.fileno()] = s
                poll.register(s, select.EPOLLIN if reads else 0)
            except OSError:
                break
        if not reads:
            for n, s in list(crowd.items()):
                try:
                    s.send(question)
                except BlockingIOError:
                    pass
                except OSError:
                    crowd.pop(n).close()
            continue
        for n, _ in poll.poll(0.1):
            s = crowd[n]
            try:
                if not receive(s, socket.MSG_DONTWAIT):
                    raise OSError
                s.send(question)
            except BlockingIOError:
                pass
            except OSError:
                poll.unregister(n)
                crowd.pop(n).close()


def join():
    begin = time.monotonic_ns()
    s = connect()
    s.settimeout(30)
    s.send(message(1, struct.pack("=II64sI", 0, 1, b"high", 0)))
    while True:
        kind = receive(s)
        if kind == WELCOME:
            took = time.monotonic_ns() - begin
            s.close()
            return took
        if kind != NOTICE:
            raise SystemExit("daemon_ask: no welcome, but %d" % kind)


def memory_kib():
    rss = int(open("/proc/%d/statm" % PID).read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024
    shared = {k: int(v.split()[0]) for k, v in (l.split(":") for l in open("/proc/meminfo"))}["Shmem"]
    return rss, shared


def row(what):
    _, before = memory_kib()
    child = 0
    if what != "alone":
        child = os.fork()
        if child == 0:
            try:
                flood(what == "reads")
            finally:
                os._exit(1)
        time.sleep(3)
    times, most, shared = [], 0, 0
    for _ in range(JOINS):
        times.append(join())
        rss, now = memory_kib()
        most, shared = max(most, rss), max(shared, now - before)
        time.sleep(0.01)
    if child:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        time.sleep(1)
    times.sort()
    print(json.dumps({"figure": "join, " + what, "connections": CONNECTIONS, "samples": len(times),
                      "median_ns": times[len(times) // 2], "p999_ns": times[min(len(times) - 1, len(times) * 999 // 1000)],
                      "max_ns": times[-1], "daemon_kib": most, "machine_shared_kib": shared}), flush=True)


for what in ("alone", "unread", "reads"):
    row(what)
