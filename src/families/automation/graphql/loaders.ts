import DataLoader from 'dataloader'
import { perOperation } from '../../../graphql/context.ts'
import { loadCounts, loadPages, loadSide } from '../../../graphql/loaders.ts'
import type { Window } from '../../../store/loaders/window.ts'
import type { BulkOutcome } from '../rules/bulk.ts'
import { countBackfills, loadBackfills, loadProgress } from '../store/backfills.ts'
import { countTargets, loadBulk, loadTargets } from '../store/bulk.ts'
import { countFirings, type DayRow, loadDays, loadFirings, loadSchedules, type Stretch } from '../store/firings.ts'

export const scheduleLoader = perOperation(({ pool }) => loadSide((ids) => loadSchedules(pool, ids)))
const firingLoaders = (owner: 'schedule' | 'backfill') =>
  perOperation(({ pool }) => ({
    pages: loadPages((ids, window: Window<string>) => loadFirings(pool, owner, ids, window)),
    counts: loadCounts((ids) => countFirings(pool, owner, ids)),
  }))
export const firingsOfSchedule = firingLoaders('schedule')
export const firingsOfBackfill = firingLoaders('backfill')
/** One statement for each stretch that a document asks for. */
export const daysLoader = perOperation(
  ({ pool }) =>
    new DataLoader<{ readonly id: string; readonly stretch: Stretch }, readonly DayRow[], string>(
      async (keys) => {
        const found = new Map<string, readonly DayRow[]>()
        for (const [stretch, group] of Map.groupBy(keys, ({ stretch }) => JSON.stringify(stretch))) {
          const ids = group.map(({ id }) => id)
          const [first] = group
          if (!first) continue
          for (const [id, days] of await loadDays(pool, ids, first.stretch)) found.set(`${id} ${stretch}`, days)
        }
        return keys.map(({ id, stretch }) => found.get(`${id} ${JSON.stringify(stretch)}`) ?? [])
      },
      { cacheKeyFn: ({ id, stretch }) => `${id} ${JSON.stringify(stretch)}` },
    ),
)
export const bulkLoader = perOperation(({ pool }) => loadSide((ids) => loadBulk(pool, ids)))
export const bulkCounts = perOperation(({ pool }) => loadSide((ids) => countTargets(pool, ids)))
/** One statement for each choice of outcomes that a document asks for. */
export const targetsLoader = perOperation(({ pool }) => {
  const made = new Map<string, ReturnType<typeof make>>()
  const make = (outcomes: readonly BulkOutcome[] | null) =>
    loadPages((ids, window: Window<string>) => loadTargets(pool, ids, outcomes, window))
  return (outcomes: readonly BulkOutcome[] | null) => {
    const key = String(outcomes)
    const known = made.get(key) ?? make(outcomes)
    made.set(key, known)
    return known
  }
})
export const backfillLoaders = perOperation(({ pool }) => ({
  pages: loadPages((ids, window: Window<string>) => loadBackfills(pool, ids, window)),
  counts: loadCounts((ids) => countBackfills(pool, ids)),
  progress: loadSide((ids) => loadProgress(pool, ids)),
}))
