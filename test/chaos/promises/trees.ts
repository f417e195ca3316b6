import type { ObjectKind, Phase } from '../../../src/core/vocabulary.ts'
import { MAX_RUNS } from '../../../src/families/deployments/store/runs.ts'
import { MAX_GENERATIONS } from '../../../src/families/deployments/store/spec-generations.ts'
import type { Row, WatchedTable } from '../evidence.ts'
import { by, isDeployment, isEqual, isFinal, isRequest, moves, objectsOf, type Promised, tell } from './reading.ts'

/** Promises of trees: their objects, the order of their work, their specs, runs and exports. */

/** The table of a kind's own columns. */
const DETAILS: Readonly<Partial<Record<ObjectKind, WatchedTable>>> = {
  INSTALLATION: 'installation',
  DEPLOY_ITEM: 'deployItem',
  EVENT: 'event',
  WORKER: 'workload',
  JOB: 'workload',
  TASK: 'task',
  GADGET_JOB: 'gadgetJob',
  CLOUDLET: 'cloudlet',
  CLUSTER_INST: 'edgeInst',
  APP_INST: 'edgeInst',
}
/** Columns that name objects, in rows that end with them. Work outlives its object, so that a repeated report finds it. */
const OWNED = [
  ['objectSpec', 'objectId'],
  ['tally', 'objectId'],
  ['edge', 'fromId'],
  ['edge', 'toId'],
  ['installation', 'objectId'],
  ['specSnapshot', 'objectId'],
  ['run', 'objectId'],
  ['specGeneration', 'objectId'],
  ['deployItem', 'objectId'],
  ['event', 'objectId'],
  ['eventSecret', 'eventId'],
  ['workload', 'objectId'],
  ['task', 'objectId'],
  ['gadgetJob', 'objectId'],
  ['journal', 'objectId'],
  ['lock', 'objectId'],
  ['cloudlet', 'objectId'],
  ['edgeInst', 'objectId'],
  ['crmLease', 'cloudletId'],
  ['rootQueue', 'rootId'],
  ['rootExport', 'exporterId'],
  ['rootImport', 'importerId'],
  ['exportPin', 'exporterId'],
  ['exportPin', 'importerId'],
  ['logLine', 'objectId'],
  ['logTail', 'objectId'],
] as const satisfies readonly (readonly [WatchedTable, string])[]

/** Columns that name an object, in rows that name its project, too. */
const PROJECTS = [
  ['workload', 'objectId'],
  ['rootExport', 'exporterId'],
  ['rootImport', 'importerId'],
  ['dataObject', 'exporterId'],
  ['idempotencyKey', 'objectId'],
] as const satisfies readonly (readonly [WatchedTable, string])[]

