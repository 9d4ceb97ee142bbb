#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpusparc daemon, status, reload and top as a user types them.
set -euo pipefail
dir=$(mktemp -d)
export GPUSPARC_SOCKET=$dir/sock
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true; rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
# expect STATUS TEXT COMMAND...: the command's exit status, and a text somewhere in its output
expect() {
  local status=$1 text=$2 rc=0
  shift 2
  out=$("$@" 2>&1) || rc=$?
  [ "$rc" = "$status" ] || fail "$*: exit status $rc, not $status: $out"
  case $out in *"$text"*) ;; *) fail "$*: no '$text' in: $out" ;; esac
}
# says SENTENCE: the last output has it, a sentence of docs/messages.md with anything where it has %s or the like
says() {
  grep -qE -- "$(sed -E 's/[][\.*^$+?(){}|]/\\&/g; s/%[a-z]/.*/g' <<<"$1")" <<<"$out" || fail "it isn't said: $1: $out"
}

expect 1 "no daemon listens on $dir/sock" gpusparc status
expect 1 "no daemon listens" gpusparc status --json
[ -e /run/gpusparc.sock ] || expect 1 "no daemon listens on /run/gpusparc.sock, nor in $dir; " env -u GPUSPARC_SOCKET XDG_RUNTIME_DIR="$dir" gpusparc status
expect 1 "no daemon listens" gpusparc reload
expect 1 "no daemon listens" gpusparc top
long=$dir/$(printf 'x%.0s' {1..120})
for command in status top reload; do
  expect 1 "at most 107 bytes: no daemon can listen on $long" gpusparc $command --socket "$long"
  expect 1 "at most 107 bytes: no daemon can listen on $long" env GPUSPARC_SOCKET="$long" gpusparc $command
done
expect 1 "can't listen on $long: File name too long" gpusparc daemon --socket "$long"
expect 2 "takes no argument" gpusparc status now
expect 2 "takes no argument" gpusparc reload now
expect 2 "--interval takes seconds" gpusparc top --interval often
expect 0 "Usage: gpusparc daemon" gpusparc daemon --help
expect 2 "--gpus takes a number" gpusparc daemon --gpus none
expect 2 "--mode takes a file mode" gpusparc daemon --mode 9
expect 1 "cannot be read" gpusparc daemon --config "$dir/none"
expect 1 "/no?ne?[2J: cannot be read" gpusparc daemon --config "$dir/"$'no\nne\e[2J' # no control characters
printf '[system]\ngpus = many\n[task a]\nperiod = 1s\nmode = most\n' >"$dir/conf"
expect 1 "$dir/conf:2: " gpusparc daemon --config "$dir/conf"
expect 1 "$dir/conf:5: " gpusparc daemon --config "$dir/conf"
says "%s:%d: %s"
printf '[system]\ngpus = 17\n' >"$dir/conf"
expect 1 "$dir/conf:2: gpus must be 1 to 16" gpusparc daemon --config "$dir/conf"
expect 1 "can't listen on $dir/none/sock" gpusparc daemon --socket "$dir/none/sock"
says "can't listen on %s: %s"
expect 1 "$dir/none/t" gpusparc daemon --trace "$dir/none/t"
says "the trace %s can't be written: %s"
# A name that no task can have is said before the application runs.
for name in 'x y' '' "$(printf 'n%.0s' {1..44})" $'t\n'; do
  expect 125 "--task" gpusparc run --task "$name" echo ran
done
expect 0 "ran" gpusparc run --task "$(printf 'n%.0s' {1..43})" echo ran
# A --socket that names something else leaves it as it is, and what would lie beside it too.
for file in mine mine~ mine.lock; do
  echo "precious words" >"$dir/$file"
  expect 1 "can't listen on $dir/mine: " timeout 5 gpusparc daemon --socket "$dir/mine"
  says "can't listen on %s: it, or what ends in ~ or .lock beside it, is there already and not a daemon's"
  [ "$(cat "$dir/$file")" = "precious words" ] || fail "--socket mine has changed $file"
  rm "$dir/$file"
done
ln -s conf "$dir/link"
expect 1 "can't listen on $dir/link: " timeout 5 gpusparc daemon --socket "$dir/link"
[ -L "$dir/link" ] || fail "--socket has replaced a link"
expect 1 "Is a directory" timeout 5 gpusparc daemon --socket "$dir"
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(1)
print(flush=True)
time.sleep(60)' "$dir/theirs" >"$dir/listening" &
daemon=$!
for _ in $(seq 100); do [ -s "$dir/listening" ] && break; sleep 0.05; done
expect 1 "another program listens on $dir/theirs" timeout 5 gpusparc daemon --socket "$dir/theirs"
says "another program listens on %s"
kill "$daemon"
wait "$daemon" || true
# Who had it is dead: it is free.
expect 124 "listens on $dir/theirs" timeout 1 gpusparc daemon --socket "$dir/theirs" --gpus 1
says "listens on %s"
own=$dir/theirs.$(id -u)
echo "precious words" >"$own"
expect 124 "listens on $dir/theirs" timeout 2 gpusparc daemon --socket "$dir/theirs" --gpus 1
says "can't listen on %s: %s; others' connections can stand before this user's"
[ "$(cat "$own")" = "precious words" ] || fail "the daemon has changed $own"
rm "$own"

