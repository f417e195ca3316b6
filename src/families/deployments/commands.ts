import { createHash } from 'node:crypto'
import type { Refusal } from '../../core/errors.ts'
import { forbidden, invalidInput, notFound, transitionRefused } from '../../core/errors.ts'
import { sameJson } from '../../core/json.ts'
import type { Ambient, Outcome, Viewer } from '../../core/ports.ts'
import { type Node, isFinished } from '../../core/tree.ts'
import type { ReconcileMode } from '../../core/vocabulary.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Client } from '../../store/client.ts'
import { findKey, keepKey } from '../../store/idempotency.ts'
import { activeIds, findObject, readLabels, writeLabels } from '../../store/objects.ts'
import type { HeldTree, Scope, Trees } from '../family.ts'
import { installation, strongerMode } from './facts.ts'
import { NAME_RULE, Problems, type SpecInput, isName, normaliseSpec } from './normalise.ts'
import { type PlanStep, planApply, planDelete } from './plan.ts'
import { readExisting } from './read-existing.ts'
import { checkRootScope, declareScope, findDataObject, importersOf, removeDataObject, writeDataObject } from './root-scope.ts'
import type { InstallationSpec } from './spec.ts'
import { expressionsOf, schemasOf, validateSpec } from './validate.ts'

/** The deployments family's mutations. Each leaves word; what follows is the engine's. */

export interface LabelInput {
  readonly key: string
  readonly value: string
}
export interface CreateInstallation {
  readonly project: string
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly spec: SpecInput
  readonly reconcile: boolean
  readonly idempotencyKey?: string | null
}
export interface UpdateInstallation {
  readonly id: string
  readonly spec?: SpecInput | null
  readonly labels?: readonly LabelInput[] | null
  readonly ignored?: boolean | null
  readonly expectedGeneration?: number | null
  readonly reconcile: boolean
  readonly idempotencyKey?: string | null
}
/** Exactly one of the three. */
export interface PlanInstallation {
  readonly create?: { readonly project: string; readonly name: string; readonly spec: SpecInput } | null
  readonly update?: { readonly id: string; readonly spec?: SpecInput | null } | null
  readonly delete?: { readonly id: string; readonly withoutUninstall?: boolean | null } | null
}
export interface DataObjectKey {
  readonly project: string
  readonly name: string
}
type Done = Outcome<{ readonly objectId: string }>
type DataDone = Outcome<DataObjectKey>

export interface CommandParts {
  readonly trees: Trees
  readonly sandbox: Sandbox
  readonly ambient: Ambient
  /** For looking up where an object stands, before its tree is held. */
  readonly client: Client
}

export type DeploymentsCommands = ReturnType<typeof deploymentsCommands>

