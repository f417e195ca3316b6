import { generationMismatch, notFound, type Refusal, type RefusalOf } from '../core/errors.ts'
import { sameJson } from '../core/json.ts'
import type { CommonRefusal, Outcome } from '../core/ports/outcome.ts'
import type { System } from '../core/ports/system.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { isName, NAME_RULE, type Problems } from '../core/problems.ts'
import { type Right, reachOf } from '../core/rights.ts'
import { byKey, type Keyed, type KeyedRequest } from '../store/idempotency.ts'
import type { NewRecord, ProjectRecord, ProjectRecords } from '../store/project-records.ts'
import { type CommandAccess, onProject, refuse } from './access.ts'
import type { LockedProject } from './family.ts'
import { type Editor, editorOf } from './on-behalf.ts'

/** The commands of records of projects. A record with an editor acts with the rights of who has edited it last. */

export interface EditedRecord extends ProjectRecord {
  readonly editor?: Editor
}

/** @typeParam Settings what edits replace */
export interface RecordKind<Row extends EditedRecord, Settings extends object> {
  /** E.g. `hook`. */
  readonly noun: string
  /** Most of a project. */
  readonly max: number
  readonly rights: Readonly<Record<'read' | 'create' | 'update' | 'delete', Right>>
  readonly records: ProjectRecords<Row, NewRecord & Pick<EditedRecord, 'editor'> & Settings>
}

export interface RecordParts extends CommandAccess {
  readonly system: Pick<System, 'id'>
}
export interface CreateRecord extends Keyed {
  readonly project: string
  readonly name: string
}
interface Written {
  readonly objectId: string
}

export function checkName({ name }: CreateRecord, problems: Problems): void {
  if (!isName(name)) problems.add('input.name', NAME_RULE)
}

export interface WantedRecord<Settings> {
  readonly settings: Settings
  /** Writes what belongs to the record, after it. */
  also?(project: LockedProject, record: { readonly id: string }): Promise<void>
  /** `also` changes something, whether or not the settings do. */
  readonly isTouched?: boolean
}
type Judged<Settings, R extends Refusal> = Outcome<WantedRecord<Settings>, R>

/** @param request without secrets, since a hash of it is kept with its key */
export async function createRecord<Row extends EditedRecord, Settings extends object, R extends Refusal = never>(
  { trees, system }: RecordParts,
  viewer: Viewer,
  { noun, max, rights, records }: RecordKind<Row, Settings>,
  request: { readonly mutation: string; readonly input: CreateRecord & KeyedRequest['input'] },
  judge: (project: LockedProject) => Judged<Settings, R>,
): Promise<Outcome<Written, R | RefusalOf<'InvalidInputError' | 'ConflictError' | 'LimitError' | 'ForbiddenError'>>> {
  const { name, project: projectName } = request.input
  type Run = Outcome<Written, R | RefusalOf<'ConflictError' | 'LimitError'>>
  const access = { right: rights.create, project: projectName, once: byKey(request.mutation, request.input) }
  return await onProject({ trees }, viewer, access, async (project): Promise<Run> => {
    const { client, projectId, now } = project
    const judged = judge(project)
    if (!judged.ok) return judged
    if (await records.named(client, { project: projectName, name }, null)) return refuse(taken(noun, name))
    if ((await records.countIn(client, projectId)) >= max) return refuse(tooMany(noun, max))
    const id = system.id()
    const facts = { id, projectId, name, editor: editorOf(viewer), generation: 1, createdAt: now, updatedAt: now }
    await records.write(client, { ...judged.settings, ...facts })
    await judged.also?.(project, { id })
    return { ok: true, objectId: id }
  })
}

const taken = (noun: string, name: string): RefusalOf<'ConflictError'> => ({
  ...{ type: 'ConflictError', code: 'ALREADY_EXISTS', objectId: null },
  message: `There is a ${noun} ${name} in the project already.`,
})
const tooMany = (noun: string, max: number): RefusalOf<'LimitError'> => ({
  ...{ type: 'LimitError', message: `A project may have at most ${max} ${noun}s.`, limit: max },
})

