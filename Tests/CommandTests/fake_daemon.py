"""A daemon that answers on a Unix socket whatever a test tells it to."""
import http.server
import json
import os
import pathlib
import socketserver
import threading
import urllib.parse

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "TallyWireTests" / "Golden"


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def problem(code, status, detail, remedy=None):
    body = {"type": f"urn:iftally:problem:{code}", "title": code, "status": status, "detail": detail, "code": code}
    if remedy:
        body["remedy"] = remedy
    return status, json.dumps(body).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        daemon = self.server
        daemon.targets.append(self.path)
        url = urllib.parse.urlsplit(self.path)
        answer = daemon.answers.get(url.path, problem("not_found", 404, f"no route {url.path}"))
        if callable(answer):
            answer = answer(self, urllib.parse.parse_qs(url.query))
        if answer is None:
            self.close_connection = True
            return
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        if not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass


def interfaces(_, query):
    """Answers /v1/interfaces from the golden document, with what was chosen of it."""
    reply = golden("interfaces")

    def names(interface):
        return {urllib.parse.unquote_to_bytes(interface[key]) for key in ("name", "id")}

    wanted = {urllib.parse.unquote_to_bytes(name) for value in query.get("interface", []) for name in value.split("+")}
    if b"" in wanted:
        return problem("bad_parameter", 400, "interface: a name is empty", "leave the parameter out")
    for name in wanted - set().union(*map(names, reply["interfaces"])):
        return problem("unknown_interface", 404, f"no interface '{name.decode()}' is known", "see the list")
    reply["interfaces"] = [
        each for each in reply["interfaces"]
        if (not wanted or names(each) & wanted) and each["kind"] in query.get("kind", [each["kind"]])]
    return reply


def usage(_, query):
    """Answers /v1/usage from the golden documents."""
    span = query.get("from", [""])[0]
    if span in ("yesterday", "this-month"):
        return golden(span)
    return golden("hours" if query.get("resolution") == ["hour"] else "days")


class FakeDaemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers as a healthy daemon does until `answers` is changed; `targets` holds what was asked."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, path):
        super().__init__(path, Handler)
        os.chmod(path, 0o666)
        self.path = path
        self.targets = []
        self.answers = {
            "/v1/interfaces": interfaces,
            "/v1/status": golden("status"),
            "/v1/usage": usage,
            "/v1/explain": golden("explain"),
        }
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def handle_error(self, *_):
        pass  # a client that hung up is what some tests are about

    def stop(self):
        self.shutdown()
        self.server_close()
        if os.path.exists(self.path):
            os.unlink(self.path)
