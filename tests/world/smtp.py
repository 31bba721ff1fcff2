"""Mail servers that misbehave on purpose, on real sockets."""

import socketserver
import threading
from dataclasses import dataclass, field


@dataclass
class Script:
    """What the server does: the answer to RCPT, and to DATA (`cut` closes the connection instead of answering)."""

    rcpt: str = "250 OK"
    data: str = "250 2.0.0 OK"
    accepted: list[bytes] = field(default_factory=list)


class ScriptedServer:
    """An SMTP server that follows a script and remembers what it took responsibility for."""

    def __init__(self, script: Script) -> None:
        self.script = script

        class Session(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.say("220 scripted ESMTP")
                while line := self.rfile.readline():
                    if not self.answer(line.strip().upper()):
                        return

            def say(self, text: str) -> None:
                self.wfile.write(text.encode() + b"\r\n")

            def answer(self, line: bytes) -> bool:
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
                if script.data in ("cut", "250 2.0.0 OK"):
                    script.accepted.append(content)
                if script.data == "cut":
                    return False
                self.say(script.data)
                return True

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self) -> "ScriptedServer":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