/** Objects, their rows, and the log name the same tree. */
export const together: Promised = (evidence) => {
  const objects = objectsOf(evidence)
  const places = new Map<string, string>()
  const moved = evidence.log.flatMap((change) => {
    const { objectId, rootId, kind, name } = change
    const place = `${kind} ${name} in ${rootId}`
    const before = places.get(objectId) ?? place
    places.set(objectId, place)
    return before === place ? [] : [`${objectId} was ${before}, and is ${place}`]
  })
  const misplaced = evidence.tables.object.flatMap((object) => {
    const { id, rootId, parentId, kind, name } = object
    const parent = parentId === null ? null : objects.get(parentId)
    const logged = places.get(id)
    if (logged !== undefined && logged !== `${kind} ${name} in ${rootId}`)
      return [`${id} is ${kind} ${name} in ${rootId}, and was ${logged}`]
    if (parent === undefined) return [`${id} has a parent that is gone`]
    return (parent === null ? id === rootId : parent.rootId === rootId)
      ? []
      : [`${id} is in another tree than its parent`]
  })
  const stray = OWNED.flatMap(([table, column]) =>
    (evidence.tables[table] as readonly Readonly<Record<string, unknown>>[])
      .filter((row) => !objects.has(row[column] as string))
      .map((row) => `${table} has a row of ${row[column]}, which is gone`),
  )
  const torn = evidence.tables.edge
    .filter(({ fromId, toId }) => objects.get(fromId)?.parentId !== objects.get(toId)?.parentId)
    .map(({ fromId, toId }) => `${fromId} depends on ${toId}, which is no sibling`)
  const edges = by(evidence, 'edge', 'fromId')
  const loose = evidence.tables.objectSpec.flatMap(({ objectId, spec }) => {
    const { dependsOn } = spec as { readonly dependsOn?: readonly string[] }
    const known = (edges.get(objectId) ?? []).map(({ toId }) => objects.get(toId)?.name ?? '')
    if (!dependsOn || isEqual(known.toSorted(), dependsOn.toSorted())) return []
    return [`${objectId} depends on ${known}, and should on ${dependsOn}`]
  })
  const types = new Map(evidence.tables.deployItem.map(({ objectId, type }) => [objectId, type]))
  const mistyped = [
    ...evidence.tables.objectSpec.map(({ objectId, spec }) => ({ objectId, type: (spec as { type?: string }).type })),
    ...evidence.tables.work,
  ]
    .filter(({ objectId, type }) => types.has(objectId) && type !== types.get(objectId))
    .map(({ objectId, type }) => `${objectId} is of type ${types.get(objectId)}, and of ${type}`)
  const foreign = PROJECTS.flatMap(([table, column]) =>
    (evidence.tables[table] as readonly Readonly<Record<string, unknown>>[])
      .filter((one) => one.projectId !== (objects.get(one[column] as string)?.projectId ?? one.projectId))
      .map((one) => `${table} has ${one[column]} in another project`),
  )
  const elsewhere = [...evidence.tables.work, ...evidence.tables.clock]
    .filter(({ objectId, rootId }) => rootId !== (objects.get(objectId)?.rootId ?? rootId))
    .map(({ objectId }) => `the work or clock of ${objectId} is in another tree`)
  return [
    ...moved,
    ...misplaced,
    ...stray,
    ...torn,
    ...loose,
    ...mistyped,
    ...foreign,
    ...elsewhere,
    ...incomplete(evidence),
  ]
}
const incomplete: Promised = (evidence) => {
  const known = (table: WatchedTable): ReadonlySet<string> =>
    new Set((evidence.tables[table] as readonly { objectId: string }[]).map(({ objectId }) => objectId))
  const tables = new Map<WatchedTable, ReadonlySet<string>>()
  for (const table of ['objectSpec', ...Object.values(DETAILS)] as const) tables.set(table, known(table))
  return evidence.tables.object.flatMap(({ id, kind }) =>
    (['objectSpec', DETAILS[kind]] as const)
      .filter((table) => table !== undefined && !tables.get(table)?.has(id))
      .map((table) => `${id} has no row in ${table}`),
  )
}

/** Phases in which a child's part in a job begins. */
const BEGINS: readonly Phase[] = ['INIT', 'PENDING_DEPENDENCIES', 'DECLARING']
const SATISFIED: readonly Phase[] = ['SUCCEEDED', 'DONE', 'SKIPPED']
/** Dependencies, and parents: as far as the objects are still there. */
export const inTurn: Promised = (evidence) => {
  const objects = objectsOf(evidence)
  const dependencies = by(evidence, 'edge', 'fromId')
  const phases = new Map<string, Phase>()
  return moves(evidence).flatMap((change) => {
    const { objectId, from, to } = change
    phases.set(objectId, to)
    if (from === null || !BEGINS.includes(to)) return []
    const early = (dependencies.get(objectId) ?? [])
      .filter(({ toId }) => to !== 'PENDING_DEPENDENCIES' && !SATISFIED.includes(phases.get(toId) ?? 'PENDING'))
      .map(({ toId }) => `${tell(change)} began while ${toId}, on which it depends, was ${phases.get(toId)}`)
    const parentId = objects.get(objectId)?.parentId ?? null
    const parent = parentId === null ? undefined : phases.get(parentId)
    const idle = isDeployment(change) && parent !== undefined && parent !== 'PROGRESSING'
    return idle ? [...early, `${tell(change)} began under a parent that was ${parent}`] : early
  })
}

