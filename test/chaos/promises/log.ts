import { step } from '../../../src/core/machine.ts'
import type { Phase } from '../../../src/core/vocabulary.ts'
import { failovers, type LoggedChange, type ReaderRecord } from '../evidence.ts'
import { by, isDeployment, isFinal, isRequest, machineOf, moves, objectsOf, type Promised, tell } from './reading.ts'

/** Promises of the log, by itself and together with the tables. */

export const dense: Promised = ({ log, tables: { logBatch } }) => {
  const gaps = log.flatMap(({ sequence }, i) => (sequence === i + 1 ? [] : [`${sequence} is at the place of ${i + 1}`]))
  let next = 1
  const batches = logBatch
    .toSorted((a, b) => (a.firstSeq ?? 0) - (b.firstSeq ?? 0))
    .flatMap(({ id, n, firstSeq }) => {
      const expected = next
      next += n
      return firstSeq === expected ? [] : [`the transaction ${id} begins at ${firstSeq}, not at ${expected}`]
    })
  const end = next === log.length + 1 ? [] : [`the transactions end before ${next}, and the log after ${log.length}`]
  return [...gaps.slice(0, 5), ...batches.slice(0, 5), ...end]
}

export const legal: Promised = (evidence) => {
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

/** Each write makes a revision, and a tree is written by one transaction at a time. */
export const ordered: Promised = (evidence) => {
  const revisions = new Map<string, number>()
  const times = new Map<string, Date>()
  const wrong = evidence.log.flatMap((change) => {
    const { objectId, rootId, revision, rejected, sequence, at } = change
    const time = times.get(rootId) ?? at
    times.set(rootId, at)
    const early = at < time ? [`${sequence} is of before the change before it in its tree`] : []
    if (rejected || isRequest(change)) return early
    const before = revisions.get(objectId) ?? 0
    revisions.set(objectId, revision ?? before)
    const back =
      revision !== null && revision > before ? [] : [`${tell(change)} had revision ${revision} after ${before}`]
    return [...early, ...back]
  })
  const stored = evidence.tables.object
    .filter(({ id, revision }) => revision < (revisions.get(id) ?? 0))
    .map(({ id, revision }) => `${id} has revision ${revision}, and had ${revisions.get(id)}`)
  return [...wrong, ...stored]
}

/** Queries by object read another index than those of the whole log. */
export const found: Promised = ({ log, tables: { logBatch, logObject } }) => {
  const wanted = new Set<string>()
  for (const { id, n, firstSeq } of logBatch)
    for (const { objectId } of log.slice((firstSeq ?? 0) - 1, (firstSeq ?? 0) - 1 + n)) wanted.add(`${objectId} ${id}`)
  const known = new Set(logObject.map(({ objectId, batchId }) => `${objectId} ${batchId}`))
  return [
    ...[...wanted.difference(known)].map((one) => `${one} is in the log, and not found by its object`),
    ...[...known.difference(wanted)].map((one) => `${one} is found by its object, and not in the log`),
  ]
}

export const readers: Promised = ({ log, readers: all, ...evidence }) => [
  ...all.flatMap(({ name, parts }) => {
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
      if (isLast && differing) {
        const columns = differences(differing, log[differing.sequence - 1])
        problems.push(`${name} has another change at ${differing.sequence}, in ${columns}`)
      }
      next =
        (isLast ? (part.at(-1)?.sequence ?? next - 1) : (differing?.sequence ?? (part.at(-1)?.sequence ?? 0) + 1) - 1) +
        1
    }
    if (next !== log.length + 1) problems.push(`${name} ends after ${next - 1} of ${log.length}`)
    return problems
  }),
  ...(evidence.tables.logMeta.length === 1 ? [] : ['the log does not know which one it is']),
  ...evidence.tables.logMeta
    .filter(({ epoch, floorSeq }) => epoch - 1 > failovers(evidence).length || floorSeq > 0)
    .map(({ epoch, floorSeq }) => `the log has had ${epoch} histories, and begins after ${floorSeq}`),
]
const gapsIn = (name: string, part: ReaderRecord['parts'][number]): readonly string[] =>
  part.flatMap(({ sequence }, i) => {
    const before = part[i - 1]?.sequence
    return before === undefined || sequence === before + 1 ? [] : [`${name} got ${sequence} after ${before}`]
  })
