import { hasExpressions } from '../../../core/expression.ts'
import { isExpired } from '../../../core/lease.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import { type Evaluated, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { BackoffDecision } from '../../family.ts'
import { announceGate, newStartGate, passesGate, type StartGate, startGates } from '../../start-gate.ts'
import { isRetried } from './attempts.ts'
import { type JobDetails, job } from './details.ts'
import { endJob, offerJob, offerUndo, startRun } from './end-job.ts'
import type { DeclaredLock } from './lock-mode.ts'
import type { JobScope, JobSpec } from './spec.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    locks: {
      readonly args: { readonly id: string; readonly locks: readonly DeclaredLock[]; readonly now: string }
      readonly answer: boolean
    }
  }
}

/** Rules of a job: its start, its locks, its run, and the loss of its runner. */
export function decideJob(node: Node, slice: Slice): void {
  const taskNode = slice.parent(node)
  if (!taskNode) return
  // That of its gate.
  if (node.row.phase !== 'PENDING') slice.setClock(node, null)
  switch (node.row.phase) {
    case 'PENDING':
      return takeTurn(node, taskNode, slice)
    case 'WAITING':
      return waitForLocks(node, taskNode, slice)
    case 'RUNNING':
    case 'ABORTING':
      return watch(node, slice)
    default:
  }
}

/** Nothing new starts after a failure. */
const isAfterFailure = (taskNode: Node): boolean => taskNode.childCounts.failed > 0
const AFTER_FAILURE = 'Another job of its task has failed.'

/** A job that has failed once ends with that failure. */
function passOver(node: Node, slice: Slice): void {
  if (isRetried(node)) return endRetries(node, slice)
  endJob(node, slice, { to: 'SKIPPED', message: AFTER_FAILURE, satisfies: false })
}

function endRetries(node: Node, slice: Slice, by: Principal | null = null): void {
  const { code, message } = node.error ?? { code: 'FAILED', message: 'Its last attempt failed.' }
  const actor = by ? 'USER' : 'CONTROLLER'
  endJob(node, slice, { to: 'FAILED', actor, by, error: { code, message }, satisfies: false })
}

/** The policy of the spec at the first turn; without one nothing is written. */
function retryAtTurn(node: Node, { retry: policy }: JobSpec): Partial<JobDetails> {
  if (!policy) return {}
  return { retry: { policy, attempts: job(node).retry?.attempts ?? [], begunAt: null, nextAt: null } }
}

/** A user's decision about a job between two attempts; false: it is not, or its turn has come. */
export function resolveBackoff(node: Node, decision: BackoffDecision, by: Principal, slice: Slice): boolean {
  const { retry = null } = node.row.kind === 'GADGET_JOB' ? job(node) : {}
  if (node.row.phase !== 'PENDING' || !retry?.nextAt || new Date(retry.nextAt) <= slice.now) return false
  if (decision === 'GIVE_UP') endRetries(node, slice, by)
  else {
    slice.setDetails(node, { retry: { ...retry, nextAt: slice.now.toISOString() } })
    slice.recordRequest(node, { by, reason: 'retry requested', message: `Requested by ${by.name}.` })
  }
  return true
}

