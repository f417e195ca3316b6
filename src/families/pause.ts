import { invalidInput } from '../core/errors.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { RIGHTS } from '../core/rights.ts'
import { articled, words } from '../core/words.ts'
import { byKey, type Keyed } from '../store/idempotency.ts'
import { waitingIn } from '../store/limit-tickets.ts'
import { activeIds } from '../store/objects.ts'
import { type CommandAccess, type CommandResult, type Fenced, findFor, ifUnchanged, onFound, refuse } from './access.ts'
import type { AskedMutation } from './asked-verb.ts'
import { type Bound, command } from './command.ts'
import type { LoadedFamily } from './define-family.ts'
import type { LockedTree } from './family.ts'

/** A pause of a whole tree, of any kind: what has begun continues, and nothing new is handed to agents. */

export interface PauseTree extends Keyed, Fenced {
  readonly id: string
  readonly reason?: string | null
}
interface Parts extends CommandAccess {
  readonly families: readonly Pick<LoadedFamily, 'kinds' | 'rules'>[]
}
type Paused = CommandResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>

const write =
  (mutation: 'pause' | 'resume') =>
  async (parts: Parts, viewer: Viewer, input: PauseTree): Promise<Paused> => {
    const { id } = input
    const located = await findFor(parts.pool, viewer, RIGHTS.pause, { id, what: 'object', kind: null })
    if (!located.ok) return located
    const { kind, rootId } = located.found
    const refusal = (message: string) => refuse(invalidInput([{ path: 'input.id', message }]))
    if (rootId !== id) return refusal(`only a whole tree can be paused: ask for its root, ${rootId}`)
    // A tree without work of agents has nothing to hold back.
    if (parts.families.find(({ kinds }) => kinds[kind])?.rules.isLone)
      return refusal(`${articled(words(kind))} has no work of agents to hold back: its own mutations pause it`)
    const change = mutation === 'pause' ? pause : resume
    const at = { what: 'object', once: byKey(mutation, input) }
    return await onFound(parts, viewer, located.found, at, (tree) =>
      ifUnchanged(tree, input, () => change(tree, viewer, input)),
    )
  }

async function pause(tree: LockedTree, by: Viewer, { id, reason = null }: PauseTree): Promise<CommandResult<never>> {
  const { slice, root } = tree
  await tree.pause({ at: slice.now, by: by.name, reason })
  slice.recordRequest(root, { by, reason: 'paused', message: reason })
  return await decideAgain(tree, id)
}

async function resume(tree: LockedTree, by: Viewer, { id }: PauseTree): Promise<CommandResult<never>> {
  const { slice, root } = tree
  if (!slice.isPaused) return { ok: true, objectId: id }
  await tree.pause(null)
  slice.recordRequest(root, { by, reason: 'resumed', message: null })
  return await decideAgain(tree, id)
}

/** Objects that wait for something give it back, or ask for it again. */
async function decideAgain(tree: LockedTree, id: string): Promise<CommandResult<never>> {
  const waiting = await waitingIn(tree.client, id)
  tree.wake([...new Set([id, ...(await activeIds(tree.client, id)), ...waiting])])
  return { ok: true, objectId: id }
}

export const pauseCommands = {
  pause: command(write('pause'), ['NotFoundError', 'ConflictError']),
  resume: command(write('resume'), ['NotFoundError', 'ConflictError']),
}

/** The same, as bulk operations ask it. */
export const askedPause = (trees: Bound<typeof pauseCommands>): Readonly<Record<string, AskedMutation>> => ({
  pause: { right: RIGHTS.pause, ask: (viewer, { id, note }) => trees.pause(viewer, { id, reason: note }) },
  resume: { right: RIGHTS.pause, ask: (viewer, { id }) => trees.resume(viewer, { id }) },
})
