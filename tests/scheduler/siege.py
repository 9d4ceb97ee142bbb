#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hostile user, by the wire's layout alone: siege.py SOCKET SECONDS [ATTACK...]. Each attack runs for so long in eight
processes of user nobody's (as root; else of one's own); prints its name before. `siege.py --list` names them."""
import ctypes
import fcntl
import mmap
import os
import random
import resource
import signal
import socket
import struct
import sys
import threading
import time

from enemy import HELLO, NO_TASK, WELCOME, die_with_parent, message

PROCESSES = 8
TASK = os.environ.get("SIEGE_TASK", "").encode()
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p


def hello(task=b"", flags=NO_TASK, gpus=1):
    return message(HELLO, struct.pack("=II64sI", flags, gpus, task, 0))


def connect(path, kind=socket.SOCK_SEQPACKET):
    s = socket.socket(socket.AF_UNIX, kind)
    s.settimeout(2)
    s.connect(path)
    return s


def join(path, task=b""):
    """The connection, the page's descriptor, the client's number."""
    s = connect(path)
    s.send(hello(task, 0 if task else NO_TASK))
    while True:
        data, fds, _, _ = socket.recv_fds(s, 256, 4)
        if not data or struct.unpack("=IHH", data[:8])[2] == WELCOME:
            return s, fds[0] if fds else -1, struct.unpack("=I", data[8:12])[0] if data else 0


def pieces(path, r):
    """Messages of odd lengths, none, and far too long ones."""
    s = connect(path)
    whole = hello()
    for _ in range(r.randrange(1, 20)):
        n = r.choice([0, 1, 7, 8, 9, 255, 257, 512, 100000])
        s.send((whole * (n // len(whole) + 1))[:n], r.choice([0, socket.MSG_EOR, 0x8000]))


def counts(path, r):
    """All kinds of messages with any numbers, before and after a hello."""
    s = connect(path)
    if r.random() < 0.7:
        s.send(hello(r.choice([b"", TASK]), r.choice([0, 1, 4, 5]), r.choice([1, 2, 16, 0, 2**32 - 1])))
    for _ in range(r.randrange(40)):
        body = b"".join(struct.pack("=I", r.choice([0, 1, 2, 2**31, 2**32 - 1, r.getrandbits(32)])) for _ in range(62))
        s.send(message(r.randrange(0, 80), body), socket.MSG_DONTWAIT)


def forks(path, r):
    """Processes that join and end at once, twenty at a time."""
    children = []
    for _ in range(20):
        child = os.fork()
        if child == 0:
            try:
                join(path, r.choice([b"", TASK]))
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def stopped(path, r):
    """Asks for both GPUs and the link, and stands still with what it gets."""
    child = os.fork()
    if child == 0:
        try:
            s, fd, number = join(path, r.choice([b"", TASK]))
            for slot, resource_ in enumerate((0, 1, 2)):
                s.send(message(2, struct.pack("=IIIIIIQ", slot, 1, number, resource_, 0, 0, 1000)))
            os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    time.sleep(r.choice([0.05, 0.3, 1.2]))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def page(path, r):
    """The shared page made smaller, larger, sealed, and filled with anything."""
    s, fd, number = join(path, r.choice([b"", TASK]))
    if fd < 0:
        return
    size = os.fstat(fd).st_size
    for how in (lambda: fd, lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR), lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)):
        try:
            again = how()
        except OSError:
            continue
        for act in (lambda: os.ftruncate(again, 0), lambda: os.ftruncate(again, size + 4096), lambda: os.ftruncate(again, size - 4096),
                    lambda: fcntl.fcntl(again, 1033, 0xF), lambda: os.pwrite(again, os.urandom(size), 0),
                    lambda: os.fchmod(again, 0)):
            try:
                act()
            except OSError:
                pass
    with mmap.mmap(fd, size) as m:
        for _ in range(20):
            m[:] = os.urandom(size)
            s.send(message(r.choice([3, 4, 5, 6, 7, 8]), os.urandom(248)), socket.MSG_DONTWAIT)
            s.send(message(5, struct.pack("=I", r.randrange(3))), socket.MSG_DONTWAIT)


def holes(path, r):
    """The shared page's memory taken out and put in: whoever touches it waits in a page fault while that is done."""
    s, fd, number = join(path, TASK)
    size = os.fstat(fd).st_size
    for _ in range(2000):
        LIBC.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(size))
        LIBC.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(size))


