import { WORK_STATE } from '../../../src/core/tree.ts'
import type { Actor, Phase } from '../../../src/core/vocabulary.ts'
import { SLOT } from '../../../src/families/pipelines/rules/details.ts'
import { type Evidence, mayBeLost, mayBeUnknown, type PerformedFault, type WorkSpan } from '../evidence.ts'
import { by, isFinal, moves, objectsOf, type Promised } from './reading.ts'

/** Promises of agents, and of the work that they get. */

/** A process that resumes after it stood still notices within this time that its work is not its own any more. */
const NOTICE_MS = 2_000
export const exclusive: Promised = (evidence) => {
  const deaths = new Map(evidence.deaths.map(({ pid, atMs }) => [pid, atMs]))
  // A process works until it is dead, not until it was killed.
  const working = evidence.spans.map((span) => ({
    ...span,
    toMs: Math.min(span.toMs, deaths.get(span.pid) ?? Number.POSITIVE_INFINITY),
  }))
  const byObject = Map.groupBy(working, ({ objectId }) => objectId)
  return [...byObject.values()].flatMap((spans) => {
    const ordered = spans.toSorted((a, b) => a.fromMs - b.fromMs)
    return ordered.flatMap((other, i) =>
      ordered
        .slice(0, i)
        .filter((span) => span.toMs > other.fromMs && !isExcused(span, other, evidence.faults))
        .map(
          (span) => `${span.objectId}: ${other.process} began ${other.span} while ${span.process} was at ${span.span}`,
        ),
    )
  })
}
const isExcused = (span: WorkSpan, other: WorkSpan, faults: readonly PerformedFault[]): boolean =>
  faults.some(({ kind, target, fromMs, toMs }) => {
    // It stood still, and works no more once it resumes.
    if (kind === 'freeze-agent' && target === span.process)
      return other.fromMs >= fromMs && span.toMs <= toMs + NOTICE_MS
    // The database that gave it the work is gone.
    return kind === 'failover' && span.fromMs <= toMs && span.toMs >= fromMs
  })

/** The exports of an item say in which span they were made, so what was stored says whose report was taken. */
export const currentOnly: Promised = (evidence) => {
  const spans = new Map(evidence.spans.map((span) => [span.span, span]))
  const byObject = Map.groupBy(evidence.spans, ({ objectId }) => objectId)
  const works = new Map(evidence.tables.work.map((work) => [work.objectId, work]))
  const taken = evidence.tables.deployItem.flatMap(({ objectId, exports }) => {
    const name = (exports as { readonly span?: string } | null)?.span
    if (name === undefined) return []
    const span = spans.get(name)
    if (span?.objectId !== objectId) return [`${objectId} has exports of ${name}, which is no work of its own`]
    return (byObject.get(objectId) ?? [])
      .filter(({ jobId, fromMs }) => jobId === span.jobId && fromMs > span.fromMs)
      .filter((later) => !mayBeUnknown(evidence, span.fromMs, later.fromMs))
      .map((later) => `${objectId} was reported from ${name}, after it was given to ${later.span}`)
  })
  const handed = [...byObject].flatMap(([objectId, all]) => {
    const work = works.get(objectId)
    const own = all.filter(({ jobId, action }) => jobId === work?.jobId && action === work?.action)
    const [first] = own
    if (!work || !first || own.length <= work.attempt) return []
    if (own.some(({ fromMs }) => mayBeUnknown(evidence, fromMs))) return []
    return [`${objectId} was given out ${own.length} times in ${work.attempt} attempts`]
  })
  return [...taken, ...handed]
}

