import { sameJson } from '../../../core/json.ts'
import type { TargetFacts } from '../../../core/target.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import { chooseTarget } from './choose-target.ts'
import { topologicalOrder } from './graph.ts'
import { nestedDependencies } from './scope.ts'
import type { InstallationSpec, ItemSpec } from './spec.ts'

/** Lists the actions of a create, update or delete in the order of their start. Pure: nothing is written. */

export type PlanAction = 'CREATE' | 'UPDATE' | 'RUN' | 'DELETE'
export interface PlanStep {
  readonly order: number
  readonly action: PlanAction
  readonly kind: ObjectKind
  readonly path: readonly string[]
  readonly name: string
  readonly reason: string
  /** The target of a deploy item, which its spec names or its selector selects now; null: none. */
  readonly target: string | null
}
type Step = Omit<PlanStep, 'order' | 'name' | 'target'> & { readonly target?: string | null }

/** A present tree: each object with its children. */
export interface Existing {
  readonly id: string
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
  readonly spec: unknown
  /** An agent has claimed it before, so it has to be uninstalled. */
  readonly handed: boolean
  readonly ignored: boolean
  /** The target of a deploy item. */
  readonly target: string | null
  /** Names of the siblings that it depends on. */
  readonly dependsOn: readonly string[]
  readonly children: readonly Existing[]
}

/** @param targets of the project, for items that select one */
export function planApply(
  name: string,
  spec: InstallationSpec,
  existing: Existing | null,
  targets: readonly TargetFacts[] = [],
): readonly PlanStep[] {
  return numbered(applyInstallation([name], spec, existing, targets))
}

export function planDelete(existing: Existing, withoutUninstall: boolean): readonly PlanStep[] {
  return numbered(remove([existing.name], existing, withoutUninstall, 'its deletion is requested').steps)
}

const numbered = (steps: readonly Step[]): readonly PlanStep[] =>
  steps.map((step, i) => ({ target: null, ...step, order: i + 1, name: step.path.at(-1) ?? '' }))

function applyInstallation(
  path: readonly string[],
  spec: InstallationSpec,
  existing: Existing | null,
  targets: readonly TargetFacts[],
): readonly Step[] {
  if (existing && isLeftAlone(existing)) return []
  const children = existing?.children ?? []
  const nested = new Map(children.filter((c) => c.kind === 'INSTALLATION').map((c) => [c.name, c]))
  const execution = children.find((c) => c.kind === 'EXECUTION') ?? null
  const wanted = new Map(spec.installations.map((n) => [n.name, n.spec]))
  const orphans = removeAll(
    path,
    children.filter((c) => (c.kind === 'INSTALLATION' ? !wanted.has(c.name) : spec.deployItems.length === 0)),
    { withoutUninstall: false, reason: () => ORPHANED },
  )
  const first = [ownStep('INSTALLATION', path, spec, existing), ...orphans.steps]
  if (!orphans.gone) return first
  return [
    ...first,
    ...topologicalOrder(nestedDependencies(spec)).flatMap((name) => {
      const own = wanted.get(name)
      return own ? applyInstallation([...path, name], own, nested.get(name) ?? null, targets) : []
    }),
    ...(spec.deployItems.length > 0 ? applyExecution(path, spec.deployItems, execution, targets) : []),
  ]
}

/** An ignored installation in a final phase starts nothing. */
export const isLeftAlone = ({ ignored, phase }: Existing): boolean => ignored && phase !== 'PENDING'

function ownStep(kind: ObjectKind, path: readonly string[], spec: unknown, existing: Existing | null): Step {
  if (!existing) return { action: 'CREATE', kind, path, reason: 'it is not there yet' }
  if (!sameJson(existing.spec, spec)) return { action: 'UPDATE', kind, path, reason: 'its spec changes' }
  return { action: 'RUN', kind, path, reason: 'every object of the tree runs again in a new job' }
}

