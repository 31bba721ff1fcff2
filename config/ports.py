"""Free ports: a taken one is no problem."""

import socket


def choose(wanted: int, *, host: str = "127.0.0.1") -> int:
    """`wanted` when it is free, else any free port."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("No port is free.")
