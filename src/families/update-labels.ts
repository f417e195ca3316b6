import { generationMismatch, invalidInput, notFound } from '../core/errors.ts'
import { sameJson } from '../core/json.ts'
import { type LabelInput, labelsOf } from '../core/labels.ts'
import { LIMITS } from '../core/limits.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { Problems } from '../core/problems.ts'
import { RIGHTS } from '../core/rights.ts'
import type { Client } from '../store/client.ts'
import { readLabels, writeLabels } from '../store/objects.ts'
import { type CommandResult, findFor, onceInTree, refuse } from './access.ts'
import { command } from './command.ts'
import type { LockedTree, Trees } from './family.ts'

/** Labels of an object of any kind. No rule reads them, so nothing runs when they change. */

export interface UpdateLabels {
  readonly id: string
  readonly set?: readonly LabelInput[] | null
  /** Keys. */
  readonly remove?: readonly string[] | null
  readonly expectedGeneration?: number | null
  readonly idempotencyKey?: string | null
}
type Labels = Readonly<Record<string, string>>
interface Parts {
  readonly trees: Trees
  /** For finding the tree of the object before locking it. */
  readonly pool: Client
}
type Updated = CommandResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'LimitError' | 'ForbiddenError'>

async function updateLabels({ trees, pool }: Parts, viewer: Viewer, input: UpdateLabels): Promise<Updated> {
  const problems = new Problems()
  const set = labelsOf(input.set ?? [], problems, 'input.set')
  const remove = input.remove ?? []
  for (const [i, key] of remove.entries())
    if (Object.hasOwn(set, key)) problems.add(`input.remove.${i}`, `${key} is in \`set\`, too`)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const { id } = input
  const located = await findFor(pool, viewer, RIGHTS.updateLabels, { id, what: 'object', kind: null })
  if (!located.ok) return located
  const request = { mutation: 'updateLabels', input }
  const done = await onceInTree(trees, viewer, located.found.rootId, request, (tree) =>
    update(tree, input, { set, remove }),
  )
  return done ?? refuse(notFound(id))
}

async function update(
  tree: LockedTree,
  { id, expectedGeneration }: UpdateLabels,
  { set, remove }: { readonly set: Labels; readonly remove: readonly string[] },
): Promise<CommandResult<'NotFoundError' | 'ConflictError' | 'LimitError'>> {
  await tree.load([id])
  const node = tree.slice.get(id)
  if (!node) return refuse(notFound(id))
  const { generation } = node.row
  if (typeof expectedGeneration === 'number' && expectedGeneration !== generation)
    return refuse(generationMismatch(generation, expectedGeneration, id))
  const present = (await readLabels(tree.client, id)) ?? {}
  const kept = Object.entries(present).filter(([key]) => !remove.includes(key))
  const labels: Labels = { ...Object.fromEntries(kept), ...set }
  const count = Object.keys(labels).length
  const limit = LIMITS.labels.max
  if (count > limit) {
    const message = `It would have ${count} labels, and an object has at most ${limit}: remove others.`
    return refuse({ type: 'LimitError', message, limit })
  }
  if (!sameJson(present, labels)) {
    await writeLabels(tree.client, id, labels)
    tree.slice.patch(node, {})
  }
  return { ok: true, objectId: id }
}

export const updateLabelsCommand = command(updateLabels, ['NotFoundError', 'ConflictError', 'LimitError'])
