import { canRead } from '../../../core/can-read.ts'
import { servedBy } from '../../../core/claimant.ts'
import { GATE } from '../../../core/deployers/gate.ts'
import { fitChanges, type PlannedChange } from '../../../core/dry-run.ts'
import { invalidInput, notFound, type RefusalOf, stale } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { RIGHTS, requireRight } from '../../../core/rights.ts'
import type { TargetFacts } from '../../../core/target.ts'
import { agentsSince } from '../../../graphql/agents/agent.ts'
import { machineBusy } from '../../../sandbox/index.ts'
import { openFence } from '../../../store/fence.ts'
import { loadAgentsOf } from '../../../store/loaders/agents.ts'
import { findProjectId } from '../../../store/projects.ts'
import { loadTargetFacts } from '../../../store/targets.ts'
import { findFor, noProject, onProject, refuse } from '../../access.ts'
import { rights } from '../rights.ts'
import { chooseTarget } from '../rules/choose-target.ts'
import { type DryRunInputs, findInputs, type ItemInputs } from '../rules/dry-run-inputs.ts'
import { DRY_RUN } from '../rules/dry-run-state.ts'
import { type Existing, NOT_CALLED, type PlanStep, planApply, planDelete } from '../rules/plan.ts'
import type { InstallationSpec, ItemSpec } from '../rules/spec.ts'
import { expressionsOf } from '../rules/validate.ts'
import {
  countDryRuns,
  type DryRunOutcome,
  findByFence,
  finishDryRun,
  loadDeployed,
  type NewDryRunItem,
  writeDryRun,
} from '../store/dry-runs.ts'
import { peekScope } from '../store/queries.ts'
import { readExisting } from '../store/read-existing.ts'
import type { DryRunInstallation } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { readSpec } from './read-spec.ts'
import { requireCodeRight } from './require-code-right.ts'

type Asked = Outcome<
  { readonly dryRunId: string },
  RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError' | 'LimitError'>
>

/** Offers the deploy items whose inputs are known to agents that do dry runs. It takes the rights that the change itself takes. */
export async function dryRunInstallation(
  parts: CommandParts,
  viewer: Viewer,
  input: DryRunInstallation,
): Promise<Asked> {
  const wanted = await readWanted(parts, viewer, input)
  if (!wanted.ok) return wanted
  const { project, projectId, name, rootId } = wanted
  // Expressions are evaluated before the lock.
  const items = await itemsOf(parts, wanted)
  return await onProject(parts, viewer, { right: rights.dryRun, project }, async (locked): Promise<Asked> => {
    const { client } = locked
    if (locked.projectId !== projectId) return refuse(notFound(projectId, 'project'))
    if ((await countDryRuns(client, projectId)) >= DRY_RUN.perProject) {
      const message = `A project keeps at most ${DRY_RUN.perProject} dry runs, each for ${DRY_RUN.keptMs / 60_000} minutes: wait until one is gone.`
      return refuse({ type: 'LimitError', message, limit: DRY_RUN.perProject })
    }
    const id = parts.system.id()
    const dryRun = { id, projectId, name, rootId, requestedBy: viewer.name }
    await writeDryRun(client, dryRun, items, parts.system.fixedTime)
    locked.offer([...new Set(items.flatMap(({ skipped, error, type }) => ((skipped ?? error) === null ? [type] : [])))])
    return { ok: true, dryRunId: id }
  })
}

interface Wanted {
  readonly project: string
  readonly projectId: string
  readonly name: string
  /** Null: a new root. */
  readonly rootId: string | null
  readonly existing: Existing | null
  /** Null: it is deleted. */
  readonly spec: InstallationSpec | null
  /** The spec that is replaced. */
  readonly present: InstallationSpec | null
  /** It is of a deletion. */
  readonly withoutUninstall: boolean
  /** The targets of the project. */
  readonly targets: readonly TargetFacts[]
  /** Items that are as they should be are left out. */
  readonly ifChanged: boolean
}

async function readWanted(
  parts: CommandParts,
  viewer: Viewer,
  { create, update, delete: deletion, reconcile }: DryRunInstallation,
): Promise<Outcome<Wanted, RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>>> {
  const id = (update ?? deletion ?? reconcile)?.id ?? null
  const place = await findPlace(parts, viewer, id, create?.project ?? 'default')
  if (!place.ok) return place
  const existing = id === null ? null : await readExisting(parts.pool, id)
  if (id !== null && !existing) return refuse(notFound(id, 'root installation'))
  const present = (existing?.spec ?? null) as InstallationSpec | null
  const name = create?.name ?? existing?.name ?? ''
  const problems = new Problems()
  if (!isName(name)) problems.add('input.create.name', NAME_RULE)
  const given = create?.spec ?? update?.spec
  const spec = deletion ? null : given ? await readSpec(parts, given, problems, viewer.principalId) : present
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const refused = spec && requireCodeRight(parts, viewer, { projectId: place.projectId, name, spec, present })
  if (refused) return refuse(refused)
  const targets = await loadTargetFacts(parts.pool, place.projectId)
  return {
    ok: true,
    ...{ project: place.project, projectId: place.projectId },
    ...{ name, rootId: id, existing, spec, present, targets },
    withoutUninstall: deletion?.withoutUninstall ?? false,
    ifChanged: reconcile?.mode === 'IF_CHANGED',
  }
}