export function deploymentsCommands(parts: CommandParts) {
  const { trees, ambient } = parts

  /** Runs on the tree of an object that the viewer may see and change. */
  async function onObject(viewer: Viewer, id: string, work: (held: HeldTree, node: Node) => Promise<Done>): Promise<Done> {
    const may = mayChange(viewer)
    if (may) return refuse(may)
    const found = await findObject(parts.client, id)
    if (found?.kind !== 'INSTALLATION' || !mayRead(viewer, found.projectName)) return refuse(notFound(id, 'installation'))
    const done = await trees.inTree(found.rootId, async (held) => {
      await held.bring([id])
      const node = held.slice.get(id)
      return node ? work(held, node) : refuse(notFound(id, 'installation'))
    })
    return done ?? refuse(notFound(id, 'installation'))
  }
  const onRoot = (viewer: Viewer, id: string, work: (held: HeldTree) => Promise<Done>): Promise<Done> =>
    onObject(viewer, id, async (held, node) => (node.row.parentId === null ? work(held) : refuse(rootsOnly(held.root))))

  return {
    async createInstallation(viewer: Viewer, input: CreateInstallation): Promise<Done> {
      const may = mayChange(viewer, input.project)
      if (may) return refuse(may)
      const problems = new Problems()
      if (!isName(input.name)) problems.add('input.name', NAME_RULE)
      const labels = labelsOf(input.labels ?? [], problems)
      const spec = await readSpec(parts, input.spec, problems)
      if (problems.found.length > 0) return refuse(invalidInput(problems.found))
      const done = await trees.inScope(input.project, (scope) =>
        once(scope, viewer, 'createInstallation', input, async () => {
          const refused = await checkRootScope(scope, { id: null, name: input.name, spec })
          if (refused) return refuse(refused)
          const held = scope.plant({
            kind: 'INSTALLATION',
            name: input.name,
            spec,
            labels,
            by: viewer.name,
            facts: { nextMode: input.reconcile ? 'STANDARD' : null },
          })
          declareScope(held, spec)
          if (input.reconcile) held.wake([held.root.row.id])
          return { ok: true, objectId: held.root.row.id }
        }),
      )
      return done ?? refuse(invalidInput([{ path: 'input.project', message: `there is no project ${input.project}` }]))
    },

    async updateInstallation(viewer: Viewer, input: UpdateInstallation): Promise<Done> {
      const may = mayChange(viewer)
      if (may) return refuse(may)
      const found = await findObject(parts.client, input.id)
      if (found?.kind !== 'INSTALLATION' || !mayRead(viewer, found.projectName)) return refuse(notFound(input.id, 'installation'))
      const problems = new Problems()
      const labels = input.labels ? labelsOf(input.labels, problems) : null
      const spec = input.spec ? await readSpec(parts, input.spec, problems) : null
      if (spec && found.rootId !== input.id) problems.add('input.spec', 'is its root’s: change it there')
      if (problems.found.length > 0) return refuse(invalidInput(problems.found))
      const done = await trees.inScope(found.projectName, (scope) =>
        once(scope, viewer, 'updateInstallation', input, async () => {
          const held = await scope.hold(found.rootId)
          await held?.bring([input.id])
          const node = held?.slice.get(input.id)
          if (!held || !node) return refuse(notFound(input.id, 'installation'))
          return update(scope, held, node, { input, spec, labels })
        }),
      )
      return done ?? refuse(notFound(input.id, 'installation'))
    },

    deleteInstallation: (viewer: Viewer, input: { id: string; withoutUninstall: boolean; force: boolean }): Promise<Done> =>
      onRoot(viewer, input.id, async ({ root, slice, wake }) => {
        const { forceDeletion } = installation(root)
        slice.setFacts(root, {
          nextDeletion: true,
          withoutUninstall: input.withoutUninstall,
          forceDeletion: input.force || (forceDeletion && root.row.deletionRequestedAt !== null),
        })
        wake([root.row.id])
        return { ok: true, objectId: root.row.id }
      }),

    cancelInstallation: (viewer: Viewer, input: { id: string; reason?: string | null }): Promise<Done> =>
      onRoot(viewer, input.id, async (held) => cancel(held, viewer)),

    async reconcileInstallation(
      viewer: Viewer,
      input: { id: string; mode: ReconcileMode; idempotencyKey?: string | null },
    ): Promise<Done> {
      const found = input.idempotencyKey ? await findObject(parts.client, input.id) : null
      const run = () =>
        onRoot(viewer, input.id, async ({ root, slice, wake }) => {
          slice.setFacts(root, { nextMode: strongerMode(installation(root).nextMode, input.mode) })
          wake([root.row.id])
          return { ok: true, objectId: root.row.id }
        })
      if (!found) return run()
      // The key is kept in a transaction before: a repeated request must not start a second job.
      const fresh = await trees.inScope(found.projectName, (scope) => isFirst(scope, viewer, input))
      if (fresh === 'first' || fresh === null) return run()
      return fresh === 'repeated' ? { ok: true, objectId: input.id } : refuse(KEY_REUSED)
    },

    async setDataObject(viewer: Viewer, input: { project: string; name: string; value: unknown }): Promise<DataDone> {
      const may = mayChange(viewer, input.project)
      if (may) return refuse(may)
      if (!isName(input.name)) return refuse(invalidInput([{ path: 'input.name', message: NAME_RULE }]))
      const done = await trees.inScope(input.project, async (scope): Promise<DataDone> => {
        const known = await findDataObject(scope, input.name)
        if (known.exporterId) return refuse(exportedBy(input.name, known.exporterId))
        if (known.exists && sameJson(known.value, input.value)) return { ok: true, project: input.project, name: input.name }
        await writeDataObject(scope, input.name, input.value, ambient.now())
        await scope.wake(await importersOf(scope, input.name), 'scope')
        return { ok: true, project: input.project, name: input.name }
      })
      return done ?? refuse(invalidInput([{ path: 'input.project', message: `there is no project ${input.project}` }]))
    },

    async deleteDataObject(viewer: Viewer, input: DataObjectKey): Promise<DataDone> {
      const may = mayChange(viewer, input.project)
      if (may) return refuse(may)
      const done = await trees.inScope(input.project, async (scope): Promise<DataDone> => {
        const known = await findDataObject(scope, input.name)
        if (known.exporterId) return refuse(exportedBy(input.name, known.exporterId))
        if (!known.exists) return refuse(notFound(null, 'data object'))
        await removeDataObject(scope, input.name)
        await scope.wake(await importersOf(scope, input.name), 'scope')
        return { ok: true, project: input.project, name: input.name }
      })
      return done ?? refuse(notFound(null, 'data object'))
    },

    /** Judged as the mutation would be, short of what only its locks can tell. */
    async planInstallation(viewer: Viewer, input: PlanInstallation): Promise<Outcome<{ steps: readonly PlanStep[] }>> {
      const id = input.update?.id ?? input.delete?.id
      const found = id === undefined ? null : await findObject(parts.client, id)
      if (id !== undefined && (found?.rootId !== id || found.kind !== 'INSTALLATION' || !mayRead(viewer, found.projectName))) {
        return refuse(notFound(id, 'root installation'))
      }
      if (input.create && !mayRead(viewer, input.create.project)) return refuse(forbidden(`You have no access to a project ${input.create.project}.`))
      const existing = id === undefined ? null : await readExisting(parts.client, id)
      if (input.delete) return { ok: true, steps: existing ? planDelete(existing, input.delete.withoutUninstall ?? false) : [] }
      const wanted = input.create ?? input.update
      if (!wanted?.spec) return { ok: true, steps: [] }
      const problems = new Problems()
      const name = input.create?.name ?? existing?.name ?? ''
      if (!isName(name)) problems.add('input.create.name', NAME_RULE)
      const spec = await readSpec(parts, wanted.spec, problems)
      if (problems.found.length > 0) return refuse(invalidInput(problems.found))
      return { ok: true, steps: planApply(name, spec, existing) }
    },
  }
}

