import { awaitAll } from '../store/await-all.ts'
import type { Client } from '../store/client.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import type { Kinds } from './families.ts'
import type { Question } from './slice/questions.ts'
import type { TreeSlice } from './slice/tree-slice.ts'
import { TrackedObject } from './tracked-object.ts'

/** Adds loaded objects to the slice. Objects that are in memory already are newer and stay. */
export function take(slice: TreeSlice, kinds: Kinds, loaded: readonly LoadedNode[]): void {
  for (const node of loaded) {
    if (slice.nodes.has(node.row.id)) continue
    const tracked = new TrackedObject(node, true)
    tracked.details ??= kinds.detailsOf(node.row.kind)?.defaults ?? null
    slice.nodes.set(node.row.id, tracked)
  }
}

/** Loads objects by id with their ancestors. Ids of other trees and of deleted objects are ignored. */
export async function load(client: Client, slice: TreeSlice, kinds: Kinds, ids: readonly string[]): Promise<void> {
  const missing = [...new Set(ids)].filter((id) => !slice.nodes.has(id))
  if (missing.length > 0) take(slice, kinds, await kinds.rows.nodes(client, slice.root.row.id, missing))
}

type Of<T extends Question['type']> = Extract<Question, { type: T }>

/** Loads the answers to open questions concurrently. Questions of one type share a statement where possible. */
export async function answer(client: Client, slice: TreeSlice, kinds: Kinds, open: readonly Question[]): Promise<void> {
  const of = <T extends Question['type']>(type: T) => open.filter((q): q is Of<T> => q.type === type)
  const answerIds = async (question: Question, loading: Promise<readonly LoadedNode[]>) => {
    const loaded = await loading
    take(slice, kinds, loaded)
    slice.questions.answer(
      question,
      loaded.map((node) => node.row.id),
    )
  }
  const { rows } = kinds
  await awaitAll([
    ...of('children').map((q) => answerIds(q, rows.children(client, q.id))),
    ...of('named').map((q) => answerIds(q, rows.named(client, q.id, q.kind, q.names))),
    ...of('ready').map((q) => fillReady(client, slice, kinds, q)),
    fillSpecs(
      client,
      slice,
      kinds,
      of('spec').map((q) => q.id),
    ),
    ...(['dependents', 'dependencies'] as const).map((side) =>
      fillNeighbours(
        client,
        slice,
        kinds,
        side,
        of(side).map((q) => q.id),
      ),
    ),
    fillFamilyAnswers(client, slice, kinds, of('own')),
  ])
  // Rules read the specs of these children next. All are loaded now, or children with cached specs overtake the others.
  const parents = new Set([...of('named'), ...of('ready')].map(({ id }) => id))
  const unknown = [...slice.nodes.values()].filter((n) => n.spec === undefined && parents.has(n.row.parentId ?? ''))
  await fillSpecs(
    client,
    slice,
    kinds,
    unknown.map((n) => n.row.id),
  )
}

/** Reads only ids first, since this transaction has just written most of these objects. */
async function fillReady(client: Client, slice: TreeSlice, kinds: Kinds, q: Of<'ready'>): Promise<void> {
  const ids = await kinds.rows.readyChildren(client, q.id, q.after, q.jobId, q.limit)
  await load(client, slice, kinds, ids)
  slice.questions.answer(q, ids)
}

async function fillSpecs(client: Client, slice: TreeSlice, { rows }: Kinds, ids: readonly string[]): Promise<void> {
  const unknown = [...new Set(ids)].filter((id) => !takeCachedSpec(slice, id))
  if (unknown.length === 0) return
  for (const [id, spec] of await rows.specs(client, unknown)) {
    const tracked = slice.nodes.get(id)
    if (tracked && tracked.spec === undefined) tracked.spec = spec
  }
}

function takeCachedSpec(slice: TreeSlice, id: string): boolean {
  const tracked = slice.nodes.get(id)
  const cached = slice.specs.get(id)
  if (!tracked || cached?.revision !== tracked.persistedRow.revision) return false
  tracked.spec ??= cached.spec
  return true
}

export async function fillNeighbours(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  side: 'dependents' | 'dependencies',
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = slice.isRewired ? [] : ids.filter((id) => slice.questions.isAnswered({ type: side, id }))
  const found = new Map(known.map((id) => [id, slice.questions.find({ type: side, id }) as readonly string[]]))
  const unknown = ids.filter((id) => !found.has(id))
  if (unknown.length === 0) return found
  const loaded = await kinds.rows.edges(client, side, unknown)
  await takeNeighbours(client, slice, kinds, side, loaded)
  return new Map([...found, ...loaded])
}

export async function takeNeighbours(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  side: 'dependents' | 'dependencies',
  found: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  await load(client, slice, kinds, [...found.values()].flat())
  for (const [id, neighbours] of found) slice.questions.answer({ type: side, id }, neighbours)
}

async function fillFamilyAnswers(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  open: readonly Of<'own'>[],
): Promise<void> {
  for (const question of new Set(open.map((q) => q.question))) {
    const asked = open.filter((q) => q.question === question)
    const answers: readonly unknown[] = await kinds.answer(question)(
      client,
      slice.root.row.id,
      asked.map((q) => q.args as never),
    )
    for (const [i, q] of asked.entries()) slice.questions.answer(q, answers[i])
  }
}
