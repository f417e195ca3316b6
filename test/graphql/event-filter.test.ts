import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ResultOf, VariablesOf } from '../../src/documents/typed-document.ts'
import type { Client } from '../../src/store/client.ts'
import { findObjects, type ObjectQuery } from '../../src/store/loaders/find-objects.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { addEvent, addProject } from '../testkit/pipelines.ts'
import { createWorld } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** `objects(filter: { event })`: what lists of events select by, in the database. */

const LIST =
  gql(`query ($filter: ObjectFilter, $orderBy: ObjectOrder, $first: Int, $after: String, $last: Int, $before: String) {
  objects(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    totalCount pageInfo { hasNextPage endCursor hasPreviousPage startCursor }
    edges { node { id project { name } labels { key value } ... on Event { source type qualifiers { key value } } } }
  }
}`)
type Variables = VariablesOf<typeof LIST>
type Filter = NonNullable<Variables['filter']>
type Listed = Extract<
  NonNullable<ResultOf<typeof LIST>['objects']>['edges'][number]['node'],
  { readonly source: string }
>

const pair = (text: string) => ({ key: text.slice(0, 1), value: text.slice(1) })
const PROJECTS = ['one', 'two']
const SOURCES = ['a', 'b', "'; --"]
const TYPES = ['push', 'tag']
const QUALIFIERS = [[], ['q1'], ['q2'], ['q1', 'r1']].map((pairs) => pairs.map(pair))
const LABELS = [[], ['l1']].map((pairs) => pairs.map(pair))
const orNone = <T>(values: readonly T[]): readonly (T | null)[] => [null, ...values]

let api: Api
let all: readonly Listed[]
beforeAll(async () => {
  api = await createApi()
  for (const name of PROJECTS) await addProject(api.world, name)
  await api.world.create('shop', {})
  const made = PROJECTS.flatMap((project) =>
    SOURCES.flatMap((source) => TYPES.map((type) => ({ project, source, type }))),
  )
  for (const [n, event] of made.entries())
    for (const k of [0, 1]) {
      const more = { qualifiers: QUALIFIERS[(n + k) % 4] ?? [], labels: LABELS[(n + k) % 2] ?? [] }
      await addEvent(api.world, event.project, { ...event, ...more })
    }
  all = (await page({ first: 100, filter: { kinds: ['EVENT'] } })).nodes
  expect(all).toHaveLength(24)
})
afterAll(() => api[Symbol.asyncDispose]())

async function page(variables: Variables) {
  const { edges, ...rest } = present((await api.query(LIST, variables)).objects)
  return { ...rest, nodes: edges.map(({ node }) => node as Listed) }
}
const idsOf = (nodes: readonly Listed[]) => nodes.map(({ id }) => id)
const text = (pairs: Listed['labels']) => pairs.map(({ key, value }) => key + value).sort()
const isOf = (node: Listed, { project, labels, event }: Filter): boolean =>
  (project == null || node.project.name === project) &&
  (labels ?? []).every(({ key, value }) => text(node.labels).includes(key + value)) &&
  (event?.source == null || node.source === event.source) &&
  (event?.type == null || node.type === event.type) &&
  (event?.qualifiers == null || text(node.qualifiers).join() === text(event.qualifiers).join())

test('every combination selects what each of its fields selects', async () => {
  const events = orNone(SOURCES).flatMap((source) =>
    orNone(TYPES).flatMap((type) => orNone(QUALIFIERS).map((qualifiers) => ({ source, type, qualifiers }))),
  )
  for (const event of events)
    for (const filter of [{ event }, { event, project: 'two' }, { event, labels: LABELS[1] ?? [] }]) {
      const expected = all.filter((node) => isOf(node, filter))
      const { nodes, totalCount } = await page({ first: 100, filter })
      expect([idsOf(nodes), totalCount], JSON.stringify(filter)).toEqual([idsOf(expected), expected.length])
    }
  expect((await page({ first: 100, filter: { event: {} } })).totalCount).toBe(24)
  expect((await page({ first: 100, filter: { event: {}, kinds: ['INSTALLATION'] } })).nodes).toEqual([])
  expect((await page({ first: 100, filter: { event: null, kinds: ['INSTALLATION'] } })).totalCount).toBe(1)
})

