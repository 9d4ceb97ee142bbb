# SPDX-License-Identifier: MIT
"""What must not stop the daemon: its config, its log, questions, a crowd."""
import ctypes
import errno
import fcntl
import mmap
import os
import pwd
import random
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from enemy import ANSWER, CHOOSE, DAEMON, FIONREAD, PING, PLAIN, REFUSED, REQUEST, STATUS, TOOL, WELCOME, NO_TASK
from enemy import Daemon, as_user, die_with_parent, fork, hello, kill, message, needs_root, receive, run_cases, slowly, wait_for


SIOCOUTQ = 0x5411


def a_config_that_repeats_a_text():
    d = Daemon()
    d.write("[system]\nhosts = a-rather-long-name-of-a-host-one,b\n[system]\n"
            "hosts = a-rather-long-name-of-a-host-one,b,c,d,e,f,g,h,another-long-name-that-needs-another-chunk\n")
    r = d.tool("reload")
    assert r.returncode == 1 and "conf:4: hosts: another value than in line 2" in r.stderr, r
    d.end()


def a_config_that_is_no_file():
    d = Daemon()
    for make in (lambda: os.mkfifo(d.config), lambda: os.mkdir(d.config), lambda: os.symlink("/dev/zero", d.config)):
        (os.rmdir if os.path.isdir(d.config) else os.unlink)(d.config)
        make()
        r = d.tool("reload")
        assert r.returncode == 1 and "cannot be read: it is no regular file" in r.stderr, r
        assert d.status()["daemon"]["reloads"] == 0
    d.end()


def a_log_that_nobody_reads():
    for kind in ("pipe", "socket"):
        if kind == "pipe":
            r, w = os.pipe()
            fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)
        else:
            a, b = socket.socketpair()
            b.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
            r, w = os.dup(a.fileno()), os.dup(b.fileno())
        d = Daemon(stderr=w)
        os.close(w)
        d.write("[system]\n" + "".join("wrong%d = 1\n" % i for i in range(40)))  # a line of the log for each
        for _ in range(20):
            assert d.tool("reload").returncode == 1
        dropped = d.status()["daemon"]["log_dropped"]
        assert dropped > 20 * 40 - 200, dropped
        os.set_blocking(r, False)
        text = b""
        try:
            while True:
                text += os.read(r, 4096)
        except BlockingIOError:
            pass
        assert text.endswith(b"\n"), text[-200:]
        d.write(PLAIN)
        assert d.tool("reload").returncode == 0
        text += os.read(r, 4096)
        said = sum(int(n) for n in re.findall(rb"^(\d+) lines of this log were dropped$", text, re.M))
        assert said == dropped and b"conf is read" in text, (dropped, text)
        assert d.status()["daemon"]["log_dropped"] == dropped
        assert os.get_blocking(r) is False  # as we have set it, and nobody else
        d.end()
        os.close(r)


def a_question_whose_answer_is_not_read():
    d = Daemon()
    crowd = [d.connect() for _ in range(50)]
    for s in crowd:
        for _ in range(20):
            s.send(message(STATUS))
    fds = []
    for s in crowd:
        kind, fd = wait_for(s)
        assert kind == ANSWER, kind
        fds.append(fd)
    d.status()
    d.status()  # whoever is served after all of them: what comes now, they have by now
    # One answer is under way for each; the next one comes when it has been read, in its turn, until all have come.
    late = crowd[0]
    for _ in range(18):
        kind, fd = wait_for(late)
        assert kind == ANSWER
        os.close(fd)
    slow = d.connect()
    for _ in range(20):
        slow.send(message(STATUS))
    for _ in range(40):
        d.status()
    waiting = struct.unpack("i", fcntl.ioctl(slow, FIONREAD, b"\0\0\0\0"))[0]
    assert waiting == 256, "%d bytes of answers are under way" % waiting
    assert receive(slow)[0] == ANSWER
    assert wait_for(slow)[0] == ANSWER
    # What somebody keeps of the answers is no more than the last few.
    hoard = []
    for _ in range(100):
        late.send(message(STATUS))
        hoard.append(wait_for(late)[1])
        time.sleep(0.001)
    end = time.monotonic() + 60  # they are emptied beside the daemon
    while True:
        kept = {os.fstat(fd).st_ino: os.fstat(fd).st_size for fd in hoard}
        if sum(1 for n in kept.values() if n) <= 16:
            break
        assert time.monotonic() < end, kept
        time.sleep(0.01)
    assert os.fstat(hoard[-1]).st_size > 0
    for how in (os.O_WRONLY, os.O_RDWR):
        if os.geteuid():
            try:
                os.open("/proc/self/fd/%d" % hoard[-1], how)
                raise AssertionError("an answer can be written")
            except PermissionError:
                pass
    d.end()


def cpu_ns(d):
    """What the daemon's own thread has used of processors, and what its other threads have."""
    own = int(open(f"/proc/{d.process.pid}/task/{d.process.pid}/schedstat").read().split()[0])
    return own, time.clock_gettime_ns(~d.process.pid << 3 | 2) - own  # the kernel's number for that process's clock