type Missing = RefusalOf<'NotFoundError'>

/** Records of projects that the viewer may not read are not found. */
export async function locateRecord<Row extends EditedRecord, Settings extends object>(
  { pool }: Pick<RecordParts, 'pool'>,
  viewer: Viewer,
  { noun, rights, records }: RecordKind<Row, Settings>,
  id: string,
): Promise<Outcome<{ readonly record: Row }, Missing>> {
  const [record] = await records.load(pool, [id], reachOf(viewer, rights.read))
  return record ? { ok: true, record } : refuse(notFound(id, noun))
}

/** Runs under the lock of the record's project, with the record as it is then. */
export async function onRecord<Row extends EditedRecord, Settings extends object, T extends object, R extends Refusal>(
  parts: RecordParts,
  viewer: Viewer,
  kind: RecordKind<Row, Settings>,
  { id, right }: { readonly id: string; readonly right: Right },
  work: (project: LockedProject, record: Row) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | Missing | RefusalOf<CommonRefusal>>> {
  const located = await locateRecord(parts, viewer, kind, id)
  if (!located.ok) return located
  const missing = notFound(id, kind.noun)
  const { name: objectName, projectName: project } = located.record
  const access = { right, project, objectName, missing }
  return await onProject(parts, viewer, access, async (project): Promise<Outcome<T, R | Missing>> => {
    const [found] = await kind.records.load(project.client, [id], reachOf(viewer, kind.rights.read))
    return found ? await work(project, found) : refuse(missing)
  })
}

export interface UpdateRecord {
  readonly id: string
  readonly expectedGeneration?: number | null
}
/** Replaces all of it but its name. It has the rights of the viewer from then on. An edit that changes nothing writes nothing. */
export const updateRecord = <Row extends EditedRecord, Settings extends object, R extends Refusal = never>(
  parts: RecordParts,
  viewer: Viewer,
  kind: RecordKind<Row, Settings>,
  { id, expectedGeneration = null }: UpdateRecord,
  judge: (project: LockedProject, found: Row) => Promise<Judged<Settings, R>> | Judged<Settings, R>,
): Promise<Outcome<Written, R | RefusalOf<'NotFoundError' | 'ConflictError' | CommonRefusal>>> =>
  onRecord(
    parts,
    viewer,
    kind,
    { id, right: kind.rights.update },
    async (project, found): Promise<Outcome<Written, R | RefusalOf<'ConflictError'>>> => {
      const { generation } = found
      if (expectedGeneration !== null && expectedGeneration !== generation)
        return refuse(generationMismatch(generation, expectedGeneration))
      const judged = await judge(project, found)
      if (!judged.ok) return judged
      const wanted = { ...judged.settings, ...(found.editor && { editor: editorOf(viewer) }) }
      const before = found as object as Readonly<Record<string, unknown>>
      const isSame = Object.entries(wanted).every(([property, value]) => sameJson(before[property], value))
      if (isSame && !judged.isTouched) return { ok: true, objectId: id }
      await kind.records.write(project.client, {
        ...{ ...found, ...wanted, generation: generation + 1, updatedAt: project.now },
      })
      await judged.also?.(project, { id })
      return { ok: true, objectId: id }
    },
  )

export const deleteRecord = <Row extends EditedRecord, Settings extends object>(
  parts: RecordParts,
  viewer: Viewer,
  kind: RecordKind<Row, Settings>,
  { id }: { readonly id: string },
): Promise<Outcome<{ readonly record: Row }, RefusalOf<'NotFoundError' | CommonRefusal>>> =>
  onRecord(
    parts,
    viewer,
    kind,
    { id, right: kind.rights.delete },
    async ({ client }, record): Promise<Outcome<{ readonly record: Row }, never>> => {
      await kind.records.remove(client, id)
      return { ok: true, record }
    },
  )
