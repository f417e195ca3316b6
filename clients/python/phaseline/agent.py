"""The loop of an agent: it claims work, renews its leases, and reports how it ends."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from .active import Active, Work, now
from .batcher import Batcher
from .client import Client, ClientError, retry_delay
from .operations import (
    APPEND_LOGS,
    CLAIM,
    LIMITS,
    RENEW,
    REPORT,
    ClaimWorkInput,
    LogLineInput,
    PhaseReportInput,
    TargetSelectorInput,
)

_MAX_CLAIM = 500
_MAX_FENCES = 1_000
_MAX_LINES = 500
#: Seconds that the server may keep a claim open, and from one claim to the next if it does not.
_WAIT = 15.0
_POLL = 1.0
#: Seconds. The server gives no longer lease, whatever is asked.
_MAX_LEASE = 600.0
#: Seconds that stopped work, and its report, may take when the agent ends.
_STOP = 5.0

What = Literal["claim", "renew", "report", "log", "work"]


@dataclass(frozen=True)
class Problem:
    """A failure that the agent survives."""

    what: What
    error: Exception
    object_id: str | None = None


async def run_agent(
    client: Client,
    work: Work,
    types: Sequence[str],
    *,
    instance: str | None = None,
    targets: Sequence[str] | None = None,
    target_selector: TargetSelectorInput | None = None,
    concurrency: int = 100,
    lease: float = 30.0,
    renew: float | None = None,
    drain: float = 10.0,
    stop: asyncio.Event | None = None,
    on_problem: Callable[[Problem], object] | None = None,
) -> None:
    """Claims work of these types, does it, renews its leases and reports its outcome, until `stop` is set or the caller is cancelled.

    Then it claims nothing more, lets its work finish for `drain` seconds, and cancels what is left and gives it back. Times are in seconds;
    leases are renewed, and abort requests noticed, each `renew` seconds (a third of `lease` by default and at most). Problems are logged by
    default. Raises the ClientError by which the server refuses this agent: its token is invalid, or does not allow these types.
    """
    wanted: ClaimWorkInput = {"instance": instance or f"{socket.gethostname()}-{os.getpid()}", "types": list(types)}
    if targets is not None:
        wanted["targets"] = list(targets)
    if target_selector is not None:
        wanted["targetSelector"] = target_selector
    lease = min(lease, _MAX_LEASE)
    agent = Agent(client, work, wanted, concurrency, lease, min(lease / 3, renew or lease), on_problem or _log_problem)
    await agent.run(stop or asyncio.Event(), drain)


class Agent:
    """Runs side by side: the loops of claims and of renewals, the watch of leases, both outboxes, and each piece of work."""

    def __init__(
        self,
        client: Client,
        work: Work,
        wanted: ClaimWorkInput,
        concurrency: int,
        lease: float,
        renew: float,
        on_problem: Callable[[Problem], object],
    ) -> None:
        self.work = work
        self.lease = lease
        self._client = client
        self._wanted = wanted
        self._concurrency = concurrency
        self._renew = renew
        self._on_problem = on_problem
        #: A lease counts as lost a little before it expires, so that the work stops before another agent can claim it.
        self._valid = lease - min(2.0, lease / 10)
        self._active: dict[str, Active] = {}
        self._work_ended = asyncio.Event()
        self._fatal: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.reports = Batcher[PhaseReportInput, dict[str, Any]](
            self._send_reports, max=LIMITS["reports"], final=5, retryable=30, on_problem=lambda error: self.problem("report", error)
        )
        self.lines = Batcher[LogLineInput, object](
            self._send_lines, max=_MAX_LINES, final=1, retryable=5, on_problem=lambda error: self.problem("log", error), ordered=True
        )

    async def run(self, stop: asyncio.Event, drain: float) -> None:
        claims = self.spawn(self._claim_loop())
        for loop in (self._renew_loop(), self._watch_loop(), self.reports.run(), self.lines.run()):
            self.spawn(loop)
        try:
            try:
                await asyncio.wait({self.spawn(stop.wait()), self._fatal}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                # The server releases the items of a claim whose caller has left.
                claims.cancel()
                await self._drain(drain)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=1)
        if self._fatal.done():
            self._fatal.result()

    async def _drain(self, seconds: float) -> None:
        await self._until_idle(seconds)
        for active in self._active.values():
            active.stop("LOST" if self._fatal.done() else "SHUTDOWN")
        await self._until_idle(_STOP)
        for active in self._active.values():
            active.stop("LOST")

    async def _until_idle(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._active and not self._fatal.done() and (left := until - time.monotonic()) > 0:
            self._work_ended.clear()
            await asyncio.wait({self.spawn(self._work_ended.wait()), self._fatal}, timeout=left, return_when=asyncio.FIRST_COMPLETED)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._fatal.done():
            self._fatal.set_exception(error)

    def problem(self, what: What, error: Exception, object_id: str | None = None) -> None:
        if isinstance(error, ClientError) and what != "work":
            # The server refuses this claim for good.
            is_refused = what == "claim" and error.code is not None and not error.retryable
            if is_refused or error.kind == "unauthorized":
                return self._fail(error)
        try:
            self._on_problem(Problem(what, error, object_id))
        except Exception:
            _LOGGER.exception("on_problem failed")

    async def _claim_loop(self) -> None:
        failures = 0
        while True:
            room = min(_MAX_CLAIM, self._concurrency - len(self._active))
            if room <= 0:
                self._work_ended.clear()
                await self._work_ended.wait()
                continue
            sent_at = _boot_time()
            try:
                claimed = await self._claim(room, sent_at)
            except Exception as error:
                self.problem("claim", error)
                await asyncio.sleep(retry_delay(failures, error))
                failures += 1
                continue
            failures = 0
            if claimed == 0 and _boot_time() - sent_at < _WAIT / 2:
                # This server does not wait, or shuts down.
                await asyncio.sleep(_POLL * random.uniform(0.75, 1.25))

    async def _claim(self, room: int, sent_at: float) -> int:
        wanted = self._wanted.copy()
        wanted.update({"max": room, "leaseMs": round(self.lease * 1000), "waitMs": round(_WAIT * 1000)})
        answer = await self._client.mutate("claimWork", CLAIM, wanted, timeout=self._client.timeout + _WAIT)
        leased_at = sent_at + answer["waitedMs"] / 1000
        for item in answer["items"]:
            if _boot_time() - leased_at < self._valid:
                active = self._active[item["fence"]] = Active(self, item, leased_at)
                self.spawn(self._finish(active))
            else:
                # Another agent may have the work by now: better not begun than stopped soon.
                late = RuntimeError("The lease expired before the answer to the claim arrived, so the item is not begun.")
                self.problem("claim", late, item["objectId"])
        return len(answer["items"])

    async def _finish(self, active: Active) -> None:
        await active.run()
        del self._active[active.item["fence"]]
        self._work_ended.set()

    async def _renew_loop(self) -> None:
        failures, pause = 0, self._renew
        while True:
            ahead = _wall_ahead()
            await asyncio.sleep(pause)
            # A virtual machine that was paused may show it by its wall clock alone: then all leases are renewed.
            young = 0 if abs(_wall_ahead() - ahead) >= 1 else self._renew / 2
            due = [fence for fence, one in self._active.items() if not one.is_lost and _boot_time() - one.leased_at >= young]
            try:
                for start in range(0, len(due), _MAX_FENCES):
                    await self._renew_some(due[start : start + _MAX_FENCES])
                failures, pause = 0, self._renew
            except Exception as error:
                self.problem("renew", error)
                pause = min(self.lease / 15, retry_delay(failures, error))
                failures += 1

    async def _renew_some(self, fences: list[str]) -> None:
        sent_at = _boot_time()
        given = {"fences": fences, "leaseMs": round(self.lease * 1000)}
        # A call that hangs leaves time for another one.
        answer = await self._client.mutate("renewLeases", RENEW, given, timeout=min(self._client.timeout, self.lease / 3))
        for lease in answer["leases"]:
            active = self._active.get(lease["fence"])
            if active is None:
                continue
            if lease["state"] != "LOST":
                active.leased_at = sent_at
            if lease["state"] in ("LOST", "ABORT_REQUESTED"):
                active.stop(lease["state"])

    async def _watch_loop(self) -> None:
        while True:
            for active in self._active.values():
                if _boot_time() - active.leased_at >= self._valid:
                    active.stop("LOST")
            await asyncio.sleep(min(1.0, self.lease / 15))

    async def _send_reports(self, reports: list[PhaseReportInput]) -> list[dict[str, Any]]:
        try:
            answer = await self._client.mutate("reportPhases", REPORT, {"reports": reports})
        except ClientError as error:
            # Any report of several may be the invalid one, so each is sent alone.
            if len(reports) > 1 or error.code != "BAD_USER_INPUT":
                raise
            return [{"__typename": "InvalidInputError", "message": str(error)}]
        return cast(list[dict[str, Any]], answer["results"])

    async def _send_lines(self, lines: list[LogLineInput]) -> list[object]:
        await self._client.mutate("appendLogs", APPEND_LOGS, {"lines": lines, "sentAt": now()})
        return [True] * len(lines)


#: It counts the time that the machine sleeps, where there is such a clock.
_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def _boot_time() -> float:
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


def _wall_ahead() -> float:
    return time.time() - time.monotonic()


_LOGGER = logging.getLogger("phaseline")


def _log_problem(problem: Problem) -> None:
    subject = "" if problem.object_id is None else f"object {problem.object_id}: "
    # The stack helps only with the code of the agent's author.
    trace = problem.error if problem.what == "work" else None
    _LOGGER.warning("%s%s failed: %s", subject, problem.what, problem.error, exc_info=trace)