/** The project of a root installation, or of a new one, if the viewer has the right there. */
async function findPlace(
  { pool }: CommandParts,
  viewer: Viewer,
  id: string | null,
  project: string,
): Promise<
  Outcome<
    { readonly project: string; readonly projectId: string },
    RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>
  >
> {
  if (id !== null) {
    const located = await findFor(pool, viewer, rights.dryRun, { id, what: 'root installation' })
    if (!located.ok) return located
    const { rootId, projectName, projectId } = located.found
    return rootId === id ? { ok: true, project: projectName, projectId } : refuse(notFound(id, 'root installation'))
  }
  const never = requireRight(viewer, rights.dryRun)
  if (never) return refuse(never)
  const projectId = await findProjectId(pool, project)
  if (projectId === null || !canRead(viewer, { projectId })) return refuse(noProject(viewer, project))
  const refused = requireRight(viewer, rights.dryRun, projectId)
  return refused ? refuse(refused) : { ok: true, project, projectId }
}

/** The deploy items of the steps, in their order. */
async function itemsOf(parts: CommandParts, wanted: Wanted): Promise<readonly NewDryRunItem[]> {
  const { pool, system } = parts
  const { name, rootId, existing, spec, targets } = wanted
  const deployed: Deployed = rootId === null ? new Map() : await loadDeployed(pool, rootId)
  const inputs = spec && (await inputsOf(parts, { ...wanted, spec }, deployed))
  const all = inputs
    ? planApply(name, inputs.spec, existing, targets)
    : existing
      ? planDelete(existing, wanted.withoutUninstall)
      : []
  const steps = all.filter(({ kind }) => kind === 'DEPLOY_ITEM')
  const byPath = new Map(inputs?.items.map((one) => [keyOf(one.path), one]))
  const present = existing ? itemsBelow([], existing) : new Map<string, Existing>()
  const planned = steps.flatMap((step): PlannedItem[] => {
    const going = step.action === 'DELETE' ? present.get(keyOf(step.path)) : undefined
    const found = going ? undefined : byPath.get(keyOf(step.path))
    const { type } = (going?.spec ?? found?.item ?? {}) as Partial<ItemSpec>
    return type === undefined ? [] : [{ step, going, found, type }]
  })
  const reasons = await reasonsToSkip(parts, wanted, planned)
  return planned.map(({ step, going, found, type }, i) => {
    const config = found?.config
    const error = found ? whyItFails(found, wanted.targets) : null
    const kept = going ?? (step.action === 'CREATE' ? null : found?.existing)
    return {
      ...{
        id: system.id(),
        path: step.path,
        action: step.action,
        type,
        target: step.target,
        objectId: kept?.id ?? system.id(),
      },
      config: going ? (deployed.get(going.id)?.handedConfig ?? null) : config?.ok ? config.value : null,
      skipped: error === null ? (reasons[i] ?? null) : null,
      error,
    }
  })
}

interface PlannedItem {
  readonly step: PlanStep
  /** The item that is deleted. */
  readonly going: Existing | undefined
  readonly found: ItemInputs | undefined
  readonly type: string
}

/** Why the run would fail before it calls a deployer; null: it would not. */
function whyItFails({ item, config }: ItemInputs, targets: readonly TargetFacts[]): NewDryRunItem['error'] {
  const chosen = chooseTarget(item, targets)
  if (!chosen.ok) return { code: 'TARGET', message: chosen.message }
  return !config.ok && config.fails ? { code: 'EXPRESSION', message: config.why } : null
}

