import { step } from '../../src/core/machine.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { allMachines } from '../../src/families/machines.ts'
import {
  type Evidence,
  failovers,
  isWithin,
  type LoggedChange,
  type PerformedFault,
  type ReaderRecord,
  type StoredObject,
  type WorkSpan,
} from './evidence.ts'

/** What the product promises, each as a pure check of the evidence that returns its violations. */
export type Promised = (evidence: Evidence) => readonly string[]

const machineOf = (name: string) => allMachines.find((machine) => machine.name === name)
/** Changes that have moved something. */
const moves = ({ log }: Evidence): readonly LoggedChange[] => log.filter(({ rejected }) => !rejected)
const tell = ({ kind, name, objectId }: { kind: string; name: string; objectId: string }): string =>
  `${kind} ${name} (${objectId})`

const dense: Promised = ({ log }) =>
  log.flatMap(({ sequence }, i) => (sequence === i + 1 ? [] : [`${sequence} is at the place of ${i + 1}`])).slice(0, 5)

const legal: Promised = (evidence) => {
  const phases = new Map<string, Phase>()
  return moves(evidence).flatMap((change) => {
    const { objectId, machine: name, from, to, actor } = change
    const key = `${objectId} ${name}`
    const before = phases.get(key) ?? null
    phases.set(key, to)
    const machine = machineOf(name)
    if (!machine) return [`${name} is no machine`]
    // A secondary machine has no creation.
    const expected = before ?? (machine.column ? machine.initial : null)
    if (from !== expected) return [`${tell(change)} went from ${from} to ${to}, and was ${expected}`]
    if (from === null) return to === machine.initial ? [] : [`${tell(change)} began as ${to}`]
    return step(machine, from, actor, to).ok ? [] : [`${tell(change)}: ${actor} moved it from ${from} to ${to}`]
  })
}

const accepted: Promised = (evidence) => {
  const made = new Set(evidence.log.filter(({ from, rejected }) => from === null && !rejected).map((c) => c.objectId))
  const mayBeLost = (atMs: number) => failovers(evidence).some((fault) => isWithin(atMs, fault))
  return evidence.accepted
    .filter(({ id, answeredMs }) => !made.has(id) && !mayBeLost(answeredMs))
    .map(({ id, kind, name }) => `${kind} ${name} (${id}) was accepted and is not in the log`)
}

/** A creation that is sent again with its key is one creation. Names of roots say which they are. */
const once: Promised = (evidence) => {
  const seen = new Map<string, string>()
  const keyed = new Set(evidence.accepted.filter(({ kind }) => kind !== 'CLUSTER_INST').map(({ name }) => name))
  return moves(evidence).flatMap((change) => {
    const { from, objectId, rootId, kind, name } = change
    if (from !== null || objectId !== rootId || !keyed.has(name)) return []
    const first = seen.get(`${kind} ${name}`)
    seen.set(`${kind} ${name}`, objectId)
    return first === undefined ? [] : [`${tell(change)} was created twice`]
  })
}

const readers: Promised = ({ log, readers: all, ...evidence }) =>
  all.flatMap(({ name, parts }) => {
    const problems: string[] = []
    if (parts.length - 1 > failovers(evidence).length)
      problems.push(`${name} was told ${parts.length - 1} times that its place is gone`)
    let next = 1
    for (const [i, part] of parts.entries()) {
      const first = part[0]?.sequence ?? next
      if (first > next) problems.push(`${name} misses ${next} to ${first - 1}`)
      problems.push(...gapsIn(name, part))
      // Only the last part is of the log that there is now; of the others, what both have in common.
      const isLast = i === parts.length - 1
      const differing = part.find((change) => !isSame(change, log[change.sequence - 1]))
      if (isLast && differing) problems.push(`${name} has another change at ${differing.sequence}`)
      next =
        (isLast ? (part.at(-1)?.sequence ?? next - 1) : (differing?.sequence ?? (part.at(-1)?.sequence ?? 0) + 1) - 1) +
        1
    }
    if (next !== log.length + 1) problems.push(`${name} ends after ${next - 1} of ${log.length}`)
    return problems
  })
const gapsIn = (name: string, part: ReaderRecord['parts'][number]): readonly string[] =>
  part.flatMap(({ sequence }, i) => {
    const before = part[i - 1]?.sequence
    return before === undefined || sequence === before + 1 ? [] : [`${name} got ${sequence} after ${before}`]
  })
