"""Calls of the API over HTTP, and the log as pages that resume by their cursors."""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from ssl import SSLContext
from types import TracebackType
from typing import Any, Literal, Self, cast

import aiohttp
from yarl import URL

from .operations import PhaseChange

Token = str | Callable[[], str | Awaitable[str]]
Cursor = str | int

_MAX_BYTES = 128 * 2**20
_MAX_RETRY_AFTER = 60.0
_RETRYABLE = {"INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE", "OVERLOADED", "TIMEOUT", "RATE_LIMITED"}
_UNAUTHORIZED = {"UNAUTHENTICATED", "UNAUTHORIZED"}


class ClientError(Exception):
    """Why a call got no result. Its text never holds the token.

    `unauthorized`: the token is missing, invalid or not allowed to connect. `http`: the answer was not one of the API.
    """

    def __init__(
        self,
        kind: Literal["network", "http", "graphql", "unauthorized"],
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        retryable: bool = False,
        extensions: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code
        self.status = status
        self.extensions = extensions or {}
        after = self.extensions.get("retryAfterMs")
        #: Seconds after which the server takes the call again; None: it has not said.
        self.retry_after: float | None = min(after / 1000, _MAX_RETRY_AFTER) if isinstance(after, int | float) and after >= 0 else None
        #: The same call may succeed later, unchanged.
        self.retryable = retryable or kind == "network" or self.retry_after is not None


@dataclass(frozen=True)
class LogPage:
    """Some changes of the log. `cursor` is the place after them: with `after` it resumes there."""

    changes: list[PhaseChange]
    cursor: str


@dataclass
class Client:
    """A connection to one server as one principal, to be opened by `async with`.

    `url` is the endpoint of GraphQL, or the address of the server alone. A function as `token` is called for each call, and once more
    if the server refuses what it has returned.
    """

    url: str
    token: Token = field(repr=False)
    #: Seconds that a call may take.
    timeout: float = 30.0
    #: By default the certificates of the system are trusted.
    ssl: SSLContext | None = None
    #: The largest answer that is read.
    max_bytes: int = _MAX_BYTES
    _session: aiohttp.ClientSession | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        url = URL(self.url)
        if url.scheme not in ("http", "https") or url.host is None:
            raise ValueError("The URL must be an http or https URL.")
        if url.user or url.password:
            raise ValueError("The URL must not hold credentials.")
        self._endpoint = url.with_path("/graphql") if url.path in ("", "/") else url
        if isinstance(self.token, str):
            _check_token(self.token)

    async def __aenter__(self) -> Self:
        connector = None if self.ssl is None else aiohttp.TCPConnector(ssl=self.ssl)
        self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._session is not None:
            await self._session.close()

    async def query(self, document: str, variables: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """One query or mutation; returns its `data`. It repeats nothing: the caller decides, by `ClientError.retryable`."""
        body = json.dumps({"query": document, "variables": variables or {}}, allow_nan=False).encode()
        status, _, text = await self._send("POST", self._endpoint, timeout or self.timeout, body)
        answer = _parse(status, text)
        if isinstance(answer, dict) and isinstance(answer.get("data"), dict):
            return answer["data"]
        raise _no_result(status)

    async def mutate(self, field: str, document: str, given: Any, *, timeout: float | None = None) -> Any:
        """One mutation whose result is a union of a payload and errors: returns the payload."""
        answer = (await self.query(document, {"input": given}, timeout=timeout)).get(field)
        if answer is None:
            raise ClientError("graphql", f"The server answered {field} without a result.", retryable=True)
        if str(answer["__typename"]).endswith("Error"):
            raise ClientError("graphql", answer.get("message") or answer["__typename"], code=answer.get("code"))
        return answer

    async def follow(
        self,
        after: Cursor | None = None,
        *,
        on_expired: Callable[[ClientError], Cursor | Awaitable[Cursor]] | None = None,
        limit: int = 500,
        wait: int = 25,
        **filters: str,
    ) -> AsyncIterator[LogPage]:
        """The log after a cursor, then live: each change exactly once, across lost connections. It has no end.

        `after` is a cursor, `"head"` for the end of the log, or None for its beginning. `filters` are those of `GET /log`, such as
        `project="web"` and `to="FAILED,ABORTED"`. `on_expired` is called when the cursor is not in the log any more: it returns the
        place to resume after, usually `error.extensions["commonCursor"]`. Without it the error is raised.
        """
        failures = 0
        while True:
            query = {**filters, "limit": str(limit), "wait": str(wait)} | ({} if after is None else {"after": str(after)})
            try:
                page = await self._read_log(query, wait)
            except ClientError as error:
                if error.code == "CURSOR_EXPIRED" and on_expired is not None:
                    after = await _resolve(on_expired(error))
                elif not error.retryable:
                    raise
                else:
                    await asyncio.sleep(retry_delay(failures, error))
                    failures += 1
                continue
            failures = 0
            moved = page.cursor != after
            after = page.cursor
            if moved:
                yield page
            if not page.changes:
                # A server that shuts down ends a wait at once.
                await asyncio.sleep(retry_delay(0))

    async def _read_log(self, query: Mapping[str, str], wait: int) -> LogPage:
        url = self._endpoint.with_path("/log").with_query(query)
        status, link, text = await self._send("GET", url, self.timeout + wait)
        # The cursor alone is taken from the link: its address may be that of another machine.
        after = re.search(r"[?&](after=[^&>]+)", link)
        if status != 200 or after is None:
            _parse(status, text)
            raise _no_result(status)
        # A text of a change may hold other ends of lines.
        changes = [cast(PhaseChange, json.loads(line)) for line in text.split("\n") if line]
        return LogPage(changes, URL(f"?{after[1]}", encoded=True).query["after"])

    async def _send(self, method: str, url: URL, timeout: float, body: bytes | None = None) -> tuple[int, str, str]:
        first = await self._ask_token()
        answer = await self._call(method, url, timeout, body, first)
        if answer[0] == 401 and not isinstance(self.token, str) and (second := await self._ask_token()) != first:
            answer = await self._call(method, url, timeout, body, second)
        return answer

    async def _ask_token(self) -> str:
        return _check_token(self.token if isinstance(self.token, str) else await _resolve(self.token()))

    async def _call(self, method: str, url: URL, timeout: float, body: bytes | None, token: str) -> tuple[int, str, str]:
        if self._session is None:
            raise RuntimeError("The client is not open: use `async with Client(…) as client`.")
        headers = {"authorization": f"Bearer {token}", "accept": "application/graphql-response+json, application/json"}
        if body is not None:
            headers["content-type"] = "application/json"
        try:
            async with self._session.request(
                method,
                url,
                data=body,
                headers=headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as response:
                data = bytearray()
                async for chunk in response.content.iter_any():
                    data += chunk
                    if len(data) > self.max_bytes:
                        raise ClientError("http", f"The answer is larger than {self.max_bytes} bytes.", status=response.status)
                return response.status, response.headers.get("link", ""), data.decode("utf-8", "replace")
        except TimeoutError:
            raise ClientError("network", f"No answer within {timeout:g} s.") from None
        except (aiohttp.ClientError, OSError) as error:
            raise ClientError("network", str(error).replace(token, "…") or type(error).__name__) from None


async def _resolve(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _check_token(token: str) -> str:
    # Programs pass a variable that is not set.
    if not token:
        raise ValueError("There is no token: the argument `token` is empty.")
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise ValueError("The token must be printable ASCII without blanks.")
    return token


def _parse(status: int, text: str) -> Any:
    """The JSON of an answer, None if it is none. Raises the error that it holds."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    errors = answer.get("errors") if isinstance(answer, dict) else None
    listed = [e for e in errors if isinstance(e, dict) and isinstance(e.get("message"), str)] if isinstance(errors, list) else []
    # Fields that fail for the same reason say the same.
    message = "; ".join(list(dict.fromkeys(e["message"] for e in listed))[:5])
    if status in (401, 403):
        raise ClientError("unauthorized", message or f"The server answered {status}.", status=status)
    if listed:
        given = listed[0].get("extensions")
        extensions = given if isinstance(given, dict) else {}
        code = extensions.get("code") if isinstance(extensions.get("code"), str) else None
        kind: Literal["unauthorized", "graphql"] = "unauthorized" if code in _UNAUTHORIZED else "graphql"
        retryable = code in _RETRYABLE or _is_retryable(status)
        raise ClientError(kind, message, code=code, status=status, retryable=retryable, extensions=extensions)
    return answer


def _no_result(status: int) -> ClientError:
    message = f"The server answered {status} without a result."
    return ClientError("http", message, status=status, retryable=_is_retryable(status))


def _is_retryable(status: int) -> bool:
    return status in (408, 429) or status >= 500


def retry_delay(retries: int, error: BaseException | None = None) -> float:
    """Seconds with jitter: 0.05 to 0.1 before the first retry, at most 5; longer if the error says when the call is taken again."""
    delay: float = min(5.0, 0.1 * 2 ** min(retries, 10)) * random.uniform(0.5, 1)
    return delay + ((error.retry_after or 0) if isinstance(error, ClientError) else 0)