/** From, and to: work is handed out, or a job of the root begins. */
const HANDED: Readonly<Partial<Record<ObjectKind, readonly (readonly [Phase, Phase])[]>>> = {
  DEPLOY_ITEM: [
    ['INIT', 'PROGRESSING'],
    ['INIT_DELETE', 'DELETING'],
  ],
  WORKER: [['PENDING', 'STARTING']],
  JOB: [['PENDING', 'STARTING']],
  GADGET_JOB: [['WAITING', 'RUNNING']],
  INSTALLATION: [
    ['SUCCEEDED', 'INIT'],
    ['FAILED', 'INIT'],
    ['SUCCEEDED', 'INIT_DELETE'],
    ['FAILED', 'INIT_DELETE'],
  ],
}
/** Between the records of a pause and of its end. */
export const heldBack: Promised = ({ log, flow, tables }) => {
  const rootOf = new Map(log.map(({ objectId, rootId }) => [objectId, rootId]))
  const stands = new Set<string>()
  const granted = flow.flatMap((one) => {
    if (one.did === 'PAUSE') stands.add(one.rootId)
    if (one.did === 'RESUME') stands.delete(one.rootId)
    const isHeld = one.did === 'GRANT' && stands.has(rootOf.get(one.objectId) ?? '')
    return isHeld ? [`${one.objectId} was granted a limit while its tree was paused`] : []
  })
  const paused = new Set<string>()
  const begun = log.flatMap((change) => {
    const { rootId, objectId, kind, from, to, reason } = change
    if (isRequest(change)) {
      if (reason === 'paused') paused.add(rootId)
      if (reason === 'resumed') paused.delete(rootId)
      return []
    }
    const begins = HANDED[kind]?.some(([before, after]) => before === from && after === to)
    const isNested = kind === 'INSTALLATION' && objectId !== rootId
    if (!begins || isNested || change.rejected || !paused.has(rootId)) return []
    return [`${tell(change)} went from ${from} to ${to} while its tree was paused`]
  })
  const roots = new Set(tables.object.map(({ id }) => id))
  const rows = new Set(tables.rootPause.map(({ rootId }) => rootId))
  const lost = [...paused].filter((id) => roots.has(id) && !rows.has(id)).map((id) => `the pause of ${id} is lost`)
  const kept = [...rows].filter((id) => !paused.has(id)).map((id) => `${id} is paused, and was resumed`)
  return [...granted, ...begun, ...lost, ...kept]
}

/** A job of a tree ends before the next one begins, and after all that it has begun. */
export const oneJob: Promised = (evidence) => {
  const running = new Map<string, string>()
  const ended = new Map<string, Set<string>>()
  return moves(evidence).flatMap((change) => {
    const { rootId, objectId, jobId, kind, to } = change
    if (!isDeployment(change) || jobId === null) return []
    const done = ended.get(rootId) ?? new Set()
    ended.set(rootId, done)
    const current = running.get(rootId)
    running.set(rootId, jobId)
    const beside = current !== undefined && current !== jobId && !done.has(current)
    const late = done.has(jobId)
    if (objectId === rootId && isFinal(kind, to)) done.add(jobId)
    if (late) return [`${tell(change)} moved in ${jobId}, which had ended`]
    return beside ? [`${tell(change)} moved in ${jobId}, while ${current} ran`] : []
  })
}

export const forward: Promised = (evidence) => {
  const objects = objectsOf(evidence)
  const generations = by(evidence, 'specGeneration', 'objectId')
  const runs = by(evidence, 'run', 'objectId')
  return evidence.tables.object.flatMap(({ id, kind, name, parentId, generation, observedGeneration }) => {
    if (observedGeneration > generation)
      return [`${kind} ${name} (${id}) is of generation ${generation}, and ${observedGeneration} was deployed`]
    if (kind !== 'INSTALLATION' || parentId !== null) return []
    const kept = (generations.get(id) ?? []).map((row) => row.generation).toSorted((a, b) => a - b)
    const expected = Array.from({ length: Math.min(MAX_GENERATIONS, generation - 1) }, (_, i) => generation - 1 - i)
    const ran = (runs.get(id) ?? []).toSorted((a, b) => a.number - b.number)
    return [
      ...(isEqual(kept, expected.toReversed())
        ? []
        : [`${name} (${id}) is of generation ${generation}, and keeps ${kept}`]),
      ...ran
        .filter((run, i) => run.generation > generation || run.generation < (ran[i - 1]?.generation ?? 0))
        .map((run) => `run ${run.number} of ${name} (${id}) is of generation ${run.generation}`),
      ...(objects.get(id)?.phase === 'SUCCEEDED' && ran.length > 0 && ran.at(-1)?.generation !== observedGeneration
        ? [`${name} (${id}) has deployed ${observedGeneration}, and its last run ${ran.at(-1)?.generation}`]
        : []),
    ]
  })
}

