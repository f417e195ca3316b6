"""One claimed item: its work, its lease, and its reports in order."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, cast

from .operations import LIMITS, LogStream, Outcome, Phase, PhaseReportInput, ReportedErrorInput, WorkItem

if TYPE_CHECKING:
    from .agent import Agent

#: LOST: another agent may have the work by now. SHUTDOWN: this agent ends and gives the work back.
StopReason = Literal["ABORT_REQUESTED", "LOST", "SHUTDOWN"]
#: The work of an agent. It is cancelled when it has to stop. None reports nothing: the lease expires.
Work = Callable[[WorkItem, "Context"], Awaitable[Outcome | None]]

_MAX_WAITING_LINES = 20_000
_CUT = " … (cut)"
_BOUNDS = {"message": "message", "step": "step", "unit": "progressUnit", "code": "errorCode"}
_ACCEPTED = "PhaseReportAccepted"

#: Phases of an outcome when the work was a deletion.
_WHEN_DELETING: dict[str, Phase] = {
    "SUCCEEDED": "GONE",
    "FAILED": "DELETE_FAILED",
    "ABORTED": "DELETE_FAILED",
    "PROGRESSING": "DELETING",
}
#: Phases of work that its agent could not do, where it is not FAILED. None: the work is offered again when its lease ends.
_WHEN_FAILED: dict[str, Phase | None] = {
    "DELETE": "DELETE_FAILED",
    "RUN": "UNDOING",
    "UNDO": "UNDO_FAILED",
    "ABORT": "UNDO_FAILED",
    "STOP": None,
    "REMOVE": None,
    "DRY_RUN": None,
}
#: Phases of work that only the agent's own end has stopped: another agent continues it.
_WHEN_GIVEN_BACK: dict[str, Phase] = {"RECONCILE": "PROGRESSING", "DELETE": "DELETING"}


class Context:
    """What work has besides its item."""

    def __init__(self, active: Active) -> None:
        self._active = active

    @property
    def stopped(self) -> StopReason | None:
        """Why the work is cancelled; None: it is not. Once the lease is lost, the server accepts no more reports."""
        return self._active.stopped

    def report(self, report: Outcome) -> None:
        """Reports how far the work has come. Newer progress replaces progress that is not sent yet."""
        self._active.report(report)

    def log(self, text: str, stream: LogStream = "STDOUT") -> None:
        """Sends a line of output."""
        self._active.log(stream, text)


class Active:
    def __init__(self, agent: Agent, item: WorkItem, leased_at: float) -> None:
        self.item = item
        self.leased_at = leased_at
        self.stopped: StopReason | None = None
        self.is_lost = False
        self._agent = agent
        self._ended = False
        self._next: Outcome | None = None
        self._delivery: asyncio.Task[None] | None = None
        self._last_line: asyncio.Future[object] | None = None
        self._dropped_lines = 0
        self._work: asyncio.Task[Any] = agent.spawn(self._do())
        #: The error of work that is not waited for any more.
        self._given_up: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    def stop(self, reason: StopReason) -> None:
        if self._ended or self.is_lost or (self.stopped and reason != "LOST"):
            return
        self.stopped = reason
        if reason == "LOST":
            self.is_lost = True
            seconds = self._agent.lease
            error = RuntimeError(f"Its work continues, {seconds:g} s after it had to stop: it is not waited for any more.")
            asyncio.get_running_loop().call_later(seconds, self._give_up, error)
        self._work.cancel()

    def _give_up(self, error: Exception) -> None:
        if not self._given_up.done():
            self._given_up.set_result(error)

    def report(self, report: Outcome) -> None:
        _require_json(report)
        if self._ended or self.is_lost:
            return
        self._next = cast(Outcome, {**(self._next or {}), **report})
        self._delivery = self._delivery or self._agent.spawn(self._deliver())

    async def _deliver(self) -> None:
        while (report := self._next) is not None:
            self._next = None
            answer = await self._send(report)
            if answer is None or answer["__typename"] == _ACCEPTED:
                continue
            if answer["__typename"] == "InvalidInputError":
                self._give_up(TypeError(f"report() was refused: {answer['message']}"))
            else:
                # The work was ended or deleted, or another agent has claimed it.
                self.stop("LOST")
        self._delivery = None

    def log(self, stream: LogStream, text: str) -> None:
        # Lines that come after the lease is lost are sent, too: the server knows whether the work is another agent's.
        if self._ended:
            return
        if self._agent.lines.size >= _MAX_WAITING_LINES:
            self._dropped_lines += 1
            return
        if self._dropped_lines > 0:
            self._add_line("SYSTEM", f"{self._dropped_lines} lines were dropped.")
            self._dropped_lines = 0
        self._add_line(stream, _fit(str(text), LIMITS["logLine"]))

    def _add_line(self, stream: LogStream, text: str) -> None:
        self._last_line = self._agent.lines.add({"fence": self.item["fence"], "at": now(), "stream": stream, "text": text})

    async def run(self) -> None:
        """Waits for the work, then reports its outcome."""
        final = self._final(await self._outcome())
        self._ended = True
        if self._last_line is not None:
            # Work that moves to another agent must miss no line.
            await self._last_line
        if self._delivery is not None:
            await self._delivery
        if final is None or self.is_lost:
            return
        answer = await self._send(final)
        if answer is None or answer["__typename"] == _ACCEPTED:
            return
        # Work whose outcome the server does not take has failed.
        refused = f"which the server refused ({answer['__typename']}): {answer['message']}"
        failure = self._failure("AGENT_ERROR", f"work() returned {final.get('phase', 'done')}, {refused}")
        is_invalid = answer["__typename"] == "InvalidInputError"
        if failure is not None and (is_invalid or failure["phase"] in (answer.get("allowed") or [])):
            await self._send(failure)

    async def _do(self) -> Outcome | Exception | None:
        """The outcome, or the error that was raised."""
        try:
            # The work may change what it gets.
            outcome = await self._agent.work(cast(WorkItem, dict(self.item)), Context(self))
            _require_outcome(outcome)
            return outcome
        except Exception as error:
            return error
        except SystemExit as error:
            # It would end the process, and with it all other work.
            return RuntimeError(f"The work has called exit({error.code!r}).")

    async def _outcome(self) -> Outcome | None:
        await asyncio.wait({self._work, self._given_up}, return_when=asyncio.FIRST_COMPLETED)
        if not self._work.done():
            result: Outcome | Exception | None = self._given_up.result()
            self._work.cancel()
        elif self._work.cancelled():
            result = RuntimeError("The work was cancelled, and not by its agent.")
        else:
            result = self._work.result()
        if not isinstance(result, Exception):
            return result
        if self.stopped and not self._given_up.done():
            return {"phase": "ABORTED"}
        self._agent.problem("work", result, self.item["objectId"])
        return self._failure("AGENT_ERROR", f"{type(result).__name__}: {result}")

    def _failure(self, code: str, message: str) -> Outcome | None:
        phase = _WHEN_FAILED.get(self.item["action"], "FAILED")
        return None if phase is None else {"phase": phase, "error": {"code": code, "message": message}}

    def _final(self, outcome: Outcome | None) -> Outcome | None:
        """The report of an outcome; None for none."""
        ended = outcome.get("phase") if outcome else None
        if outcome is None or ended is None:
            return outcome
        action = self.item["action"]
        if self.stopped == "SHUTDOWN" and ended == "ABORTED":
            phase = _WHEN_GIVEN_BACK.get(action)
            stopped: ReportedErrorInput = {"code": "AGENT_STOPPED", "message": "Its agent was shut down.", "retryable": True}
            return None if phase is None else {"phase": phase, "error": stopped}
        try:
            _require_json(outcome.get("exports"))
        except TypeError as error:
            return self._failure("EXPORTS", f"exports cannot be sent: {error}.")
        final = outcome.copy()
        if action == "DELETE":
            if ended == "ABORTED":
                final.setdefault("error", {"code": "ABORTED", "message": "Stopped on request."})
            final["phase"] = _WHEN_DELETING.get(ended, ended)
        return final

    async def _send(self, report: Outcome) -> dict[str, Any] | None:
        fenced = cast(PhaseReportInput, {**_fit_texts(report), "fence": self.item["fence"]})
        answer = await self._agent.reports.add(fenced)
        # A refusal is expected once the lease is lost.
        if answer is not None and answer["__typename"] != _ACCEPTED and not self.is_lost:
            refused = f"{report.get('phase', 'A report')} was refused ({answer['__typename']}): {answer['message']}"
            self._agent.problem("report", RuntimeError(refused), self.item["objectId"])
        return answer


def _require_outcome(outcome: Any) -> None:
    if outcome is None:
        return
    if not isinstance(outcome, dict) or not (isinstance(outcome.get("phase"), str) or outcome.get("done") is True):
        given = "a dict without a phase" if isinstance(outcome, dict) else type(outcome).__name__
        raise TypeError(f"work() returned {given}, expected {{'phase': …}}, {{'done': True}} or None")
    # Exports have a code of their own.
    _require_json({**outcome, "exports": None})


def _require_json(value: object) -> None:
    """The server judges all else."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(str(error)) from None


def _fit_texts(report: Any) -> Any:
    """The report, or a part of it, with each of its texts for people cut to what the server takes."""

    def fit(key: str, value: Any) -> Any:
        if key in ("progress", "error") and isinstance(value, dict):
            return _fit_texts(value)
        return _fit(value, LIMITS[_BOUNDS[key]]) if key in _BOUNDS and isinstance(value, str) else value

    return {key: fit(key, value) for key, value in report.items()}


def _fit(text: str, most: int) -> str:
    # The server counts in UTF-16.
    units = text.encode("utf-16-le", "surrogatepass")
    return text if len(units) <= 2 * most else units[: 2 * (most - len(_CUT))].decode("utf-16-le", "ignore") + _CUT


_STARTED = datetime.now(UTC) - timedelta(seconds=time.monotonic())


def now() -> str:
    """The wall clock of the start, advanced by the monotonic clock: it cannot be set between a line and its sending."""
    at = _STARTED + timedelta(seconds=time.monotonic())
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
