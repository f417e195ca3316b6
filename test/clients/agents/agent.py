"""The agent of the conformance suite in Python: test/clients/agents/agent.ts says how it is controlled."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from phaseline import Client, ClientError, Context, Problem, WorkItem, run_agent

OPTIONS = json.loads(sys.argv[1])
WRONG: dict[str, Any] = {
    "text": "done",
    "exports": {"phase": "SUCCEEDED", "exports": {"a": {1, 2}}},
    "large-integer": {"phase": "SUCCEEDED", "exports": {"id": 2**60}},
}
going: dict[str, asyncio.Event] = {}


def say(event: str, **more: Any) -> None:
    print(json.dumps({"event": event, **more}), flush=True)


def steps_of(item: WorkItem) -> list[list[Any]]:
    if item["action"] != "RECONCILE":
        return [["end", {"phase": "SUCCEEDED"}]]
    steps: list[list[Any]] = item["config"].get("first" if item["attempt"] == 1 else "steps") or item["config"]["steps"]
    return steps


async def work(item: WorkItem, context: Context) -> Any:
    name = item["name"]
    say("begin", name=name, action=item["action"], attempt=item["attempt"], fence=item["fence"])
    for what, *args in steps_of(item):
        match what:
            case "log":
                context.log(args[0], "STDERR")
            case "report":
                context.report(args[0])
            case "hold":
                try:
                    await going.setdefault(name, asyncio.Event()).wait()
                except asyncio.CancelledError:
                    say("stopped", name=name, reason=context.stopped)
                    raise
            case "endless":
                while True:
                    try:
                        await asyncio.sleep(3600)
                    except asyncio.CancelledError:
                        pass
            case "exit":
                sys.exit(args[0])
            case "raise":
                raise ValueError(args[0])
            case "return":
                return WRONG[args[0]]
            case "end":
                say("end", name=name)
                return args[0]
    return None


def problem(found: Problem) -> None:
    say("problem", what=found.what, message=str(found.error))


async def follow(client: Client) -> None:
    def expired(error: ClientError) -> str:
        say("expired")
        return str(error.extensions["commonCursor"])

    async for page in client.follow(OPTIONS["follow"], on_expired=expired, limit=3):
        for change in page.changes:
            say("change", sequence=change["sequence"], name=change["name"], to=change["to"])


def listen(loop: asyncio.AbstractEventLoop) -> None:
    for line in sys.stdin:
        loop.call_soon_threadsafe(lambda name=line.strip(): going.setdefault(name, asyncio.Event()).set())


async def main() -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def end() -> None:
        stop.set()
        say("stopping")

    loop.add_signal_handler(signal.SIGTERM, end)
    threading.Thread(target=listen, args=[loop], daemon=True).start()
    given = OPTIONS["token"]

    def next_token() -> str:
        return str(given.pop(0) if len(given) > 1 else given[0])

    token: str | Callable[[], str] = given if isinstance(given, str) else next_token
    bounds = {"max_bytes": OPTIONS["maxBytes"]} if "maxBytes" in OPTIONS else {}
    async with Client(OPTIONS["url"], token, **bounds) as client:
        if "follow" in OPTIONS:
            return await follow(client)
        await run_agent(
            client,
            work,
            OPTIONS["types"],
            instance=OPTIONS["instance"],
            concurrency=OPTIONS["concurrency"],
            lease=OPTIONS["leaseMs"] / 1000,
            renew=OPTIONS["renewMs"] / 1000,
            drain=OPTIONS["drainMs"] / 1000,
            stop=stop,
            on_problem=problem,
        )


try:
    asyncio.run(main())
    say("over", code=None)
except ClientError as error:
    say("over", code=error.code or error.kind)
