import { backoffMs } from '../../../core/backoff.ts'
import { isDatabaseUnavailable } from '../../../core/database-unavailable.ts'
import type { FamilyServices } from '../../../graphql/context.ts'
import { awaitAll } from '../../../store/await-all.ts'
import type { Client } from '../../../store/client.ts'
import { inTransaction } from '../../../store/in-transaction.ts'
import { enqueueWakes } from '../../../store/queue.ts'
import type { FamilyWorker, WorkerParts } from '../../define-family.ts'
import { startSearchLoop } from '../../search-loop.ts'
import { isAtRest, restingWords, succeeds } from '../rules/at-rest.ts'
import { decideFirings } from '../rules/decide-firings.ts'
import { overdueFrom, type RecordedReason, type ScheduleWake } from '../rules/on-wake.ts'
import { endBackfill, openBackfills } from '../store/backfills.ts'
import {
  decideFiring,
  endFirings,
  type FiringRow,
  type FiringStore,
  lockFirings,
  MAX_OPEN,
  nextWaiting,
  type OpenFiring,
  type OpenSchedule,
  openFiringStore,
  readSchedules,
} from '../store/firings.ts'
import { cancelStarted, type Start, type StartOutcome, type StartParts, startFirings } from './start-firings.ts'

/** How often firings are looked at while some rest after a failure, in milliseconds. */
const RESTING_MS = 1_000
/** Schedules of one project that are decided about together: as many starts share a transaction of it. */
const BATCH = 32
/** Batches at a time; each holds a connection. */
const AT_ONCE = 3
/** Firings of a backfill that start in one round, if they may overlap. */
const BACKFILLED_AT_ONCE = 20

/**
 * Starts what firings are to start. A firing is decided in the transaction that starts its root, so it starts one root
 * whatever dies; and one process at a time decides about a schedule.
 */