def an_answer_mapped_often():
    """Whoever empties it has to take it out of 240,000 places: that isn't the thread that grants."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    d = Daemon()
    s, _ = d.join()
    s.send(message(STATUS))
    fd = wait_for(s)[1]
    children = []
    for _ in range(4):
        r, w = os.pipe()
        child = fork()
        if child == 0:
            for _ in range(60000):
                at = libc.mmap(None, ctypes.c_size_t(4096), 1, 0x8001, fd, ctypes.c_long(0))  # SHARED | POPULATE
                if at in (None, 2**64 - 1):
                    os._exit(1)
            os.write(w, b"x")
            signal.pause()
        os.close(w)
        children.append(child)
        assert os.read(r, 1) == b"x", "it can't be mapped so often"
        os.close(r)
    tasks = f"/proc/{d.process.pid}/task"
    threads, before = len(os.listdir(tasks)), cpu_ns(d)
    end = time.monotonic() + 60
    while os.fstat(fd).st_size or len(os.listdir(tasks)) > threads:  # the file is empty before it is taken out everywhere
        assert time.monotonic() < end
        s.send(message(STATUS))
        os.close(wait_for(s)[1])
        time.sleep(0.2)  # each question costs the daemon's own thread time
    d.status()
    own, others = (now - then for now, then in zip(cpu_ns(d), before))
    assert others > own, (own, others)
    for child in children:
        kill(child)
    d.end()


@needs_root
def a_word_among_many_waits():
    """The kernel keeps waits in lists by a number made of the word's place. A client may fill one that has a word of its
    page: whoever wakes it looks through all of these, and that isn't the thread that grants."""
    libc = ctypes.CDLL(None)
    d = Daemon(PLAIN + "[task t]\nperiod = 1s\nuser = 65534\n", for_all=True)  # a named user's porter never rests
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = fork(65534)
    if child == 0:
        threading.stack_size(65536)
        end = time.monotonic() + 120
        waited = mmap.mmap(-1, 4096)
        wait = struct.pack("=QQII", 0, ctypes.addressof(ctypes.c_char.from_buffer(waited)), 2, 0) * 128

        def wait_more(threads):
            if time.monotonic() > end:
                os._exit(1)  # the parent hears of the end
            for _ in range(threads):
                threading.Thread(target=libc.syscall, args=(449, wait, 128, 0, None, 0), daemon=True).start()  # futex_waitv
            time.sleep(0.2)

        def wake_ns(word):
            times = []
            for _ in range(5):
                begin = time.perf_counter_ns()
                libc.syscall(202, ctypes.c_void_p(word), 1, 1, None, None, 0)  # FUTEX_WAKE
                times.append(time.perf_counter_ns() - begin)
            return min(times)

        def join():
            """The connection, the client's number, the page, and where its slots are."""
            s = d.connect()
            s.send(hello(flags=NO_TASK))
            data, fds, _, _ = socket.recv_fds(s, 256, 1)
            page = mmap.mmap(fds[0], os.fstat(fds[0]).st_size)
            os.close(fds[0])
            number = struct.unpack("=I", data[8:12])[0]
            s.send(message(CHOOSE, struct.pack("=IIIII", 0, 0x7357, number, 2, 1)))
            while (slots := page.find(struct.pack("=I", 0x73570401))) < 0:  # the answer, GPU 0
                time.sleep(0.001)
            return s, number, page, slots

        wait_more(250)
        others = []
        while len(others) < 60:
            s, number, page, slots = join()
            at = ctypes.addressof(ctypes.c_char.from_buffer(page)) + slots
            took = [wake_ns(at + 4 * i) for i in range(64)]
            slot = took.index(max(took))
            if took[slot] > 20 * sorted(took)[32] and wake_ns(at + 4 * slot) > 10 * sorted(took)[32]:
                break
            others.append((s, page))
        else:
            theirs.send(b"none")
        while wake_ns(at + 4 * slot) < 200000:
            wait_more(50)
        theirs.send(b"found")
        for serial in range(1, 15):
            if serial == 5:
                theirs.send(b"known")  # this user is a slow one by now
                theirs.recv(9)
            s.send(message(CHOOSE, struct.pack("=IIIII", slot, serial, number, 2, 1)))
            while struct.unpack_from("=I", page, slots + 4 * slot)[0] >> 16 != serial:
                time.sleep(0.001)
        theirs.send(b"done")
        signal.pause()
    theirs.close()
    found = ours.recv(9)
    if found == b"found":
        assert ours.recv(9) == b"known"
        before = cpu_ns(d)
        ours.send(b"go on")
        assert ours.recv(9) == b"done"
        own, others = (now - then for now, then in zip(cpu_ns(d), before))
        assert others > own, (own, others)
        assert [u["slow_calls"] > 0 for u in d.status()["users"] if u["uid"] == 65534] == [True]
    else:
        assert found == b"none"
        print("left out, many waits: no word of sixty pages is in the same list", file=sys.stderr)
    kill(child)
    d.end()


def the_kernels_waits():
    """Not for a thread of ordinary priority on each processor: that sealing a file takes, where F_SEAL_WRITE (8) is among
    the seals and not F_SEAL_FUTURE_WRITE (16), and a larger table of descriptors, in a process of several threads."""
    d = Daemon()
    s = d.connect()
    s.send(message(STATUS))
    kind, fd = wait_for(s)
    assert kind == ANSWER
    assert fcntl.fcntl(fd, fcntl.F_GET_SEALS) & 24 == 16
    try:
        mmap.mmap(fd, 1, mmap.MAP_SHARED, mmap.PROT_WRITE)
        assert False, "the answer can be changed"
    except PermissionError:
        os.close(fd)
    with open(f"/proc/{d.process.pid}/status") as f:
        places = int(re.search(r"^FDSize:\s+(\d+)$", f.read(), re.M)[1])
    assert places >= min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]), places
    d.end()


