import { backoffMs } from '../../../core/backoff.ts'
import { isDatabaseUnavailable } from '../../../core/database-unavailable.ts'
import { codeOf, type Refusal } from '../../../core/errors.ts'
import type { Grant } from '../../../core/rights.ts'
import { articled, words } from '../../../core/words.ts'
import type { FamilyServices } from '../../../graphql/context.ts'
import type { Client } from '../../../store/client.ts'
import { inTransaction } from '../../../store/in-transaction.ts'
import { type AskedVerb, verbsNamed } from '../../asked-verb.ts'
import type { WorkerParts } from '../../define-family.ts'
import { grantsOfEditors, viewerOnBehalf } from '../../on-behalf.ts'
import { startSearchLoop } from '../../search-loop.ts'
import { failureOf, NO_COUNTS } from '../rules/bulk.ts'
import {
  countTargets,
  type Decision,
  decideTargets,
  lockOperation,
  nextTargets,
  type OpenOperation,
  openOperations,
  targetDone,
  type WaitingTarget,
} from '../store/bulk.ts'

/** Targets that are asked under one reading of the author's rights. */
const BATCH = 500
/** No further one of a batch is asked after this time, in milliseconds: the lock must not outlast an idle transaction. */
const BATCH_MS = 2_000
/** Targets at a time, since their transactions have few connections. */
const AT_ONCE = 4
/** How often targets are looked for while a rate, or a failure, holds them back, in milliseconds. */
const RESTING_MS = 200
/** A target that fails so often, and not for want of the database, is refused. */
const MAX_FAILURES = 8

/**
 * Asks the targets of bulk operations. A target is decided in the transaction that changes its object, so it is changed once
 * whatever dies; and one process at a time asks for an operation.
 */
export function startBulk(parts: WorkerParts, services: FamilyServices): AsyncDisposable {
  const { pool, writes, logger, system } = parts
  const failures = new Map<string, number>()
  /** Operations whose last batch has failed rest, so that they hold up no other. */
  const resting = new Map<string, { readonly times: number; readonly until: number }>()
  const attempt = async (operation: OpenOperation, stop: AbortSignal): Promise<Batch> => {
    const { id } = operation
    if ((resting.get(id)?.until ?? 0) > performance.now()) return 'HELD'
    try {
      const batch = await runBatch({ ...parts, services, failures }, operation, stop)
      resting.delete(id)
      return batch
    } catch (error) {
      const times = (resting.get(id)?.times ?? 0) + 1
      resting.set(id, { times, until: performance.now() + backoffMs(times, system.random()) })
      if (!isDatabaseUnavailable(error)) logger.error({ err: error, operationId: id }, 'a bulk operation failed to ask')
      return 'HELD'
    }
  }
  const round = async (stop: AbortSignal): Promise<number | null> => {
    const open = await openOperations(pool)
    const isOpen = new Set(open.map(({ id }) => id))
    for (const id of resting.keys()) if (!isOpen.has(id)) resting.delete(id)
    if (open.length === 0) failures.clear()
    let next: Batch = 'ENDED'
    for (const operation of open) {
      if (stop.aborted) break
      const batch = await attempt(operation, stop)
      if (batch === 'MORE' || next === 'ENDED') next = batch
    }
    return next === 'ENDED' ? null : next === 'MORE' ? 0 : RESTING_MS
  }
  return startSearchLoop({ writes, logger }, { what: 'the search for bulk operations', round, pauseMs: 20 })
}

/** MORE: some are left to ask at once. HELD: some are left for later, or another process asks. */
type Batch = 'MORE' | 'HELD' | 'ENDED'

interface Parts extends WorkerParts {
  readonly services: FamilyServices
  /** Counts of failures by target. */
  readonly failures: Map<string, number>
}

