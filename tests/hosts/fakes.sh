# SPDX-License-Identifier: MIT
# Stand-ins for ssh and for the engine's server, so that what `gpusparc run --hosts` says and does is tested anywhere.
fail() { echo "FAILED: $*"; exit 1; }
rm -rf ./*
mkdir -p engine/bin engine/vendors bin
echo "fake 1" >engine/VERSION
cat >engine/bin/pocld <<'END'
#!/usr/bin/env python3
import os, select, socket, sys, time
address, port = sys.argv[2], int(sys.argv[4])
open(f"{os.environ['FAKES']}/secrets", "a").write(f"{os.environ.get('POCLD_SECRET')}\n")
open(f"{os.environ['FAKES']}/begun", "a").write(f"{port}\n")
while os.path.exists(f"{os.environ['FAKES']}/late"):
    time.sleep(0.05)
listening = []
for p in (port, port + 1):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, p))
    s.listen(5)
    listening.append(s)
open(f"{os.environ['FAKES']}/servers", "a").write(f"{os.getpid()}\n")
open(f"{os.environ['FAKES']}/asked", "a").write(f"{os.environ.get('GPUSPARC_DEVICES', 'all')} at {port}\n")
open("/proc/self/comm", "w").write("gs-reads")
hang = f"{os.environ['FAKES']}/hang"
while True:
    for s in select.select(listening, [], [], 0.05)[0]:
        s.accept()[0].close()
    if not os.path.exists(hang):
        continue
    how = open(hang).read()
    if how.startswith("session"):
        open("/proc/self/comm", "w").write("gs-session")
    while how.startswith("loop"):
        pass
    time.sleep(1000)
END
cat >bin/ssh <<'END'
#!/usr/bin/env bash
echo "$*" >>"$FAKES/ssh.log"
case $* in *" -R "*) # from host to host
  echo $$ >>"$FAKES/links"
  [ -z "${APART:-}" ] || { echo "$APART"; exec cat >/dev/null; }
  exec sh -c "${*: -1}" ;;
esac
while [ "$1" != -- ]; do shift; done
case $2 in
up* | *::1) exec sh -c "$3" ;;
gpus*) OPENCL_LAYERS=$GS_BUILD/tests/e2e/as_gpu.so POCL_DEVICES="pthread pthread" GPUSPARC_SOCKET=$FAKES/socket exec sh -c "$3" ;;
fast*) sh -c "$3" | sed -u 's/^rate 0 .*/rate 0 1000000000/' ;;
deaf*) exec sleep 1000 ;;
refuses) echo "ssh: connect to host refuses port 22: Connection refused" >&2; exit 255 ;;
old) echo "gpusparc-serve other 2"; exec sleep 1000 ;;
bare) GPUSPARC_ENGINE= HOME=/nonexistent XDG_DATA_HOME= exec sh -c "$3" ;;
esac
END
chmod +x engine/bin/pocld bin/ssh
export FAKES=$PWD GPUSPARC_SSH=$PWD/bin/ssh GPUSPARC_ENGINE=$PWD/engine GPUSPARC_HOSTS_TIMEOUT=60
unset GPUSPARC_HOSTS GPUSPARC_TASK GPUSPARC_TASK_REQUIRED
run() { # STATUS OPTIONS...: what it says lies in out and err
  local want=$1 rc=0
  shift
  gpusparc run "$@" >out 2>err || rc=$?
  [ $rc = "$want" ] || fail "$*: exit status $rc, not $want: $(cat err)"
}
said() { grep -qF -- "$1" err || fail "no '$1' in: $(cat err)"; }
await() { # COMMAND...: until it is true; the test's own limit is for hangs
  until "$@"; do sleep 0.05; done
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }
servers() { [ "$(wc -l 2>/dev/null <servers || echo 0)" -ge "$1" ]; }
# One ends a second after its run: they are waited for together, at the end.
begin_anew() {
  cat servers >>ended 2>/dev/null || true
  rm -f servers
}
nothing_left() {
  begin_anew
  for pid in $(cat ended); do await is_gone "$pid"; done
}
