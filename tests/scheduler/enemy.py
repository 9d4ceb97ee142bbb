# SPDX-License-Identifier: MIT
"""A hostile client, by the wire's layout alone (common/wire.h), and a daemon to try it on. The scripts that use it are
called SCRIPT GPUSPARCD GPUSPARC [CASE]; no case asserts a time."""
import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


DAEMON, TOOL = (sys.argv + ["", ""])[1:3]
WIRE = open(os.path.join(os.path.dirname(__file__), "../../common/wire.h")).read()
VERSION = int(WIRE.split("#define GS_WIRE_VERSION ")[1].split()[0])
HELLO, REQUEST, CHOOSE, PING, STATUS, RELOAD = 1, 2, 3, 8, 9, 10
WELCOME, REFUSED, ANSWER = 64, 65, 67
NO_TASK = 1
FIONREAD = 0x541B
PLAIN = "[system]\ngpus = 1\nrealtime = no\n"


def message(kind, body=b""):
    return struct.pack("=IHH", 0x47535043, VERSION, kind) + body.ljust(248, b"\0")


def hello(task=b"", flags=0):
    return message(HELLO, struct.pack("=II64sI", flags, 1, task, 0))


def needs_root(case):
    """The case plays other users."""
    def if_root():
        if os.geteuid():
            return print("left out, %s: needs other users" % case.__name__.replace("_", " "), file=sys.stderr)
        return case()
    if_root.__name__ = case.__name__
    return if_root


def fork(uid=None):
    """As os.fork(); the child ends with us, and is another user if that is told."""
    child = os.fork()
    if child == 0:
        die_with_parent()
        if uid is not None:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            die_with_parent()  # which the kernel forgets with another user
    return child


def kill(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@contextlib.contextmanager
def as_user(uid):
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


def slowly(**how):
    """What to run the daemon under, so that its calls go as stuck_link.c says."""
    library = os.path.join(os.path.dirname(DAEMON), "../tests/scheduler/stuck_link.so")
    return ["env", "LD_PRELOAD=" + library, *("GS_%s=%s" % h for h in how.items())]


class Daemon:
    def __init__(self, config=PLAIN, stderr=None, for_all=False, **more):
        """for_all: other users may connect."""
        self.dir = tempfile.mkdtemp(prefix="gs-holds.")
        self.socket, self.config = self.dir + "/sock", self.dir + "/conf"
        self.log = self.dir + "/log"
        self.write(config)
        out = stderr if stderr is not None else open(self.log, "w")
        options = ["--socket", self.socket, "--config", self.config, *more.get("args", [])]
        if for_all:
            os.chmod(self.dir, 0o755)
            options += ["--mode", "0666"]
        self.process = subprocess.Popen([*more.get("under", []), DAEMON, *options], stderr=out,
                                        preexec_fn=more.get("first", die_with_parent))
        while not os.path.exists(self.socket):
            assert self.process.poll() is None, "the daemon didn't start"
            time.sleep(0.01)

    def write(self, config):
        with open(self.config, "w") as f:
            f.write(config)

    def connect(self, uid=None, name=""):
        """As that user; to the line of that name: ".0" is root's."""
        with as_user(uid) if uid is not None else contextlib.nullcontext():
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.connect(self.socket + name)
            return s

    def join(self, task=b""):
        """A connection that is welcome as the task, or none; and its page's descriptor."""
        s = self.connect()
        s.send(hello(task, 0 if task else NO_TASK))
        kind, fd = wait_for(s)
        assert kind == WELCOME, kind
        return s, fd

    def tool(self, *words):
        return subprocess.run([TOOL, *words], env=dict(os.environ, GPUSPARC_SOCKET=self.socket), capture_output=True,
                              text=True, timeout=20)

    def status(self):
        r = self.tool("status", "--json")
        assert r.returncode == 0, r.stderr
        return json.loads(r.stdout)

    def end(self):
        assert self.process.poll() is None, "the daemon has ended"
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0
        self.cleanup()

    def cleanup(self):
        subprocess.run(["rm", "-rf", self.dir])


def receive(s):
    """The next message's type, and the file that came with it; None: nothing is there."""
    if not select.select([s], [], [], 0)[0]:
        return None  # socket.recv_fds takes no flags in some versions of Python
    data, fds, _, _ = socket.recv_fds(s, 256, 1)
    return struct.unpack("=IHH", data[:8])[2] if data else "end", fds[0] if fds else None


def wait_for(s):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        got = receive(s)
        if got:
            return got
        time.sleep(0.001)
    raise AssertionError("no answer")


def run_cases(names):
    """All functions of a script whose names begin with an article, or the one that is asked for."""
    for name, case in list(names.items()):
        if name.split("_")[0] in ("a", "an", "the") and callable(case) and sys.argv[3:4] in ([], [name]):
            case()
            print("ok", name, flush=True)