def maps(path, r):
    """The shared page mapped and unmapped without pause, by processes that give up their processor to all others, while
    their connections end: the daemon unmaps it then."""
    s, fd, number = join(path, TASK)
    if fd < 0:
        return
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    size = os.fstat(fd).st_size
    s.send(message(2, struct.pack("=IIIIIIQ", 0, 1, number, 1, 0, 0, 1000)))
    end = time.monotonic() + 0.02
    child = os.fork()
    while time.monotonic() < end or child == 0:
        for _ in range(100):
            at = LIBC.mmap(None, ctypes.c_size_t(size), 1, 1, fd, ctypes.c_long(0))
            LIBC.munmap(ctypes.c_void_p(at), ctypes.c_size_t(size))
    s.close()
    time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def passed(path, r):
    """Descriptors with each message: many, the connection's own in a circle, and pages of other clients."""
    s = connect(path)
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.send(message(9))
    socket.send_fds(a, [b"x"], [b.fileno(), s.fileno()])
    for fds in ([0] * 253, [s.fileno()] * 10, [a.fileno(), b.fileno(), s.fileno()]):
        try:
            socket.send_fds(s, [r.choice([hello(), message(9), b"x"])], fds)
        except PermissionError:  # since Linux 6.16 nobody can
            return


def send_and_close(s, fd):
    """If it is taken, whoever reads the message has the last descriptor."""
    try:
        socket.send_fds(s, [hello()], [fd])
    except OSError:
        os.set_blocking(fd, True)
        LIBC.setsockopt(fd, socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 0), 8)
    os.close(fd)


def lingering(path, r):
    """A socket whose end takes a minute, as its bytes are never read: who closes it last waits for that."""
    listener, a = socket.socket(), socket.socket()
    listener.bind((b"127.0.0.1", 0))
    listener.listen()
    a.connect((b"127.0.0.1", listener.getsockname()[1]))
    b, _ = listener.accept()
    a.setblocking(False)
    try:
        while True:
            a.send(bytes(65536))
    except BlockingIOError:
        pass
    a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 60))
    s = connect(path)
    held.append((listener, b, s))
    if len(held) > 40:
        held.pop(0)
    send_and_close(s, a.detach())


def large(path, r):
    """The last descriptor of much memory: who closes it frees all of it."""
    s = connect(path)
    fd = os.memfd_create("large")
    os.posix_fallocate(fd, 0, 64 << 20)
    send_and_close(s, fd)


def mapped(path, r):
    """Answers mapped as often as can be: who empties them takes all of it away."""
    s = connect(path)
    s.send(message(9))
    data, fds, _, _ = socket.recv_fds(s, 256, 4)
    if not fds:
        return
    for _ in range(3000):
        at = LIBC.mmap(None, ctypes.c_size_t(4096), 1, 0x8001, fds[0], ctypes.c_long(0))  # SHARED | POPULATE
        if at in (None, 2**64 - 1):
            break
        held.append(at)
    os.close(fds[0])
    if len(held) > 60000:
        for at in held:
            LIBC.munmap(ctypes.c_void_p(at), ctypes.c_size_t(4096))
        held.clear()


def credentials(path, r):
    """Claims to be others; with a process that has ended since, and with another program in its place."""
    s = connect(path)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    for pid, uid, gid in ((1, 0, 0), (os.getppid(), 0, 0), (os.getpid(), os.getuid(), os.getgid())):
        try:
            s.sendmsg([hello(b"high", 0)], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("=iII", pid, uid, gid))])
        except OSError:
            pass
    child = os.fork()
    if child == 0:
        s = connect(path)
        s.set_inheritable(True)
        s.send(hello(r.choice([b"", TASK, b"high"]), 0))
        os.execv("/bin/true", ["/run/gpusparc.sock"])
    os.waitpid(child, 0)


