# SPDX-License-Identifier: MIT
"""What surrounds the daemon: namespaces, a hidden /proc, full disks, links in its socket's path, limits."""
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

from enemy import ANSWER, DAEMON, PLAIN, REFUSED, RELOAD, WELCOME, NO_TASK
from enemy import Daemon, die_with_parent, hello, message, run_cases, wait_for

PYTHON = next(p for p in ("/usr/bin/python3", sys.executable) if os.path.exists(p))  # any user may run the first
TASK = PLAIN + "[task t]\nperiod = 100ms\nuser = *\n"
# A client by itself: says the messages (hexadecimal) to the socket, and the types and the first code of the answers.
CLIENT = """import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
for m in sys.argv[2:]:
    s.send(bytes.fromhex(m))
    data = s.recv(256)
    print(*struct.unpack("=IHHI", data[:12])[2:])
sys.stdout.flush()
sys.stdin.read()
"""


def can(*command):
    return subprocess.run([*command, "true"], capture_output=True).returncode == 0


def left_out(what):
    print("left out, " + what, file=sys.stderr)


def answers(d, under, *messages):
    """A client that runs under other programs, what it has heard, and who is connected meanwhile."""
    p = subprocess.Popen([*under, PYTHON, "-c", CLIENT, d.socket, *(m.hex() for m in messages)], text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
    said = [tuple(map(int, p.stdout.readline().split())) for _ in messages]
    state = d.status()
    p.communicate()
    return said, state


def end_children(p):
    """Of unshare, which waits for its child: that isn't ended with it once it has another user."""
    for child in open(f"/proc/{p.pid}/task/{p.pid}/children").read().split():
        os.kill(int(child), signal.SIGKILL)
    p.wait(60)


def a_client_in_namespaces():
    """Of users, processes and time: it is scheduled, and its root is the user who has made them."""
    under = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--time"]
    if os.geteuid() == 0:
        under = ["setpriv", "--reuid", "65534", "--clear-groups", *under]
    if not can(*under):
        return left_out("namespaces: they can't be made here")
    d = Daemon(TASK)
    os.chmod(d.dir, 0o755)
    os.chmod(d.socket, 0o666)
    said, state = answers(d, under, hello(b"t"), message(RELOAD))
    assert said[0][0] == WELCOME and said[1][0] == ANSWER, said
    client = state["clients"][0]
    assert client["task"] == "t" and client["pid"] > 2 and client["uid"] == (os.geteuid() or 65534), client
    assert os.geteuid() or said[1][1] == 1, said  # EPERM
    d.end()


def a_client_outside_the_daemons_namespace():
    """The daemon knows neither its number nor its program."""
    own = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() or not can(*own):
        return left_out("a daemon's own numbers of processes: they can't be made here")
    d = Daemon(TASK + "match = */python*\n", under=own)
    for name, task in ((b"t", "t"), (b"", "")):
        said, state = answers(d, [], hello(name))
        assert said[0][0] == WELCOME and state["clients"][0]["task"] == task, (said, state["clients"])
        assert state["clients"][0]["pid"] == 0 and state["clients"][0]["exe"] == "", state["clients"]
    end_children(d.process)
    subprocess.run(["rm", "-rf", d.dir])


def a_hidden_proc():
    """With hidepid=2 a user's daemon sees no other user's process: tasks are known by name."""
    hide = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
            'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65533 --clear-groups "$@"', "sh"]
    if os.geteuid() or not can(*hide):
        return left_out("a hidden /proc: it can't be made here")
    copy = tempfile.mkdtemp(prefix="gs-surroundings.")
    os.chmod(copy, 0o777)
    subprocess.run(["cp", DAEMON, copy], check=True)  # the build may lie where only root may look
    sock = copy + "/sock"
    with open(copy + "/conf", "w") as f:
        f.write(TASK + "match = */python*\n")
    p = subprocess.Popen([*hide, copy + "/gpusparcd", "--socket", sock, "--config", copy + "/conf", "--mode", "0666"],
                         stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
    while "listens on" not in p.stderr.readline():
        assert p.poll() is None
    for name in (b"t", b""):
        client = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", PYTHON, "-c", CLIENT, sock,
                                 hello(name).hex()], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        assert client.stdout.split()[:1] == [str(WELCOME)], client
    end_children(p)
    subprocess.run(["rm", "-rf", copy])


