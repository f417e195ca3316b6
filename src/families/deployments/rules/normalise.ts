import { ITEM_TYPE_RULE, isItemType } from '../../../core/deployers/item-types.ts'
import { hasExpressions } from '../../../core/expression.ts'
import { LIMITS } from '../../../core/limits.ts'
import { isName, NAME_RULE, type Problems } from '../../../core/problems.ts'
import type { ExportSpec, ImportSpec, InstallationSpec, ItemSpec, NestedSpec, Timeout, Timeouts } from './spec.ts'

/** Converts API input to the stored spec: fills in defaults and checks names and numbers. */

/** The input from GraphQL, which has checked the types and the bounds. */
export interface SpecInput {
  readonly imports?:
    | readonly { name: string; from?: string | null; schema?: unknown; required?: boolean | null }[]
    | null
  readonly exports?: readonly { name: string; value: unknown }[] | null
  readonly installations?: readonly { name: string; spec: SpecInput }[] | null
  readonly deployItems?: readonly ItemInput[] | null
}
export interface ItemInput {
  readonly name: string
  readonly type: string
  readonly target?: string | null
  readonly dependsOn?: readonly string[] | null
  readonly config?: unknown
  readonly timeouts?: TimeoutsInput | null
}
type TimeoutInput = { readonly ms?: number | null; readonly never?: boolean | null }
interface TimeoutsInput {
  readonly pickup?: TimeoutInput | null
  readonly progressing?: TimeoutInput | null
  readonly aborting?: TimeoutInput | null
}

/** Bounds of one root's whole spec. */
const MOST = { items: LIMITS.deployItems.max, installations: LIMITS.installations.max, depth: 16 } as const

const MAX_MS = 2 ** 31 - 1

interface Counting {
  items: number
  installations: number
}

export function normaliseSpec(input: SpecInput, path: string, problems: Problems): InstallationSpec {
  return normalise(input, path, problems, { items: 0, installations: 0 }, 1)
}

function normalise(
  input: SpecInput,
  path: string,
  problems: Problems,
  count: Counting,
  depth: number,
): InstallationSpec {
  const nested = depth > MOST.depth ? [] : (input.installations ?? [])
  if (depth > MOST.depth) problems.add(path, `installations may be nested at most ${MOST.depth} deep`)
  countUp(count, 'items', input.deployItems?.length ?? 0, () => {
    problems.add(`${path}.deployItems`, `a tree may have at most ${MOST.items} deploy items`)
  })
  countUp(count, 'installations', nested.length, () => {
    problems.add(`${path}.installations`, `a tree may have at most ${MOST.installations} nested installations`)
  })
  return {
    imports: (input.imports ?? []).map((i, n) => normaliseImport(i, `${path}.imports.${n}`, problems)),
    exports: (input.exports ?? []).map(({ name, value }, n): ExportSpec => {
      checkName(name, `${path}.exports.${n}.name`, problems)
      return { name, value }
    }),
    installations: nested.map(({ name, spec }, n): NestedSpec => {
      checkName(name, `${path}.installations.${n}.name`, problems)
      return { name, spec: normalise(spec, `${path}.installations.${n}.spec`, problems, count, depth + 1) }
    }),
    deployItems: (input.deployItems ?? []).map((item, n) => normaliseItem(item, `${path}.deployItems.${n}`, problems)),
  }
}

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
  { name, from, schema, required }: NonNullable<SpecInput['imports']>[number],
  path: string,
  problems: Problems,
): ImportSpec {
  checkName(name, `${path}.name`, problems)
  if (from) checkName(from, `${path}.from`, problems)
  const base = { name, from: from ?? name, required: required ?? true }
  return schema === undefined || schema === null ? base : { ...base, schema }
}

function normaliseItem(item: ItemInput, path: string, problems: Problems): ItemSpec {
  checkName(item.name, `${path}.name`, problems)
  if (hasExpressions(item.target))
    problems.add(`${path}.target`, 'is taken as it stands: expressions are in config and exports')
  if (!isItemType(item.type)) problems.add(`${path}.type`, ITEM_TYPE_RULE)
  return {
    name: item.name,
    type: item.type,
    target: item.target ?? null,
    // In the order of the input, so that a problem has the input's path; sorted once the spec is valid.
    dependsOn: item.dependsOn ?? [],
    config: item.config ?? null,
    timeouts: normaliseTimeouts(item.timeouts ?? {}, `${path}.timeouts`, problems),
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
