import type { OfferedWork } from '../../../core/claimant.ts'
import { GATE } from '../../../core/deployers/gate.ts'
import type { TargetFacts } from '../../../core/target.ts'
import type { ObjectKind } from '../../../core/vocabulary.ts'
import { describeAwaited, lacksImport } from './blockers.ts'
import { chooseTarget } from './choose-target.ts'
import { describeUnmet, type UnmetInvariant } from './invariants.ts'
import type { PlanStep } from './plan.ts'
import { scopeImports } from './scope.ts'
import type { InstallationSpec, ItemSpec } from './spec.ts'

/** Predicts what a plan would wait for, from the facts that `blockedBy` judges once it has begun. Pure. */

export interface PlanFacts {
  /** True if a connected agent takes work of this type and target in the project. */
  isServed(work: Pick<OfferedWork, 'type' | 'target'>): boolean
  /** Names of the project's scope that have neither a value nor an exporter. */
  readonly missing: ReadonlySet<string>
  /** Invariants that the spec does not meet. */
  readonly unmet: readonly UnmetInvariant[]
  /** The targets of the project, by name. */
  readonly targets: readonly TargetFacts[]
}

export interface PlanBlocker {
  readonly reason: 'AGENT' | 'IMPORT' | 'INVARIANT' | 'TARGET'
  readonly message: string
  readonly kind: ObjectKind
  /** The path of the first object that would wait. */
  readonly path: readonly string[]
  readonly objectCount: number
}

interface PlannedItem {
  readonly path: readonly string[]
  readonly item: Pick<ItemSpec, 'type' | 'target'>
}

/** The blockers of a plan, each cause once. Unchanged items wait for nothing. */
export function predictBlockers(
  name: string,
  spec: InstallationSpec,
  steps: readonly PlanStep[],
  { isServed, missing, unmet, targets }: PlanFacts,
): readonly PlanBlocker[] {
  if (!steps.some(({ kind, action }) => kind === 'INSTALLATION' && action !== 'DELETE')) return []
  const root = { kind: 'INSTALLATION', path: [name], objectCount: 1 } as const
  const imports = requiredNames(spec)
    .filter((from) => missing.has(from))
    .map((from): PlanBlocker => ({ reason: 'IMPORT', message: lacksImport(from), ...root }))
  const invariants = unmet.map((one): PlanBlocker => ({ reason: 'INVARIANT', message: describeUnmet(one), ...root }))
  const started = new Set(steps.flatMap(({ kind, action, path }) => (startsWork(kind, action) ? keyOf(path) : [])))
  const planned = itemsOf([name], spec)
    .filter(({ path }) => started.has(keyOf(path)))
    .map(({ path, item }) => ({ path, item, chosen: chooseTarget(item, targets) }))
  const undecided = planned.flatMap(({ path, chosen }) => (chosen.ok ? [] : [{ path, message: chosen.message }]))
  const unserved = planned.flatMap(({ path, item: { type }, chosen }) =>
    chosen.ok && type !== GATE && !isServed({ type, target: chosen.target })
      ? [{ path, item: { type, target: chosen.target } }]
      : [],
  )
  const byAgent = Map.groupBy(unserved, ({ item }) => JSON.stringify([item.type, item.target]))
  const byTarget = Map.groupBy(undecided, ({ message }) => message)
  return [
    ...imports,
    ...invariants,
    ...[...byTarget].map(
      ([message, items]): PlanBlocker => ({
        ...{ reason: 'TARGET', message, kind: 'DEPLOY_ITEM', path: items[0]?.path ?? [], objectCount: items.length },
      }),
    ),
    ...[...byAgent.values()].flatMap(agentBlocker),
  ]
}

const startsWork = (kind: ObjectKind, action: PlanStep['action']): boolean =>
  kind === 'DEPLOY_ITEM' && action !== 'DELETE'

function agentBlocker(items: readonly PlannedItem[]): readonly PlanBlocker[] {
  const [first] = items
  if (!first) return []
  const message = describeAwaited(first.item.type, first.item.target, false)
  return [{ reason: 'AGENT', message, kind: 'DEPLOY_ITEM', path: first.path, objectCount: items.length }]
}

/** A name that is imported several times is required if one of them is. */
export const requiredNames = ({ imports }: InstallationSpec): readonly string[] => [
  ...new Set(scopeImports(imports).flatMap(({ from, required }) => (required ? from : []))),
]

/** Types of all items, for which agents are looked up. */
export const typesOf = (spec: InstallationSpec): readonly string[] => [
  ...new Set(itemsOf([], spec).map(({ item }) => item.type)),
]

/** Execution and items are named as the plan names them. */
const itemsOf = (
  path: readonly string[],
  spec: InstallationSpec,
): readonly { readonly path: readonly string[]; readonly item: ItemSpec }[] => [
  ...spec.deployItems.map((item) => ({ path: [...path, 'deploy-items', item.name], item })),
  ...spec.installations.flatMap((nested) => itemsOf([...path, nested.name], nested.spec)),
]

const keyOf = (path: readonly string[]): string => path.join('/')