def newcomer(d, uid, held=None, **said):
    """A process of that user's that says hello, without a task's name if not told: a function that gives what it hears, the message's
    type and its task. With a folder its program can't be looked up until `folder/PID` goes (stuck_link.c)."""
    go, told = os.pipe(), os.pipe()
    child = fork(uid)
    if child == 0:
        os.read(go[0], 1)
        s = d.connect()
        s.send(hello(**said))
        try:
            data = s.recv(256)
        except OSError:
            data = b""
        os.write(told[1], data or b"end")
        time.sleep(1000)
    if held:
        open(f"{held}/{child}", "w").close()
    os.write(go[1], b"g")

    def heard():
        data = os.read(told[0], 256)
        kill(child)
        for fd in go + told:
            os.close(fd)
        return struct.unpack("=IHH", data[:8])[2], data.find(b"by-path\0") > 0

    return child, heard


@needs_root
def a_program_that_is_long_in_coming():
    """A process that becomes another program decides how long that takes: nobody else waits for what it is called."""
    held = tempfile.mkdtemp()
    task = f"[task by-path]\nperiod = 1s\nuser = *\nmatch = {os.path.realpath('/proc/self/exe')}\n"
    d = Daemon(PLAIN + task, for_all=True, under=slowly(STUCK=held, NO_TIMER=1))
    slow, slow_heard = newcomer(d, 65534, held)
    other, other_heard = newcomer(d, 65534 - 64)  # whatever its number is
    assert other_heard() == (WELCOME, True)
    d.status()
    # Nor does who says what it is.
    for said in ({"task": b"by-path"}, {"flags": NO_TASK}):
        child, heard = newcomer(d, 65534, held, **said)
        assert heard() == (WELCOME, "task" in said)
        os.unlink(f"{held}/{child}")
    os.unlink(f"{held}/{slow}")
    assert slow_heard() == (WELCOME, True)
    d.end()
    # Who waits for two seconds goes on as one whose program isn't known.
    d = Daemon(PLAIN + task, for_all=True, under=slowly(STUCK=held))
    slow, slow_heard = newcomer(d, 65534, held)
    assert slow_heard() == (WELCOME, False)
    os.unlink(f"{held}/{slow}")
    d.end()
    os.rmdir(held)


