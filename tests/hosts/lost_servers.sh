#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What gpusparc run --hosts does when a server, a connection or itself ends.
set -euo pipefail
source "$GS_SOURCE/tests/hosts/fakes.sh"

# How long a host may take to answer, in s: a busy machine is known by what one takes.
begin=$(date +%s%N)
run 0 --hosts up true
patience=$((3 + 10 * ($(date +%s%N) - begin) / 1000000000))
begin_anew

# Until it is true, as long as the launcher lives.
await_run() { # COMMAND...
  until "$@"; do
    is_gone "$launcher" && fail "the launcher has ended: $(cat err)"
    sleep 0.05
  done
}
# A server ends, or its side of the connection no longer answers.
lose() { # HOW SENTENCE
  gpusparc run --hosts "${hosts:-up,localhost}" sh -c 'echo $$ >app; exec sleep 1000' 2>err &
  local launcher=$! rc=0
  await_run servers 2
  await_run test -s app
  $1 "$(head -1 servers)"
  wait $launcher || rc=$?
  [ $rc = 125 ] || fail "$1: exit status $rc: $(cat err)"
  said "$2"
  [ "$(wc -l <err)" = 1 ] || fail "$1: more than a sentence: $(cat err)"
  await is_gone "$(cat app)"
  rm -f app hang
}
# Most of them wait more than they work: each in a folder of its own, all beside each other.
cases=()
apart() { # COMMAND...
  local folder=case${#cases[@]}
  mkdir $folder
  (
    cd $folder
    export FAKES=$PWD
    "$@"
    nothing_left
  ) &
  cases+=($!)
}
apart lose "kill -9" "is lost: its server has ended; the application was ended"
apart lose "kill -STOP" "is lost: its server has been stopped; the application was ended"
# It hangs: asleep, at work, or where it may, as drivers take what they take.
hang() { echo $how >hang; }
how=sleep apart lose hang "is lost: its server no longer answers; the application was ended"
how=loop apart lose hang "is lost: its server no longer answers; the application was ended"
in_a_session() {
  echo session >hang
  run 0 --hosts localhost sleep 4
}
apart in_a_session
end_link() { kill "$(tail -1 links)"; }
hosts=up,up2 apart lose end_link "host up is lost: its connection to up2 has ended"
freeze_far_side() { kill -STOP "$(ps -o ppid= -p "$1" | tr -d ' ')"; }
GPUSPARC_HOSTS_TIMEOUT=$patience apart lose freeze_far_side "is lost: it no longer answers"
for case in "${cases[@]}"; do wait "$case" || fail "one of the cases above"; done

# --hosts-retry begins again without the one that is lost.
gpusparc run --hosts up1,up2 --hosts-retry sh -c 'echo "$GPUSPARC_REMOTE" >>runs; [ $(wc -l <runs) = 2 ] || exec sleep 1000' 2>err &
launcher=$! rc=0
await_run test -s runs
kill -9 "$(head -1 servers)"
wait $launcher || rc=$?
[ $rc = 0 ] && [ "$(head -1 runs)" = up1,up2 ] && [[ $(tail -1 runs) =~ ^up[12]$ ]] || fail "retry: $rc, $(cat runs err)"
said "begins again without it"
begin_anew

# The launcher is killed: neither server nor application stays.
gpusparc run --hosts up,localhost sh -c 'echo $$ >app; exec sleep 1000' 2>err &
launcher=$!
await_run servers 2
await_run test -s app
# Both sides speak now and then, not because the other has: five bytes a second for each host. Once each answered the
# other's word by its own, 60000 times a second.
written() { sed -n 's/^wchar: //p' /proc/$launcher/io; }
before=$(written)
sleep 1
[ $(($(written) - before)) -lt 500 ] || fail "the launcher says $(($(written) - before)) bytes in a second"
kill -9 $launcher
await is_gone "$(cat app)"
nothing_left
