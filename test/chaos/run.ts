import { until } from '../testkit/wait.ts'
import { collect } from './collect.ts'
import type { Evidence, PerformedFault } from './evidence.ts'
import { performFaults } from './faults.ts'
import { Users } from './load.ts'
import { machineMs } from './machine-clock.ts'
import { type ChaosPlace, openPlace } from './place.ts'
import { startReader } from './readers.ts'
import { FAULTS, type FaultKind, planFaults } from './schedule.ts'

/** One chaos run: users, agents and readers at work, faults among them, rest, and the evidence. */

export interface ChaosOptions {
  readonly seed: number
  readonly totalMs: number
  readonly everyMs: number
  readonly longestMs: number
  readonly servers: number
  readonly without: readonly FaultKind[]
  readonly previous: string | null
  readonly onFault?: (fault: PerformedFault) => void
}
export interface ChaosResult {
  readonly evidence: Evidence
  /** From the last fault to the end of all requested work. */
  readonly restMs: number
}

/** A run without any change for so long is stuck: even a slow machine changes something in that time. */
const STILL_MS = 120_000
/** Bounds the recovery as a whole: work that is unfinished by then is a violation. */
const REST_MS = 720_000
const READERS = 3
const KINDS = ['INSTALLATION', 'EVENT', 'TASK', 'CLUSTER_INST'] as const

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, totalMs, everyMs, longestMs, without, onFault = () => undefined } = options
  await using stack = new AsyncDisposableStack()
  const place = stack.use(await openPlace(options))

  const readers = Array.from({ length: READERS }, (_, i) => startReader(`reader-${i}`, place.url, place.token))
  for (const reader of readers) stack.use(reader)
  const stop = new AbortController()
  stack.defer(() => stop.abort())
  const { client, url, cloudletId, limits, address } = place
  const users = new Users({ client, url, cloudletId, limits, address, seed, signal: stop.signal })
  const usage = users.run()
  const plan = planFaults({ seed, totalMs, everyMs, longestMs, targets: targetsOf(place, without) })
  const faults = await Promise.race([performFaults(place, plan, onFault), failing(usage)])
  // A slow machine may have had no time for one of them.
  await until(
    () => KINDS.every((kind) => users.mutations.some((one) => one.kind === kind && one.answeredMs !== null)),
    {
      what: 'each family has been asked for something',
    },
  )
  stop.abort()
  await usage
  for (const one of [...place.receivers, address]) one.heal()

  const since = machineMs()
  await whileItMoves(
    async () => {
      await settle(place, users).catch(() => undefined)
      return await isAtRest(place)
    },
    async () => (await headOf(place)) + (await waitingFor(place)),
  )
  const restMs = machineMs() - since
  const head = await headOf(place)
  await whileItMoves(
    () => readers.every(({ through }) => through === head),
    () => readers.reduce((sum, { through }) => sum + through, 0),
  )
  const records = readers.map(({ record }) => record)
  const { mutations, probes, deliveries } = users
  const messages = place.receivers.flatMap((receiver) => receiver.messages)
  const { answered } = address
  const noted = { mutations, probes, deliveries, messages, answered, readers: records, faults, deaths: place.deaths }
  const evidence = await collect(place, noted)
  return { evidence, restMs }
}
async function settle(place: ChaosPlace, users: Users): Promise<void> {
  const idsOf = async (sql: string) => (await place.query<{ id: string }>(sql)).map(({ id }) => id)
  const roots = await idsOf('select root_id as id from root_pause')
  const limits = await idsOf('select id from flow_limit where pause is not null')
  await users.settle({ roots, limits })
}
const failing = (running: Promise<void>): Promise<never> => new Promise((_, reject) => running.catch(reject))

function targetsOf(
  { servers, agents, database }: ChaosPlace,
  without: readonly FaultKind[],
): Readonly<Record<FaultKind, number>> {
  const counts = { server: servers.length, agent: agents.length, gateways: 1, postgres: 1, redis: 1 }
  const count = (kind: FaultKind): number => {
    if (without.includes(kind) || (kind === 'fill-disk' && database.disk === null)) return 0
    return counts[FAULTS[kind].of]
  }
  return Object.fromEntries((Object.keys(FAULTS) as FaultKind[]).map((kind) => [kind, count(kind)])) as Record<
    FaultKind,
    number
  >
}

/** Waits until it has ended, or moves no more. */
async function whileItMoves(hasEnded: () => Promise<boolean> | boolean, at: () => Promise<number> | number) {
  let last = await at()
  let movedAt = machineMs()
  const isStill = async (): Promise<boolean> => {
    const now = await at()
    if (now !== last) movedAt = machineMs()
    last = now
    return machineMs() - movedAt > STILL_MS
  }
  const isOver = async () => (await hasEnded()) || (await isStill())
  await until(isOver, { what: 'everything is at rest', timeoutMs: REST_MS }).catch(() => undefined)
}

async function headOf(place: ChaosPlace): Promise<number> {
  const [last] = await place.query<{ head: number }>(
    'select coalesce(max(first_seq + n - 1), 0)::integer as head from log_batch',
  )
  return last?.head ?? 0
}

/** A time that passes while messages wait for their next attempt, which may be minutes away; otherwise 0. */
async function waitingFor(place: ChaosPlace): Promise<number> {
  const [waiting] = await place.query<{ seconds: number }>(
    "select extract(epoch from now())::float8 as seconds from notification where state = 'PENDING' and due > now() limit 1",
  )
  return waiting?.seconds ?? 0
}

const MOVING = `
  select count(*)::integer as moving from object o
  where (o.kind in ('INSTALLATION', 'EXECUTION', 'DEPLOY_ITEM') and (o.job_id is distinct from o.finished_job_id))
    or (o.kind in ('EVENT', 'WORKER', 'JOB', 'TASK', 'GADGET_JOB') and o.phase not in
      ('SUCCEEDED', 'FAILED', 'ABORTED', 'CANCELED', 'SCHEDULING_FAILED', 'TIMED_OUT', 'DONE', 'SKIPPED'))
    or (o.kind = 'SCHEDULE' and o.phase = 'ACTIVE')
    or (o.kind in ('CLUSTER_INST', 'APP_INST', 'CLOUDLET') and o.phase <> 'READY')
    or exists (select from workload w where w.object_id = o.id and w.remove_at is not null and w.removed_at is null)`
/** Steps behind the commits: numbers of the log, places in the audit, requests between trees, firings, messages. */
const BEHIND = `
  select (select count(*) from log_batch where first_seq is null) + (select count(*) from audit_event where sequence is null)
    + (select count(*) from wake) + (select count(*) from notification where state = 'PENDING')
    + (select count(*) from firing where outcome in ('PENDING', 'QUEUED') or outcome = 'FIRED' and ended_at is null)
    + (select count(*) from notification_cursor where sequence is distinct from (select coalesce(max(first_seq + n - 1), 0) from log_batch)) as open`
async function isAtRest(place: ChaosPlace): Promise<boolean> {
  const [row] = await place.query<{ moving: number }>(MOVING)
  if (row?.moving !== 0) return false
  const [behind] = await place.query<{ open: number }>(BEHIND)
  return behind?.open === 0
}