class Joiner:
    """A process of that user's, which joins as a task and leaves as it is told to. With a folder its priority can't be
    set until it is freed (stuck_link.c)."""

    def __init__(self, d, uid, held=None):
        self.told, self.says = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = fork(uid)
        if self.pid == 0:
            connections = []
            while True:
                order = self.told.recv(64)
                if order == b"leave":
                    connections.pop().close()
                elif order in (b"look", b"wait"):
                    got = (receive if order == b"look" else wait_for)(connections[-1])
                    self.told.send(str(got[0] if got else 0).encode())
                else:
                    connections.append(d.connect())
                    connections[-1].send(hello(task=order) if order != b"none" else hello(flags=NO_TASK))
        self.held = None
        if held:
            self.hold(held)

    def hold(self, folder):
        self.held = f"{folder}/{self.pid}"
        open(self.held, "w").close()

    def tell(self, order):
        """A task's name or "none", to join; "leave": by its last connection."""
        self.says.send(order)

    def hears(self, order=b"wait"):
        """The type of the message that its last connection gets, or has got ("look"; 0: none)."""
        self.tell(order)
        said = self.says.recv(64).decode()
        return int(said) if said.isdigit() else said

    def is_first(self):
        """Has it a processor before others?"""
        return os.sched_getscheduler(self.pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO

    def free(self):
        os.unlink(self.held)

    def end(self):
        kill(self.pid)
        self.says.close()
        self.told.close()


@needs_root
def a_priority_that_is_long_in_coming():
    """How long the kernel takes to set a thread's priority, who has the thread decides: nobody else waits for that."""
    held = tempfile.mkdtemp()
    tasks = "[task low]\nperiod = 1s\nuser = 65534\n[task high]\nperiod = 100ms\nuser = 65470\n"  # the same but for 64

    def wait_for_clients(n):
        while d.status()["daemon"]["clients"] != n:
            time.sleep(0.001)

    d = Daemon("[system]\ngpus = 1\n" + tasks, for_all=True, under=slowly(STUCK=held, NO_TIMER=1))
    if os.sched_getscheduler(d.process.pid) != os.SCHED_FIFO:
        print("left out, a priority that is long in coming: SCHED_FIFO isn't permitted", file=sys.stderr)
        return d.end()
    slow = Joiner(d, 65534, held)
    slow.tell(b"low")
    wait_for_clients(1)
    other = Joiner(d, 65470)
    other.tell(b"high")
    assert other.hears() == WELCOME and other.is_first()
    same = Joiner(d, 65534)  # waits for no priority
    same.tell(b"none")
    assert same.hears() == WELCOME
    # It has been given the GPU: units pass to others.
    s = d.connect()
    s.send(hello(flags=NO_TASK))
    data, fds, _, _ = socket.recv_fds(s, 256, 1)
    page = mmap.mmap(fds[0], os.fstat(fds[0]).st_size)
    os.close(fds[0])
    s.send(message(REQUEST, struct.pack("=IIIIIIQ", 0, 0x7357, struct.unpack("=I", data[8:12])[0], 1, 0, 0, 0)))
    while page.find(struct.pack("=I", 0x73570201)) < 0:  # granted, GPU 0
        time.sleep(0.001)
    s.close()
    assert not slow.hears(b"look") and not slow.is_first()
    slow.free()
    assert slow.hears() == WELCOME and slow.is_first()
    for j in (slow, other, same):
        j.end()
    wait_for_clients(0)
    # Of who dies meanwhile nothing is left to do; what is given to who leaves is taken back.
    dies, leaves = Joiner(d, 65534, held), Joiner(d, 65470, held)
    for j, n in ((dies, 1), (leaves, 2)):
        j.tell(b"low" if j is dies else b"high")
        wait_for_clients(n)
    os.kill(dies.pid, signal.SIGKILL)
    wait_for_clients(1)
    assert leaves.hears(b"look") == 0
    leaves.tell(b"leave")
    wait_for_clients(0)
    for j in (dies, leaves):
        j.free()
    twice = Joiner(d, 65470)
    for n in (1, 2):
        twice.tell(b"high")
        assert twice.hears() == WELCOME and twice.is_first()
    assert not leaves.is_first()  # that was asked before, of the same thread
    # One of a process's connections ends: it is a task still.
    twice.tell(b"leave")
    wait_for_clients(1)
    later = Joiner(d, 65470)
    later.tell(b"high")
    assert later.hears() == WELCOME and twice.is_first()
    # By a new config nobody has a priority: what is being given meanwhile is taken back before the welcome.
    changed = Joiner(d, 65534, held)
    changed.tell(b"low")
    wait_for_clients(3)
    d.write("[system]\ngpus = 1\nrealtime = no\n" + tasks)
    r = d.tool("reload")
    assert r.returncode == 0, r
    changed.free()
    assert changed.hears() == WELCOME and not changed.is_first()
    d.write("[system]\ngpus = 1\n" + tasks)
    r = d.tool("reload")
    assert r.returncode == 0, r
    # Nobody has one when the daemon has ended.
    last = Joiner(d, 65534)
    last.tell(b"low")
    assert last.hears() == WELCOME and last.is_first()
    last.hold(held)
    d.process.send_signal(signal.SIGTERM)
    while last.hears() != "end":
        pass
    last.free()
    assert d.process.wait(60) == 0
    for j in (dies, leaves, twice, later, changed, last):
        assert j is dies or not j.is_first()
        j.end()
    d.cleanup()
    # Who waits for long is welcome without it.
    d = Daemon("[system]\ngpus = 1\n" + tasks, for_all=True, under=slowly(STUCK=held))
    slow = Joiner(d, 65534, held)
    slow.tell(b"low")
    assert slow.hears() == WELCOME and not slow.is_first()
    slow.free()
    slow.end()
    d.end()
    os.rmdir(held)


def a_process_of_many_threads():
    """Only its first 128 are given a priority, as the daemon sets one after the other: the welcome comes when it is done."""
    d = Daemon("[system]\ngpus = 1\n[task t]\nperiod = 1s\n", under=slowly(NO_TIMER=1))
    if os.sched_getscheduler(d.process.pid) != os.SCHED_FIFO:
        print("left out, a process of many threads: SCHED_FIFO isn't permitted", file=sys.stderr)
        return d.end()
    told, says = os.pipe()
    child = fork()
    if child == 0:
        threading.stack_size(65536)
        for _ in range(200):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        _ = d.join(b"t")
        os.write(says, b"in")
        time.sleep(1000)
    assert os.read(told, 3) == b"in"
    first = [int(t) for t in os.listdir(f"/proc/{child}/task")
             if os.sched_getscheduler(int(t)) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO]
    assert len(first) == 128, len(first)
    kill(child)
    d.end()


def the_share_of_a_flood():
    """A task below the highest rests when its messages have taken 2 ms more than a twentieth of a processor: what it has said
    is heard in a third of the daemon's time at most, with the turns around it, and in all of it without rests."""
    d = Daemon("[system]\ngpus = 1\n[task high]\nperiod = 1s\npriority = 2\n[task low]\nperiod = 1s\npriority = 1\nwarmup = 99\n")
    crowd = [d.join(task)[0] for task in [b"high"] + [b"low"] * 15]
    d.process.send_signal(signal.SIGSTOP)
    for s in crowd[1:]:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        s.setblocking(False)
        try:
            while True:
                s.send(message(PING))
        except BlockingIOError:
            pass
    before, begin = cpu_ns(d)[0], time.monotonic_ns()
    d.process.send_signal(signal.SIGCONT)
    for s in crowd[1:]:
        while struct.unpack("i", fcntl.ioctl(s, SIOCOUTQ, b"\0\0\0\0"))[0] > 1:  # of what was received last a byte
            time.sleep(0.001)
    used, passed = cpu_ns(d)[0] - before, time.monotonic_ns() - begin
    assert used < 0.6 * passed, used / passed
    d.end()


def the_rest_after_a_stall():
    """A virtual machine that stands still counts as the time of whichever thread it was: of a turn no more counts than a
    millisecond, so that who has a twentieth of a processor, the least of all, rests for 20 at most."""
    d = Daemon(under=slowly(STALLS=1))
    for _ in range(10):
        d.join()[0].close()
    rests = [int(ns) for ns in re.findall(r"rests for (\d+) ns", open(d.log).read())]
    assert rests and max(rests) <= 20_000_000, rests
    d.end()


def a_line_that_is_full():
    """Another user's connections fill the line of the socket that is everybody's: root's has a line of its own."""
    d = Daemon(for_all=True)
    d.process.send_signal(signal.SIGSTOP)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = os.geteuid() == 0
    child = fork(65534 if root else None)
    if child == 0:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.send(b"may" if root and s.connect_ex(d.socket + ".0") == 0 else b"may not")
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        kept = []
        while len(kept) < 2000:
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
            if s.connect_ex(d.socket):
                break
            kept.append(s)
        theirs.send(b"full" if len(kept) < 2000 else b"not full")
        signal.pause()
    assert ours.recv(9) == b"may not"
    assert ours.recv(9) == b"full"
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    assert s.connect_ex(d.socket + f".{os.geteuid()}") == 0
    d.process.send_signal(signal.SIGCONT)
    s.send(message(STATUS))
    assert wait_for(s)[0] == ANSWER
    assert d.status()["daemon"]
    kill(child)
    d.end()


@needs_root
def a_line_of_ones_own():
    """Whom the config names has a line of its own, too, which no other user may join; with another config another user."""
    task = PLAIN + "[task t]\nperiod = 100ms\nuser = %d\n"
    d = Daemon(task % 19999, for_all=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    tool = os.open(TOOL, os.O_RDONLY)

    def connect_as(uid, path):
        with as_user(uid):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
            return errno.errorcode.get(s.connect_ex(path)), s

    def own_sockets():
        name = d.socket + ".19999~"  # as the daemon has bound it
        return sum(line.split()[-1] == name for line in open("/proc/net/unix"))

    assert connect_as(19998, d.socket + ".19999")[0] == "EACCES"
    d.process.send_signal(signal.SIGSTOP)
    os.waitpid(d.process.pid, os.WUNTRACED)
    kept = [connect_as(19998, d.socket)]
    while kept[-1][0] is None and len(kept) < 2000:
        kept.append(connect_as(19998, d.socket))
    assert kept[-1][0] == "EAGAIN", kept[-1]
    before = own_sockets()
    assert before == 1
    asker = fork(19999)
    if asker == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execve(tool, [TOOL, "status"], {"GPUSPARC_SOCKET": d.socket})
    while own_sockets() == before:  # it hasn't connected yet
        assert os.waitpid(asker, os.WNOHANG) == (0, 0), "it has ended unheard"
        time.sleep(0.001)
    d.process.send_signal(signal.SIGCONT)
    assert os.waitpid(asker, 0)[1] == 0
    for _, s in kept:
        s.close()
    d.write(task % 19998)
    assert d.tool("reload").returncode == 0
    assert connect_as(19998, d.socket + ".19998")[0] is None
    assert connect_as(19999, d.socket + ".19999")[0] == "ENOENT"
    os.close(tool)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    d.process.send_signal(signal.SIGTERM)
    assert d.process.wait(60) == 0
    assert not [name for name in os.listdir(d.dir) if "sock" in name], os.listdir(d.dir)
    d.cleanup()


def a_name_that_is_long():
    d = Daemon()
    name = d.dir + "".join("/" + "\x01\n\u20ac" * 40 for _ in range(10)) + "/end"
    os.makedirs(os.path.dirname(name))
    subprocess.run(["cp", os.path.realpath(sys.executable), name], check=True)
    code = ("import socket,sys,time; s=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]);"
            "s.send(bytes.fromhex(sys.argv[2])); time.sleep(60)")
    p = subprocess.Popen([name, "-c", code, d.socket, hello(flags=NO_TASK).hex()], preexec_fn=die_with_parent,
                         env=dict(os.environ, PYTHONHOME=sys.base_prefix))
    while not d.status()["clients"]:
        assert p.poll() is None
        time.sleep(0.01)
    exe = d.status()["clients"][0]["exe"]
    assert exe.startswith("...") and exe.endswith("/end") and len(exe.encode()) <= 255, exe
    assert "\x01" not in exe and "\n" not in exe, exe
    p.kill()
    p.wait()
    d.end()


def a_user_who_floods():
    d = Daemon()
    d.status()
    assert [u["uid"] for u in d.status()["users"]] == [os.geteuid()]
    assert not d.status()["users"][0]["floods"] and "floods" not in d.tool("status").stdout
    os.kill(d.process.pid, signal.SIGSTOP)  # the silent ones' two seconds begin when the last one has come
    crowd = [d.connect() for _ in range(70)]  # 64 that haven't joined
    os.kill(d.process.pid, signal.SIGCONT)
    kinds = [wait_for(s)[0] for s in crowd[64:]]
    assert kinds == [REFUSED] * 6, kinds
    for s in crowd:
        s.close()
    turned_away = 6
    while True:  # a place is free when the daemon has noticed the crowd's end
        last = d.connect()
        last.send(b"senseless")
        try:
            data = last.recv(256)
        except ConnectionResetError:  # what we said wasn't read
            data = last.recv(256)
        if struct.unpack("=I", data[8:12])[0] != 2:  # GS_REFUSED_FULL
            break
        turned_away += 1
    user = d.status()["users"][0]
    # The tool, too, may come before there is another place.
    assert user["floods"] and user["turned_away"] >= turned_away and user["refused"] == 1, user
    assert user["connections"] >= 65 and user["questions"] >= 5, user
    line = [s for s in d.tool("status").stdout.split("\n") if "floods the daemon" in s]
    name = pwd.getpwuid(os.geteuid()).pw_name
    assert len(line) == 1 and line[0].startswith("user %s floods" % name) and "turned away: %d; refused: 1;" % user["turned_away"] in line[0], line
    # Who finds no place hears why, and asks again until the silent ones' two seconds have passed.
    crowd = [d.connect() for _ in range(64)]
    r = d.tool("status")
    assert r.returncode == 0, r
    for s in crowd:
        s.close()
    d.end()


@needs_root
def a_crowd_of_users():
    """Of 512 places the ninth user gets one, and whoever has as many as the others gets no other's."""
    d = Daemon(for_all=True)
    crowd = {uid: [d.connect(uid) for _ in range(64)] for uid in range(20001, 20009)}
    ninth = d.connect(20009)
    firsts = {s[0]: uid for uid, s in crowd.items()}
    lost = select.select(list(firsts), [], [], 60)[0]
    assert len(lost) == 1 and lost[0].recv(256) == b"", lost
    again = d.connect(firsts[lost[0]])
    assert wait_for(again)[0] == REFUSED
    ninth.send(hello(flags=NO_TASK))
    assert wait_for(ninth)[0] == WELCOME
    for s in sum(crowd.values(), [ninth, again]):
        s.close()
    d.end()


@needs_root
def a_crowd_of_numbers():
    """One person with many users' numbers, and a connection of each, keeps out nobody whom the config names."""
    d = Daemon(PLAIN + "[task t]\nperiod = 100ms\nuser = 19999\n", for_all=True)
    os.kill(d.process.pid, signal.SIGSTOP)  # nobody's two seconds have passed when the last one comes
    crowd = [d.connect(20000 + i) for i in range(512)]
    other, named, root = (d.connect(uid) for uid in (30000, 19999, 0))
    for s in (named, root):
        s.send(hello(flags=NO_TASK))
    os.kill(d.process.pid, signal.SIGCONT)
    assert wait_for(other)[0] == REFUSED
    assert [wait_for(s)[0] for s in (named, root)] == [WELCOME, WELCOME]
    assert [s.recv(256) for s in crowd[:2]] == [b"", b""]  # the oldest
    for s in crowd + [other, named, root]:
        s.close()
    d.end()


@needs_root
def a_crowd_of_numbers_that_speaks():
    """Who is root, or named by the config, says hello behind as many of these as one or two of the daemon's turns hear (64
    each), and not behind one of each number: clients are numbered in the order in which they join."""
    d = Daemon(PLAIN + "[task t]\nperiod = 100ms\nuser = 19999\n", for_all=True,
               under=slowly(NO_TIMER=1))  # silent ones aren't sent away

    def number_of(s):
        data, fds, _, _ = socket.recv_fds(s, 256, 1)
        assert struct.unpack("=IHH", data[:8])[2] == WELCOME
        os.close(fds[0])
        return struct.unpack("=I", data[8:12])[0]

    before = len(os.listdir(f"/proc/{d.process.pid}/fd"))
    crowd = [d.connect(uid) for uid in random.Random(1).sample(range(100000, 165536), 440)]
    while len(os.listdir(f"/proc/{d.process.pid}/fd")) < before + 2 * len(crowd):  # a socket and a process of each
        time.sleep(0.001)
    os.kill(d.process.pid, signal.SIGSTOP)
    expected = [d.connect(0, ".0"), d.connect(19999)]
    for s in crowd + expected:
        s.send(hello(flags=NO_TASK))
    os.kill(d.process.pid, signal.SIGCONT)
    numbers = [number_of(s) for s in expected]
    others = [number_of(s) for s in crowd]
    behind = [sum(1 for other in others if other < number) for number in numbers]
    assert max(behind) <= 128, behind
    for s in crowd + expected:
        s.close()
    d.end()


def a_crowd_that_has_gone():
    """Connections that have ended before they are taken in take no place, also where they have said something."""
    d = Daemon()

    def joins():
        s = d.connect()
        s.send(hello(flags=NO_TASK))
        return s

    first, _ = d.join()
    os.kill(d.process.pid, signal.SIGSTOP)
    for i in range(900):
        s = joins() if i % 2 else d.connect()
        s.close()
    second = joins()
    os.kill(d.process.pid, signal.SIGCONT)
    assert wait_for(second)[0] == WELCOME
    state = d.status()
    numbers = sorted(c["client"] for c in state["clients"])
    assert len(numbers) == 2 and numbers[1] - numbers[0] == 1, numbers  # nobody has joined in between
    user = state["users"][0]
    assert user["turned_away"] == 0 and user["connections"] >= 902 and user["floods"], user
    first.close()
    second.close()
    d.end()


def the_order_of_newcomers():
    """Of one user's who come at a time the first is taken in first."""
    d = Daemon()
    os.kill(d.process.pid, signal.SIGSTOP)
    line = [d.connect() for _ in range(40)]
    for s in reversed(line):  # who came counts, not who spoke
        s.send(hello(flags=NO_TASK))
    os.kill(d.process.pid, signal.SIGCONT)
    numbers = []
    for s in line:
        data, fds, _, _ = socket.recv_fds(s, 256, 1)
        assert struct.unpack("=IHH", data[:8])[2] == WELCOME
        numbers.append(struct.unpack("=I", data[8:12])[0])
        os.close(fds[0])
    assert numbers == list(range(numbers[0], numbers[0] + 40)), numbers
    for s in line:
        s.close()
    d.end()


def a_place_that_waits():
    """Nothing that the daemon opens at its start keeps it there: pipes without a reader or a writer."""
    d = tempfile.mkdtemp(prefix="gs-holds.")
    for name in ("pipe", "pipe.lock", "pipe~"):
        os.mkfifo(f"{d}/{name}")
    open(d + "/conf", "w").write(PLAIN)
    places = {"--trace": "it is a pipe that nobody reads", "--config": "it is no regular file", "--socket": "can't listen on"}
    for option, words in places.items():
        options = {"--socket": d + "/sock", "--config": d + "/conf", option: d + "/pipe"}
        r = subprocess.run([DAEMON, *sum(([k, v] for k, v in options.items()), [])], capture_output=True, text=True, timeout=60)
        assert r.returncode == 1 and words in r.stderr, r
        assert sorted(os.listdir(d)) == ["conf", "pipe", "pipe.lock", "pipe~"], os.listdir(d)
    subprocess.run(["rm", "-rf", d])
    # Nor does a log whose reader has ended end it.
    r, w = os.pipe()
    os.close(r)
    d = Daemon(stderr=w)
    os.close(w)
    d.write("wrong")
    assert d.tool("reload").returncode == 1
    d.end()


@needs_root
def the_ended_whom_the_config_names():
    """Root's process that has ended is seen off before another user's of which the daemon knew earlier. The clock has
    one of them seen off at a time, each as slow; the kernel lists what has happened to sockets in its order."""
    d = Daemon(for_all=True, under=slowly(SLOW=1))
    heard, processes, epoll = [], [], select.epoll()
    for uid, n in (65534, 60), (0, 1):
        ours, theirs = socket.socketpair()
        child = fork(uid)
        if child == 0:
            own = [d.join()[0] for _ in range(n)]
            socket.send_fds(theirs, [b"x"], [s.fileno() for s in own])
            signal.pause()
        theirs.close()
        heard += [socket.socket(fileno=fd) for fd in socket.recv_fds(ours, 1, n)[1]]
        processes.append(child)
    assert len(heard) == 61
    for s in heard:
        epoll.register(s, select.EPOLLRDHUP)
    d.process.send_signal(signal.SIGSTOP)
    os.waitpid(d.process.pid, os.WUNTRACED)
    for child in processes:
        kill(child)
    d.process.send_signal(signal.SIGCONT)
    for s in heard:
        p = select.poll()
        p.register(s, select.POLLRDHUP)
        assert p.poll(60000)
    order = [fd for fd, _ in epoll.poll(0, 100)]
    assert len(order) == 61 and order.index(heard[-1].fileno()) < 60, order.index(heard[-1].fileno())
    d.end()


def a_page_with_holes():
    """A client can't take the memory out of the page that it shares with the daemon, which would wait for that."""
    immutable = struct.pack("=i", 0x10)

    def take_out(fd, size):
        """Errors of the two ways, and what the first bytes were afterwards."""
        libc = ctypes.CDLL(None, use_errno=True)
        with mmap.mmap(fd, size) as page:
            at = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))
            ways = (lambda: libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(size)),
                    lambda: libc.madvise(at, ctypes.c_size_t(size), 9))  # PUNCH_HOLE | KEEP_SIZE; MADV_REMOVE
            errors = [ctypes.get_errno() if way() else 0 for way in ways]
            del at
            return errors, page[:4]

    own = os.memfd_create("own")
    os.ftruncate(own, 49152)
    try:
        fcntl.ioctl(own, 0x40086602, immutable)  # FS_IOC_SETFLAGS
    except OSError:
        print("left out, pages with holes: needs Linux 6.6 and CAP_LINUX_IMMUTABLE", file=sys.stderr)
        return
    d = Daemon()
    s, fd = d.join()
    errors, magic = take_out(fd, os.fstat(fd).st_size)
    assert errors == [errno.EPERM] * 2 and magic == struct.pack("=I", 0x47535043), (errors, magic)
    assert "holes" not in open(d.log).read()
    os.close(fd)
    s.close()
    d.end()


