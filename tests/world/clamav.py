"""ClamAV's daemon as its protocol is, with one signature: EICAR's, in mail, in archives and in archives of archives."""

import base64
import email
import email.policy
import io
import socketserver
import struct
import threading
import zipfile

# Put together, so that no scanner of the machine takes this file for it.
EICAR = base64.b64decode("WDVPIVAlQEFQWzRcUFpYNTQoUF4pN0NDKTd9JEVJQ0FSLVNUQU5EQVJELUFOVElWSVJVUy1URVNULUZJTEUhJEgrSCo=")
LARGEST = 20 * 1024 * 1024


def is_infected(content: bytes, depth: int = 0) -> bool:
    if EICAR in content:
        return True
    if depth > 8:
        return False
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(is_infected(archive.read(name), depth + 1) for name in archive.namelist())
    if b"\nContent-Type:" in content:
        message = email.message_from_bytes(content, policy=email.policy.default)
        parts = [part.get_payload(decode=True) for part in message.walk() if not part.is_multipart()]
        return any(is_infected(part, depth + 1) for part in parts if part)
    return False


class Clamd:
    """A scanner on a real socket. `broken` makes it answer nothing, or nonsense; `asked` counts the scans."""

    def __init__(self, path: str = "") -> None:
        self.asked, self.broken = 0, ""
        scanner = self

        class Session(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                command = b""
                while not command.endswith(b"\0"):
                    piece = self.rfile.read(1)
                    if not piece:
                        return
                    command += piece
                scanner.asked += 1
                if command != b"zINSTREAM\0":
                    self.wfile.write(b"UNKNOWN COMMAND\0")
                    return
                content = b""
                while (size := struct.unpack("!I", self.rfile.read(4))[0]) != 0:
                    content += self.rfile.read(size)
                    if len(content) > LARGEST:
                        self.wfile.write(b"INSTREAM size limit exceeded. ERROR\0")
                        return
                if scanner.broken == "silent":
                    return
                found = b"stream: Eicar-Test-Signature FOUND" if is_infected(content) else b"stream: OK"
                self.wfile.write((scanner.broken.encode() or found) + b"\0")

        kind = socketserver.ThreadingUnixStreamServer if path else socketserver.ThreadingTCPServer
        self._server = kind(path or ("127.0.0.1", 0), Session)
        self._server.daemon_threads = True
        self.port = 0 if path else self._server.server_address[1]

    def __enter__(self) -> "Clamd":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