def a_full_disk():
    """For the log and the trace: the daemon goes on, and what it has written of the trace is whole."""
    folder = tempfile.mkdtemp(prefix="gs-surroundings.")
    if os.geteuid() or subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", folder]).returncode:
        return left_out("a full disk: it can't be mounted here")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", folder], check=True)
    try:
        log = open(folder + "/log", "w")
        d = Daemon("[system]\n", stderr=log, args=["--trace", folder + "/trace"])
        d.write("[system]\n" + "".join("wrong%d = 1\n" % i for i in range(100)))  # a line of the log for each
        while d.status()["daemon"]["log_dropped"] == 0:
            assert d.tool("reload").returncode == 1
        for _ in range(300):  # joins, each a few events
            s = d.connect()
            s.send(hello(flags=NO_TASK))
            assert wait_for(s)[0] == WELCOME
            s.close()
        d.write("[system]\n")
        assert d.tool("reload").returncode == 0
        d.end()
        json.load(open(folder + "/trace"))
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        os.rmdir(folder)


def the_sockets_path():
    """Links in it: to a folder they are followed; in place of a file of the daemon's they are left alone."""
    folder = tempfile.mkdtemp(prefix="gs-surroundings.")
    kept = folder + "/kept"
    for name in ("sock", "sock~", "sock.lock"):
        open(kept, "w").write("theirs")
        os.symlink(kept, f"{folder}/{name}")
        r = subprocess.run([DAEMON, "--socket", folder + "/sock", "--gpus", "1"], capture_output=True, text=True, timeout=60)
        assert r.returncode == 1 and "can't listen on" in r.stderr, (name, r)
        assert open(kept).read() == "theirs" and os.path.islink(f"{folder}/{name}"), name
        os.unlink(f"{folder}/{name}")
    os.mkdir(folder + "/real")
    os.symlink(folder + "/real", folder + "/linked")
    p = subprocess.Popen([DAEMON, "--socket", folder + "/linked/sock", "--gpus", "1"], stderr=subprocess.PIPE, text=True,
                         preexec_fn=die_with_parent)
    assert "listens on" in p.stderr.readline()
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(folder + "/real/sock")
    s.close()
    p.terminate()
    assert p.wait(60) == 0
    subprocess.run(["rm", "-rf", folder])


def a_limit():
    """Of descriptors, of address space: who finds no place is told so, all others are scheduled."""
    def limits(which, most):
        def first():
            die_with_parent()
            resource.setrlimit(which, (most, most))
        return first

    for which, most, all_find_a_place in ((resource.RLIMIT_NOFILE, 64, False), (resource.RLIMIT_AS, 120 << 20, True)):
        d = Daemon(first=limits(which, most))
        crowd, kinds = [], []
        for _ in range(60):
            s = d.connect()
            try:
                s.send(hello(flags=NO_TASK))
                kinds.append(wait_for(s)[0])
            except OSError:  # it was turned away before it had spoken
                kinds.append(REFUSED)
            crowd.append(s)
        assert set(kinds) <= {WELCOME, REFUSED} and kinds[:10] == [WELCOME] * 10, kinds
        assert (REFUSED not in kinds) == all_find_a_place, kinds
        for s in crowd:
            s.close()
        while d.tool("status").returncode:  # those who have left are still being seen off
            time.sleep(0.05)
        assert d.status()["daemon"]["clients"] <= 60
        d.end()


run_cases(globals())