@needs_root
def a_page_that_is_watched():
    """Whoever gives up a file last wakes all who wait for news of it (inotify): of the page nobody hears any."""
    d = Daemon(for_all=True)
    child = fork(65534)
    if child == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        s, fd = d.join()
        path = f"/proc/self/fd/{fd}".encode()
        watch = libc.inotify_add_watch(libc.inotify_init1(0), path, 0xFFF)
        os._exit(0 if (watch, ctypes.get_errno()) == (-1, errno.EACCES) else 1)
    assert os.waitpid(child, 0)[1] == 0
    d.end()


def the_locks_of_a_client():
    """As many locks as it likes, of an open file (F_OFD_SETLK): they go with its own last descriptor, so that the daemon
    isn't who takes them away."""
    d = Daemon()
    s = d.connect()
    s.send(hello(flags=NO_TASK))
    files = [wait_for(s)]
    for _ in range(2):  # by the second answer the daemon has closed what it sent before
        s.send(message(STATUS))
        files.append(wait_for(s))
    for (kind, fd), expected in zip(files, (WELCOME, ANSWER)):
        assert kind == expected
        at = os.fstat(fd)
        lock = f" {os.major(at.st_dev):02x}:{os.minor(at.st_dev):02x}:{at.st_ino} "
        for i in range(10):
            fcntl.fcntl(fd, 37, struct.pack("=hhxxxxqqixxxx", fcntl.F_RDLCK, os.SEEK_SET, 2 * i, 1, 0))
        assert open("/proc/locks").read().count(lock) == 10
        os.close(fd)
        assert lock not in open("/proc/locks").read()
    d.end()