printf '[system]\ngpus = 2\nrealtime = no\n[task knn]\nperiod = 200ms\n' >"$dir/conf"
gpusparc daemon --config "$dir/conf" 2>"$dir/log" &
daemon=$!
for _ in $(seq 100); do gpusparc status --json >/dev/null 2>&1 && break; sleep 0.05; done
expect 0 "gpu1" gpusparc status
# Whose daemon has answered, by the kernel's word.
expect 0 "process $daemon of user $(id -un), on $dir/sock" gpusparc status
expect 0 "\"uid\": $(id -u)" gpusparc status --json
if [ "$(id -u)" = 0 ]; then
  mkdir -m 777 "$dir/theirs.d" && chmod 755 "$dir"
  cp "$(command -v gpusparcd || echo "$GS_BUILD/bin/gpusparcd")" "$dir/theirs.d/" # the build may lie where only root may look
  setpriv --reuid 1001 --clear-groups timeout 5 "$dir/theirs.d/gpusparcd" --socket "$dir/theirs.d/sock" --gpus 1 2>"$dir/theirs.log" &
  theirs=$!
  for _ in $(seq 100); do gpusparc status --json --socket "$dir/theirs.d/sock" >/dev/null 2>&1 && break; sleep 0.05; done
  expect 0 "of user $(id -un 1001 2>/dev/null || echo 1001), on " gpusparc status --socket "$dir/theirs.d/sock"
  kill "$theirs"
  wait "$theirs" || true
else
  echo "left out, another user's daemon: that takes root"
fi
# The log: time, name, level; for journald its priorities.
grep -qE "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\.[0-9]{3} gpusparcd: info: listens on $dir/sock$" "$dir/log" || fail "the log: $(cat "$dir/log")"
: >"$dir/journal"
JOURNAL_STREAM=$(stat -c %d:%i "$dir/journal") timeout 1 gpusparc daemon --socket "$dir/other" --gpus 1 2>"$dir/journal" || true
grep -qx "<6>listens on $dir/other" "$dir/journal" || fail "the journal: $(cat "$dir/journal")"
JOURNAL_STREAM=1:1 timeout 1 gpusparc daemon --socket "$dir/other" --gpus 1 2>"$dir/journal" || true
grep -q "gpusparcd: info: listens on $dir/other$" "$dir/journal" || fail "another one's journal: $(cat "$dir/journal")"
expect 0 "knn" gpusparc status
expect 0 "Not analysed: no tasks are present" gpusparc status
expect 0 '"socket": "'"$dir/sock"'"' gpusparc status --json
expect 1 "another daemon (process $daemon of user" gpusparc daemon --config "$dir/conf"
says "another daemon (process %d of user %u, which holds %s.lock) has the socket %s already"
expect 0 "is read" gpusparc reload
says "%s is read"
printf '[system]\ngpus = 2\n[task knn]\nperiod = -1ms\n' >"$dir/conf"
expect 1 "the old config stays" gpusparc reload
expect 1 "needs a terminal" gpusparc top
[ "$(stat -c %a "$dir/sock")" = "$([ "$(id -u)" = 0 ] && echo 666 || echo 600)" ] || fail "mode of the socket"
if command -v script >/dev/null; then
  # In a terminal, it draws and q ends it.
  (sleep 1; printf q) | TERM=xterm script -qec "gpusparc top --interval 0.2" /dev/null >"$dir/screen"
  grep -q RESOURCE "$dir/screen" || fail "top draws nothing"
  # Without keys to wait for it would draw without end.
  TERM=xterm timeout 10 script -qec "gpusparc top </dev/null" /dev/null >"$dir/screen" </dev/null || true
  grep -q "needs a terminal" "$dir/screen" || fail "top draws without a keyboard"
else
  echo "left out, top in a terminal: script isn't installed"
fi
# In 80 columns no line is longer; all columns are there for who asks by w and goes to the right; and where the terminal goes away it ends, whatever
# it has been told to survive.
TERM=xterm python3 - <<'END' || fail "top in a terminal of 80 columns"
import fcntl, os, pty, select, signal, struct, sys, termios, time
def wait(what, until):
    for _ in range(200):
        if until():
            return
        time.sleep(0.05)
    sys.exit(f"not in 10 s: {what}")
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    time.sleep(0.2) # until it has its size
    os.execvp("gpusparc", ["gpusparc", "top", "--interval", "0.2"])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
screen = b""
def shows(text):
    global screen
    while select.select([fd], [], [], 0)[0]:
        screen += os.read(fd, 65536)
    return text in screen
wait("the table", lambda: shows(b"LONGEST"))
assert not shows(b"JITTER"), screen
os.write(fd, b"w")
wait("all columns", lambda: shows(b"GRANTED"))
assert not shows(b"JITTER"), screen
os.write(fd, b"?")
wait("the help", lambda: shows(b"explains") or shows(b"this page"))
screen = b""
os.write(fd, b" ")
wait("the table again", lambda: shows(b"RESOURCE"))
for _ in range(20):
    os.write(fd, b"\x1bOC")
wait("the right end", lambda: shows(b"JITTER"))
screen = b""
for _ in range(20):
    os.write(fd, b"\x1bOD")
wait("the left end", lambda: shows(b"RESOURCE"))
os.close(fd)
wait("its end", lambda: os.waitpid(pid, os.WNOHANG)[0] == pid)
END
kill -TERM "$daemon"
wait "$daemon" || fail "the daemon's exit status"
daemon=
[ ! -e "$dir/sock" ] || fail "the socket is left"
