import DataLoader from 'dataloader'
import type { LogCursor } from '../../core/ports/log.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { isFinished, type ObjectRow } from '../../core/tree.ts'
import { cursorAt } from '../../log/cursor.ts'
import { countLogLines, type LogLineRow, loadLogLines } from '../../store/loaders/log-lines.ts'
import { countHistories, loadHistories } from '../../store/loaders/phase-changes.ts'
import { countRelated, loadRelated, type Relation } from '../../store/loaders/related-objects.ts'
import { noteLogsRead } from '../audit/note-read.ts'
import { type GraphQLContext, perOperation } from '../context.ts'
import type { BlockerValue, DeadlineValue, GraphQLFamily } from '../family.ts'
import { loadCounts, loadPages } from '../loaders.ts'
import { caughtUp } from '../log/read-your-writes.ts'
import type { ResolverContext } from '../resolver-context.ts'
import { type Connection, connect, type PageArgs } from '../schema/connection.ts'
import { lineCursor, logCursor, siblingCursor } from '../schema/cursors.ts'
import { reportExpired } from '../schema/failures.ts'

/** The lists of an object. Each is one statement for all objects of a list. */

const RELATIONS: readonly Relation[] = ['children', 'dependsOn', 'dependents']
const related = perOperation(
  ({ pool }) =>
    new Map(
      RELATIONS.map((relation) => [
        relation,
        {
          pages: loadPages((ids, window: Parameters<typeof loadRelated>[3]) =>
            loadRelated(pool, relation, ids, window),
          ),
          counts: loadCounts((ids) => countRelated(pool, relation, ids)),
        },
      ]),
    ),
)

export function relatedOf(
  context: GraphQLContext,
  relation: Relation,
  { id }: ObjectRow,
  args: PageArgs,
): Promise<Connection<ObjectRow>> {
  const loaders = related(context).get(relation)
  if (!loaders) throw new Error(`no such relation: ${relation}`)
  return connect(args, {
    cursor: siblingCursor,
    position: (row: ObjectRow) => [row.ordinal, row.id] as const,
    load: (window) => loaders.pages.load({ id, window }),
    count: () => loaders.counts.load(id),
  })
}

const histories = perOperation(({ pool }) => {
  const of = (includeRejected: boolean) => ({
    pages: loadPages((ids, window: Parameters<typeof loadHistories>[3]) =>
      loadHistories(pool, ids, includeRejected, window),
    ),
    counts: loadCounts((ids) => countHistories(pool, ids, includeRejected)),
  })
  return { all: of(true), written: of(false) }
})

export async function historyOf(
  context: GraphQLContext,
  { id }: ObjectRow,
  { includeRejected, ...args }: PageArgs & { readonly includeRejected: boolean },
): Promise<Connection<PhaseChangeRecord>> {
  const { pages, counts } = histories(context)[includeRejected ? 'all' : 'written']
  await caughtUp(context, null)
  return await connect<PhaseChangeRecord, LogCursor>(args, {
    cursor: logCursor,
    position: cursorAt,
    load: async ({ after, before, ...window }) => {
      const between = { after: after?.sequence ?? null, before: before?.sequence ?? null }
      const page = await pages.load({ id, window: { ...window, ...between } })
      // A page after a cursor is complete if the log still has the cursor once the page is read.
      const { log } = context
      if (after || before)
        await reportExpired(log, () => log.checkWindow({ after: after ?? undefined, before: before ?? undefined }))
      return page
    },
    count: () => counts.load(id),
  })
}

const logLines = perOperation(({ pool }) => ({
  pages: loadPages((ids, window: Parameters<typeof loadLogLines>[2]) => loadLogLines(pool, ids, window)),
  counts: loadCounts((ids) => countLogLines(pool, ids)),
}))

export function logsOf(context: GraphQLContext, row: ObjectRow, args: PageArgs): Promise<Connection<LogLineRow>> {
  const { id } = row
  noteLogsRead(context, row)
  const { pages, counts } = logLines(context)
  return connect(args, {
    cursor: lineCursor,
    position: (line: LogLineRow) => line.n,
    load: (window) => pages.load({ id, window }),
    count: () => counts.load(id),
  })
}

/** Asks each family once, about all objects of its kinds. */
export function loadFromFamilies<T>(
  context: ResolverContext,
  ask: (family: GraphQLFamily, rows: readonly ObjectRow[]) => Promise<readonly T[]>,
): DataLoader<ObjectRow, T, string> {
  return new DataLoader(
    async (rows) => {
      const answers = new Map<ObjectRow, T>()
      for (const [family, own] of Map.groupBy(rows, ({ kind }) => context.kinds.familyOf(kind))) {
        const found = await ask(family, own)
        for (const [i, row] of own.entries()) answers.set(row, found[i] as T)
      }
      return rows.map((row) => answers.get(row) as T)
    },
    { cacheKeyFn: ({ id }) => id },
  )
}

export const blockersLoader = perOperation((context: ResolverContext) =>
  loadFromFamilies<readonly BlockerValue[]>(context, (family, rows) => family.blockers(context, rows)),
)
export const deadlinesLoader = perOperation((context: ResolverContext) =>
  loadFromFamilies<readonly DeadlineValue[]>(context, (family, rows) => family.deadlines(context, rows)),
)
/**
 * True if an object without a running job has none to come: at rest unless one is outstanding, elsewhere if it is left
 * out.
 */
const finishedLoader = perOperation((context: ResolverContext) =>
  loadFromFamilies<boolean>(context, async (family, rows) => {
    const atRest = rows.map((row) => context.kinds.isAtRest(row))
    const resting = rows.filter((_, i) => atRest[i])
    const others = rows.filter((_, i) => !atRest[i])
    const [outstanding, leftOut] = await Promise.all([
      family.outstanding(context, resting),
      others.length > 0 ? family.leftOut?.(context, others) : [],
    ])
    const [isOutstanding, isLeftOut] = [outstanding.values(), (leftOut ?? []).values()]
    return atRest.map((rests) => (rests ? isOutstanding.next().value === false : isLeftOut.next().value === true))
  }),
)
/** True if nothing runs for the object, and nothing will without a request. */
export const isObjectFinished = (context: ResolverContext, row: ObjectRow): boolean | Promise<boolean> =>
  isFinished(row) && finishedLoader(context).load(row)