function applyExecution(
  path: readonly string[],
  items: readonly ItemSpec[],
  existing: Existing | null,
  targets: readonly TargetFacts[],
): readonly Step[] {
  const at = [...path, existing?.name ?? 'deploy-items']
  const known = new Map(existing?.children.map((c) => [c.name, c]))
  const wanted = new Map(items.map((item) => [item.name, item]))
  const replaced = (item: Existing): boolean => {
    const before = item.spec as ItemSpec
    const list = before.each && wanted.get(before.each.of)
    // The job knows which items its list still has.
    if (list?.forEach !== undefined) return list.type !== before.type
    const now = wanted.get(item.name)
    if (now === undefined || now.type !== before.type) return true
    const chosen = chooseTarget(now, targets)
    return chosen.ok && chosen.target !== item.target
  }
  const replacedItems = (existing?.children ?? []).filter(replaced)
  const gone = new Set(replacedItems.map((o) => o.name))
  const reason = ({ name }: Existing) => (wanted.has(name) ? 'its type or target changes' : ORPHANED)
  return [
    items.some(({ forEach }) => forEach !== undefined) && existing
      ? { action: 'RUN', kind: 'EXECUTION', path: at, reason: 'the job finds the items of its lists' }
      : ownStep('EXECUTION', at, { deployItems: items }, existing),
    ...removeAll(at, replacedItems, { withoutUninstall: false, reason }).steps,
    ...items.map((item): Step => {
      if (item.forEach !== undefined) return listStep([...at, item.name], item.name, existing)
      const present = gone.has(item.name) ? null : (known.get(item.name) ?? null)
      const chosen = chooseTarget(item, targets)
      const step = ownStep('DEPLOY_ITEM', [...at, item.name], item, present)
      const target = chosen.ok ? chosen.target : null
      // People read the choice where nothing else shows it.
      const reason = item.targetSelector && target !== null ? `${step.reason}; ${target} is selected` : step.reason
      return { ...step, reason, target }
    }),
  ]
}

/** A list with expressions, of which a plan knows no entry. */
function listStep(path: readonly string[], name: string, execution: Existing | null): Step {
  const present = execution?.children.filter(({ spec }) => (spec as ItemSpec).each?.of === name).length ?? 0
  const reason = `forEach makes an item of each entry, which the job reads from its imports; now there are ${present}`
  return { action: present > 0 ? 'RUN' : 'CREATE', kind: 'DEPLOY_ITEM', path, reason }
}

const ORPHANED = 'it is no longer in the spec'
interface Removal {
  readonly steps: readonly Step[]
  /** True if nothing below is ignored, so that the object is deleted completely. */
  readonly gone: boolean
}

export const NOT_CALLED = 'its deployer is not called'
/** Children first. */
function remove(path: readonly string[], existing: Existing, withoutUninstall: boolean, reason: string): Removal {
  if (isLeftAlone(existing)) return { steps: [], gone: false }
  const below = removeAll(path, existing.children, { withoutUninstall, reason: () => reason })
  if (!below.gone) return below
  const silent = existing.kind === 'DEPLOY_ITEM' && (withoutUninstall || !existing.handed)
  const why = silent ? `${reason}; ${NOT_CALLED}` : reason
  return {
    steps: [...below.steps, { action: 'DELETE', kind: existing.kind, path, reason: why, target: existing.target }],
    gone: true,
  }
}

/** Deletes dependents before their dependencies. */
function removeAll(
  path: readonly string[],
  siblings: readonly Existing[],
  how: { readonly withoutUninstall: boolean; readonly reason: (existing: Existing) => string },
): Removal {
  const steps: Step[] = []
  const staying = new Set<string>()
  let gone = true
  for (const sibling of inReverse(siblings)) {
    const removal = staying.has(keyOf(sibling))
      ? { steps: [], gone: false }
      : remove([...path, sibling.name], sibling, how.withoutUninstall, how.reason(sibling))
    steps.push(...removal.steps)
    if (removal.gone) continue
    gone = false
    for (const name of sibling.dependsOn) staying.add(`${sibling.kind} ${name}`)
  }
  return { steps, gone }
}

const keyOf = ({ kind, name }: Existing): string => `${kind} ${name}`

function inReverse(siblings: readonly Existing[]): readonly Existing[] {
  const byName = new Map(siblings.map((s) => [keyOf(s), s]))
  const edges = new Map(siblings.map((s) => [keyOf(s), s.dependsOn.map((name) => `${s.kind} ${name}`)]))
  return [...topologicalOrder(edges)].reverse().flatMap((key) => byName.get(key) ?? [])
}
