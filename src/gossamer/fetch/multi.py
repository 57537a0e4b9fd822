"""libcurl's multi handle on the event loop: many transfers at once, one callback of the loop for all their sockets.

pycurl's own AsyncCurlMulti gives each socket a reader and a writer of the loop and takes them away after each transfer;
here libcurl's sockets live in a selector of ours, whose own descriptor is all the loop watches (epoll and kqueue can
be nested). That halves the cost above bare libcurl: see bench/fetch.py.
"""

import asyncio
import selectors

import pycurl

_EVENTS = {
    pycurl.POLL_IN: selectors.EVENT_READ,
    pycurl.POLL_OUT: selectors.EVENT_WRITE,
    pycurl.POLL_INOUT: selectors.EVENT_READ | selectors.EVENT_WRITE,
}
_READY = {
    selectors.EVENT_READ: pycurl.CSELECT_IN,
    selectors.EVENT_WRITE: pycurl.CSELECT_OUT,
    selectors.EVENT_READ | selectors.EVENT_WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}
Ending = tuple[int, str]
"""How a transfer ended: libcurl's code (0: well) and its words."""


class Multi:
    """Runs the transfers of curl handles. Bound to the event loop that runs when it is made.

    Invariant: a handle is in ``_futures`` exactly while libcurl has it.
    """

    def __init__(self, max_connections: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._selector = selectors.DefaultSelector()
        self._watched: set[int] = set()
        self._futures: dict[pycurl.Curl, asyncio.Future[Ending]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_acting = False  # libcurl is about to be called: no timer is needed for that
        self._deadline: float | None = None  # when libcurl wants to be called, whatever happens on its sockets
        self._curl = pycurl.CurlMulti()
        self._curl.setopt(pycurl.M_MAXCONNECTS, max_connections)
        self._curl.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, max_connections)
        self._curl.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._curl.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._loop.add_reader(self._selector, self._on_ready)

    def start(self, curl: pycurl.Curl) -> "asyncio.Future[Ending]":
        """Begin the transfer of ``curl``; the future says how it ended. Whoever gives up waiting calls ``drop``."""
        future: asyncio.Future[Ending] = self._loop.create_future()
        self._futures[curl] = future
        self._is_acting = True
        self._curl.add_handle(curl)
        self._act(pycurl.SOCKET_TIMEOUT, 0)
        return future

    def drop(self, curl: pycurl.Curl) -> None:
        """Give up a transfer that has not ended: its connection is closed, nothing is left behind."""
        if self._futures.pop(curl, None) is not None:
            self._curl.remove_handle(curl)

    def close(self) -> None:
        """Drop every transfer, cancel who waits for it, close every connection. Twice does nothing."""
        if self._curl.closed:
            return
        for curl, future in list(self._futures.items()):
            self.drop(curl)
            future.cancel()
        self._loop.remove_reader(self._selector)
        if self._timer is not None:
            self._timer.cancel()
        self._curl.close()
        self._selector.close()

    def _on_socket(self, what: int, fd: int, _multi: pycurl.CurlMulti, _data: object) -> None:
        if what == pycurl.POLL_REMOVE:
            if fd in self._watched:
                self._watched.remove(fd)
                self._selector.unregister(fd)
        elif fd in self._watched:
            self._selector.modify(fd, _EVENTS[what])
        else:
            self._watched.add(fd)
            self._selector.register(fd, _EVENTS[what])

    def _on_timer(self, milliseconds: int) -> None:
        """libcurl moves its deadline several times in each transfer: the loop's timer follows only when it must."""
        if milliseconds < 0:
            self._deadline = None
            return
        self._deadline = self._loop.time() + milliseconds / 1000
        if self._is_acting and not milliseconds:
            return
        if self._timer is None or self._timer.when() > self._deadline:
            self._arm(self._deadline)

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self._deadline > self._loop.time():
            self._arm(self._deadline)
        else:
            self._deadline = None
            self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _on_ready(self) -> None:
        for key, events in self._selector.select(0):
            self._curl.socket_action(key.fd, _READY[events])
        self._finish()

    def _act(self, fd: int, events: int) -> None:
        self._is_acting = False
        self._curl.socket_action(fd, events)
        self._finish()

    def _finish(self) -> None:
        _, well, badly = self._curl.info_read()
        for curl in well:
            self._end(curl, (pycurl.E_OK, ""))
        for curl, code, text in badly:
            self._end(curl, (code, text))

    def _end(self, curl: pycurl.Curl, ending: Ending) -> None:
        future = self._futures.pop(curl)
        self._curl.remove_handle(curl)
        if not future.done():  # it may have been cancelled a moment ago
            future.set_result(ending)
