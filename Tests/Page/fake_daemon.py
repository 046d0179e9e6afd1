"""A daemon of replies alone, on loopback: serves the page as iftallyd does and counts what is asked."""

import http.server
import json
import threading
import urllib.parse

import page_text
import samples


class FakeDaemon:
    """Serves `interfaces`, `status` and usage; `problem` set answers every question with it. Stop and start keep the port."""

    def __init__(self, interfaces=()):
        self.interfaces = list(interfaces)
        self.status = samples.status()
        self.problem = None
        self.raw = None
        self.asked = []
        self.port = 0
        self._server = None
        self.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    def start(self):
        daemon = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                try:
                    daemon._answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # The browser left the page before it had its answer.

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def count(self, path):
        return sum(1 for asked in self.asked if asked.split("?")[0] == path)

    def _answer(self, request):
        self.asked.append(request.path)
        code, kind, body = self._reply(urllib.parse.urlsplit(request.path))
        request.send_response(code)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.send_header("Content-Security-Policy", page_text.read_page()["contentSecurityPolicy"])
        request.send_header("X-Content-Type-Options", "nosniff")
        request.end_headers()
        request.wfile.write(body)

    def _reply(self, target):
        page = page_text.read_page()
        static = {
            "/": ("text/html", "html"),
            "/page.css": ("text/css", "style"),
            "/page.js": ("text/javascript", "script"),
        }
        if target.path in static:
            kind, name = static[target.path]
            return 200, f"{kind}; charset=utf-8", page[name].encode()
        if self.raw is not None:
            return 200, "application/json", self.raw
        if self.problem:
            return self.problem["status"], "application/problem+json", json.dumps(self.problem).encode()
        return self._api(target.path, urllib.parse.parse_qs(target.query))

    def _api(self, path, query):
        if path == "/v1/status":
            reply = self.status
        elif path == "/v1/interfaces":
            reply = {"nature": "estimate", "as_of": samples.stamp(samples.NOW), "interfaces": self.interfaces}
        elif path == "/v1/usage":
            [link] = [link for link in self.interfaces if link["id"] == query["interface"][0]]
            reply = samples.usage(link, query["resolution"][0])
        else:
            missing = samples.problem("not_found", 404, "No such route", path)
            return 404, "application/problem+json", json.dumps(missing).encode()
        return 200, "application/json", json.dumps(reply).encode()
