import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobsAgain } from '../../../src/families/operations/rules/jobs-again.ts'
import { predecessors } from '../../../src/families/operations/rules/normalise-task.ts'
import type { JobSpec } from '../../../src/families/operations/rules/spec.ts'
import { declaredStatements } from '../../../src/store/statement.ts'
import { addTask, begin, broken, claimJob, gadget, jobsOf, letGo, reportJob } from '../../testkit/operations.ts'
import { accepted, refused } from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  letGo()
  await world.pool.query('truncate object, work, wake, root_queue cascade')
})
const expr = (source: string): string => `\${${source}}`
const COPY = [
  gadget('dump'),
  gadget('look', { when: expr('1 > 2') }),
  gadget('restore', { args: [expr('jobs.dump.exports.file')] }),
  gadget('check'),
]

/** A task whose `restore` has failed; the name of the project's first is `copy`. */
async function failed(name = 'copy'): Promise<string> {
  const id = await addTask(world, COPY, name)
  await reportJob(world, { fence: (await begin(world, 'dump')).fence, phase: 'DONE', exports: { file: 'a.sql' } })
  await reportJob(world, { fence: (await begin(world, 'restore')).fence, phase: 'UNDOING', error: broken })
  await reportJob(world, { fence: (await claimJob(world, 'restore')).fence, phase: 'FAILED' })
  const ended = { task: 'FAILED', dump: 'DONE', look: 'SKIPPED', restore: 'FAILED', check: 'SKIPPED' }
  expect(await jobsOf(world, id)).toEqual(ended)
  letGo()
  return id
}
async function retry(input: Parameters<World['operations']['retryTask']>[1]): Promise<string> {
  const { objectId } = await accepted(world.operations.retryTask(USER, input))
  await world.settle()
  return objectId
}
const nameOf = async (id: string): Promise<string> =>
  (await world.pool.query<{ name: string }>('select name from object where id = $1', [id])).rows[0]?.name ?? ''

describe('a task that has ended', () => {
  test('is retried from where it failed: what is DONE is inherited, with its exports', async () => {
    const id = await failed()
    const again = await retry({ id, unsuccessful: true })
    const begun = { task: 'RUNNING', dump: 'DONE', look: 'SKIPPED', restore: 'DECLARING', check: 'PENDING' }
    expect([await nameOf(again), await jobsOf(world, again)]).toEqual(['copy-2', begun])
    const { config, fence } = await begin(world, 'restore')
    expect(config).toMatchObject({ args: ['a.sql'] })
    await reportJob(world, { fence, phase: 'DONE' })
    await reportJob(world, { fence: (await begin(world, 'check')).fence, phase: 'DONE' })
    expect(await jobsOf(world, again)).toMatchObject({ task: 'SUCCEEDED', check: 'DONE' })
    // An inherited job is inherited again, and the number counts on.
    const once = await retry({ id: again, jobs: ['restore'] })
    expect(await nameOf(once)).toBe('copy-3')
    expect((await begin(world, 'restore')).config).toMatchObject({ args: ['a.sql'] })
  })

  test('runs again as a whole, or as one job alone', async () => {
    const id = await failed()
    expect(await jobsOf(world, await retry({ id }))).toMatchObject({ dump: 'DECLARING', restore: 'PENDING' })
    const alone = await retry({ id, jobs: ['check'], name: 'only-check' })
    expect([await nameOf(alone), await jobsOf(world, alone)]).toEqual([
      'only-check',
      { task: 'RUNNING', dump: 'DONE', check: 'DECLARING' },
    ])
  })

  test('is not retried before its end, nor with jobs that use what there is not', async () => {
    const running = await addTask(world, COPY, 'copy')
    expect(await refused(world.operations.retryTask(USER, { id: running }))).toMatchObject({ code: 'BUSY' })
    await accepted(world.operations.cancelTask(USER, { id: running }))
    await world.settle()
    expect(await refused(world.operations.retryTask(USER, { id: running, jobs: ['restore', 'none'] }))).toMatchObject({
      type: 'InvalidInputError',
      fields: [
        { path: 'input.jobs.1', message: 'there is no job none' },
        { path: 'input.jobs', message: 'must have dump, too: restore uses it, and it is not DONE' },
      ],
    })
    expect(await refused(world.operations.retryTask(USER, { id: running, jobs: [] }))).toMatchObject({
      fields: [{ path: 'input.jobs', message: 'must not be empty' }],
    })
    expect(await refused(world.operations.retryTask(USER, { id: running, name: 'copy' }))).toMatchObject({
      code: 'ALREADY_EXISTS',
    })
    const stranger = viewerOf('USER', { projects: ['another'] })
    expect(await refused(world.operations.retryTask(stranger, { id: running }))).toMatchObject({
      type: 'NotFoundError',
    })
  })

  test('is created once for a key, and its name is that of no other, at any length', async () => {
    const long = 'x'.repeat(63)
    const id = await failed(long)
    const [first, same] = [await retry({ id, idempotencyKey: 'k' }), await retry({ id, idempotencyKey: 'k' })]
    expect(same).toBe(first)
    const names = await Promise.all(
      [first, ...(await Promise.all([retry({ id }), retry({ id })]))].map((each) => nameOf(each)),
    )
    expect(names.toSorted()).toEqual([`${'x'.repeat(61)}-2`, `${'x'.repeat(61)}-3`, `${'x'.repeat(61)}-4`])
  })
})

