"""Made by `npm run generate` from schema.graphql and the documents of our own agents. A newer server may send other values of enums."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class LabelInput(TypedDict):
    #: Letters, digits, `.`, `_`, `/` and `-`, with a letter or digit at both ends. At most 253 characters.
    key: str
    #: May be empty. At most 255 characters.
    value: str


class TargetSelectorInput(TypedDict):
    #: Labels that a target must have, and may have more. Left out or null: none. At most 64 entries.
    labels: NotRequired[list[LabelInput] | None]
    #: Type that a target must have. Left out or null: any. At most 128 characters.
    type: NotRequired[str | None]


class ClaimWorkInput(TypedDict):
    #: True if the agent does dry runs (DRY_RUN) of these types as well, and reports them with reportDryRuns. They come
    #: before other work.
    dryRuns: NotRequired[bool]
    #: Name of the process, unique among those of the token. At most 253 characters.
    instance: str
    #: Milliseconds that the lease lasts from now; 1,000 to 600,000, others are taken as the nearest of them.
    leaseMs: NotRequired[int]
    #: At most this many objects, 1 to 500.
    max: NotRequired[int]
    #: Targets of the work by their type and labels, among those that the token allows. Unless `targets` is given, work
    #: without a target is left to others then. Left out or null: `targets` says it all.
    targetSelector: NotRequired[TargetSelectorInput | None]
    #: Targets of the work. Left out or null: all that the token allows, or with `targetSelector` none. Targets that it
    #: does not allow are ignored. At most 500 entries, each of at most 255 characters.
    targets: NotRequired[list[str] | None]
    #: Types of work, all of which the token must allow. At most 100 entries, each of at most 128 characters.
    types: list[str]
    #: Milliseconds to wait for work if there is none, at most 30,000; work that comes up is claimed at once. Left out
    #: or null: 0.
    waitMs: NotRequired[int | None]


class RenewLeasesInput(TypedDict):
    #: Fences of the work. At most 5,000 entries, each of at most 255 characters.
    fences: list[str]
    #: Milliseconds that the lease lasts from now; 1,000 to 600,000, others are taken as the nearest of them.
    leaseMs: NotRequired[int]


class ReportedErrorInput(TypedDict):
    #: For programs, in a vocabulary of the agent. At most 255 characters. Characters that cannot be stored become
    #: U+FFFD.
    code: str
    #: The failure, for people. At most 16,384 characters. Characters that cannot be stored become U+FFFD.
    message: str
    #: True, with the phase of work that has not ended: it is given back, to be offered again after a backoff, within
    #: the same attempt. False: another attempt would end in the same way, so the failure is final. Left out or null:
    #: the retry policy of the object decides; without a policy it is final.
    retryable: NotRequired[bool | None]


LockMode = Literal["EXCLUSIVE", "SHARED"]


class LockInput(TypedDict):
    #: How the lock is shared.
    mode: LockMode
    #: Name of the resource, not empty. At most 4,096 characters.
    resource: str


Phase = Literal["ABORTED", "ABORTING", "ACTIVE", "CANCELED", "CLEANUP_ORPHANED", "COMPLETING", "CREATE_ERROR", "CREATE_REQUESTED", "CREATING", "DECLARING", "DELETED", "DELETE_ERROR", "DELETE_FAILED", "DELETE_PREPARE", "DELETE_REQUESTED", "DELETING", "DONE", "FAILED", "FINISHED", "GONE", "INIT", "INIT_DELETE", "INIT_OK", "NOT_PRESENT", "OBJECTS_CREATED", "OFFLINE", "PAUSED", "PENDING", "PENDING_DEPENDENCIES", "PROGRESSING", "READY", "RUNNING", "SCHEDULING_FAILED", "SKIPPED", "STARTING", "SUCCEEDED", "TIMED_OUT", "TRIGGER_DELETE", "UNDOING", "UNDO_FAILED", "UNKNOWN", "UPDATE_ERROR", "UPDATE_REQUESTED", "UPDATING", "WAITING"]


class ProgressInput(TypedDict):
    #: Step that runs. Left out or null: `message` of the report. At most 4,096 characters. Characters that cannot be
    #: stored become U+FFFD.
    step: NotRequired[str | None]
    #: Value at which the work is complete, in `unit`. Left out or null: unknown.
    total: NotRequired[float | None]
    #: Unit of `value` and `total`, e.g. bytes. Left out or null: none. At most 64 characters. Characters that cannot
    #: be stored become U+FFFD.
    unit: NotRequired[str | None]
    #: How much is done, in `unit`. Left out or null: unknown.
    value: NotRequired[float | None]


class Outcome(TypedDict):
    #: True if work that changes no phase is done (STOP, REMOVE).
    done: NotRequired[bool]
    #: Why the work failed. Left out or null: a general error is recorded for a failed phase.
    error: NotRequired[ReportedErrorInput | None]
    #: Object of the results of work that has succeeded. Left out or null: none. At most 1 MiB as JSON, nested at most
    #: 64 deep.
    exports: NotRequired[Any]
    #: Locks that the gadget has declared, for GET_LOCKS only. Left out or null: none. At most 10,000 entries.
    locks: NotRequired[list[LockInput] | None]
    #: Text for people: of the phase change, or of the present step if the phase does not change. Left out or null:
    #: none. At most 16,384 characters. Characters that cannot be stored become U+FFFD.
    message: NotRequired[str | None]
    #: Phase that the object has reached. Deployers report GONE, and CRMs NOT_PRESENT, when the real counterpart no
    #: longer exists. Left out or null: its phase does not change, as for progress.
    phase: NotRequired[Phase | None]
    #: How far the work has come. Left out or null: as reported before.
    progress: NotRequired[ProgressInput | None]
    #: Place of the agent’s span for this work, as the header `traceparent` of W3C Trace Context has it. A malformed
    #: one is ignored. Left out or null: that of the work. At most 128 characters.
    traceparent: NotRequired[str | None]


class PhaseReportInput(Outcome):
    #: Fence of the work. At most 255 characters.
    fence: str


class ReportPhasesInput(TypedDict):
    #: Each report is judged on its own. At most 500 entries.
    reports: list[PhaseReportInput]


LogStream = Literal["STDERR", "STDOUT", "STEP", "SYSTEM"]


class LogLineInput(TypedDict):
    #: When the line was written. Left out, null, or in the future: now. One before its work was offered counts from
    #: then.
    at: NotRequired[str | None]
    #: Fence of the work. At most 255 characters.
    fence: str
    #: The source of the line.
    stream: LogStream
    #: The line. Its first 8,192 characters are kept. Characters that cannot be stored become U+FFFD.
    text: str


class AppendLogsInput(TypedDict):
    #: In the order in which they were written. At most 5,000 entries.
    lines: list[LogLineInput]
    #: Time of the request by the clock that dates the lines, which corrects them if that clock is wrong. Left out or
    #: null: no correction.
    sentAt: NotRequired[str | None]


ObjectKind = Literal["APP_INST", "BULK_OPERATION", "CLOUDLET", "CLUSTER_INST", "DEPLOY_ITEM", "EVENT", "EXECUTION", "GADGET_JOB", "INSTALLATION", "JOB", "SCHEDULE", "TASK", "WORKER"]


WorkAction = Literal["ABORT", "DELETE", "DRY_RUN", "GET_LOCKS", "RECONCILE", "REMOVE", "RUN", "START", "STOP", "UNDO"]


class WorkItem(TypedDict):
    #: Names this claim in reports, renewals and log lines. Opaque; a later claim makes it invalid.
    fence: str
    #: Id of the object.
    objectId: str
    #: Id of the project of the object; null if the object is gone.
    projectId: str | None
    #: Kind of the object.
    kind: ObjectKind
    #: Name of the object.
    name: str
    #: Job of the object; null if it has none.
    jobId: str | None
    #: The action on the object.
    action: WorkAction
    #: For DRY_RUN, the action that is only to be foreseen: RECONCILE or DELETE. Null for all other work.
    dryRunOf: WorkAction | None
    #: Type of the work.
    type: str
    #: The place of the work; null if its spec names no target.
    target: str | None
    #: The config, with all expressions resolved; null if there is none. It may hold secrets: it is never logged,
    #: cached or sent again.
    config: Any
    #: Count of claims of this work, from 1, this one included.
    attempt: int
    #: Bearer token of a worker, which lets it create and cancel jobs of its own event; null for all other work.
    token: str | None
    #: Its trace context, as the header `traceparent` of W3C Trace Context has it; null if it belongs to no sampled
    #: trace.
    traceparent: str | None


Actor = Literal["CONTROLLER", "CRM", "CRM_V1", "CRM_V2", "DEPLOYER", "GADGET_RUNNER", "RUNTIME", "USER", "WORKER"]


PhaseChange = TypedDict("PhaseChange", {
    "id": str,
    "sequence": int,
    "cursor": str,
    "objectId": str,
    "kind": ObjectKind,
    "name": str,
    "path": str,
    "rootId": str,
    "projectName": str,
    "machine": str,
    "from": Phase | None,
    "to": Phase,
    "actor": Actor,
    "by": str | None,
    "byId": str | None,
    "reason": str | None,
    "message": str | None,
    "jobId": str | None,
    "revision": int,
    "rejected": bool,
    "requested": bool,
    "at": str,
})


#: The most characters of a text, in UTF-16, and of the reports of a call.
LIMITS = {"reports": 500, "message": 16384, "step": 4096, "progressUnit": 64, "errorCode": 255, "logLine": 8192}

CLAIM = """mutation Claim($input: ClaimWorkInput!) {
  claimWork(input: $input) {
    __typename
    ... on ClaimedWork {
      waitedMs
      items { fence objectId projectId kind name jobId action dryRunOf type target config attempt token traceparent }
    }
    ... on Error { message code }
  }
}"""
RENEW = """mutation Renew($input: RenewLeasesInput!) {
  renewLeases(input: $input) {
    __typename
    ... on RenewedLeases { leases { fence state } }
    ... on Error { message code }
  }
}"""
REPORT = """mutation Report($input: ReportPhasesInput!) {
  reportPhases(input: $input) {
    __typename
    ... on PhaseReports { results { __typename ... on Error { message } ... on TransitionError { allowed } } }
    ... on Error { message code }
  }
}"""
APPEND_LOGS = """mutation AppendLogs($input: AppendLogsInput!) {
  appendLogs(input: $input) {
    __typename
    ... on Error { message code }
  }
}"""