export const closed: Promised = (evidence) => {
  const objects = objectsOf(evidence)
  const now = evidence.databaseNow.getTime()
  const open = evidence.tables.work.flatMap(({ objectId, state, jobId, dueAt, leaseUntil, leaseWatched, doneAt }) => {
    const object = objects.get(objectId)
    // The request of its last upgrade.
    if (object?.kind === 'CLOUDLET') return []
    // That of an instance is the next operation's, too.
    const isOver = !object || isFinal(object.kind, object.phase)
    return [
      ...(isOver && state !== WORK_STATE.DONE
        ? [`the work of ${objectId} is open, and it is ${object?.phase ?? 'gone'}`]
        : []),
      ...(isOver && (leaseWatched || doneAt === null) ? [`the work of ${objectId} has no end, and it is over`] : []),
      ...(isOver && dueAt !== null ? [`the work of ${objectId} has a deadline, and it is over`] : []),
      ...(isOver && leaseUntil !== null && leaseUntil.getTime() > now + LONGEST_LEASE_MS
        ? [`the lease of ${objectId} never ends`]
        : []),
      ...(object && jobId !== object.jobId ? [`the work of ${objectId} is of another job`] : []),
    ]
  })
  const workloads = evidence.tables.workload.flatMap(({ objectId, state, endedAt, exitCode, removeAt, removedAt }) => {
    const phase = objects.get(objectId)?.phase
    return [
      ...(state === SLOT.OVER ? [] : [`${objectId} is ${phase}, and has or wants a slot`]),
      ...(endedAt === null ? [`${objectId} is ${phase}, and has no end`] : []),
      ...((removeAt === null) !== (removedAt === null)
        ? [
            `the resources of ${objectId} are to be removed at ${removeAt?.toISOString()}, and were at ${removedAt?.toISOString()}`,
          ]
        : []),
      ...((phase === 'SUCCEEDED') === (exitCode === 0)
        ? []
        : [`${objectId} is ${phase}, and its process ended with ${exitCode}`]),
    ]
  })
  const works = new Set(evidence.tables.work.map(({ objectId }) => objectId))
  const reported = new Set(
    moves(evidence)
      .filter(({ kind, actor }) => kind !== 'EVENT' && kind !== 'CLOUDLET' && OF_WORK.includes(actor))
      .map(({ objectId }) => objectId),
  )
  const lost = evidence.tables.object
    .filter(({ id }) => reported.has(id) && !works.has(id))
    .map(({ id }) => `the work of ${id} is lost`)
  const clocks = new Set(evidence.tables.clock.map(({ objectId }) => objectId))
  const unwatched = evidence.tables.object
    .filter(({ id, kind, phase }) => kind === 'CLOUDLET' && phase !== 'OFFLINE' && !clocks.has(id))
    .map(({ id }) => `nobody watches the lease of the CRM of ${id}`)
  return [...open, ...workloads, ...lost, ...unwatched]
}
/** Actors that move objects by reports of work. */
const OF_WORK: readonly Actor[] = ['DEPLOYER', 'RUNTIME', 'GADGET_RUNNER', 'CRM']
const LONGEST_LEASE_MS = 60_000

export const startedOnce: Promised = (evidence) => {
  const counts = Map.groupBy(evidence.starts, ({ id }) => id)
  return [...counts].flatMap(([id, starts]) => {
    // One that the present database does not know of may be followed by another one.
    const known = starts.slice(0, -1).filter(({ atMs }) => !mayBeUnknown(evidence, atMs))
    return known.length === 0 ? [] : [`${id} was started ${starts.length} times`]
  })
}

const HOLDS_SLOT: readonly Phase[] = ['STARTING', 'RUNNING', 'UNKNOWN']
export const slots: Promised = (evidence) => {
  const holding = new Set<string>()
  return [
    ...moves(evidence).flatMap(({ kind, objectId, to, sequence }) => {
      if (kind !== 'WORKER') return []
      if (!HOLDS_SLOT.includes(to)) holding.delete(objectId)
      else if (!holding.has(objectId) && holding.add(objectId).size > evidence.maxWorkers)
        return [`${holding.size} workers run after ${sequence}`]
      return []
    }),
    ...(evidence.tables.capacity.length === 1 ? [] : ['nothing says how many workers may run']),
    ...evidence.tables.capacity
      .filter(({ maxWorkers }) => maxWorkers !== evidence.maxWorkers)
      .map(({ maxWorkers }) => `${maxWorkers} workers may run, and ${evidence.maxWorkers} were set`),
  ]
}

