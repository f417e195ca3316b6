import DataLoader from 'dataloader'
import { readable } from '../core/can-read.ts'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { ObjectRow } from '../core/tree.ts'
import { phaseChangeId } from '../log/line.ts'
import { countTrees } from '../store/loaders/find-objects.ts'
import { loadObjects, loadPaths } from '../store/loaders/objects.ts'
import { loadPhaseChanges } from '../store/loaders/phase-changes.ts'
import { loadProjects, type ProjectRow } from '../store/loaders/projects.ts'
import { loadLabels, loadSpecs, loadStatuses, loadWork } from '../store/loaders/side-rows.ts'
import type { Window } from '../store/loaders/window.ts'
import { loadPauses } from '../store/pauses.ts'
import { type GraphQLContext, perOperation } from './context.ts'
import type { ResolverContext } from './resolver-context.ts'
import { deletedMeanwhile } from './schema/deleted-meanwhile.ts'
import { isUuid, type PhaseChangeId } from './schema/ids.ts'

/** One statement for each question that a list asks about its entries. Loaders are made anew for each operation. */

export const objectLoader = perOperation(({ pool, viewer }) =>
  loadById<ObjectRow>(async (ids) => readable(viewer, await loadObjects(pool, ids, viewer.projects))),
)
/** Objects that a large page has read already, so that references to them need no loader. */
export const objectsAtHand = perOperation(() => new Map<string, ObjectRow>())

/** An object that another one refers to; null once it is deleted. */
export const referredObject = (context: GraphQLContext, id: string): ObjectRow | Promise<ObjectRow | null> =>
  objectsAtHand(context).get(id) ?? objectLoader(context).load(id)

/** For what a foreign key guarantees: null means that it was deleted while the request ran, with all that belongs to it. */
export async function existing<T>(found: Promise<T | null>, id: string): Promise<T> {
  const value = await found
  if (value === null) throw deletedMeanwhile(id)
  return value
}

export const projectLoader = perOperation(({ pool, viewer }) =>
  loadById<ProjectRow>((ids) => loadProjects(pool, { ids }, viewer.projects)),
)
export const phaseChangeLoader = perOperation(
  ({ pool, viewer }) =>
    new DataLoader<PhaseChangeId, PhaseChangeRecord | null, string>(
      async (ids) => {
        const rows = readable(viewer, await loadPhaseChanges(pool, ids, viewer.projects))
        const found = new Map(rows.map((row) => [phaseChangeId(row), row]))
        return ids.map((id) => found.get(phaseChangeId(id)) ?? null)
      },
      { cacheKeyFn: phaseChangeId },
    ),
)

export const statusLoader = perOperation(({ pool }) => loadSide((ids) => loadStatuses(pool, ids)))
export const pathLoader = perOperation(({ pool }) => loadSide((ids) => loadPaths(pool, ids)))
export const pauseLoader = perOperation(({ pool }) => loadSide((ids) => loadPauses(pool, ids)))
export const labelLoader = perOperation(({ pool }) => loadSide((ids) => loadLabels(pool, ids)))
/** Specs are large: no more of them are loaded than an answer may hold. */
export const specLoader = perOperation(({ pool, answer }) => {
  let left = answer.limit
  return loadSide(async (ids) => {
    const loaded = await loadSpecs(pool, ids, left)
    if (!loaded) return answer.exceed()
    left -= loaded.bytes
    return loaded.specs
  })
})
export const treeCountsLoader = perOperation(({ pool, kinds }: ResolverContext) =>
  loadSide((ids) => countTrees(pool, ids, kinds.finishedRule)),
)
export const workLoader = perOperation(({ pool }) => loadSide((ids) => loadWork(pool, ids)))

/** Null for an id that names nothing, also if it is no UUID. */
export function loadById<T extends { readonly id: string }>(
  load: (ids: readonly string[]) => Promise<readonly T[]>,
): DataLoader<string, T | null> {
  return new DataLoader(async (ids) => {
    const wanted = ids.filter(isUuid)
    const rows = wanted.length > 0 ? await load(wanted) : []
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id) => found.get(id.toLowerCase()) ?? null)
  })
}

/** Rows beside objects; null for an object that has none. */
export function loadSide<T>(
  load: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): DataLoader<string, T | null> {
  return new DataLoader(async (ids) => {
    const found = await load(ids)
    return ids.map((id) => found.get(id) ?? null)
  })
}

/** Resolves a field to a property of the side row of an object; `otherwise` if the object has none, or no such row. */
export function sideField<Row extends object, Key extends keyof Row, Otherwise>(
  loader: (context: GraphQLContext) => DataLoader<string, Row | null>,
  key: Key,
  otherwise: Otherwise,
): (
  object: { readonly id: string },
  args: unknown,
  context: GraphQLContext,
) => Promise<NonNullable<Row[Key]> | Otherwise> {
  return async ({ id }, _, context) => (await loader(context).load(id))?.[key] ?? otherwise
}

/** Resolves a field to the object whose id the side row of an object names; null if there is none, and once it is deleted. */
export function sideObject<Key extends string, Row extends Readonly<Record<Key, string | null>>>(
  loader: (context: GraphQLContext) => DataLoader<string, Row | null>,
  key: Key,
) {
  return async ({ id }: { readonly id: string }, _: unknown, context: GraphQLContext): Promise<ObjectRow | null> => {
    const named = (await loader(context).load(id))?.[key]
    return named ? objectLoader(context).load(named) : null
  }
}

/** Resolves a field to the object with the id `objectId`; null once it is deleted, or if the viewer may not read it. */
export const objectOf = (
  { objectId }: { readonly objectId: string },
  _: unknown,
  context: GraphQLContext,
): Promise<ObjectRow | null> => objectLoader(context).load(objectId)

/** A page of a list that belongs to one of many. */
export interface PageKey<Position> {
  readonly id: string
  readonly window: Window<Position>
}

/** One statement for all pages with the same window, that is for each occurrence of a field in a document. */
export function loadPages<T, Position>(
  load: (ids: readonly string[], window: Window<Position>) => Promise<ReadonlyMap<string, readonly T[]>>,
): DataLoader<PageKey<Position>, readonly T[], string> {
  const keyOf = ({ id, window }: PageKey<Position>): string => `${id} ${JSON.stringify(window)}`
  return new DataLoader(
    async (keys) => {
      const groups = Map.groupBy(keys, ({ window }) => JSON.stringify(window))
      const pages = new Map<string, readonly T[]>()
      for (const group of groups.values()) {
        const { window } = group[0] as PageKey<Position>
        const ids = group.map(({ id }) => id)
        for (const [id, rows] of await load(ids, window)) pages.set(keyOf({ id, window }), rows)
      }
      return keys.map((key) => pages.get(keyOf(key)) ?? [])
    },
    { cacheKeyFn: keyOf },
  )
}

export function loadCounts(
  count: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>,
): DataLoader<string, number> {
  return new DataLoader(async (ids) => {
    const counts = await count(ids)
    return ids.map((id) => counts.get(id) ?? 0)
  })
}
