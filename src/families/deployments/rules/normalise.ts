import { GATE } from '../../../core/deployers/gate.ts'
import { ITEM_TYPE_RULE, isItemType } from '../../../core/deployers/item-types.ts'
import { hasExpressions } from '../../../core/expression.ts'
import { LIMITS, MAX_INSTALLATION_DEPTH } from '../../../core/limits.ts'
import { isName, NAME_RULE, type Problems } from '../../../core/problems.ts'
import { isSecretImport, SECRET_RULE } from '../../../core/secret-import.ts'
import { readSelector, type TargetSelectorInput } from '../../../core/target.ts'
import { type LimitRequestInput, normaliseLimits } from '../../limit-requests.ts'
import { normaliseRetry, type RetryPolicyInput } from '../../retry-policy.ts'
import { type AutomaticReconcileInput, normaliseAutomatic } from './automatic-reconcile.ts'
import { defaultOf } from './scope.ts'
import type {
  ExportSpec,
  ImportSpec,
  InstallationSpec,
  ItemSpec,
  NestedSpec,
  Timeout,
  Timeouts,
  WantedTarget,
} from './spec.ts'

/** Converts API input to the stored spec: fills in defaults and checks names and numbers. */

/** The input from GraphQL, which has checked the types and the bounds. */
export interface SpecInput extends TargetInput {
  readonly imports?:
    | readonly { name: string; from?: string | null; schema?: unknown; required?: boolean | null; value?: unknown }[]
    | null
  readonly exports?: readonly { name: string; value: unknown }[] | null
  readonly installations?: readonly { name: string; spec: SpecInput }[] | null
  readonly deployItems?: readonly ItemInput[] | null
  readonly automaticReconcile?: AutomaticReconcileInput | null
}
interface TargetInput {
  readonly target?: string | null
  readonly targetSelector?: TargetSelectorInput | null
}
export interface ItemInput extends TargetInput {
  readonly name: string
  readonly type: string
  readonly dependsOn?: readonly string[] | null
  readonly config?: unknown
  readonly timeouts?: TimeoutsInput | null
  readonly retry?: RetryPolicyInput | null
  readonly forEach?: unknown
  readonly limits?: readonly LimitRequestInput[] | null
}
type TimeoutInput = { readonly ms?: number | null; readonly never?: boolean | null }
interface TimeoutsInput {
  readonly pickup?: TimeoutInput | null
  readonly progressing?: TimeoutInput | null
  readonly aborting?: TimeoutInput | null
}

/** Bounds of one root's whole spec. */
const MOST = {
  items: LIMITS.deployItems.max,
  installations: LIMITS.installations.max,
  depth: MAX_INSTALLATION_DEPTH,
} as const

const MAX_MS = 2 ** 31 - 1

interface Counting {
  items: number
  installations: number
}

export function normaliseSpec(input: SpecInput, path: string, problems: Problems): InstallationSpec {
  return normalise(input, { path, problems, count: { items: 0, installations: 0 }, depth: 1, wanted: {} })
}

interface Around {
  readonly path: string
  readonly problems: Problems
  readonly count: Counting
  readonly depth: number
  /** The target of the installation around it. */
  readonly wanted: WantedTarget
}

function normalise(input: SpecInput, { path, problems, count, depth, wanted: around }: Around): InstallationSpec {
  const nested = depth > MOST.depth ? [] : (input.installations ?? [])
  if (depth > MOST.depth) problems.add(path, `installations may be nested at most ${MOST.depth} deep`)
  countUp(count, 'items', countItems(input.deployItems ?? []), () => {
    problems.add(`${path}.deployItems`, `a tree may have at most ${MOST.items} deploy items`)
  })
  countUp(count, 'installations', nested.length, () => {
    problems.add(`${path}.installations`, `a tree may have at most ${MOST.installations} nested installations`)
  })
  const { automaticReconcile: automatic } = input
  if (automatic && depth > 1) problems.add(`${path}.automaticReconcile`, 'is of the root: a job is of its whole tree')
  const own = normaliseTarget(input, path, problems)
  const wanted = own ?? around
  const within = (at: string): Around => ({ path: at, problems, count, depth: depth + 1, wanted })
  return {
    ...wanted,
    imports: (input.imports ?? []).map((i, n) => normaliseImport(i, `${path}.imports.${n}`, problems)),
    exports: (input.exports ?? []).map(({ name, value }, n): ExportSpec => {
      checkName(name, `${path}.exports.${n}.name`, problems)
      return { name, value }
    }),
    installations: nested.map(({ name, spec }, n): NestedSpec => {
      checkName(name, `${path}.installations.${n}.name`, problems)
      return { name, spec: normalise(spec, within(`${path}.installations.${n}.spec`)) }
    }),
    deployItems: (input.deployItems ?? []).map((item, n) => normaliseItem(item, within(`${path}.deployItems.${n}`))),
    ...(automatic && { automaticReconcile: normaliseAutomatic(automatic, `${path}.automaticReconcile`, problems) }),
  }
}