const refuse = (refusal: Refusal): { ok: false; refusal: Refusal } => ({ ok: false, refusal })

/** A viewer that may not change anything is told so; one that may not see the project is told that there is none. */
function mayChange(viewer: Viewer, project?: string): Refusal | null {
  if (viewer.role === 'READER' || viewer.role === 'AGENT') return forbidden(`The role ${viewer.role} may not change anything.`)
  if (project !== undefined && !mayRead(viewer, project)) return forbidden(`You have no access to a project ${project}.`)
  return null
}
const mayRead = (viewer: Viewer, project: string): boolean => viewer.projects === null || viewer.projects.includes(project)

const rootsOnly = (root: Node): Refusal =>
  invalidInput([{ path: 'input.id', message: `is a nested installation: ask its root ${root.row.name} (${root.row.id})` }])
const exportedBy = (name: string, objectId: string): Refusal => ({
  type: 'ConflictError',
  code: 'IN_USE',
  message: `${name} is exported by an installation: it sets this data itself.`,
  objectId,
})
const KEY_REUSED = invalidInput([{ path: 'input.idempotencyKey', message: 'was used for another input within a day' }])

function labelsOf(labels: readonly LabelInput[], problems: Problems): Readonly<Record<string, string>> {
  for (const [i, { key, value }] of labels.entries()) {
    if (!/^[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?$/.test(key)) problems.add(`input.labels.${i}.key`, 'must be a plain word')
    if (value.length > 255) problems.add(`input.labels.${i}.value`, 'must have at most 255 characters')
    if (labels.findIndex((l) => l.key === key) < i) problems.add(`input.labels.${i}.key`, `${key} stands twice`)
  }
  if (labels.length > 64) problems.add('input.labels', 'must not be more than 64')
  return Object.fromEntries(labels.map(({ key, value }) => [key, value]))
}

export async function readSpec({ sandbox }: Pick<CommandParts, 'sandbox'>, input: SpecInput, problems: Problems): Promise<InstallationSpec> {
  const spec = normaliseSpec(input, 'input.spec', problems)
  if (problems.found.length > 0) return spec
  const sources = expressionsOf(spec)
  const analysed = sources.length > 0 ? await sandbox.analyze(sources) : []
  const references = new Map(sources.map((source, i) => [source, analysed[i] ?? { ok: false as const, message: 'could not be read' }]))
  for (const { path, schema } of schemasOf(spec, 'input.spec')) {
    const verdict = sandbox.checkSchema(schema)
    if (!verdict.ok) problems.add(path, verdict.message)
  }
  return validateSpec(spec, 'input.spec', references, problems)
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
    const [known] = await readSpecs(held, [id])
    if (!sameJson(known, spec)) {
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
    slice.setFacts(root, { nextMode: strongerMode(installation(root).nextMode, 'STANDARD') })
  }
  held.wake([id])
  return { ok: true, objectId: id }
}

async function readSpecs(held: HeldTree, ids: readonly string[]): Promise<readonly unknown[]> {
  const { rows } = await held.client.query<{ spec: unknown }>({
    text: 'select spec from object_spec where object_id = any($1::uuid[])',
    values: [ids],
  })
  return rows.map(({ spec }) => spec)
}

/** Drops a remembered reconcile, keeps a remembered deletion. */
async function cancel({ root, slice, client, wake, reject }: HeldTree, viewer: Viewer): Promise<Done> {
  const { row } = root
  const facts = installation(root)
  if (isFinished(row)) {
    if (!facts.nextMode) {
      const refusal = transitionRefused(row.kind, row.phase, 'USER', 'ABORTED', [])
      reject(root, 'ABORTED', viewer.name, 'Nothing is running that could be cancelled.')
      return refuse({ ...refusal, message: 'Nothing is running that could be cancelled.' })
    }
    slice.setFacts(root, { nextMode: null })
    return { ok: true, objectId: row.id }
  }
  slice.setFacts(root, {
    nextMode: null,
    cancelRequestedAt: facts.cancelRequestedAt ?? slice.now,
    cancelBy: facts.cancelBy ?? viewer.name,
  })
  wake(await activeIds(client, row.id))
  return { ok: true, objectId: row.id }
}

const hashOf = (input: object): string => createHash('sha256').update(JSON.stringify(input)).digest('hex')

type Keyed = { readonly idempotencyKey?: string | null }
/** Same key, same input, within a day: the object of the first call; other input: refused. */
async function once(scope: Scope, viewer: Viewer, mutation: string, input: Keyed, work: () => Promise<Done>): Promise<Done> {
  if (!input.idempotencyKey) return work()
  const key = { principal: viewer.name, projectId: scope.projectId, mutation, key: input.idempotencyKey, inputHash: hashOf(input) }
  const known = await findKey(scope.client, key, scope.now)
  if (known) return known.inputHash === key.inputHash ? { ok: true, objectId: known.objectId } : refuse(KEY_REUSED)
  const done = await work()
  if (done.ok) await keepKey(scope.client, key, done.objectId, scope.now)
  return done
}

async function isFirst(scope: Scope, viewer: Viewer, input: Keyed & { id: string }): Promise<'first' | 'repeated' | 'reused'> {
  let ran = false
  const done = await once(scope, viewer, 'reconcileInstallation', input, async () => {
    ran = true
    return { ok: true, objectId: input.id }
  })
  if (ran) return 'first'
  return done.ok ? 'repeated' : 'reused'
}
