"""Drives a headless Chromium over its debugging pipe: no driver program and no library is needed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]


class BrowserError(Exception):
    """The browser could not be started, went away, or said no."""


def find_program():
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            return path
    raise BrowserError(f"none of {', '.join(PROGRAMS)} is installed; remedy: apt-get install chromium-headless-shell")


class Browser:
    """One browser process with one tab, in a profile of its own that goes away with it."""

    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="iftally-browser-", ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4; dash takes no descriptor above 9 for them.
        command = [
            find_program(),
            "--headless",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        shell = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "browser", *command]
        self._process = subprocess.Popen(
            shell,
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._number = 0
        self.events = []
        self._session = None
        [target] = [t for t in self.command("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self._session = self.command("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def close(self):
        try:
            self._session = None
            self.command("Browser.close")
            self._process.wait(timeout=10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def command(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self):
        while b"\0" not in self._rest:
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise BrowserError("the browser went away")
            self._rest += chunk
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, expression, seconds=10):
        """Waits until an expression is true in the page."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.evaluate(f"!!({expression})"):
                return
            time.sleep(0.02)
        raise AssertionError(f"not within {seconds} s: {expression}")

    def open(self, address, width=1280, height=900, dark=False):
        self.events.clear()
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.command("Emulation.setEmulatedMedia", features=scheme)
        self.command("Page.navigate", url="about:blank")
        self.command("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def press(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.command("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def screenshot(self, path, whole=False):
        answer = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def complaints(self):
        """What the browser reported since the page was opened: errors of the script and breaches of the policy."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            if event.get("method") == "Log.entryAdded" and parameters["entry"]["source"] != "network":
                found.append(parameters["entry"]["text"])
            if event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
                found.append(str(parameters["args"]))
        return found
