"""Mail servers that misbehave on purpose, on real sockets."""

import socketserver
import threading
import time
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Script:
    """What the server does: the answer to RCPT, and to DATA (`cut` closes the connection instead of answering).

    `drips` names the moment from which on it never comes to an end of what it says: `connect`, `ehlo`, `mail`, `rcpt`,
    `data`, `content` or `quit`. `wait` is the time that it takes for a message.
    """

    rcpt: str = "250 OK"
    data: str = "250 2.0.0 OK"
    drips: str = ""
    wait: float = 0.0
    accepted: list[bytes] = field(default_factory=list)


class _Server(socketserver.ThreadingTCPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up on a server that never ends is right."""


class ScriptedServer:
    """An SMTP server that follows a script and remembers what it took responsibility for."""

    def __init__(self, script: Script) -> None:
        self.script = script

        class Session(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                if script.drips == "connect":
                    self.drip()
                self.say("220 scripted ESMTP")
                while line := self.rfile.readline():
                    if not self.answer(line.strip().upper()):
                        return

            def say(self, text: str) -> None:
                self.wfile.write(text.encode() + b"\r\n")

            def drip(self) -> None:
                while script.drips:
                    self.say("250-and")
                    time.sleep(0.05)

            def answer(self, line: bytes) -> bool:
                if script.drips and line.startswith(script.drips.upper().encode()):
                    self.drip()
                if line.startswith(b"RCPT"):
                    self.say(script.rcpt)
                elif line == b"DATA":
                    return self.data()
                elif line == b"QUIT":
                    self.say("221 bye")
                    return False
                else:
                    self.say("250 OK")
                return True

            def data(self) -> bool:
                self.say("354 go on")
                content = b""
                while (line := self.rfile.readline()) not in (b".\r\n", b""):
                    content += line
                time.sleep(script.wait)
                if script.drips == "content":
                    self.drip()
                if script.data in ("cut", "250 2.0.0 OK"):
                    script.accepted.append(content)
                if script.data == "cut":
                    return False
                self.say(script.data)
                return True

        self._server = _Server(("127.0.0.1", 0), Session)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self) -> "ScriptedServer":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