export function startDispatcher(
  { pool, system, sandbox, writes, logger, machines, outstandingSql }: WorkerParts,
  services: FamilyServices,
): Required<FamilyWorker> {
  const store = openFiringStore(outstandingSql, restingWords(machines))
  const parts: Parts = {
    ...{ pool, system, sandbox, services, store, failures: new Map() },
    hasSucceeded: succeeds(machines),
    resting: new Set(restingWords(machines)),
  }
  /** Schedules whose last attempt has failed rest, so that they hold up no other. */
  const resting = new Map<string, { readonly times: number; readonly until: number }>()
  const failed = (id: string, error: unknown) => {
    const times = (resting.get(id)?.times ?? 0) + 1
    resting.set(id, { times, until: performance.now() + backoffMs(times, system.random()) })
    if (!isDatabaseUnavailable(error)) logger.error({ err: error, scheduleId: id }, 'a firing could not be started')
  }
  const attempt = async (ids: readonly string[]): Promise<void> => {
    try {
      const errors = await dispatch(parts, ids)
      for (const id of ids) {
        if (errors.has(id)) failed(id, errors.get(id))
        else resting.delete(id)
      }
    } catch (error) {
      // Alone, the one that fails holds up no other.
      const isShared = ids.length > 1 && !isDatabaseUnavailable(error)
      for (const id of ids) {
        if (isShared) await attempt([id])
        else failed(id, error)
      }
    }
  }
  const round = async (stop: AbortSignal): Promise<number | null> => {
    const now = performance.now()
    const open = await store.openSchedules(pool)
    const isOpen = new Set(open.map(({ id }) => id))
    for (const id of resting.keys()) if (!isOpen.has(id)) resting.delete(id)
    const next = batchesOf(open.filter(({ id }) => (resting.get(id)?.until ?? 0) <= now)).values()
    const lane = async () => {
      for (const batch of next) if (!stop.aborted) await attempt(batch)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    return resting.size > 0 ? RESTING_MS : null
  }
  const loop = startSearchLoop({ writes, logger }, { what: 'the search for firings', round })
  return {
    isAtRest: async (client) => (await store.openSchedules(client)).length === 0,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  }
}

/** Schedules of one project each, and the batch with the oldest first. */
function batchesOf(
  open: readonly { readonly id: string; readonly projectId: string }[],
): readonly (readonly string[])[] {
  const batches: string[][] = []
  const last = new Map<string, string[]>()
  for (const { id, projectId } of open) {
    const batch = last.get(projectId)
    if (batch && batch.length < BATCH) batch.push(id)
    else {
      const begun = [id]
      last.set(projectId, begun)
      batches.push(begun)
    }
  }
  return batches
}

interface Parts extends StartParts {
  readonly resting: ReadonlySet<string>
  readonly store: FiringStore
  /** The root of a firing has ended as it should. */
  readonly hasSucceeded: (firing: OpenFiring) => boolean
}

/** Errors by schedule: one that fails holds up no other. */
type Errors = Map<string, unknown>

/** Decides about schedules of one project, apart from those about which another process decides. */
async function dispatch(parts: Parts, ids: readonly string[]): Promise<Errors> {
  const errors: Errors = new Map()
  await inTransaction(parts.pool, async (client) => {
    const locked = await lockFirings(client, ids)
    if (locked.length === 0) return
    const schedules = await readSchedules(client, locked)
    const states = await endedAndOpen(parts, client, locked)
    const decided = await awaitAll(
      schedules.map((schedule) => decide(parts, client, schedule, states.get(schedule.id) ?? NOTHING, errors)),
    )
    const turns = await withBackfills(parts, client, decided)
    for (let i = 0; ; i++) {
      const starts = turns.flatMap(({ schedule, firings }) => {
        const firing = errors.has(schedule.id) ? undefined : firings[i]
        return firing ? [{ schedule, firing }] : []
      })
      if (starts.length === 0) break
      const outcomes = await startFirings(parts, client, starts)
      await awaitAll(starts.map((start, place) => conclude(client, start, outcomes[place] ?? null, errors)))
    }
  })
  return errors
}

interface State {
  readonly ended: readonly OpenFiring[]
  /** The firings that wait or run. */
  readonly open: readonly OpenFiring[]
}
const NOTHING: State = { ended: [], open: [] }

/** Records the ends of what firings have started. */
async function endedAndOpen(
  { store, resting, system }: Parts,
  client: Client,
  schedules: readonly string[],
): Promise<ReadonlyMap<string, State>> {
  const states = new Map<string, State>()
  for (let ids = schedules; ids.length > 0; ) {
    const again: string[] = []
    const newlyEnded: string[] = []
    for (const [id, firings] of await store.openFirings(client, ids)) {
      const atRest = new Set(firings.filter((one) => one.outcome === 'FIRED' && isAtRest(one, resting)))
      newlyEnded.push(...[...atRest].map((one) => one.id))
      const ended = [...(states.get(id)?.ended ?? []), ...atRest]
      states.set(id, { ended, open: firings.filter((firing) => !atRest.has(firing)) })
      // Otherwise some that run may not have been read.
      if (atRest.size > 0 && firings.length >= MAX_OPEN) again.push(id)
    }
    await endFirings(client, newlyEnded, system.now())
    ids = again
  }
  return states
}

/** A schedule with the firings that start now, in this order. */
interface Turn {
  readonly schedule: OpenSchedule
  readonly firings: readonly FiringRow[]
}
interface Decided extends Turn {
  /** Nothing by time or by hand goes before a backfill. */
  readonly isBackfilled: boolean
  /** Nothing of the schedule waits or runs. */
  readonly isIdle: boolean
}

async function decide(
  parts: Parts,
  client: Client,
  schedule: OpenSchedule,
  { ended, open }: State,
  errors: Errors,
): Promise<Decided> {
  const overdueAt = overdueFrom(schedule.spec, parts.system.now())
  if (overdueAt && ended.some(parts.hasSucceeded))
    await wake(client, schedule.id, { overdueAt: overdueAt.toISOString() })
  const decisions = decideFirings(schedule.spec, open, schedule.isHeld)
  for (const { firing, verdict, reason } of decisions) {
    if (verdict === 'START' || errors.has(schedule.id)) continue
    if (verdict === 'CANCEL')
      await cancelStarted(parts, schedule, firing).catch((error: unknown) => errors.set(schedule.id, error))
    else {
      await decideFiring(client, firing.id, { outcome: verdict, reason, startedId: null })
      if (reason) await record(client, firing, reason, 'is skipped')
    }
  }
  const past = new Set(decisions.flatMap(({ firing, verdict }) => (verdict === 'QUEUED' ? [] : [firing])))
  return {
    schedule,
    firings: decisions.flatMap(({ firing, verdict }) => (verdict === 'START' ? [firing] : [])),
    isBackfilled: !schedule.isHeld && open.every((firing) => firing.outcome === 'FIRED' || past.has(firing)),
    isIdle: open.length === 0,
  }
}

/** Adds the firings of backfills whose turn it is, and ends backfills without any. */
async function withBackfills(parts: Parts, client: Client, decided: readonly Decided[]): Promise<readonly Turn[]> {
  const ids = decided.flatMap(({ isBackfilled, schedule }) => (isBackfilled ? [schedule.id] : []))
  const open = new Map((await openBackfills(client, ids)).map((backfill) => [backfill.scheduleId, backfill]))
  return await awaitAll(
    decided.map(async (turn): Promise<Turn> => {
      const backfill = open.get(turn.schedule.id)
      if (!backfill || (backfill.overlap === 'QUEUE' && !turn.isIdle)) return turn
      const waiting = await nextWaiting(client, backfill.id, backfill.overlap === 'QUEUE' ? 1 : BACKFILLED_AT_ONCE)
      if (waiting.length === 0) await endBackfill(client, backfill.id, parts.system.now())
      return { ...turn, firings: [...turn.firings, ...waiting] }
    }),
  )
}

/** The outcome of one that has started is written already. */
async function conclude(client: Client, { schedule, firing }: Start, outcome: StartOutcome, errors: Errors) {
  if (outcome === null) return
  if ('error' in outcome) return void errors.set(schedule.id, outcome.error)
  await decideFiring(client, firing.id, { ...outcome, startedId: null })
  await record(client, firing, outcome.outcome, `is refused: ${outcome.reason.replace(/\.$/, '')}`)
}

/** A backfill has its own list, and would fill the log. */
async function record(client: Client, firing: FiringRow, reason: RecordedReason, what: string): Promise<void> {
  if (firing.backfillId !== null) return
  await wake(client, firing.scheduleId, {
    record: { reason, message: `The time ${firing.due.toISOString()} ${what}.` },
  })
}
const wake = (client: Client, id: string, request: ScheduleWake): Promise<void> =>
  enqueueWakes(client, id, [id], { reason: JSON.stringify(request), traceparent: null })