/** Ended jobs of roots, from the log and from their records. */
export const runs: Promised = (evidence) => {
  const records = by(evidence, 'run', 'objectId')
  const ends = new Map<string, Map<string, Phase>>()
  for (const { objectId, rootId, kind, to, jobId, from } of moves(evidence)) {
    if (kind !== 'INSTALLATION' || objectId !== rootId || from === null || jobId === null || !isFinal(kind, to))
      continue
    ends.set(objectId, (ends.get(objectId) ?? new Map()).set(jobId, to))
  }
  const origins = new Map(
    evidence.tables.installation.map(({ objectId, origin }) => [
      objectId,
      (origin as { jobId?: string } | null)?.jobId,
    ]),
  )
  return evidence.tables.object.flatMap(({ id, kind, name, parentId, jobId }) => {
    if (kind !== 'INSTALLATION' || parentId !== null) return []
    const own = (records.get(id) ?? []).toSorted((a, b) => a.number - b.number)
    const known = new Map(own.map(({ jobId, phase }) => [jobId, phase]))
    // Jobs that found nothing to do are runs without a change of phase, so the log may reach further back than the runs.
    const ended = [...(ends.get(id) ?? [])]
    const kept = own.length < MAX_RUNS ? ended : ended.slice(ended.findIndex(([jobId]) => known.has(jobId)))
    return [
      ...kept
        .filter(([jobId, phase]) => known.get(jobId) !== phase)
        .map(([jobId, phase]) => `the job ${jobId} of ${name} (${id}) ended ${phase}, and its run ${known.get(jobId)}`),
      ...own
        .filter(({ number }, i) => number !== (own[0]?.number ?? 1) + i || (own.length < MAX_RUNS && number !== i + 1))
        .map(({ number }) => `the runs of ${name} (${id}) have a gap before ${number}`),
      ...own
        .filter(({ jobId }, i) => own.findIndex((other) => other.jobId === jobId) !== i)
        .map(({ jobId }) => `${name} (${id}) has two runs of ${jobId}`),
      ...own
        .filter(({ phase, error }) => (phase === 'SUCCEEDED') !== (error === null))
        .map(({ number, phase }) => `run ${number} of ${name} (${id}) ended ${phase}, and has no error or one`),
      ...(origins.get(id) === (jobId ?? undefined) ? [] : [`${name} (${id}) does not know who asked for ${jobId}`]),
      ...own
        .filter(({ startedAt, endedAt }, i) => endedAt < startedAt || startedAt < (own[i - 1]?.endedAt ?? startedAt))
        .map(({ number }) => `run ${number} of ${name} (${id}) began before its time`),
    ]
  })
}

const namesOf = (spec: unknown, list: 'exports' | 'imports'): readonly string[] =>
  ((spec as Readonly<Record<string, readonly { readonly name: string }[]>> | undefined)?.[list] ?? []).map(
    ({ name }) => name,
  )