def one_way(path, r):
    """Ends one direction of the connection, before, between and after messages."""
    s = connect(path)
    steps = [lambda: s.shutdown(socket.SHUT_RD), lambda: s.shutdown(socket.SHUT_WR), lambda: s.send(hello()),
             lambda: s.send(message(9)), lambda: s.recv(256, socket.MSG_DONTWAIT)]
    r.shuffle(steps)
    for step in steps:
        try:
            step()
        except OSError:
            pass
    held.append(s)
    if len(held) > 40:
        held.pop(0).close()


def urgent(path, r):
    """Bytes out of band, other kinds of sockets, odd flags, tiny buffers."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            connect(path, kind)
        except OSError:
            pass
    s = connect(path)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    for flags in (socket.MSG_OOB, socket.MSG_DONTROUTE, 0x4000000, 0x20000000, 0):
        try:
            s.send(r.choice([hello(), message(9), message(11, TASK)]), flags | socket.MSG_DONTWAIT)
        except OSError:
            pass


def abstract(path, r):
    """Names of the daemon's that are no files, and odd names of its own."""
    for name in ("\0" + path, "\0" + path + "~"):
        try:
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.bind(name)
            s.listen(5)
            held.append(s)
        except OSError:
            pass
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(b"\0" + os.urandom(90))
    s.settimeout(2)
    s.connect(path)
    s.send(hello())
    if len(held) > 40:
        held.pop(0).close()


def hoard(path, r):
    """As many connections as it may have, kept: silent, joined, asking."""
    s = connect(path)
    s.setblocking(False)
    s.send(r.choice([b"", hello(), hello(TASK, 0), message(9)]) or hello())
    held.append(s)
    if len(held) > 500:
        held.pop(r.randrange(len(held))).close()


def poll_a_million_times(s, send, first=None):
    """64 threads poll s, each as often as it may have descriptors; then `first` is sent, and `send` called every millisecond."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    n = min(hard, 200000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (n, hard))
    polls = struct.pack("=ihh", s.fileno(), 0, 0) * n
    for _ in range(64):
        threading.Thread(target=LIBC.poll, args=(polls, ctypes.c_ulong(n), 3000), daemon=True).start()
    time.sleep(0.1)
    if first:
        s.send(first)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        send()
        time.sleep(0.001)


def send_what_goes(s, what):
    try:
        s.send(what)
    except BlockingIOError:
        pass


def watched(path, r):
    """A connection that threads poll a million times: who writes to it, reads from it or closes it wakes all of these."""
    s = connect(path)
    s.setblocking(False)
    poll_a_million_times(s, lambda: send_what_goes(s, message(8)), r.choice([hello(), hello(), b"senseless"]))


def watched_own(path, r):
    """The same with a connection that is none of the daemon's: what any user can do to the machine."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def send():
        a.send(message(8))
        b.recv(256)

    poll_a_million_times(a, send)


def slow_slot(path):
    """A connection, and a slot of its page whose word the kernel keeps in one list with the word that is waited on."""
    while True:
        s, fd, number = join(path)
        s.setblocking(False)
        page = mmap.mmap(fd, os.fstat(fd).st_size)
        os.close(fd)
        s.send(message(3, struct.pack("=IIIII", 0, 0x7357, number, 2, 1)))
        time.sleep(0.1)
        first = page.find(struct.pack("=I", 0x73570401))  # the answer
        if first < 0:
            continue
        at = ctypes.addressof(ctypes.c_char.from_buffer(page))
        took = []
        for slot in range(64):
            times = []
            for _ in range(3):
                begin = time.perf_counter_ns()
                LIBC.syscall(202, ctypes.c_void_p(at + first + 4 * slot), 1, 1, None, None, 0)  # FUTEX_WAKE
                times.append(time.perf_counter_ns() - begin)
            took.append(min(times))
        slot = took.index(max(took))
        if took[slot] > 20 * min(took):
            return s, number, slot
        held.append(s)
        if len(held) > 8:
            held.pop(0).close()


