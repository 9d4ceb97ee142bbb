#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""knock.py PROGRAM: an application of `gpusparc run --hosts localhost` that asks its server for a session as the driver
does, with the run's secret, without, and with another one. Only the first is answered. What the driver says is taken
from PROGRAM, whose server is this one."""
import os
import socket
import subprocess
import sys

where, device = os.environ["POCL_REMOTE0_PARAMETERS"].split("#")[0].rsplit("/", 1)
address, port = where.split(":")
secret = os.environ["POCLD_SECRET"].encode()


def exactly(connection, n):
    got = b""
    while len(got) < n:
        more = connection.recv(n - len(got))
        if not more:
            break
        got += more
    return got


def words_of_driver():
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = f"127.0.0.1:{server.getsockname()[1]}"
        driver = subprocess.Popen([sys.argv[1]], env=os.environ | {"POCL_REMOTE0_PARAMETERS": f"{here}/{device}#{here}"})
        connection, _ = server.accept()
        said = exactly(connection, len(secret))
        size = exactly(connection, 4)
        request = size + exactly(connection, int.from_bytes(size, sys.byteorder))
        driver.kill()
        driver.wait()
    if said != secret:
        sys.exit(f"the driver begins with {said}")
    return request


def answer(request):
    try:
        with socket.create_connection((address, int(port))) as connection:
            connection.sendall(request)
            return connection.recv(4096)
    except ConnectionResetError:
        return b""


request = words_of_driver()
other = secret[:-1] + (b"0" if secret[-1:] != b"0" else b"1")
for first, wants_answer in ((secret, True), (b"", False), (other, False), (secret, True)):
    got = answer(first + request)
    if bool(got) != wants_answer:
        sys.exit(f"who begins with {first} hears {got}")
