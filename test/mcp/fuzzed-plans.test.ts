import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bounds } from '../../mcp/src/plans.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { present } from '../testkit/ask.ts'
import { FAILED } from '../testkit/deployments.ts'
import { accepted, addProject } from '../testkit/pipelines.ts'
import { seeded } from '../testkit/seed.ts'
import { soak } from '../testkit/soak.ts'
import { item, succeed, USER } from '../testkit/world.ts'
import { openTools, type Tools } from './mcp-client.ts'

/**
 * Random plans of callers with different tokens and bounds, in a world that changes between a plan and its application: none is applied
 * to another world than it has read, none beyond its token or its bounds, and a refused one writes nothing.
 */

const PLANS = soak(200, 10_000)
/** The long form takes half an hour. */
const HANGS_MS = soak(240_000, 7_200_000)
const random = seeded()
const below = (count: number): number => Math.floor(random() * count)
const pick = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T

const PROJECTS = ['default', 'other'] as const
const OF_ROOTS = ['cancel', 'delete', 'reconcile', 'retry', 'pause', 'resume', 'apply', 'apply'] as const
const OF_ITEMS = ['retryNow', 'giveUpRetries'] as const

interface Caller {
  readonly name: string
  /** Its token may write there. */
  readonly writes: readonly string[]
  readonly bounds: Bounds
  readonly tools: Tools
}