def waits(path, r):
    """64,000 waits of each process on one word, and wake-ups of a word that the kernel keeps in the same list."""
    if not held:
        at = ctypes.addressof(ctypes.c_char.from_buffer(WAITED))
        wait = struct.pack("=QQII", 0, at, 2, 0) * 128
        threading.stack_size(65536)
        for _ in range(500):
            threading.Thread(target=LIBC.syscall, args=(449, wait, 128, 0, None, 0), daemon=True).start()  # futex_waitv
    s, number, slot = slow_slot(path)
    held.append(s)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        send_what_goes(s, message(3, struct.pack("=IIIII", slot, r.getrandbits(16), number, 2, 1)))
        time.sleep(0.001)


def words(path, r):
    """The daemon's command line, read by processes that give up their processor to others, beside some that spin."""
    pid = struct.unpack("=iII", connect(path).getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    end = time.monotonic() + 1
    if os.getpid() % 2:
        while time.monotonic() < end:
            pass
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as f:
        while time.monotonic() < end:
            os.pread(f.fileno(), 4096, 0)


def news(path, r):
    """The page's file watched (inotify) by threads that poll a million times: who has it last, as the daemon when the
    connection ends, wakes all of these."""
    watch = LIBC.inotify_init1(os.O_NONBLOCK)
    n = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    polls = struct.pack("=ihh", watch, 2, 0) * n  # POLLPRI, which doesn't come
    for _ in range(64):
        threading.Thread(target=LIBC.poll, args=(polls, ctypes.c_ulong(n), 3000), daemon=True).start()
    end = time.monotonic() + 3
    while time.monotonic() < end:
        s, fd, number = join(path, TASK)
        LIBC.inotify_add_watch(watch, b"/proc/self/fd/%d" % fd, 0x400)  # IN_DELETE_SELF
        os.close(fd)
        s.close()
        time.sleep(0.002)
    os.close(watch)


def dissects(path, r):
    """A filter that takes each message to the client apart a few thousand times, in the sender's time."""
    n = r.choice([2250, 3600])
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 0x20, 0, 0, 2**32 - 4096 + 52) * n +
                                       struct.pack("=HBBI", 6, 0, 0, 2**32 - 1))  # BPF_LD of SKF_AD_PAY_OFFSET; BPF_RET
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(2)
    s.setsockopt(socket.SOL_SOCKET, 26, struct.pack("=HxxxxxxQ", n + 1, ctypes.addressof(code)))  # SO_ATTACH_FILTER
    s.connect(path)
    s.send(r.choice([hello(), message(9)]))
    for _ in range(50):
        data, fds, _, _ = socket.recv_fds(s, 256, 4)
        for fd in fds:
            os.close(fd)
        s.send(message(9))


def users(path, r):
    """One user with many numbers, as /etc/subuid gives them: each has one connection, and says nothing, or all at a time."""
    os.seteuid(100000 + r.randrange(65536))
    try:
        s = connect(path)
        s.setblocking(False)
        if r.random() < 0.3:
            s.send(r.choice([hello(), hello(TASK, 0), message(9)]))
        held.append(s)
    finally:
        os.seteuid(0)
    if len(held) > 150:
        held.pop(r.randrange(len(held))).close()


held = []
WAITED = mmap.mmap(-1, 4096)  # of all processes
ATTACKS = [pieces, counts, forks, stopped, page, holes, maps, passed, lingering, large, mapped, credentials, one_way, urgent, abstract, hoard, watched, watched_own, waits, words, news, dissects, users]


def attack(act, path, seconds, seed):
    die_with_parent()
    if os.geteuid() == 0 and act is not users:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    r = random.Random(seed)
    end = time.monotonic() + seconds
    n = 0
    while time.monotonic() < end:
        try:
            act(path, r)
            n += 1
        except OSError:  # refused, full, or its end
            time.sleep(0.0005)
    os._exit(0 if n else 1)


def main():
    if sys.argv[1:] == ["--list"]:
        print(*[a.__name__ for a in ATTACKS], sep="\n")
        return
    path, seconds, names = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    for act in ATTACKS:
        if names and act.__name__ not in names:
            continue
        print(act.__name__, flush=True)
        children = []
        for i in range(PROCESSES):
            child = os.fork()
            if child == 0:
                attack(act, path, seconds, i + 1)
            children.append(child)
        ends = [os.waitpid(c, 0)[1] for c in children]
        if all(ends):
            sys.exit(f"{act.__name__} has done nothing")


main()