function takeTurn(node: Node, taskNode: Node, slice: Slice): void {
  if (taskNode.row.phase !== 'RUNNING') return
  if (isAfterFailure(taskNode)) return passOver(node, slice)
  if (node.row.waitingFor > 0) return
  const nextAt = job(node).retry?.nextAt
  if (nextAt && new Date(nextAt) > slice.now) return
  const spec = slice.spec(node) as JobSpec | undefined
  if (!spec) return
  // Two evaluations, since a false condition spares arguments that use what a skipped job would have exported.
  const condition = resolve(node, taskNode, spec.when ?? true, slice)
  const resolved = resolve(node, taskNode, { args: spec.args, env: spec.env }, slice)
  if (!condition || !resolved) return
  if (!condition.ok || typeof condition.value !== 'boolean') {
    const message = condition.ok ? 'Its condition is neither true nor false.' : condition.message
    return endJob(node, slice, { to: 'FAILED', error: { code: 'EXPRESSION', message }, satisfies: false })
  }
  if (!condition.value)
    return endJob(node, slice, { to: 'SKIPPED', message: 'Its condition is false.', satisfies: true })
  if (!resolved.ok) {
    const error = { code: 'EXPRESSION', message: resolved.message }
    return endJob(node, slice, { to: 'FAILED', error, satisfies: false })
  }
  if (!passesOwnGate(node, spec, slice)) return
  const { args, env } = resolved.value as { args: unknown[]; env: Record<string, unknown> }
  // All attempts have one uuid, since the gadget may know its own by it.
  slice.patch(node, { jobId: node.row.jobId ?? slice.newId(), observedGeneration: node.row.generation })
  slice.setDetails(node, {
    args: args.map(text),
    env: Object.fromEntries(Object.entries(env).map(([k, v]) => [k, text(v)])),
    ...retryAtTurn(node, spec),
  })
  slice.move(node, 'DECLARING')
  offerJob(node, slice, 'GET_LOCKS')
}

export const gates = startGates(
  ({ row, details }) => (row.kind === 'GADGET_JOB' ? (details as JobDetails).gate : null),
  (node, gate, slice) => slice.setDetails(node, { gate }),
)

/** True: it has no gate, or that is open. It is closed when the turn of the job comes, once for all attempts. */
function passesOwnGate(node: Node, { gate: config }: JobSpec, slice: Slice): boolean {
  const known = job(node).gate
  if (!config || !known) return true
  const gate = known.since === null ? newStartGate(config, slice.now, known.authorId) : known
  const write = (next: StartGate) => slice.setDetails(node, { gate: next })
  if (gate !== known) {
    write(gate)
    announceGate(node, gate, slice)
  }
  return passesGate(node, slice, {
    ...{ gate, write },
    end: ({ actor, by = null, ...error }) => endJob(node, slice, { to: 'FAILED', actor, by, error, satisfies: false }),
  })
}

/** Arguments are strings, so any other value of an expression is written as JSON. */
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

function resolve(node: Node, taskNode: Node, template: unknown, slice: Slice): Evaluated | undefined {
  if (!hasExpressions(template)) return { ok: true, value: template }
  const jobs = slice.children(taskNode)
  if (!jobs) return undefined
  const scope: JobScope = {
    jobs: Object.fromEntries(
      jobs
        .filter((other) => other !== node && (other.row.phase === 'DONE' || other.row.phase === 'SKIPPED'))
        .map((other) => [other.row.name, { phase: other.row.phase, exports: job(other).exports ?? {} }]),
    ),
  }
  return slice.evaluate(node, template, { ...scope })
}

function waitForLocks(node: Node, taskNode: Node, slice: Slice): void {
  if (isAfterFailure(taskNode)) return passOver(node, slice)
  // It gives its ticket back, since it would hold its locks while nothing begins, and joins the end of the queue later.
  if (slice.isPaused) return slice.effect('releaseLocks', node.row.id)
  const locks = job(node).locks ?? []
  const granted = slice.ask('locks', { id: node.row.id, locks, now: slice.now.toISOString() })
  if (granted) startRun(node, slice, {})
}

/** A run whose runner is lost has to be undone; another runner repeats a clean-up. */
function watch(node: Node, slice: Slice): void {
  const { work } = node
  const isLost = work?.leaseWatched && work.state === WORK_STATE.CLAIMED && isExpired(work.leaseUntil, slice.now)
  if (!isLost) return
  if (node.row.phase === 'ABORTING') return offerJob(node, slice, 'ABORT')
  const message = `Nothing was heard of its runner ${work.instance}: it is undone, and run again.`
  slice.move(node, 'UNDOING', { reason: 'RUNNER_LOST', message })
  slice.setDetails(node, { undoAfter: 'CRASH' })
  offerUndo(node, slice)
}

/** A run is watched while a runner has it. */
export function claimJob(node: Node, _by: unknown, slice: Slice): void {
  if (node.work?.action === 'RUN') slice.setWork(node, { leaseWatched: true })
  slice.setWork(node, { pickedUpAt: node.work?.pickedUpAt ?? slice.now })
}
