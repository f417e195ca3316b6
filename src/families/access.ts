import type { AuditTarget } from '../core/audit.ts'
import { canRead } from '../core/can-read.ts'
import {
  forbidden,
  invalidInput,
  notFound,
  type Refusal,
  type RefusalOf,
  type RefusalType,
  revisionMismatch,
} from '../core/errors.ts'
import type { CommonRefusal, Outcome, Refused, WrittenObject } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { type Right, requireRight } from '../core/rights.ts'
import type { Node } from '../core/tree.ts'
import { recordDone, recordDoneIn } from '../store/audit.ts'
import type { Client } from '../store/client.ts'
import { type Once, repeatable } from '../store/idempotency.ts'
import { type FoundObject, findObject, isUuid } from '../store/objects.ts'
import type { LockedProject, LockedTree, Trees } from './family.ts'

/** The ways of the commands of every family to what they write: found, locked, and judged by the rights of who asks. */

/** The object that a command has written, or one of the refusals of these types. */
export type CommandResult<Type extends RefusalType = RefusalType> = Outcome<WrittenObject, RefusalOf<Type>>

export const refuse = <R extends Refusal>(refusal: R): Refused<R> => ({ ok: false, refusal })

type Inaccessible = RefusalOf<'NotFoundError' | 'ForbiddenError'>

/**
 * Finds an object of this kind, by default the right's own, in a project in which the viewer has the right; null: of any
 * kind. An object that it may not read is not found.
 */
export async function findFor(
  client: Client,
  viewer: Viewer,
  right: Right,
  { id, what, kind = right.kind }: { readonly id: string; readonly what: string; readonly kind?: string | null },
): Promise<Outcome<{ readonly found: FoundObject }, Inaccessible>> {
  const never = requireRight(viewer, right)
  if (never) return refuse(never)
  const found = await findObject(client, id)
  if (!found || (kind !== null && found.kind !== kind) || !canRead(viewer, found)) return refuse(notFound(id, what))
  const refused = requireRight(viewer, right, found.projectId)
  return refused ? refuse(refused) : { ok: true, found }
}

/** How commands reach what they write. */
export interface CommandAccess {
  readonly trees: Trees
  /** For statements without a lock, such as finding an object before its tree is locked. */
  readonly pool: Client
}

interface ProjectAccess<T extends object, Missing extends Refusal> {
  readonly right: Right
  /** The name of the project. */
  readonly project: string
  readonly canShare?: boolean
  /** The name of what is written, for the audit of a request that names it by its id. */
  readonly objectName?: string
  /** The request, if it is run once for its key. */
  readonly once?: Once<T>
  /** The refusal if there is no such project, in the place of the usual one. */
  readonly missing?: Missing
}

/**
 * Writes under a project's lock, if the viewer has the right in the project that has the name then. There is no project that it
 * may not read.
 */
