import type { Client } from '../store/client.ts'
import { loadEdges, loadSpecs } from '../store/load-edges.ts'
import { loadFacts } from '../store/load-facts.ts'
import { type LoadedNode, loadChildren, loadChildrenNamed, loadNodes, loadReadyChildren } from '../store/load-nodes.ts'
import { Draft } from './draft.ts'
import type { Kinds } from './families.ts'
import type { Question } from './questions.ts'
import type { TreeSlice } from './slice.ts'

/** Takes what was loaded into the slice. What is in memory already is newer and stays. */
export async function take(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  loaded: readonly LoadedNode[],
): Promise<void> {
  const fresh = loaded.filter((node) => !slice.nodes.has(node.row.id)).map((node) => new Draft(node, true))
  for (const table of kinds.facts) {
    const of = fresh.filter((draft) => draft.row.kind === table.kind)
    if (of.length === 0) continue
    const found = await loadFacts(
      client,
      table,
      of.map((draft) => draft.row.id),
    )
    for (const draft of of) draft.facts = found.get(draft.row.id) ?? table.defaults
  }
  for (const draft of fresh) slice.nodes.set(draft.row.id, draft)
}

/** Loads objects by id with their ancestors. Ids of other trees, or of what is gone, are passed over. */
export async function bring(client: Client, slice: TreeSlice, kinds: Kinds, ids: readonly string[]): Promise<void> {
  const missing = [...new Set(ids)].filter((id) => !slice.nodes.has(id))
  if (missing.length > 0) await take(client, slice, kinds, await loadNodes(client, slice.root.row.id, missing))
}

type Of<T extends Question['type']> = Extract<Question, { type: T }>

/** Finds the answers to open questions; those of one sort together where that saves a statement. */
export async function answer(client: Client, slice: TreeSlice, kinds: Kinds, open: readonly Question[]): Promise<void> {
  const of = <T extends Question['type']>(type: T) => open.filter((q): q is Of<T> => q.type === type)
  const ids = async (question: Question, loaded: readonly LoadedNode[]) => {
    await take(client, slice, kinds, loaded)
    slice.questions.answer(
      question,
      loaded.map((node) => node.row.id),
    )
  }
  for (const q of of('children')) await ids(q, await loadChildren(client, q.id))
  for (const q of of('named')) {
    await ids(q, await loadChildrenNamed(client, q.id, q.kind, q.names))
  }
  for (const q of of('ready')) await ids(q, await loadReadyChildren(client, q.id, q.after, q.jobId, q.limit))
  const named = of('named').flatMap((q) =>
    [...slice.nodes.values()].filter((n) => n.row.parentId === q.id && n.spec === undefined),
  )
  await fillSpecs(client, slice, [...of('spec').map((q) => q.id), ...named.map((n) => n.row.id)])
  for (const side of ['dependents', 'dependencies'] as const) {
    await fillNeighbours(
      client,
      slice,
      kinds,
      side,
      of(side).map((q) => q.id),
    )
  }
  await fillOwn(client, slice, kinds, of('own'))
}

async function fillSpecs(client: Client, slice: TreeSlice, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const specs = await loadSpecs(client, [...new Set(ids)])
  for (const [id, spec] of specs) {
    const draft = slice.nodes.get(id)
    if (draft && draft.spec === undefined) draft.spec = spec
  }
}

export async function fillNeighbours(
  client: Client,
  slice: TreeSlice,
  kinds: Kinds,
  side: 'dependents' | 'dependencies',
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (ids.length === 0) return new Map()
  const found = await loadEdges(client, side, ids)
  await bring(client, slice, kinds, [...found.values()].flat())
  for (const [id, neighbours] of found) slice.questions.answer({ type: side, id }, neighbours)
  return found
}

async function fillOwn(client: Client, slice: TreeSlice, kinds: Kinds, open: readonly Of<'own'>[]): Promise<void> {
  for (const question of new Set(open.map((q) => q.question))) {
    const asked = open.filter((q) => q.question === question)
    const find = kinds.families.find((family) => family.questions[question])?.questions[question]
    if (!find) throw new Error(`no family answers ${question}`)
    const answers = await find(
      client,
      slice.root.row.id,
      asked.map((q) => q.args),
    )
    for (const [i, q] of asked.entries()) slice.questions.answer(q, answers[i])
  }
}
