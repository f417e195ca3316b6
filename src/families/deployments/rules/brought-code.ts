import { type CodeLevel, codeLevelOf } from '../../../core/deployers/item-types.ts'
import { hasExpressions } from '../../../core/expression.ts'
import { sameJson } from '../../../core/json.ts'
import { topologicalOrder } from './graph.ts'
import { nestedDependencies } from './scope.ts'
import type { InstallationSpec, ItemSpec } from './spec.ts'

/** Finds deploy items of a spec that bring new code. Pure. */

export interface BroughtItem {
  /** Names from the root down, as those of a plan. */
  readonly path: readonly string[]
  readonly type: string
  readonly level: Exclude<CodeLevel, 'NONE'>
}

/**
 * Items that bring code, and whose type, target or config differs from that of the present item in their place. An item with
 * expressions is the present one only as long as all that they read within the tree is: imports, items that it depends on,
 * and installations that export to its own. Data of the project that imports bring is not part of the tree.
 */
export const broughtCode = (
  name: string,
  spec: InstallationSpec,
  present: InstallationSpec | null,
): readonly BroughtItem[] => broughtIn([name], spec, present, true)

/** @param isFed imports that are the same read the same from the tree */
function broughtIn(
  path: readonly string[],
  spec: InstallationSpec,
  present: InstallationSpec | null,
  isFed: boolean,
): readonly BroughtItem[] {
  const readsSame = isFed && sameJson(spec.imports, present?.imports)
  const same = sameItems(spec.deployItems, present?.deployItems ?? [], readsSame)
  const own = spec.deployItems.flatMap(({ name, type }): readonly BroughtItem[] => {
    const level = codeLevelOf(type)
    return level === 'NONE' || same.has(name) ? [] : [{ path: [...path, 'deploy-items', name], type, level }]
  })
  const before = new Map(present?.installations.map((nested) => [nested.name, nested.spec]))
  const wanted = new Map(spec.installations.map((nested) => [nested.name, nested.spec]))
  const exporters = nestedDependencies(spec)
  const unchanged = new Set<string>()
  const nested = topologicalOrder(exporters).flatMap((name) => {
    const [now, then = null] = [wanted.get(name), before.get(name)]
    if (!now) return []
    const isNestedFed = readsSame && (exporters.get(name) ?? []).every((other) => unchanged.has(other))
    if (isNestedFed && then && sameJson(now, then)) unchanged.add(name)
    return broughtIn([...path, name], now, then, isNestedFed)
  })
  return [...own, ...nested]
}

/** Names of the items that do what the present ones do. A spec has its items after those that they depend on. */
function sameItems(items: readonly ItemSpec[], present: readonly ItemSpec[], readsSame: boolean): ReadonlySet<string> {
  const before = new Map(present.map((item) => [item.name, item]))
  const same = new Set<string>()
  for (const { name, type, target, targetSelector, config, dependsOn, forEach } of items) {
    const then = before.get(name)
    const isThere = then?.type === type && then.target === target && sameJson(then.targetSelector, targetSelector)
    const isEqual = isThere && sameJson(then.config, config) && sameJson(then.forEach, forEach)
    const isFed = !hasExpressions([config, forEach]) || (readsSame && dependsOn.every((other) => same.has(other)))
    if (isEqual && isFed) same.add(name)
  }
  return same
}