const isSame = (one: LoggedChange, other: LoggedChange | undefined): boolean =>
  other !== undefined &&
  one.objectId === other.objectId &&
  one.machine === other.machine &&
  one.from === other.from &&
  one.to === other.to &&
  one.rejected === other.rejected

const isFinal = ({ kind, phase }: StoredObject): boolean =>
  allMachines.some((machine) => machine.kinds.includes(kind) && !machine.column && machine.final.includes(phase))
const ended: Promised = ({ objects }) => {
  const finished = new Set(objects.filter((one) => one.id === one.rootId && isFinal(one)).map(({ id }) => id))
  return objects
    .filter((one) => !isFinal(one) && !(isUntouched(one) && finished.has(one.rootId)))
    .map(({ kind, name, id, phase }) => `${kind} ${name} (${id}) is still ${phase}`)
}
/** A job that has failed leaves what it has not triggered as it was. */
const isUntouched = ({ kind, phase }: StoredObject): boolean =>
  phase === 'PENDING' && ['INSTALLATION', 'EXECUTION', 'DEPLOY_ITEM'].includes(kind)

const ABSENT: readonly Phase[] = ['GONE', 'NOT_PRESENT']
const recorded: Promised = (evidence) => {
  const last = new Map<string, LoggedChange>()
  for (const change of moves(evidence)) if (!machineOf(change.machine)?.column) last.set(change.objectId, change)
  const stored = new Map(evidence.objects.map((object) => [object.id, object.phase]))
  const unlogged = evidence.objects.filter(({ id }) => !last.has(id)).map(({ id }) => `${id} is not in the log`)
  const wrong = [...last.values()].flatMap((change) => {
    const phase = stored.get(change.objectId)
    if (phase === undefined) return ABSENT.includes(change.to) ? [] : [`${tell(change)} is lost`]
    return phase === change.to ? [] : [`${tell(change)} is ${phase}, and its log ends with ${change.to}`]
  })
  return [...unlogged, ...wrong]
}
/** A process that goes on after it stood still notices within this time that its work is not its own any more. */
const NOTICE_MS = 2_000
const exclusive: Promised = (evidence) => {
  const working = evidence.spans.map((span) => endSpan(span, evidence.faults))
  const byObject = Map.groupBy(working, ({ objectId }) => objectId)
  return [...byObject.values()].flatMap((spans) => {
    const ordered = spans.toSorted((a, b) => a.fromMs - b.fromMs)
    return ordered.flatMap((span, i) => {
      const other = ordered[i + 1]
      if (!other || other.process === span.process || other.fromMs >= span.toMs) return []
      if (isExcused(span, other, evidence)) return []
      return [`${span.objectId}: ${other.process} began while ${span.process} was at work`]
    })
  })
}
/** A killed process works no longer. */
const endSpan = (span: WorkSpan, faults: readonly PerformedFault[]): WorkSpan => {
  const killed = faults.find(
    ({ kind, target, fromMs }) => kind === 'kill-agent' && target === span.process && isWithin(fromMs, span),
  )
  return killed ? { ...span, toMs: killed.fromMs } : span
}
const isExcused = (span: WorkSpan, other: WorkSpan, { faults }: Evidence): boolean =>
  faults.some(({ kind, target, fromMs, toMs }) => {
    // It stood still, and works no more once it goes on.
    if (kind === 'freeze-agent' && target === span.process)
      return other.fromMs >= fromMs && span.toMs <= toMs + NOTICE_MS
    // The database that gave it the work is gone.
    return kind === 'failover' && span.fromMs <= toMs && span.toMs >= fromMs
  })

