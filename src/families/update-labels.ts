import { generationMismatch, invalidInput } from '../core/errors.ts'
import { sameJson } from '../core/json.ts'
import { type LabelInput, labelsOf } from '../core/labels.ts'
import { LIMITS } from '../core/limits.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { Problems } from '../core/problems.ts'
import { RIGHTS } from '../core/rights.ts'
import type { Node } from '../core/tree.ts'
import { byKey } from '../store/idempotency.ts'
import { readLabels, writeLabels } from '../store/objects.ts'
import { type CommandAccess, type CommandResult, onObject, refuse } from './access.ts'
import { command } from './command.ts'
import type { LockedTree } from './family.ts'

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
type Updated = CommandResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'LimitError' | 'ForbiddenError'>

async function updateLabels(access: CommandAccess, viewer: Viewer, input: UpdateLabels): Promise<Updated> {
  const problems = new Problems()
  const set = labelsOf(input.set ?? [], problems, 'input.set')
  const remove = input.remove ?? []
  for (const [i, key] of remove.entries())
    if (Object.hasOwn(set, key)) problems.add(`input.remove.${i}`, `${key} is in \`set\`, too`)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const once = byKey('updateLabels', input)
  const at = { right: RIGHTS.updateLabels, id: input.id, what: 'object', kind: null, once }
  return await onObject(access, viewer, at, (tree, node) => update(tree, node, input, { set, remove }))
}

async function update(
  tree: LockedTree,
  node: Node,
  { expectedGeneration }: UpdateLabels,
  { set, remove }: { readonly set: Labels; readonly remove: readonly string[] },
): Promise<CommandResult<'ConflictError' | 'LimitError'>> {
  const { id, generation } = node.row
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
