# SPDX-License-Identifier: MIT
"""What must not stop the daemon: its config, its log, questions, a crowd. A hostile client of its own, by the wire's
layout alone (common/wire.h). holds.py GPUSPARCD GPUSPARC [CASE]; no case asserts a time."""
import ctypes
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


DAEMON, TOOL = sys.argv[1:3]
WIRE = open(os.path.join(os.path.dirname(__file__), "../../common/wire.h")).read()
VERSION = int(WIRE.split("#define GS_WIRE_VERSION ")[1].split()[0])
HELLO, STATUS, PLAN = 1, 9, 11
WELCOME, REFUSED, ANSWER = 64, 65, 67
NO_TASK = 1
SIOCOUTQ, FIONREAD = 0x5411, 0x541B
PLAIN = "[system]\ngpus = 1\nrealtime = no\n"


def message(kind, body=b""):
    return struct.pack("=IHH", 0x47535043, VERSION, kind) + body.ljust(248, b"\0")


def hello(task=b"", flags=0):
    return message(HELLO, struct.pack("=II64sI", flags, 1, task, 0))


class Daemon:
    def __init__(self, config=PLAIN, stderr=None, **more):
        self.dir = tempfile.mkdtemp(prefix="gs-holds.")
        self.socket, self.config = self.dir + "/sock", self.dir + "/conf"
        self.log = self.dir + "/log"
        self.write(config)
        out = stderr if stderr is not None else open(self.log, "w")
        self.process = subprocess.Popen([DAEMON, "--socket", self.socket, "--config", self.config, *more.get("args", [])],
                                        stderr=out, preexec_fn=die_with_parent)
        while not os.path.exists(self.socket):
            assert self.process.poll() is None, "the daemon didn't start"
            time.sleep(0.01)

    def write(self, config):
        with open(self.config, "w") as f:
            f.write(config)

    def connect(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(self.socket)
        return s

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
        subprocess.run(["rm", "-rf", self.dir])


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


CASES = [v for k, v in list(globals().items()) if k.split("_")[0] in ("a", "the") and callable(v)]
for case in CASES:
    if len(sys.argv) < 4 or sys.argv[3] == case.__name__:
        case()
        print("ok", case.__name__, flush=True)