def a_descriptor_that_is_passed():
    """The daemon takes none: whoever closes the last one of this socket waits for a minute, as its bytes aren't read."""
    d = Daemon()
    s = d.connect()
    try:
        s.setsockopt(socket.SOL_SOCKET, 83, 1)  # SO_PASSRIGHTS
    except OSError:
        print("left out, descriptors that are passed: needs Linux 6.16", file=sys.stderr)
        return d.end()
    listener = socket.create_server(("127.0.0.1", 0))
    a = socket.create_connection(listener.getsockname())
    a.setblocking(False)
    try:
        while True:
            a.send(bytes(65536))
    except BlockingIOError:
        pass
    a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 60))
    try:
        socket.send_fds(s, [hello(flags=NO_TASK)], [a.fileno()])
        passed = True
    except PermissionError:
        passed = False
        a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 0))
    a.close()
    assert d.status()["daemon"]["clients"] == 0 and not passed
    s.close()
    d.end()


def the_daemons_command_line():
    """Anybody may read it, and who gets no processor meanwhile keeps a lock of the daemon's memory: of an empty one the
    kernel takes none."""
    d = Daemon()
    if ctypes.CDLL(None).prctl(35, 15, ctypes.byref(ctypes.c_uint()), 0, 0):  # PR_SET_MM, PR_SET_MM_MAP_SIZE
        print("left out, the command line: needs CONFIG_CHECKPOINT_RESTORE", file=sys.stderr)
    else:
        assert open(f"/proc/{d.process.pid}/cmdline").read() == ""
    assert d.status()["daemon"]["config"] == d.config  # the words are there still
    d.end()


