import type { Node, Slice } from '../../../core/tree.ts'
import { NOT_FOUND, type Resync, resync } from './resync.ts'
import type { ReportedObject } from './spec.ts'

/** Bounds the orphans that are reported. */
const MAX_ORPHANS = 1_000

/** Applies the state of all instances of a CRM. `known`: the instances of the cloudlet by path, parents first. */
export function resyncAll(
  { cloudlet, known }: { readonly cloudlet: Node; readonly known: ReadonlyMap<string, Node> },
  slice: Slice,
  objects: readonly ReportedObject[],
  how: Resync,
): void {
  const said = new Map(objects.map((object) => [pathOf(object.path), object]))
  // Children first, so that a cluster instance sees the new state of its app instances.
  for (const [path, node] of [...known].reverse()) {
    resync(node, slice, said.get(path) ?? NOT_FOUND, how)
    if (!node.gone) slice.touch(node)
  }
  const orphans = objects.filter(({ path, phase }) => phase !== 'NOT_PRESENT' && !known.has(pathOf(path)))
  slice.setDetails(cloudlet, { orphans: orphans.slice(0, MAX_ORPHANS), resyncedAt: slice.now })
}

/** Names contain no slash. */
const pathOf = (path: readonly string[]): string => path.join('/')

/** The instances of a cloudlet by path, parents first; undefined: not all of them are loaded. */
export function instancesOf(cloudlet: Node, slice: Slice): ReadonlyMap<string, Node> | undefined {
  const clusters = slice.children(cloudlet)
  if (!clusters) return undefined
  const apps = clusters.map((cluster) => slice.children(cluster))
  if (apps.some((of) => of === undefined)) return undefined
  const { name } = cloudlet.row
  return new Map([
    ...clusters.map((cluster) => [pathOf([name, cluster.row.name]), cluster] as const),
    ...clusters.flatMap((cluster, i) =>
      (apps[i] ?? []).map((app) => [pathOf([name, cluster.row.name, app.row.name]), app] as const),
    ),
  ])
}
