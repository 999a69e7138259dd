"""browser.py - drives a headless Chromium by the DevTools protocol over two pipes. Standard library alone."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """A Chromium with one blank page. Use as a context; a command that fails or takes 60 s raises."""

    def __init__(self, program="chromium", flags=()):
        self.folder = tempfile.mkdtemp(prefix="tensor-page-")
        there, self.to = os.pipe()  # Chromium reads commands from its descriptor 3
        self.back, here = os.pipe()  # and writes answers to 4
        command = 'exec 3<&%d 4>&%d; exec "$0" "$@"' % (there, here)
        self.process = subprocess.Popen(
            ["bash", "-c", command, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--user-data-dir=" + self.folder, "--remote-debugging-pipe", *flags, "about:blank"],
            pass_fds=(there, here), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(here)
        self.number, self.rest, self.session, self.said = 0, b"", None, []
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, end):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], max(0, end - time.time()))
            data = os.read(self.back, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser does not answer" if not ready else "the browser has ended")
            self.rest += data
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def command(self, method, **params):
        """The answer's result. Errors, exceptions and requests of the page are kept in `said`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.time() + 60
        while True:
            answer = self.message(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Network.requestWillBeSent"):
                self.said.append(answer)

    def open(self, url):
        self.said.clear()
        self.command("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def js(self, expression):
        """The value of an expression, awaited."""
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + answer["exceptionDetails"]["exception"].get("description", "threw"))
        return answer["result"].get("value")

    def wait(self, expression, seconds=60):
        end = time.time() + seconds
        while not self.js(expression):
            if time.time() > end:
                raise RuntimeError("waited in vain for " + expression)
            time.sleep(0.1)

    def screen(self, width, height, dark=False, scale=1):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        time.sleep(0.5)

    def mouse(self, kind, x, y):
        self.command("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, button="left", buttons=int(kind != "Released"), clickCount=1)

    def key(self, key, code=""):
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key=key, code=code or key)

    def picture(self, path):
        data = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