def a_number_that_is_used_again():
    """Who has connected has ended, and a task's program has its number: the connection isn't that task."""
    try:
        a, b = socket.socketpair()
        os.close(struct.unpack("=i", a.getsockopt(socket.SOL_SOCKET, 77, 4))[0])  # SO_PEERPIDFD, since Linux 6.5
    except OSError:
        print("left out, numbers of processes: this kernel doesn't tell a process from its number", file=sys.stderr)
        return
    if not os.environ.get("GS_OWN_NUMBERS"):
        own = ["unshare", "--pid", "--fork", "--mount-proc"]
        if os.geteuid() or subprocess.run([*own, "true"], capture_output=True).returncode:
            print("left out, numbers of processes: no namespace for them can be made here", file=sys.stderr)
            return
        subprocess.run([*own, sys.executable, __file__, DAEMON, TOOL, "a_number_that_is_used_again"], check=True,
                       env=dict(os.environ, GS_OWN_NUMBERS="yes"))
        return
    d = Daemon(PLAIN + "[task t]\nperiod = 100ms\nuser = *\nmatch = */the-task\n")
    program = d.dir + "/the-task"
    subprocess.run(["cp", "/bin/sleep", program], check=True)

    def connects_as_the_task(before):
        """A connection of a process that has ended; the number is now the task's, that is alive."""
        os.kill(d.process.pid, signal.SIGSTOP)  # nobody looks at it meanwhile
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
        if child == 0:
            s.connect(d.socket)
            os._exit(0)
        if not before:
            os.kill(d.process.pid, signal.SIGCONT)
            time.sleep(0.2)
        os.waitpid(child, 0)
        with open("/proc/sys/kernel/ns_last_pid", "w") as f:
            f.write(str(child - 1))
        task = os.fork()
        if task == 0:
            os.execv(program, [program, "1000"])
        assert task == child, (task, child)
        while not os.readlink(f"/proc/{task}/exe").endswith("the-task"):
            time.sleep(0.01)
        try:
            if before:
                s.send(hello())
            os.kill(d.process.pid, signal.SIGCONT)
            if not before:
                s.send(hello())
            data = s.recv(256)
        except OSError:
            data = b""
        state = d.status()
        kill(task)
        assert b"t" + bytes(63) not in data, data  # it may be welcome, but not as the task
        assert not any(t["running"] for t in state["tasks"]), state["tasks"]

    connects_as_the_task(before=True)
    connects_as_the_task(before=False)
    d.end()


run_cases(globals())