test.each(['CREATED_AT', 'NAME'] as const)(
  'its pages have each event once, in both directions, by %s',
  async (field) => {
    for (const direction of ['ASC', 'DESC'] as const) {
      const of: Variables = { filter: { event: { source: 'a', type: 'push' } }, orderBy: { field, direction } }
      const whole = idsOf((await page({ ...of, first: 100 })).nodes)
      expect(new Set(whole)).toEqual(new Set(idsOf(all.filter((node) => isOf(node, of.filter ?? {})))))
      const forward: string[] = []
      for (let after: string | null = null, goesOn = true; goesOn; ) {
        const { nodes, pageInfo } = await page({ ...of, first: 1, after })
        forward.push(...idsOf(nodes))
        after = pageInfo.endCursor
        goesOn = pageInfo.hasNextPage
      }
      const backward: string[] = []
      for (let before: string | null = null, goesOn = true; goesOn; ) {
        const { nodes, pageInfo } = await page({ ...of, last: 1, before })
        backward.unshift(...idsOf(nodes))
        before = pageInfo.startCursor
        goesOn = pageInfo.hasPreviousPage
      }
      expect([forward, backward]).toEqual([whole, whole])
    }
  },
)

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}
/** Rows that a plan has read from tables. */
const readBy = (node: PlanNode): number =>
  (node['Relation Name'] ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'] : 0) +
  (node.Plans ?? []).reduce((sum, child) => sum + readBy(child), 0)

test('a page of one source or type among many events is read alone, wherever it begins', async () => {
  await using world = await createWorld({ ownDatabase: true })
  const { pool } = world
  await addProject(world, 'many')
  const id = "('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"
  await pool.query(`insert into object (id, root_id, project_id, kind, name, ordinal, phase, phase_since, created_at, updated_at)
    select ${id}, ${id}, p.id, 'EVENT', 'event-' || n, 0, 'PENDING', now(), now(), now()
    from generate_series(1, 20000) n, project p where p.name = 'many'`)
  await pool.query(`insert into event (object_id, source, type, qualifiers, subscribed)
    select ${id}, case when n % 200 = 0 then 'rare' else 'common' end, case when n % 200 = 1 then 'rare' else 'common' end, '{}', false
    from generate_series(1, 20000) n`)
  await pool.query('vacuum analyze')

  const read = async (
    columns: Readonly<Record<string, unknown>>,
    after: number | null,
  ): Promise<readonly [found: number, read: number]> => {
    let rows = 0
    const client = {
      query: async ({ text, values }: { text: string; values: unknown[] }) => {
        const explained = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `explain (analyze, format json) ${text}`,
          values,
        )
        rows += readBy(present(explained.rows[0])['QUERY PLAN'][0].Plan)
        return await pool.query(text, values)
      },
    } as unknown as Client
    const query: ObjectQuery = {
      ...{ projects: null, project: 'many', kinds: ['EVENT'], rootsOnly: true },
      sideRows: [{ table: 'event', columns }],
    }
    const idOf = (n: number) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
    const found = await findObjects(
      client,
      query,
      { final: [], outstanding: [], leftOut: [] },
      { field: 'CREATED_AT', direction: 'DESC' },
      { limit: 11, backward: false, after: after === null ? null : [idOf(after), idOf(after)], before: null },
    )
    return [found.length, rows]
  }
  for (const columns of [
    { source: 'rare' },
    { type: 'rare' },
    { source: 'common' },
    { source: 'common', type: 'common' },
  ])
    for (const after of [null, 10_000]) {
      const [found, rows] = await read(columns, after)
      expect(found, JSON.stringify(columns)).toBe(11)
      expect(rows, JSON.stringify([columns, after])).toBeLessThan(40)
    }
})