/** Columns in which a reader's change is not that of the log. */
const differences = (one: LoggedChange, other: LoggedChange | undefined): readonly string[] =>
  (Object.keys(one) as (keyof LoggedChange)[]).filter((name) =>
    name === 'at' ? one.at.getTime() !== other?.at.getTime() : one[name] !== other?.[name],
  )
const isSame = (one: LoggedChange, other: LoggedChange | undefined): boolean => differences(one, other).length === 0

export const ended: Promised = (evidence) => {
  const { object: objects } = evidence.tables
  const finished = new Set(
    objects.filter((one) => one.id === one.rootId && isFinal(one.kind, one.phase)).map(({ id }) => id),
  )
  const roots = objectsOf(evidence)
  /** Its root's last job has ended without success before it came to it. */
  const isLeftOut = ({ jobId, rootId }: (typeof objects)[number]): boolean =>
    finished.has(rootId) && roots.get(rootId)?.phase !== 'SUCCEEDED' && roots.get(rootId)?.jobId !== jobId
  const isUntouched = ({ kind, phase, rootId }: (typeof objects)[number]): boolean =>
    // A job that has failed leaves what it has not triggered as it was.
    phase === 'PENDING' && isDeployment({ kind }) && finished.has(rootId)
  return [
    ...objects
      .filter((one) => !isFinal(one.kind, one.phase) && !isUntouched(one))
      .map(({ kind, name, id, phase }) => `${kind} ${name} (${id}) is still ${phase}`),
    ...objects
      .filter((one) => one.jobId !== one.finishedJobId && isDeployment(one) && !isUntouched(one))
      .map(({ kind, name, id }) => `${kind} ${name} (${id}) has a job that has not ended`),
    ...objects
      .filter((one) => one.deletionRequestedAt !== null && one.phase !== 'DELETE_FAILED' && !isLeftOut(one))
      .map(({ kind, name, id, phase }) => `${kind} ${name} (${id}) is to be deleted, and is ${phase}`),
    ...evidence.tables.installation
      .filter(({ nextMode, nextDeletion }) => nextMode !== null || nextDeletion)
      .map(({ objectId }) => `${objectId} has a job to come`),
    ...evidence.tables.tally
      .filter(({ open }) => open !== 0)
      .map(({ objectId, open }) => `${objectId} waits for ${open} children`),
  ]
}

const ABSENT: readonly Phase[] = ['GONE', 'NOT_PRESENT']
export const recorded: Promised = (evidence) => {
  const last = new Map<string, LoggedChange>()
  for (const change of moves(evidence)) if (!machineOf(change.machine)?.column) last.set(change.objectId, change)
  const stored = objectsOf(evidence)
  const unlogged = evidence.tables.object.filter(({ id }) => !last.has(id)).map(({ id }) => `${id} is not in the log`)
  const wrong = [...last.values()].flatMap((change) => {
    const object = stored.get(change.objectId)
    if (!object) return ABSENT.includes(change.to) ? [] : [`${tell(change)} is lost`]
    const { phase, phaseSince } = object
    if (phase !== change.to) return [`${tell(change)} is ${phase}, and its log ends with ${change.to}`]
    const isSince = phaseSince.getTime() === change.at.getTime()
    return isSince ? [] : [`${tell(change)} is ${phase} since ${phaseSince.toISOString()}, and not by its log`]
  })
  const children = by(evidence, 'object', 'parentId')
  const counted = evidence.tables.tally.flatMap(({ objectId, total, failed, untriggered }) => {
    const count = children.get(objectId)?.length ?? 0
    // Counts are of the last job; one that has not begun them leaves those of the job before.
    if (stored.get(objectId)?.phase !== 'SUCCEEDED' || (total === count && failed + untriggered === 0)) return []
    return [`${objectId} counts ${total} children, ${failed} failed and ${untriggered} to come, and has ${count}`]
  })
  const tallies = new Set(evidence.tables.tally.map(({ objectId }) => objectId))
  const uncounted = evidence.tables.object
    .filter(({ id, kind }) => (isDeployment({ kind }) || kind === 'TASK') && children.has(id) && !tallies.has(id))
    .map(({ id }) => `${id} counts no children, and has some`)
  return [...unlogged, ...wrong, ...counted, ...uncounted]
}