let api: Api
const callers: Caller[] = []
beforeAll(async () => {
  api = await createApi()
  await addProject(api.world, 'other')
  const { url } = await api.serve()
  const add = async (
    name: string,
    role: 'USER' | 'READER',
    writes: readonly string[],
    bounds: Partial<Bounds> = {},
  ) => {
    const token = await api.token({
      name,
      role,
      ...(role === 'USER' && writes.length < 2 && { projects: [...writes] }),
    })
    const all: Bounds = { verbs: null, projects: null, max: Number.POSITIVE_INFINITY, ...bounds }
    callers.push({ name, writes, bounds: all, tools: await openTools(url, token, { bounds: all }) })
  }
  await add('everywhere', 'USER', PROJECTS)
  await add('one-project', 'USER', ['default'])
  await add('reader', 'READER', [])
  await add('few-verbs', 'USER', PROJECTS, { verbs: new Set(['pause', 'resume', 'apply']) })
  await add('bound-project', 'USER', PROJECTS, { projects: new Set(['other']) })
  await add('few', 'USER', PROJECTS, { max: 5 })
})
afterAll(async () => {
  for (const { tools } of callers) await tools[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

interface Row {
  readonly id: string
  readonly rootId: string
  readonly parentId: string | null
  readonly name: string
  readonly project: string
  readonly revision: number
  readonly generation: number
}
/** All objects, and what is asked of them that no phase shows yet. */
async function look(): Promise<{ readonly rows: readonly Row[]; readonly whole: string }> {
  const { rows } = await api.world.pool.query<Row>(
    `select o.id, o.root_id as "rootId", o.parent_id as "parentId", o.name, p.name as project, o.revision, o.generation
     from object o join project p on p.id = o.project_id order by o.id`,
  )
  const asked = await api.world.pool.query(
    `select object_id, next_mode, next_deletion, cancel_requested_at from installation order by 1`,
  )
  const pauses = await api.world.pool.query('select root_id, reason from root_pause order by 1')
  return { rows, whole: JSON.stringify([rows, asked.rows, pauses.rows]) }
}
/** The object, its root and its children, as a plan reads them. */
function readingOf(rows: readonly Row[], id: string): string {
  const object = rows.find((row) => row.id === id)
  const read = rows.filter((row) => row.id === id || row.id === object?.rootId || row.parentId === id)
  return JSON.stringify(read.map(({ id: one, revision, generation }) => [one, revision, generation]))
}

let trees = 0
const flaky = { retry: { attempts: 3, backoff: { initialMs: 3_600_000 } } }
const specOf = () => ({
  deployItems: ['a', 'b', 'c']
    .slice(0, 1 + below(3))
    .map((name) => ({ ...item(name, [], { n: below(100) }), ...(below(3) === 0 && flaky) })),
})
const create = async () => {
  const input = { project: pick(PROJECTS), name: `t${++trees}`, spec: specOf(), reconcile: true }
  await accepted(api.world.commands.createInstallation(USER, input))
  await api.world.settle()
}

/** Something happens in the world, often nothing. */
async function happen(rows: readonly Row[]): Promise<void> {
  const { world } = api
  const root = pick(rows.filter(({ parentId }) => parentId === null))
  const act = below(8)
  if (act === 0) await world.update(root.id, specOf(), below(2) === 0).catch(() => undefined)
  if (act === 1) await world.reconcile(root.id).catch(() => undefined)
  if (act === 2) world.clock.advance(60_000)
  if (act < 5)
    for (const one of await world.claim(1 + below(3)))
      await world.report({ fence: one.fence, ...(below(4) === 0 ? FAILED : succeed(one)) })
  await world.settle()
}

async function ask(caller: Caller, rows: readonly Row[]) {
  const roots = rows.filter(({ parentId }) => parentId === null)
  const [target, verb] = below(6) > 0 ? [pick(roots), pick(OF_ROOTS)] : [pick(rows), pick(OF_ITEMS)]
  if (verb !== 'apply') {
    const told = await caller.tools.call('plan', { verb, object: target.id })
    return { told, verb, project: target.project, id: target.id }
  }
  const isNew = below(4) === 0
  const [name, project] = [isNew ? `n${below(5)}` : target.name, target.project]
  const manifest = JSON.stringify({ name, project, spec: specOf() })
  const told = await caller.tools.call('plan', { manifest })
  const existing = rows.find((row) => row.parentId === null && row.name === name && row.project === project)
  return { told, verb, project, id: existing?.id ?? null }
}

test('no plan is applied to a changed world, and none beyond its token', { timeout: HANGS_MS }, async () => {
  const counts = { planned: 0, applied: 0, changed: 0, refused: 0 }
  const applied = new Map<string, number>()
  for (let i = 0; counts.planned < PLANS; i += 1) {
    if (i > 20 * PLANS) throw new Error('too few requests can be planned')
    if ((await look()).rows.filter(({ parentId }) => parentId === null).length < 6) await create()
    const before = await look()
    const caller = pick(callers)
    const { told, verb, project, id } = await ask(caller, before.rows)
    expect((await look()).whole).toBe(before.whole)
    if (told.isError) continue
    counts.planned += 1
    if (below(2) === 0) await happen(before.rows)
    const then = await look()
    const answer = await caller.tools.call('apply', { plan: String(told.data.plan) })
    const isSame = id !== null && readingOf(before.rows, id) === readingOf(then.rows, id)
    const about = `${caller.name} ${verb} ${id}: ${answer.text}`
    if (answer.isError) {
      expect((await look()).whole, about).toBe(then.whole)
      if (answer.text.includes('REVISION_MISMATCH')) {
        expect(isSame, about).toBe(false)
        counts.changed += 1
      } else counts.refused += 1
      continue
    }
    // A creation has found the name free.
    expect(isSame || id === null, about).toBe(true)
    expect(caller.writes, about).toContain(project)
    expect(caller.bounds.verbs?.has(verb) ?? true, about).toBe(true)
    expect(caller.bounds.projects?.has(project) ?? true, about).toBe(true)
    counts.applied += 1
    applied.set(caller.name, (applied.get(caller.name) ?? 0) + 1)
    await api.world.settle()
  }
  // Each outcome was seen, and the audit has what was applied as what it is, and nothing else of these callers.
  for (const [what, count] of Object.entries(counts)) expect([what, count > 0]).toEqual([what, true])
  expect(applied.get('few') ?? 0).toBeLessThanOrEqual(5)
  const { rows } = await api.world.pool.query<{ by: string; count: number }>(
    `select principal_name as by, count(*)::int as count from audit_event where outcome = 'DONE' and principal_name = any($1) group by 1`,
    [callers.map(({ name }) => name)],
  )
  expect(Object.fromEntries(rows.map(({ by, count }) => [by, count]))).toEqual(Object.fromEntries(applied))
})

test('of plans that have read the same and are applied together, one is', { timeout: HANGS_MS }, async () => {
  for (let i = 0; i < soak(10, 500); i += 1) {
    await create()
    const { rows } = await look()
    const root = present(rows.find(({ name }) => name === `t${trees}`))
    const [one, other] = callers
      .filter(({ name }) => name === 'everywhere' || name === 'few-verbs')
      .map(({ tools }) => tools)
    const answers = await Promise.all(
      [present(one), present(other), present(one)].map(async (tools, n) => {
        const spec = { deployItems: [item(`n${n}`)] }
        const { plan } = (
          await tools.call('plan', { manifest: JSON.stringify({ name: root.name, project: root.project, spec }) })
        ).data
        return () => tools.call('apply', { plan })
      }),
    )
    const applied = await Promise.all(answers.map((apply) => apply()))
    expect(applied.filter(({ isError }) => !isError)).toHaveLength(1)
    await api.world.settle()
  }
})
