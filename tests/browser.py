"""A browser without a window, driven over a pipe by the Chrome DevTools Protocol: what a person does with a page."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

PROGRAM = shutil.which("chromium")
_PATIENCE = 60.0  # seconds, on a machine that is busy


class Browser:
    """One page in a browser. Whatever it asks of the network, and each error of a script, is kept."""

    def __init__(self, orders: BinaryIO, news: BinaryIO) -> None:
        self._orders, self._news = orders, news
        self._number = 0
        self._session = ""
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **params: object) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._orders.write(json.dumps(message).encode() + b"\0")
        self._orders.flush()
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer["error"]
        result = answer["result"]
        assert isinstance(result, dict)
        return result

    def _next(self) -> dict[str, Any]:
        data = bytearray()
        while (byte := self._news.read(1)) != b"\0":
            assert byte, "the browser has ended"
            data += byte
        message = json.loads(data)
        assert isinstance(message, dict)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        elif message.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])

    def open(self, address: str) -> None:
        """Go to an address."""
        self._call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def download_to(self, folder: Path) -> None:
        """Where files go that are saved."""
        session, self._session = self._session, ""
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self._session = session

    def value(self, script: str) -> Any:
        """What an expression gives."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str) -> Any:
        """What an expression gives as soon as that is something."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if found := self.value(script):
                return found
            time.sleep(0.02)
        raise AssertionError(f"never: {script}")

    def click(self, selector: str, number: int = 0) -> None:
        """Click with the mouse, in the middle of an element."""
        place = self.value(
            f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{number}];"
            " e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key, as KeyboardEvent.key names it."""
        text = {"text": key} if len(key) == 1 else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self._call("Input.insertText", text=text)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser that lives as long as the block, with its profile in ``folder``."""
    assert PROGRAM is not None
    read_orders, write_orders = os.pipe()
    read_news, write_news = os.pipe()
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}")
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{read_orders} 4>&{write_news}', "bash", PROGRAM, *options],
        pass_fds=(read_orders, write_news),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(read_orders)
    os.close(write_news)
    try:
        with os.fdopen(write_orders, "wb") as orders, os.fdopen(read_news, "rb") as news:
            yield Browser(orders, news)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
