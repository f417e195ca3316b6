import { invalidInput, notFound, transitionRefused } from '../../src/core/errors.ts'
import { allowedFrom } from '../../src/core/machine.ts'
import type { Principal, Viewer } from '../../src/core/ports/viewer.ts'
import { isName, NAME_RULE } from '../../src/core/problems.ts'
import type { Right } from '../../src/core/rights.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { type CommandResult, findFor, inProject, noProject, refuse } from '../../src/families/access.ts'
import { type Bound, command } from '../../src/families/command.ts'
import type { FamilyParts } from '../../src/families/define-family.ts'
import type { LockedTree } from '../../src/families/family.ts'
import { rootNameTaken } from '../../src/families/root-name.ts'
import { backup } from './machines.ts'
import { rights } from './rights.ts'
import { end, offer } from './rules.ts'

type Parts = Pick<FamilyParts, 'trees' | 'pool'>
type Created = CommandResult<'InvalidInputError' | 'ConflictError' | 'ForbiddenError'>
type Changed = CommandResult<'NotFoundError' | 'TransitionError' | 'ForbiddenError'>

export interface CreateBackup {
  readonly project: string
  readonly name: string
  readonly volume: string
}

export const backupsCommands = {
  createBackup: command(createBackup, ['ConflictError']),
  cancelBackup: command(
    (parts: Parts, viewer: Viewer, id: string) => onBackup(parts, viewer, rights.cancel, id, cancel),
    ['NotFoundError', 'TransitionError'],
  ),
  deleteBackup: command(
    (parts: Parts, viewer: Viewer, id: string) =>
      onBackup(parts, viewer, rights.delete, id, (tree, by) =>
        userMove(tree, by, 'GONE', () => tree.slice.move(tree.root, 'GONE', by)),
      ),
    ['NotFoundError', 'TransitionError'],
  ),
}
export type BackupsCommands = Bound<typeof backupsCommands>

async function createBackup(
  { trees }: Parts,
  viewer: Viewer,
  { project, name, volume }: CreateBackup,
): Promise<Created> {
  if (!isName(name)) return refuse(invalidInput([{ path: 'input.name', message: NAME_RULE }]))
  const access = { right: rights.create, project }
  const done = await inProject(trees, viewer, access, async (locked): Promise<Created> => {
    const taken = await rootNameTaken(locked, { kind: 'BACKUP', name, what: 'a backup' })
    if (taken) return refuse(taken)
    const spec = { volume }
    const by = viewer
    const { root, slice } = locked.createRoot({ kind: 'BACKUP', name, spec, details: {}, labels: {}, by })
    offer(root, slice, spec)
    return { ok: true, objectId: root.row.id }
  })
  return done ?? refuse(noProject(viewer, project))
}

type ByUser = { readonly actor: 'USER'; readonly by: Principal }

async function onBackup(
  { trees, pool }: Parts,
  viewer: Viewer,
  right: Right,
  id: string,
  work: (tree: LockedTree, by: ByUser) => Changed,
): Promise<Changed> {
  const located = await findFor(pool, viewer, right, { id, what: 'backup' })
  if (!located.ok) return located
  const done = await trees.inTree(id, async (tree) => work(tree, { actor: 'USER', by: viewer }))
  return done ?? refuse(notFound(id, 'backup'))
}

function cancel(tree: LockedTree, by: ByUser): Changed {
  const { slice, root } = tree
  if (root.row.phase === 'PENDING') return userMove(tree, by, 'ABORTED', () => end(root, slice, 'ABORTED', by))
  return userMove(tree, by, 'ABORTING', () => {
    slice.move(root, 'ABORTING', by)
    slice.setWork(root, { abortRequestedAt: slice.now })
  })
}

/** Judged by the guard first: what it refuses is in the log, too. */
function userMove({ slice, root, reject }: LockedTree, { by }: ByUser, to: Phase, move: () => void): Changed {
  const { phase, id } = root.row
  if (!slice.judge(root, 'USER', to).ok) {
    const refusal = transitionRefused('BACKUP', phase, 'USER', to, allowedFrom(backup, phase, 'USER'))
    reject(root, to, by, refusal.message)
    return refuse(refusal)
  }
  move()
  return { ok: true, objectId: id }
}