/** Phases in which a job has its locks. */
const UNLOCKED: readonly Phase[] = ['DONE', 'FAILED', 'ABORTED', 'SKIPPED', 'GONE']
const locks: Promised = (evidence) => {
  const running = new Map<string, LoggedChange>()
  const problems: string[] = []
  for (const change of moves(evidence)) {
    if (change.kind !== 'GADGET_JOB') continue
    if (UNLOCKED.includes(change.to)) running.delete(change.objectId)
    if (change.to !== 'RUNNING' || running.has(change.objectId)) continue
    for (const other of running.values())
      if (conflict(change.objectId, other.objectId, evidence))
        problems.push(`${tell(change)} ran beside ${tell(other)}`)
    running.set(change.objectId, change)
  }
  const left = evidence.locks.map(({ objectId, resource }) => `${objectId} still has or wants ${resource}`)
  const seen = evidence.gadgets
    .filter(
      ({ did, atMs }) =>
        did === 'CONFLICT' && !failovers(evidence).some((f) => atMs >= f.fromMs && atMs <= f.toMs + AFTERMATH_MS),
    )
    .map(({ job }) => `the gadget of ${job} found its resource taken`)
  return [...problems, ...left, ...seen]
}
/** How long gadgets that a lost database has started may still run beside those of the new one. */
const AFTERMATH_MS = 20_000
const conflict = (one: string, other: string, { declared }: Evidence): boolean =>
  (declared.get(one) ?? []).some((lock) =>
    (declared.get(other) ?? []).some((held) => held.resource === lock.resource && (held.exclusive || lock.exclusive)),
  )

const undone: Promised = (evidence) => {
  const byJob = Map.groupBy(evidence.gadgets, ({ job }) => job)
  return [...byJob].flatMap(([job, lines]) =>
    lines.flatMap((line, i) => {
      const before = lines.slice(0, i).findLast(({ did }) => did === 'RUN' || did === 'UNDO')
      if (line.did !== 'RUN' || before?.did !== 'RUN') return []
      const excused = failovers(evidence).some((f) => before.atMs >= f.fromMs && before.atMs <= f.toMs)
      return excused ? [] : [`${job} ran again without an undo`]
    }),
  )
}

const startedOnce: Promised = (evidence) => {
  if (failovers(evidence).length > 0) return []
  const counts = Map.groupBy(evidence.starts, (id) => id)
  return [...counts]
    .filter(([, starts]) => starts.length > 1)
    .map(([id, starts]) => `${id} was started ${starts.length} times`)
}

const HOLDS_SLOT: readonly Phase[] = ['STARTING', 'RUNNING', 'UNKNOWN']
const slots: Promised = (evidence) => {
  const holding = new Set<string>()
  return moves(evidence).flatMap(({ kind, objectId, to, sequence }) => {
    if (kind !== 'WORKER') return []
    if (!HOLDS_SLOT.includes(to)) holding.delete(objectId)
    else if (!holding.has(objectId) && holding.add(objectId).size > evidence.maxWorkers)
      return [`${holding.size} workers run after ${sequence}`]
    return []
  })
}

/** What a lost database has begun is known to nobody. */
const nothingLeft: Promised = (evidence) => {
  if (failovers(evidence).length > 0) return []
  const wanted = new Set(evidence.objects.filter(({ kind }) => kind === 'DEPLOY_ITEM').map(({ id }) => id))
  return [
    ...evidence.installed.filter((id) => !wanted.has(id)).map((id) => `${id} is installed, and is deleted`),
    ...evidence.objects
      .filter(
        ({ id, kind, phase }) => kind === 'DEPLOY_ITEM' && phase === 'SUCCEEDED' && !evidence.installed.includes(id),
      )
      .map(({ id, name }) => `${name} (${id}) has succeeded, and is not installed`),
    ...evidence.leftovers.map((what) => `a runtime has left ${what}`),
  ]
}

const edge: Promised = ({ edge: { recorded: known, found } }) => [
  ...known.filter((one) => !found.includes(one)).map((one) => `${one} is recorded, and not there`),
  ...found.filter((one) => !known.includes(one)).map((one) => `${one} is there, and not recorded`),
]

export const PROMISES = {
  'the log is dense': dense,
  'every change is in its machine': legal,
  'what was accepted is kept': accepted,
  'a creation that is repeated is one': once,
  'readers miss and repeat nothing': readers,
  'everything comes to its end': ended,
  'tables and log agree': recorded,
  'no two agents do the same work': exclusive,
  'no two jobs in conflict run together': locks,
  'an undo comes before another run': undone,
  'a workload is started once': startedOnce,
  'capacity is kept': slots,
  'nothing is left behind': nothingLeft,
  'sites and records agree': edge,
} as const satisfies Readonly<Record<string, Promised>>
export type PromiseName = keyof typeof PROMISES

/** The violations of each promise; promises that were kept are not in it. */
export const violations = (evidence: Evidence): Readonly<Partial<Record<PromiseName, readonly string[]>>> =>
  Object.fromEntries(
    Object.entries(PROMISES)
      .map(([name, check]) => [name, check(evidence)] as const)
      .filter(([, found]) => found.length > 0),
  )