function runBatch(parts: Parts, operation: OpenOperation, stop: AbortSignal): Promise<Batch> {
  const { pool } = parts
  const { id, spec } = operation
  return inTransaction(pool, async (client): Promise<Batch> => {
    if (!(await lockOperation(client, id))) return 'HELD'
    if (operation.phase === 'PENDING') await begin(parts, id)
    const limits = { most: BATCH, ratePerSecond: spec.ratePerSecond }
    const targets = await nextTargets(client, id, limits)
    if (targets.length === 0) {
      const [left] = await nextTargets(client, id, { most: 1, ratePerSecond: null })
      return !left && (await end(parts, id)) ? 'ENDED' : 'HELD'
    }
    const [grants = []] = await grantsOfEditors(client, [operation])
    const decisions: Decision[] = []
    const next = targets.values()
    const started = performance.now()
    let undecided = 0
    const lane = async () => {
      for (const target of next) {
        const decision = await askOne(parts, operation, target, grants)
        if (decision === 'LATER') undecided += 1
        else if (decision) decisions.push(decision)
        if (stop.aborted || performance.now() - started > BATCH_MS) return
      }
    }
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, lane))
    } finally {
      // In a transaction of its own: what was refused stays so, even if the lock is lost.
      await decideTargets(pool, id, decisions)
    }
    return undecided === 0 && spec.ratePerSecond === null ? 'MORE' : 'HELD'
  })
}

class DecidedAlready extends Error {}

/** Null: it is done, and the target is decided in the same transaction; or the operation was cancelled meanwhile. */
async function askOne(
  { services, failures, logger }: Parts,
  operation: OpenOperation,
  { id, kind }: WaitingTarget,
  grants: readonly Grant[],
): Promise<Decision | 'LATER' | null> {
  const { spec, editor } = operation
  const decided = (outcome: Decision['outcome'], code: string | null, message: string | null): Decision => ({
    ...{ targetId: id, outcome, code, message },
  })
  if (kind === null) return decided('GONE', null, null)
  const asked = verbsNamed(services.askedVerbs, spec.verb).get(kind)
  if (!asked)
    return decided('REFUSED', 'INVALID_INPUT', `It is ${articled(words(kind))}, which has no verb ${spec.verb}.`)
  const viewer = viewerOnBehalf('bulk', operation, grants, async (within, objectId) => {
    const causedId = objectId === id ? null : objectId
    if (!(await targetDone(within as Client, operation.id, id, causedId))) throw new DecidedAlready()
  })
  try {
    const done = await asked.ask(viewer, { id, note: spec.note, input: asked.verb.input, flags: new Set(spec.flags) })
    if (done.ok) return null
    const outcome = outcomeOf(done.refusal, asked)
    return outcome === 'GONE'
      ? decided(outcome, null, null)
      : decided(outcome, codeOf(done.refusal), inTheNameOf(editor?.name, viewer.name, done.refusal.message))
  } catch (error) {
    if (error instanceof DecidedAlready) return null
    if (isDatabaseUnavailable(error)) throw error
    const times = (failures.get(id) ?? 0) + 1
    failures.set(id, times)
    if (times < MAX_FAILURES) return 'LATER'
    failures.delete(id)
    // The error may quote what the author of the operation may not read.
    logger.error(
      { err: error, operationId: operation.id, objectId: id },
      'an object of a bulk operation could not be asked',
    )
    return decided('REFUSED', 'INTERNAL', 'It could not be asked: the log of the server says why.')
  }
}

function outcomeOf({ type }: Refusal, { verb }: AskedVerb): Decision['outcome'] {
  if (type === 'NotFoundError') return 'GONE'
  if (type === 'ForbiddenError') return 'FORBIDDEN'
  // It has ended by itself before it was asked to.
  return type === 'TransitionError' && verb.finished === false ? 'UNCHANGED' : 'REFUSED'
}
/** A missing right is one of the author's. */
const inTheNameOf = (author: string | undefined, own: string, message: string): string =>
  author === undefined ? message : message.replaceAll(own, author)

async function begin({ trees }: Parts, id: string): Promise<void> {
  await trees.inTree(id, async ({ root, slice }) => {
    if (root.row.phase === 'PENDING') slice.move(root, 'RUNNING')
  })
}

/** False: some wait. The counts are those of the rows, under the lock of the operation. */
async function end({ trees }: Parts, id: string): Promise<boolean> {
  const ended = await trees.inTree(id, async ({ root, slice, client }) => {
    if (root.row.phase !== 'RUNNING') return true
    const counts = (await countTargets(client, [id])).get(id) ?? NO_COUNTS
    if (counts.WAITING > 0) return false
    const failure = failureOf(counts)
    slice.setDetails(root, { endedAt: slice.now })
    if (failure)
      slice.setError(root, {
        code: 'REFUSED',
        message: failure,
        at: slice.now.toISOString(),
        causeCount: 0,
        causes: [],
      })
    slice.move(root, failure ? 'FAILED' : 'SUCCEEDED')
    return true
  })
  return ended ?? true
}