/** A list that is written out counts its entries. */
const countItems = (items: readonly ItemInput[]): number =>
  items.reduce(
    (sum, { forEach }) => sum + (typeof forEach === 'object' && forEach ? Object.keys(forEach).length : 1),
    0,
  )

/** Reported once, at the path that exceeds the limit. */
function countUp(count: Counting, what: 'items' | 'installations', by: number, exceeded: () => void): void {
  const before = count[what]
  count[what] += by
  if (before <= MOST[what] && count[what] > MOST[what]) exceeded()
}

function checkName(name: string, path: string, problems: Problems): void {
  if (!isName(name)) problems.add(path, NAME_RULE)
}

function normaliseImport(
  { name, from, schema, required, value }: NonNullable<SpecInput['imports']>[number],
  path: string,
  problems: Problems,
): ImportSpec {
  checkName(name, `${path}.name`, problems)
  if (from) checkName(from, `${path}.from`, problems)
  const isGiven = value !== undefined && value !== null
  if (isGiven && isSecretImport(schema)) problems.add(`${path}.value`, SECRET_RULE)
  return {
    ...{ name, from: from ?? name, required: (required ?? true) && defaultOf(schema) === undefined },
    ...(schema !== undefined && schema !== null && { schema }),
    ...(isGiven && { value }),
  }
}

/** Null: the input says nothing of a target. */
function normaliseTarget(
  { target, targetSelector }: TargetInput,
  path: string,
  problems: Problems,
): WantedTarget | null {
  for (const [name, value] of Object.entries({ target, targetSelector }))
    if (hasExpressions(value))
      problems.add(`${path}.${name}`, 'is taken as it stands: expressions are in config and exports')
  if (!targetSelector) return typeof target === 'string' ? { target } : null
  const at = `${path}.targetSelector`
  if (typeof target === 'string') problems.add(at, 'is given beside `target`: one of them is enough')
  const { type } = readSelector(targetSelector, at, problems)
  if (type !== null && !isItemType(type)) problems.add(`${at}.type`, ITEM_TYPE_RULE)
  const labels = (targetSelector.labels ?? []).map(({ key, value }) => ({ key, value }))
  return { targetSelector: { type, labels } }
}

function normaliseItem(item: ItemInput, { path, problems, wanted }: Around): ItemSpec {
  checkName(item.name, `${path}.name`, problems)
  const own = normaliseTarget(item, path, problems)
  // No agent gets a gate, so there is nothing to choose one by, or to attempt again.
  const isGate = item.type === GATE
  const { target = null, targetSelector } = own ?? (isGate ? {} : wanted)
  if (isGate && own) problems.add(`${path}.target`, 'a gate has no target')
  if (isGate && item.retry) problems.add(`${path}.retry`, 'a gate is not attempted again')
  if (isGate && item.limits?.length) problems.add(`${path}.limits`, 'a gate holds nothing')
  if (!isItemType(item.type)) problems.add(`${path}.type`, ITEM_TYPE_RULE)
  return {
    name: item.name,
    type: item.type,
    target,
    ...(targetSelector && { targetSelector }),
    // In the order of the input, so that a problem has the input's path; sorted once the spec is valid.
    dependsOn: item.dependsOn ?? [],
    config: item.config ?? null,
    timeouts: normaliseTimeouts(item.timeouts ?? {}, `${path}.timeouts`, problems),
    ...(item.retry && { retry: normaliseRetry(item.retry, `${path}.retry`, problems) }),
    ...(item.forEach !== undefined && item.forEach !== null && { forEach: item.forEach }),
    ...(item.limits?.length && { limits: normaliseLimits(item.limits, `${path}.limits`, problems) }),
  }
}

function normaliseTimeouts(input: TimeoutsInput, path: string, problems: Problems): Timeouts {
  const entries = (['pickup', 'progressing', 'aborting'] as const).flatMap((name) => {
    const timeout = input[name] ? normaliseTimeout(input[name], `${path}.${name}`, problems) : null
    return timeout ? [[name, timeout] as const] : []
  })
  return Object.fromEntries(entries)
}

function normaliseTimeout({ ms, never }: TimeoutInput, path: string, problems: Problems): Timeout | null {
  if (typeof ms === 'number') {
    if (ms < 1 || ms > MAX_MS) problems.add(`${path}.ms`, `must be between 1 and ${MAX_MS} milliseconds`)
    return { ms }
  }
  if (never !== true) problems.add(`${path}.never`, 'must be true, or left out')
  return { never: true }
}
