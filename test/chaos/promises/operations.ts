import type { Phase } from '../../../src/core/vocabulary.ts'
import { type DeclaredLock, type LoggedChange, mayBeUnknown } from '../evidence.ts'
import { by, moves, objectsOf, type Promised, tell } from './reading.ts'

/** Promises of the jobs of tasks (locks, journals, undoing) and of sites. */

/** `r1=X` among the arguments of the run's gadget. */
const lockOf = (word: string): DeclaredLock => ({ resource: word.slice(0, -2), exclusive: word.endsWith('X') })

/** Phases in which a job has no locks. */
const UNLOCKED: readonly Phase[] = ['DONE', 'FAILED', 'ABORTED', 'SKIPPED', 'GONE']
export const locks: Promised = (evidence) => {
  const declared = new Map(
    evidence.tables.gadgetJob.map(({ objectId, args }) => [objectId, ((args ?? []) as string[]).slice(2).map(lockOf)]),
  )
  const conflict = (one: string, other: string): boolean =>
    (declared.get(one) ?? []).some((lock) =>
      (declared.get(other) ?? []).some((held) => held.resource === lock.resource && (held.exclusive || lock.exclusive)),
    )
  const running = new Map<string, LoggedChange>()
  const problems: string[] = []
  for (const change of moves(evidence)) {
    if (change.kind !== 'GADGET_JOB') continue
    if (UNLOCKED.includes(change.to)) running.delete(change.objectId)
    if (change.to !== 'RUNNING' || running.has(change.objectId)) continue
    for (const other of running.values())
      if (conflict(change.objectId, other.objectId)) problems.push(`${tell(change)} ran beside ${tell(other)}`)
    running.set(change.objectId, change)
  }
  const left = evidence.tables.lock.map(({ objectId, resource }) => `${objectId} still has or wants ${resource}`)
  const seen = evidence.gadgets
    .filter(({ did, atMs }) => did === 'CONFLICT' && !mayBeUnknown(evidence, atMs))
    .map(({ job }) => `the gadget of ${job} found its resource taken`)
  return [...problems, ...left, ...seen]
}

export const undone: Promised = (evidence) => {
  const byJob = Map.groupBy(evidence.gadgets, ({ job }) => job)
  return [...byJob].flatMap(([job, lines]) =>
    lines.flatMap((line, i) => {
      const before = lines.slice(0, i).findLast(({ did }) => did === 'RUN' || did === 'UNDO')
      if (line.did !== 'RUN' || before?.did !== 'RUN' || mayBeUnknown(evidence, before.atMs)) return []
      return [`${job} ran again without an undo`]
    }),
  )
}

/** Entries that may follow another one; the empty one is the beginning. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  '': ['START'],
  START: ['DONE', 'UNDO_STARTED', 'ABORT'],
  UNDO_STARTED: ['UNDO', 'UNDO_STARTED'],
  UNDO: ['START', 'FAILED', 'ABORT', 'UNDO_STARTED', 'RETRY'],
  RETRY: ['START', 'ABORT'],
}
const LAST: Readonly<Partial<Record<Phase, readonly string[]>>> = {
  DONE: ['DONE'],
  FAILED: ['FAILED', ''],
  ABORTED: ['ABORT', ''],
  SKIPPED: [''],
}
export const journalled: Promised = (evidence) => {
  const journals = by(evidence, 'journal', 'objectId')
  const objects = objectsOf(evidence)
  const ran = Map.groupBy(
    moves(evidence).filter(({ kind, to }) => kind === 'GADGET_JOB' && to === 'RUNNING'),
    ({ objectId }) => objectId,
  )
  const said = Map.groupBy(
    evidence.gadgets.filter(({ did, atMs }) => did === 'RUN' && !mayBeUnknown(evidence, atMs)),
    ({ job }) => job,
  )
  return evidence.tables.gadgetJob.flatMap(({ objectId, args, startedAt, endedAt, locks: stored, exports }) => {
    const entries = (journals.get(objectId) ?? []).toSorted((a, b) => a.n - b.n)
    const { phase = 'GONE' } = objects.get(objectId) ?? {}
    const starts = entries.filter(({ entry }) => entry === 'START').length
    const words = (args ?? []) as readonly string[]
    const wrong = entries.filter(
      ({ entry, n, at }, i) =>
        n !== i + 1 || !(FOLLOWS[entries[i - 1]?.entry ?? ''] ?? []).includes(entry) || at < (entries[i - 1]?.at ?? at),
    )
    const runs = (said.get(words[0] ?? '') ?? []).length
    return [
      ...wrong.map(({ n, entry }) => `${entry} is entry ${n} of the journal of ${objectId}`),
      ...((LAST[phase] ?? []).includes(entries.at(-1)?.entry ?? '')
        ? []
        : [`the journal of ${objectId}, which is ${phase}, ends with ${entries.at(-1)?.entry}`]),
      ...(starts === (ran.get(objectId) ?? []).length ? [] : [`${objectId} began ${starts} runs by its journal`]),
      ...(runs <= starts ? [] : [`the gadget of ${objectId} ran ${runs} times, and ${starts} by its journal`]),
      ...((startedAt !== null) === starts > 0 && endedAt !== null ? [] : [`${objectId} has no start or no end`]),
      ...(phase !== 'DONE' ||
      (exports !== null && (stored as readonly unknown[] | null)?.length === new Set(words.slice(2)).size)
        ? []
        : [`${objectId} is done without its locks or exports`]),
    ]
  })
}

export const edge: Promised = (evidence) => {
  const { recorded: known, found } = evidence.edge
  const objects = objectsOf(evidence)
  return [
    ...known.filter((one) => !found.includes(one)).map((one) => `${one} is recorded, and not there`),
    ...found.filter((one) => !known.includes(one)).map((one) => `${one} is there, and not recorded`),
    ...evidence.tables.edgeInst
      .filter(
        ({ specRevision, lastRevision, keptSpec, keptRevision, undoing }) =>
          specRevision > lastRevision || keptSpec !== null || keptRevision !== null || undoing,
      )
      .map(({ objectId }) => `${objectId} is in an operation, and is ${objects.get(objectId)?.phase}`),
    ...evidence.tables.cloudlet
      .filter(({ objectId, epoch }) => {
        const leases = evidence.tables.crmLease.filter(({ cloudletId }) => cloudletId === objectId)
        return leases.length !== 1 || leases[0]?.epoch !== epoch
      })
      .map(({ objectId }) => `${objectId} is not served by its newest CRM alone`),
    ...evidence.tables.cloudlet
      .filter(({ upgradePhase, orphans }) => upgradePhase !== 'READY' || (orphans as readonly unknown[]).length > 0)
      .map(({ objectId }) => `${objectId} has orphans or an upgrade`),
  ]
}