export async function onProject<T extends object, R extends Refusal, Missing extends Refusal = never>(
  { trees }: Pick<CommandAccess, 'trees'>,
  viewer: Viewer,
  { right, project: name, canShare = false, objectName, once, missing }: ProjectAccess<T, Missing>,
  write: (project: LockedProject) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | Missing | RefusalOf<CommonRefusal>>> {
  const never = requireRight(viewer, right)
  if (never) return refuse(never)
  type Run = Outcome<T, R | RefusalOf<CommonRefusal>>
  const run = async (project: LockedProject): Promise<Run | null> => {
    if (!canRead(viewer, project)) return null
    const refused = requireRight(viewer, right, project.projectId)
    if (refused) return refuse(refused)
    const work = () => write(project)
    const done = once ? await repeatable(project, viewer, once, work) : await work()
    if (done.ok && viewer.call) {
      const target = { ...writtenIn(project, name, done), ...(objectName !== undefined && { objectName }) }
      // Without a name the database has that of an object.
      const record = (objectName ?? viewer.call.entry.objectName) === null ? recordDoneIn : recordDone
      project.pipeline(record(project.client, viewer.call, target))
    }
    await writeAlso(viewer, project.client, done)
    return done
  }
  return (await trees.inProject(name, run, { canShare })) ?? refuse(missing ?? noProject(viewer, name))
}

const writtenIn = ({ projectId }: LockedProject, projectName: string, done: object): Partial<AuditTarget> => ({
  projectId,
  projectName,
  ...('objectId' in done && { objectId: String(done.objectId) }),
})

/** Runs under the lock of a tree; null: it is gone, or `work` has found nothing to do. */
export const inTree = <T extends Outcome<object> | null>(
  trees: Trees,
  viewer: Viewer,
  rootId: string,
  work: (tree: LockedTree) => Promise<T> | T,
): Promise<T | null> =>
  trees.inTree(rootId, async (tree) => {
    const done = await work(tree)
    if (done?.ok && viewer.call) tree.pipeline(recordDone(tree.client, viewer.call, changedIn(tree, done)))
    await writeAlso(viewer, tree.client, done)
    return done
  })

async function writeAlso({ alsoWrite }: Viewer, client: Client, done: Outcome<object> | null): Promise<void> {
  if (alsoWrite && done?.ok && 'objectId' in done) await alsoWrite(client, String(done.objectId))
}

type ObjectWrite<R extends Refusal> = (
  tree: LockedTree,
  node: Node,
) => Promise<Outcome<WrittenObject, R>> | Outcome<WrittenObject, R>

interface ObjectAccess {
  /** As messages name it. */
  readonly what: string
  /** The request, if it is run once for its key. */
  readonly once?: Once<WrittenObject>
}

/** Finds an object as `findFor` does, and writes it as `onFound` does. */
export async function onObject<R extends Refusal>(
  access: CommandAccess,
  viewer: Viewer,
  at: ObjectAccess & { readonly right: Right; readonly id: string; readonly kind?: string | null },
  write: ObjectWrite<R>,
): Promise<Outcome<WrittenObject, R | Inaccessible | RefusalOf<'InvalidInputError'>>> {
  const located = await findFor(access.pool, viewer, at.right, at)
  return located.ok ? await onFound(access, viewer, located.found, at, write) : located
}

/** Writes an object that was found, under the lock of its tree and with its ancestors in memory. */
export async function onFound<R extends Refusal>(
  { trees }: Pick<CommandAccess, 'trees'>,
  viewer: Viewer,
  { id, rootId }: Pick<FoundObject, 'id' | 'rootId'>,
  { what, once }: ObjectAccess,
  write: ObjectWrite<R>,
): Promise<Outcome<WrittenObject, R | RefusalOf<'NotFoundError' | 'InvalidInputError'>>> {
  const done = await inTree(trees, viewer, rootId, async (tree) => {
    const work = () => onLoaded(tree, { id, what }, write)
    const scope = { client: tree.client, projectId: tree.root.row.projectId, now: tree.slice.now }
    return once ? await repeatable(scope, viewer, once, work) : await work()
  })
  return done ?? refuse(notFound(id, what))
}

/** Loads an object of a tree that is locked, in the transaction of whoever has locked it. Null: the tree is gone. */
export async function onLoaded<R extends Refusal>(
  tree: LockedTree | null,
  { id, what }: { readonly id: string; readonly what: string },
  write: ObjectWrite<R>,
): Promise<Outcome<WrittenObject, R | RefusalOf<'NotFoundError'>>> {
  await tree?.load([id])
  const node = tree?.slice.get(id)
  return tree && node ? await write(tree, node) : refuse(notFound(id, what))
}

/** An object as the caller has read it. */
export interface ObjectVersion {
  readonly id: string
  readonly revision: number
  readonly generation: number
}
/** A request that was decided by what objects of the tree were like. */
export interface Fenced {
  readonly ifUnchanged?: readonly ObjectVersion[] | null
}

/** Writes if each of these objects is as it was read. Compared under the lock of the tree, so that nothing comes in between. */
export async function ifUnchanged<R extends Refusal>(
  tree: LockedTree,
  { ifUnchanged: versions }: Fenced,
  write: () => ReturnType<ObjectWrite<R>>,
): Promise<Outcome<WrittenObject, R | RefusalOf<'ConflictError'>>> {
  await tree.load((versions ?? []).map(({ id }) => id).filter(isUuid))
  for (const { id, revision, generation } of versions ?? []) {
    const row = tree.slice.get(id)?.row
    if (!row) return refuse(revisionMismatch(`There is no object ${id} in this tree any more`, null))
    if (row.revision !== revision || row.generation !== generation) {
      const [is, was] = [row, { revision, generation }].map(
        (at) => `revision ${at.revision}, generation ${at.generation}`,
      )
      return refuse(revisionMismatch(`${row.name} is at ${is}, and no longer at ${was}`, id))
    }
  }
  return await write()
}

function changedIn({ root, slice, projectName }: LockedTree, done: object): Partial<AuditTarget> {
  const node = ('objectId' in done && slice.get(String(done.objectId))) || root
  const { id: objectId, kind: objectKind, name: objectName, projectId } = node.row
  return { projectId, projectName, objectId, objectKind, objectName }
}

/** Says that there is no such project; viewers of some projects do not learn whether there is another one. */
export const noProject = (viewer: Viewer, project: string): RefusalOf<CommonRefusal> =>
  viewer.projects === null
    ? invalidInput([{ path: 'input.project', message: `there is no project ${project}` }])
    : forbidden(`You have no access to a project ${project}.`)
