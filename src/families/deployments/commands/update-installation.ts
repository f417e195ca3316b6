import { invalidInput, notFound } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports.ts'
import { Problems } from '../../../core/problems.ts'
import type { Node } from '../../../core/tree.ts'
import { loadSpecs } from '../../../store/load-edges.ts'
import { findObject, readLabels, writeLabels } from '../../../store/objects.ts'
import { type Done, mayChange, mayRead, refuse } from '../../access.ts'
import type { HeldTree, Scope } from '../../family.ts'
import { once } from '../../keys.ts'
import { askForJob } from '../ask-for-job.ts'
import { installation } from '../facts.ts'
import { isObserved } from '../observed-spec.ts'
import { checkRootScope, declareScope } from '../root-scope.ts'
import type { InstallationSpec } from '../spec.ts'
import { keepSpec } from '../spec-snapshots.ts'
import type { UpdateInstallation } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { readSpec } from './read-spec.ts'

export async function updateInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: UpdateInstallation,
): Promise<Done> {
  const may = mayChange(viewer)
  if (may) return refuse(may)
  const found = await findObject(parts.client, input.id)
  if (found?.kind !== 'INSTALLATION' || !mayRead(viewer, found.projectName))
    return refuse(notFound(input.id, 'installation'))
  const problems = new Problems()
  const labels = input.labels ? labelsOf(input.labels, problems) : null
  const spec = input.spec ? await readSpec(parts, input.spec, problems) : null
  if (spec && found.rootId !== input.id) problems.add('input.spec', 'is its root’s: change it there')
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const done = await parts.trees.inScope(found.projectName, (scope) =>
    once(scope, viewer, 'updateInstallation', input, async () => {
      const held = await scope.hold(found.rootId)
      await held?.bring([input.id])
      const node = held?.slice.get(input.id)
      if (!held || !node) return refuse(notFound(input.id, 'installation'))
      return update(scope, held, node, { input, spec, labels })
    }),
  )
  return done ?? refuse(notFound(input.id, 'installation'))
}

interface Change {
  readonly input: UpdateInstallation
  readonly spec: InstallationSpec | null
  readonly labels: Readonly<Record<string, string>> | null
}

async function update(scope: Scope, held: HeldTree, node: Node, { input, spec, labels }: Change): Promise<Done> {
  const { slice, root } = held
  const { id, generation, deletionRequestedAt } = node.row
  if (typeof input.expectedGeneration === 'number' && input.expectedGeneration !== generation) {
    const message = `It is at generation ${generation}, not ${input.expectedGeneration}: read it again.`
    return refuse({ type: 'ConflictError', code: 'GENERATION_MISMATCH', message, objectId: id })
  }
  if (spec) {
    if (deletionRequestedAt || installation(node).nextDeletion) {
      return refuse({ type: 'ConflictError', code: 'BUSY', message: 'It is being deleted.', objectId: id })
    }
    const refused = await checkRootScope(scope, { id, name: node.row.name, spec })
    if (refused) return refuse(refused)
    const known = await loadSpecs(held.client, [id])
    if (!sameJson(known.get(id), spec)) {
      if (isObserved(node.row)) await keepSpec(held.client, node.row)
      slice.setSpec(node, spec)
      slice.patch(node, { generation: generation + 1 })
      declareScope(held, spec)
    }
  }
  if (labels && !sameJson(labels, await readLabels(held.client, id))) {
    await writeLabels(held.client, id, labels)
    slice.patch(node, {})
  }
  if (typeof input.ignored === 'boolean') slice.setFacts(node, { ignored: input.ignored })
  if (input.reconcile && node === root && (spec || input.ignored === false)) {
    askForJob(root, 'STANDARD', slice)
  }
  held.wake([id])
  return { ok: true, objectId: id }
}