/** An object that has succeeded has its exports, in each place where somebody reads them. */
export const exported: Promised = (evidence) => {
  const { tables } = evidence
  const objects = objectsOf(evidence)
  const specs = new Map(tables.objectSpec.map(({ objectId, spec }) => [objectId, spec]))
  const data = new Map(tables.dataObject.map((row) => [`${row.projectId} ${row.name}`, row]))
  const lastRuns = new Map<string, Row<'run'>>()
  for (const run of tables.run.toSorted((a, b) => a.number - b.number)) lastRuns.set(run.objectId, run)
  const succeeded = ({ objectId }: { readonly objectId: string }): boolean =>
    objects.get(objectId)?.phase === 'SUCCEEDED'
  const items = tables.deployItem
    .filter((one) => succeeded(one) && one.type !== 'gate')
    .filter(({ objectId, exports }) => (exports as { url?: string } | null)?.url !== objects.get(objectId)?.name)
    .map(({ objectId }) => `the item ${objectId} has succeeded without its exports`)
  const installations = tables.installation.filter(succeeded).flatMap(({ objectId, exports, imports }) => {
    const { name = '', parentId, projectId } = objects.get(objectId) ?? {}
    const own = (exports ?? {}) as Readonly<Record<string, unknown>>
    const wanted = namesOf(specs.get(objectId), 'exports')
    const missing = wanted.filter((one) => !(one in own))
    const unread = wanted.filter(
      (one) => parentId === null && !isEqual(data.get(`${projectId} ${one}`)?.value, own[one]),
    )
    const run = lastRuns.get(objectId)
    const unkept = run && wanted.length > 0 && !isEqual(run.exports, own)
    return [
      ...missing.map((one) => `${name} (${objectId}) has succeeded without its export ${one}`),
      ...unread.map((one) => `the project has another ${one} than ${name} (${objectId})`),
      ...(unkept ? [`the last run of ${name} (${objectId}) has other exports`] : []),
      ...(parentId === null
        ? staleImports(imports, specs.get(objectId), (from) => data.get(`${projectId} ${from}`)?.value)
        : []
      ).map((one) => `${name} (${objectId}) has succeeded with an old ${one}`),
    ]
  })
  return [...items, ...installations, ...scope(evidence, specs)]
}
/** Roots follow what they import: once everything is at rest, they have what there is. */
function staleImports(imports: unknown, spec: unknown, find: (from: string) => unknown): readonly string[] {
  const got = (imports ?? {}) as Readonly<Record<string, unknown>>
  const wanted =
    (spec as undefined | { readonly imports?: readonly { readonly name: string; readonly from: string }[] })?.imports ??
    []
  return wanted.filter(({ name, from }) => !isEqual(got[name], find(from))).map(({ name }) => name)
}
/** The names by which roots find each other are those of their specs; a pin is of one that is imported. */
function scope({ tables }: Parameters<Promised>[0], specs: ReadonlyMap<string, unknown>): readonly string[] {
  const roots = tables.object.filter(({ kind, parentId }) => kind === 'INSTALLATION' && parentId === null)
  const exports = Map.groupBy(tables.rootExport, ({ exporterId }) => exporterId)
  const imports = Map.groupBy(tables.rootImport, ({ importerId }) => importerId)
  const wrong = roots.flatMap(({ id, name }) => {
    const out = (exports.get(id) ?? []).map((row) => row.name).toSorted()
    const into = (imports.get(id) ?? []).map((row) => row.name).toSorted()
    const spec = (specs.get(id) ?? {}) as { readonly imports?: readonly { readonly from: string }[] }
    const from = [...new Set((spec.imports ?? []).map((one) => one.from))].toSorted()
    return [
      ...(isEqual(out, namesOf(spec, 'exports').toSorted()) ? [] : [`${name} (${id}) is found by its exports ${out}`]),
      ...(isEqual(into, from) ? [] : [`${name} (${id}) is found by its imports ${into}`]),
    ]
  })
  const pins = tables.exportPin
    .filter(
      ({ exporterId, importerId }) =>
        !(exports.get(exporterId) ?? []).some((one) =>
          (imports.get(importerId) ?? []).some(({ name }) => name === one.name),
        ),
    )
    .map(({ exporterId, importerId }) => `${importerId} holds ${exporterId}, and imports nothing from it`)
  const exporters = new Map(tables.rootExport.map(({ name, exporterId }) => [name, exporterId]))
  const held = new Set(tables.exportPin.map(({ exporterId, importerId }) => `${exporterId} ${importerId}`))
  const succeeded = new Set(roots.filter(({ phase }) => phase === 'SUCCEEDED').map(({ id }) => id))
  const unpinned = tables.rootImport
    .filter(({ name, importerId }) => exporters.has(name) && succeeded.has(importerId))
    .filter(({ name, importerId }) => !held.has(`${exporters.get(name)} ${importerId}`))
    .map(({ name, importerId }) => `${importerId} imports ${name}, and does not hold its exporter`)
  return [...wrong, ...pins, ...unpinned]
}
