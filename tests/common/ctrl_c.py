#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ctrl_c.py PATTERN COMMAND...: runs the command with its stderr on a terminal, and sends it SIGINT once that shows what
the pattern (a regular expression) asks for. Its stdout is ours, what the terminal showed is our stderr; exits as it."""
import os
import pty
import re
import signal
import subprocess
import sys

here, there = pty.openpty()
command = subprocess.Popen(sys.argv[2:], stderr=there)
os.close(there)
shown, sent = b"", False
while True:
    try:
        more = os.read(here, 4096)
    except OSError:  # it has ended
        break
    if not more:
        break
    shown += more
    if not sent and re.search(sys.argv[1].encode(), shown):
        command.send_signal(signal.SIGINT)
        sent = True
status = command.wait()
sys.stderr.buffer.write(shown)
sys.exit(status if sent else f"{sys.argv[1]!r} was not shown")
