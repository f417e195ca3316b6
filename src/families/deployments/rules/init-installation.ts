import { hasExpressions } from '../../../core/expression.ts'
import { sameJson } from '../../../core/json.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { installation } from './details.ts'
import { expandItems, listsOf } from './for-each.ts'
import { importsOf } from './imports.ts'
import { observedSpec } from './observed-spec.ts'
import { nestedDependencies } from './scope.ts'
import type { InstallationSpec, ItemSpec, NestedSpec } from './spec.ts'

/** INIT and CLEANUP_ORPHANED: brings the children in line with the spec. */

const EXECUTION = 'deploy-items'

export function checkImports(node: Node, slice: Slice): 'unknown' | 'valid' | { readonly message: string } {
  const spec = observedSpec(node, slice)
  if (spec === undefined) return 'unknown'
  const values = installation(node).imports ?? {}
  const judged = importsOf(spec)
    .filter(({ name, schema }) => schema !== undefined && schema !== null && Object.hasOwn(values, name))
    .map(({ name, schema }) => ({ name, verdict: slice.validate(node, schema, values[name]) }))
  if (judged.some(({ verdict }) => verdict === undefined)) return 'unknown'
  const bad = judged.flatMap(({ name, verdict }) =>
    verdict && !verdict.ok ? [`The import ${name}: ${verdict.message}`] : [],
  )
  return bad.length > 0 ? { message: bad.join(' ') } : 'valid'
}

interface Wanted {
  readonly kind: 'INSTALLATION' | 'EXECUTION'
  readonly name: string
  readonly spec: unknown
}

/** The items that `forEach` makes of those of the spec. Undefined: the lists are not known yet. */
function itemsOf(
  node: Node,
  { deployItems }: InstallationSpec,
  slice: Slice,
): readonly ItemSpec[] | string | undefined {
  const lists = listsOf(deployItems)
  if (!hasExpressions(lists)) return expandItems(deployItems, lists)
  const known = slice.evaluate(node, lists, { imports: installation(node).imports ?? {} })
  if (!known?.ok) return known?.message
  return expandItems(deployItems, known.value as Readonly<Record<string, unknown>>)
}

function wantedChildren({ installations, deployItems }: InstallationSpec): readonly Wanted[] {
  const nested = installations.map(
    ({ name, spec: own }: NestedSpec): Wanted => ({ kind: 'INSTALLATION', name, spec: own }),
  )
  return deployItems.length === 0 ? nested : [...nested, { kind: 'EXECUTION', name: EXECUTION, spec: { deployItems } }]
}
const keyOf = (kind: string, name: string): string => `${kind} ${name}`

/** Marks the children that the spec no longer has and orders their deletion: importers first. */
export function markOrphanedChildren(node: Node, slice: Slice): boolean {
  const spec = observedSpec(node, slice)
  const children = slice.children(node)
  if (!spec || !children) return false
  const wanted = new Set(wantedChildren(spec).map(({ kind, name }) => keyOf(kind, name)))
  const orphans = children.filter(
    ({ row }) => row.deletionRequestedAt !== null || !wanted.has(keyOf(row.kind, row.name)),
  )
  const dependents = orphans.map((orphan) => slice.neighbours(orphan, 'dependents'))
  if (dependents.includes(undefined)) return false
  for (const [i, orphan] of orphans.entries()) {
    const waitingFor = dependents[i]?.filter((d) => orphans.includes(d)).length ?? 0
    slice.patch(orphan, { deletionRequestedAt: orphan.row.deletionRequestedAt ?? slice.now, waitingFor })
    slice.touch(orphan)
  }
  slice.setChildCounts(node, { total: orphans.length, untriggered: orphans.length, open: 0, failed: 0, cursor: 0 })
  return true
}

/** Once the orphans are gone, creates and updates the other children and their dependencies; or why it cannot. */
export function writeMissingChildren(node: Node, slice: Slice): 'unknown' | 'written' | { readonly message: string } {
  const spec = observedSpec(node, slice)
  const children = slice.children(node)
  if (!spec || !children || children.some((child) => slice.spec(child) === undefined)) return 'unknown'
  const deployItems = itemsOf(node, spec, slice)
  if (deployItems === undefined) return 'unknown'
  if (typeof deployItems === 'string') return { message: deployItems }
  const existing = new Map(children.map((child) => [keyOf(child.row.kind, child.row.name), child]))
  for (const [ordinal, wanted] of wantedChildren({ ...spec, deployItems }).entries()) {
    const key = keyOf(wanted.kind, wanted.name)
    const child = existing.get(key)
    if (child) updateChild(child, wanted, ordinal, slice)
    else existing.set(key, slice.create(node, { ...wanted, ordinal }))
  }
  for (const [name, names] of nestedDependencies(spec)) {
    const child = existing.get(keyOf('INSTALLATION', name))
    if (child)
      slice.setDependencies(
        child,
        names.flatMap((n) => existing.get(keyOf('INSTALLATION', n)) ?? []),
      )
  }
  return 'written'
}

function updateChild(child: Node, wanted: Wanted, ordinal: number, slice: Slice): void {
  if (child.row.ordinal !== ordinal) slice.patch(child, { ordinal })
  if (sameJson(slice.spec(child), wanted.spec)) return
  slice.setSpec(child, wanted.spec)
  slice.patch(child, { generation: child.row.generation + 1 })
}