/** Why no agent is asked about an item; null: one is. */
async function reasonsToSkip(
  { pool, system }: CommandParts,
  { projectId, ifChanged, targets }: Wanted,
  planned: readonly PlannedItem[],
): Promise<readonly (string | null)[]> {
  const types = [...new Set(planned.map(({ type }) => type))]
  const since = agentsSince(system.now())
  const isServed = servedBy(await loadAgentsOf(pool, types, since))
  const isAnswered = servedBy(await loadAgentsOf(pool, types, since, { dryRuns: true }))
  return planned.map(({ step, going, found, type }, i) => {
    const { target } = step
    if (i >= DRY_RUN.items) return `A dry run asks about ${DRY_RUN.items} deploy items at most.`
    if (type === GATE) return 'No agent has to do with a gate.'
    if (going && step.reason.endsWith(NOT_CALLED)) return `${sentenceOf(step.reason)}.`
    if (found && !found.config.ok) return `An input is not known yet: ${found.config.why}.`
    if (found?.isDeployed && ifChanged) return 'Nothing of it has changed, so the run leaves it out.'
    const offered = { type, target, projectId, targetFacts: targets.find(({ name }) => name === target) ?? null }
    if (isAnswered(offered)) return null
    const work = `work of the type ${type}${target === null ? '' : ` at the target ${target}`}`
    return isServed(offered) ? `The agents for ${work} do no dry runs.` : `No connected agent takes ${work}.`
  })
}

const sentenceOf = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

const keyOf = (path: readonly string[]): string => path.join('/')

function itemsBelow(path: readonly string[], object: Existing): ReadonlyMap<string, Existing> {
  const at = [...path, object.name]
  if (object.kind === 'DEPLOY_ITEM') return new Map([[keyOf(at), object]])
  return new Map(object.children.flatMap((child) => [...itemsBelow(at, child)]))
}

type Deployed = Awaited<ReturnType<typeof loadDeployed>>

async function inputsOf(
  { pool, sandbox }: CommandParts,
  { name, spec, existing, projectId, targets }: Wanted & { readonly spec: InstallationSpec },
  deployed: Deployed,
): Promise<DryRunInputs> {
  const names = [...new Set(spec.imports.map(({ from }) => from))]
  const scope = names.length > 0 ? await peekScope(pool, { projectId, names }) : []
  const sources = expressionsOf(spec)
  const analysed = sources.length > 0 ? await sandbox.analyze(sources) : []
  const unread = { ok: false, message: 'could not be read' } as const
  return await findInputs(name, spec, existing, {
    references: new Map(sources.map((source, i) => [source, analysed[i] ?? unread])),
    deployed,
    targets,
    scope: new Map(scope.map((entry) => [entry.name, entry])),
    async evaluate(template, values) {
      const [answer] = await sandbox.resolve([{ template, scope: values }], projectId)
      if (answer?.ok === false && answer.isTransient) throw machineBusy()
      return answer ?? { ok: false, message: 'It could not be evaluated.' }
    },
  })
}

export interface DryRunReport {
  readonly fence: string
  readonly changes?: readonly PlannedChange[] | null
  readonly truncated?: boolean | null
  readonly skipped?: string | null
  readonly error?: { readonly code: string; readonly message: string } | null
}
export type DryRunReported = Outcome<{ readonly changed: boolean }, RefusalOf<'StaleReportError' | 'InvalidInputError'>>

/** Takes what agents have found. One result for each report, in order. */
export async function reportDryRuns(
  { system, trees }: CommandParts,
  viewer: Viewer,
  { reports }: { readonly reports: readonly DryRunReport[] },
): Promise<Outcome<{ readonly results: readonly DryRunReported[] }, RefusalOf<'ForbiddenError'>>> {
  const refused = requireRight(viewer, RIGHTS.reportWork)
  if (refused) return refuse(refused)
  const results: DryRunReported[] = []
  for (const report of reports) results.push(await take(report))
  return { ok: true, results }

  async function take({ fence: given, ...report }: DryRunReport): Promise<DryRunReported> {
    const said = [report.changes, report.skipped, report.error].filter((one) => one !== undefined && one !== null)
    if (said.length !== 1)
      return refuse(invalidInput([{ path: 'input', message: 'has exactly one of changes, skipped and error' }]))
    const fence = openFence(given)
    if (!fence) return refuse(stale('This is not a fence: send the one that came with the claimed work.'))
    return await trees.inRecord(`The dry run ${fence.objectId}`, async (transaction) => {
      const found = await findByFence(transaction, fence, viewer.principalId, system.fixedTime)
      if (!found) return refuse(stale('The dry run was claimed by another agent, or is gone: stop working on it.'))
      if (found.isDone) return { ok: true, changed: false }
      if (!found.isOpen) return refuse(stale('The dry run is over: it has taken too long.'))
      await finishDryRun(transaction, fence.objectId, outcomeOf(report, found.size))
      return { ok: true, changed: true }
    })
  }
}

function outcomeOf({ changes, truncated, skipped, error }: Omit<DryRunReport, 'fence'>, size: number): DryRunOutcome {
  const budget = Math.max(0, Math.min(DRY_RUN.itemSize, DRY_RUN.wholeSize - size))
  const fitted = changes ? fitChanges(changes, budget) : null
  return {
    changes: fitted?.changes ?? null,
    truncated: (truncated ?? false) || (fitted?.truncated ?? false),
    ...{ skipped: skipped ?? null, error: error ?? null },
  }
}