/** Nobody knows what a lost database has begun. That alone is excused. */
export const nothingLeft: Promised = (evidence) => {
  const objects = objectsOf(evidence)
  const gates = new Set(
    evidence.tables.deployItem.filter(({ type }) => type === 'gate').map(({ objectId }) => objectId),
  )
  const installed = new Set([...evidence.installed, ...gates])
  const spans = Map.groupBy(evidence.spans, ({ objectId }) => objectId)
  const isLost = (id: string): boolean =>
    (spans.get(id) ?? []).some(({ fromMs, toMs }) => mayBeUnknown(evidence, fromMs, endOf(toMs, fromMs)))
  const starts = Map.groupBy(evidence.starts, ({ id }) => id)
  const logged = new Set(evidence.log.map(({ objectId }) => objectId))
  const isForgotten = (id: string): boolean =>
    !logged.has(id) && (starts.get(id) ?? []).some(({ atMs }) => mayBeUnknown(evidence, atMs))
  return [
    ...evidence.installed
      .filter((id) => objects.get(id)?.kind !== 'DEPLOY_ITEM' && !isLost(id))
      .map((id) => `${id} is installed, and is deleted`),
    ...evidence.tables.object
      .filter(
        ({ id, kind, phase }) => kind === 'DEPLOY_ITEM' && phase === 'SUCCEEDED' && !installed.has(id) && !isLost(id),
      )
      .map(({ id, name }) => `${name} (${id}) has succeeded, and is not installed`),
    ...evidence.leftovers.filter((id) => !isForgotten(id)).map((id) => `a runtime has left the folder of ${id}`),
  ]
}
const endOf = (toMs: number, fromMs: number): number => (Number.isFinite(toMs) ? toMs : fromMs)

/** The lines that each worker of a run prints. */
export const PRINTED: readonly string[] = [...Array.from({ length: 10 }, (_, i) => `line ${i + 1}`), 'end']
export const output: Promised = (evidence) => {
  const lines = by(evidence, 'logLine', 'objectId')
  const starts = Map.groupBy(evidence.starts, ({ id }) => id)
  const counted = evidence.tables.logTail.flatMap(({ objectId, nextN, keptLines, keptBytes, dropped }) => {
    const own = (lines.get(objectId) ?? []).toSorted((a, b) => a.n - b.n)
    const bytes = own.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    return [
      ...(own.every(({ n }, i) => n === nextN - own.length + i) ? [] : [`the lines of ${objectId} have a gap`]),
      ...(own.length === keptLines && bytes === keptBytes
        ? []
        : [`${objectId} counts ${keptLines} lines, and has ${own.length}`]),
      ...(dropped === 0 ? [] : [`${objectId} has dropped ${dropped} lines`]),
      ...own
        .filter(({ seq }, i) => seq <= (own[i - 1]?.seq ?? -1))
        .map(({ n }) => `line ${n} of ${objectId} comes before the one before it`),
    ]
  })
  const tails = new Set(evidence.tables.logTail.map(({ objectId }) => objectId))
  const stray = [...lines.keys()].filter((id) => !tails.has(id)).map((id) => `${id} has lines and counts none`)
  // From the moment at which it was to start, which is before it has.
  const startedAt = new Map(
    evidence.log.filter(({ to }) => to === 'STARTING').map(({ objectId, at }) => [objectId, at]),
  )
  const ranMs = new Map(
    evidence.tables.object.map(({ id, phaseSince }) => [
      id,
      phaseSince.getTime() - (startedAt.get(id) ?? phaseSince).getTime(),
    ]),
  )
  const lost = evidence.tables.object
    .filter(({ kind, phase }) => kind === 'WORKER' && (phase === 'SUCCEEDED' || phase === 'FAILED'))
    .filter(({ id }) => starts.get(id)?.every(({ atMs }) => !mayBeLost(evidence, atMs - 1_000, atMs + RUN_MS)))
    .flatMap(({ id }) => {
      // Its own, in order, and once: lines whose storing was not confirmed are sent again.
      const own = (lines.get(id) ?? []).filter(({ stream }) => stream !== 'SYSTEM').toSorted((a, b) => a.n - b.n)
      const texts = [...new Set(own.map(({ text }) => text))]
      const mayMiss = isKilled(evidence, starts.get(id) ?? [], ranMs.get(id) ?? 0)
      return (mayMiss && isPart(texts, PRINTED)) || texts.join() === PRINTED.join()
        ? []
        : [`${id} has printed ${PRINTED.length} lines, and ${texts.length} are stored`]
    })
  return [...counted, ...stray, ...lost]
}
/** A runtime that is killed during the run loses the output that it has read and not delivered. */
const isKilled = ({ faults }: Evidence, starts: Evidence['starts'], ranMs: number): boolean =>
  faults.some(
    ({ kind, target, fromMs }) =>
      kind === 'kill-agent' &&
      target === 'runtime' &&
      starts.some(({ atMs }) => fromMs > atMs && fromMs < atMs + ranMs),
  )
/** In the same order, with some left out. */
const isPart = (part: readonly string[], whole: readonly string[]): boolean => {
  const rest = whole.values()
  return part.every((one) => rest.some((other) => other === one))
}
/** How long the output of a worker may be on its way, e.g. while its runtime stands still. */
const RUN_MS = 60_000
