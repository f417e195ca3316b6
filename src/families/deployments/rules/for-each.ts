import { hasExpressions } from '../../../core/expression.ts'
import { LIMITS } from '../../../core/limits.ts'
import { isName, NAME_RULE } from '../../../core/problems.ts'
import type { Each, InstallationSpec, ItemSpec } from './spec.ts'

/** Items with `forEach`: one item for each entry of a list, which is known once the imports are. Pure. */

/** Edges that the lists of one installation may make: between two long ones there would be their product. */
const MAX_EDGES = 200_000
/** Characters of the items that they may make, as JSON: a large config times a long list would fill any memory. */
const MAX_TEXT = 16 * LIMITS.json.max

/** The lists of the items that have one, by their names, with their expressions. */
export const listsOf = (items: readonly ItemSpec[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(items.flatMap(({ name, forEach }) => (forEach === undefined ? [] : [[name, forEach]])))

/** The items that a job has, in the same order; or why there are none. */
export function expandItems(
  items: readonly ItemSpec[],
  lists: Readonly<Record<string, unknown>>,
): readonly ItemSpec[] | string {
  const entries = new Map<string, readonly Each[]>()
  const taken = new Set(items.flatMap(({ name, forEach }) => (forEach === undefined ? [name] : [])))
  for (const [of, list] of Object.entries(lists)) {
    const found = entriesOf(of, list)
    if (typeof found === 'string') return `${of}: forEach ${found}`
    for (const name of found.map(nameOf)) {
      if (taken.has(name)) return `${of}: forEach makes the item ${name} twice, or beside another of that name`
      taken.add(name)
    }
    entries.set(of, found)
  }
  if (taken.size > LIMITS.deployItems.max) return `there are more than ${LIMITS.deployItems.max} deploy items`
  let edges = 0
  let characters = JSON.stringify(lists).length
  const expanded: ItemSpec[] = []
  for (const { forEach: _, ...item } of items) {
    const dependsOn = item.dependsOn.flatMap((name) => entries.get(name)?.map(nameOf) ?? [name])
    const fanned = item.dependsOn.filter((name) => entries.has(name))
    const base = { ...item, dependsOn, ...(fanned.length > 0 && { fanned }) }
    const own = entries.get(item.name)
    const count = own?.length ?? 1
    edges += count * dependsOn.length
    if (edges > MAX_EDGES) return `${item.name}: its lists make more than ${MAX_EDGES} dependencies`
    if (own) characters += count * JSON.stringify(base).length
    if (characters > MAX_TEXT) return `${item.name}: its items would have more than ${MAX_TEXT} characters together`
    for (const each of own ?? [null]) expanded.push(each ? oneOf(base, each) : base)
  }
  return expanded
}

const nameOf = ({ of, key }: Each): string => `${of}-${key}`

function oneOf(item: ItemSpec, each: Each): ItemSpec {
  const own = { ...item, name: nameOf(each), each }
  const target = targetOf(each.value)
  if (target === null) return own
  const { targetSelector: _, ...rest } = own
  return { ...rest, target }
}
/** The target that an entry brings; null: none. */
function targetOf(value: unknown): string | null {
  const { target } = (value ?? {}) as { readonly target?: unknown }
  return typeof target === 'string' ? target : null
}

/** The entries of a list of texts, numbers and named objects, or of a map; or what is wrong with it. */
function entriesOf(of: string, list: unknown): readonly Each[] | string {
  if (typeof list !== 'object' || list === null) return 'must be a list or a map'
  const entries: Each[] = []
  for (const [at, value] of Object.entries(list)) {
    const key = Array.isArray(list) ? keyOf(value) : at
    if (key === null) return `has the entry ${at}, which is no text or number, and no object with a name`
    const each = { of, key, value }
    if (!isName(nameOf(each)))
      return `makes ${nameOf(each).slice(0, 100)} of an entry, which is no name: it ${NAME_RULE}`
    const target = targetOf(value)
    if (target !== null && target.length > LIMITS.target.max)
      return `has the entry ${key}, whose target has more than ${LIMITS.target.max} characters`
    entries.push(each)
  }
  return entries
}

function keyOf(value: unknown): string | null {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  const { name } = (value ?? {}) as { readonly name?: unknown }
  return typeof name === 'string' ? name : null
}

/** The spec as far as it is known before a job: lists with expressions stay. */
export function expandLiterals(spec: InstallationSpec): InstallationSpec {
  const installations = spec.installations.map(({ name, spec: nested }) => ({ name, spec: expandLiterals(nested) }))
  const lists = listsOf(spec.deployItems)
  const isKnown = Object.keys(lists).length > 0 && !hasExpressions(lists)
  const items = isKnown ? expandItems(spec.deployItems, lists) : spec.deployItems
  return { ...spec, installations, deployItems: typeof items === 'string' ? spec.deployItems : items }
}

/** The exports of items by their names; those that one list has made stand under the name of its item, by their keys. */
export function exportsByItem(
  items: readonly { readonly name: string; readonly each: Each | null; readonly exports: unknown }[],
  fanned: readonly string[],
): Readonly<Record<string, { readonly exports: unknown }>> {
  const exports = new Map<string, unknown>()
  const byKey = new Map(fanned.map((name) => [name, new Map<string, unknown>()]))
  for (const { name, each, exports: own } of items) {
    const group = each && byKey.get(each.of)
    if (group) group.set(each.key, own)
    else exports.set(name, own)
  }
  for (const [name, group] of byKey) exports.set(name, Object.fromEntries(group))
  return Object.fromEntries([...exports].map(([name, own]) => [name, { exports: own }]))
}
