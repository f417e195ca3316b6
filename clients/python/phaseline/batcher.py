"""Many entries in few calls."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from .client import ClientError, retry_delay

E = TypeVar("E")
R = TypeVar("R")


class _Queued(Generic[E, R]):
    def __init__(self, entry: E) -> None:
        self.entry = entry
        self.answer: asyncio.Future[R | None] = asyncio.get_running_loop().create_future()
        self.refusals = 0


class Batcher(Generic[E, R]):
    """Sends entries in few calls: an entry that is added during a call joins the next one.

    A call without an answer is repeated until it gets one. When the server cannot process a batch, its entries are sent one by one,
    and one that is refused too often is given up (`final` times, or `retryable` times if it may succeed later). Others go before one
    that was refused, unless they are `ordered`.
    """

    def __init__(
        self,
        send: Callable[[list[E]], Awaitable[list[R]]],
        *,
        max: int,
        final: int,
        retryable: int,
        on_problem: Callable[[Exception], None],
        ordered: bool = False,
    ) -> None:
        self._send = send
        self._max = max
        self._most = {False: final, True: retryable}
        self._on_problem = on_problem
        self._ordered = ordered
        self._queue: deque[_Queued[E, R]] = deque()
        self._added = asyncio.Event()

    @property
    def size(self) -> int:
        return len(self._queue)

    def add(self, entry: E) -> asyncio.Future[R | None]:
        """Resolves to the answer; None: the entry was given up."""
        queued = _Queued[E, R](entry)
        self._queue.append(queued)
        self._added.set()
        return queued.answer

    async def run(self) -> None:
        failures = 0
        while True:
            await self._added.wait()
            batch = self._take()
            if not batch:
                self._added.clear()
                continue
            try:
                answers = await self._send([queued.entry for queued in batch])
            except Exception as error:
                self._on_problem(error)
                self._put_back(batch, error)
                await asyncio.sleep(retry_delay(failures, error))
                failures += 1
                continue
            failures = 0
            for queued, answer in zip(batch, answers, strict=True):
                if not queued.answer.done():
                    queued.answer.set_result(answer)

    def _take(self) -> list[_Queued[E, R]]:
        batch: list[_Queued[E, R]] = []
        # One that was refused goes alone: any entry of a batch may be the reason.
        while self._queue and len(batch) < self._max and not (batch and (batch[0].refusals or self._queue[0].refusals)):
            batch.append(self._queue.popleft())
        return batch

    def _put_back(self, batch: list[_Queued[E, R]], error: Exception) -> None:
        refusal = error if isinstance(error, ClientError) else None
        # A call that was lost, or came too early, says nothing against its entries.
        if refusal and refusal.code != "BUSY" and (refusal.kind == "network" or refusal.retry_after is not None):
            self._queue.extendleft(reversed(batch))
            return
        again = []
        for queued in batch:
            queued.refusals += 1
            if queued.refusals < self._most[refusal is None or refusal.retryable]:
                again.append(queued)
            else:
                queued.answer.set_result(None)
        if self._ordered:
            self._queue.extendleft(reversed(again))
        else:
            self._queue.extend(again)