/** Jobs whose dependencies come before them. */
const graphs = fc
  .array(fc.tuple(fc.array(fc.nat(20), { maxLength: 4 }), fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 12 })
  .map((rows) =>
    rows.map(([numbers, isDone, isChosen], i) => {
      const dependsOn = i === 0 ? [] : [...new Set(numbers.map((n) => `j${n % i}`))]
      const spec: JobSpec = { name: `j${i}`, gadget: 'do-it', args: [], env: {}, when: null, dependsOn }
      return { spec, isDone, isChosen }
    }),
  )

test('a free name is found after as many look-ups as names are taken', async () => {
  const id = await failed()
  for (const name of ['copy-2', 'copy-3']) expect(await nameOf(await retry({ id }))).toBe(name)
  const { text = '' } = declaredStatements().find((one) => one.name === 'free-task-name') ?? {}
  const { rows: projects } = await world.pool.query<{ id: string }>(
    'select project_id as id from object where id = $1',
    [id],
  )
  const explained = await world.pool.query<{ 'QUERY PLAN': [{ Plan: object }] }>(
    `explain (analyze, format json) ${text}`,
    [projects[0]?.id, 'copy'],
  )
  const plan = JSON.stringify(explained.rows)
  const counts = [...plan.matchAll(/"Actual (?:Rows|Loops)":(\d+)/g)].map(([, count]) => Number(count))
  expect(Math.max(...counts)).toBeLessThan(10)
})

test('whatever is left out, jobs that run keep their order, and have what is DONE before them', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const chosen = new Set(graph.flatMap(({ spec, isChosen }) => (isChosen ? [spec.name] : [])))
      const { jobs, inherited } = jobsAgain(graph, chosen)
      const [old, now] = [predecessors(graph.map(({ spec }) => spec)), predecessors(jobs)]
      const kept = new Set(jobs.map(({ name }) => name))
      expect(kept).toEqual(chosen.union(inherited))
      for (const { spec, isDone } of graph) {
        const isNeeded = [...chosen].some((name) => old.get(name)?.has(spec.name))
        expect(inherited.has(spec.name)).toBe(isDone && isNeeded && !chosen.has(spec.name))
      }
      for (const { name } of jobs) expect(now.get(name)).toEqual(old.get(name)?.intersection(kept))
    }),
  )
})
