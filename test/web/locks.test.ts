import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { holdUpsOf, type Lock, resourcesOf } from '../../web-playground/src/families/operations/model/lock-queues.ts'
import { type PlayedRunner, playRunner } from '../cli/played-runner.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { openBrowser } from '../testkit/browser.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { visit, widerBy } from './visit.ts'

/** e.g. `a holds r X`, `b wants r S 2`. */
function lock(text: string): Lock {
  const [name = '', how, resource = '', mode, position] = text.split(' ')
  return {
    resource,
    mode: mode === 'S' ? 'SHARED' : 'EXCLUSIVE',
    held: how === 'holds',
    position: position ? Number(position) : null,
    declaredAt: '2026-11-21T20:00:00.000Z',
    grantedAt: null,
    object: { id: name, name, phase: 'RUNNING', root: { id: 't', name: 't' }, project: { name: 'ops' } },
  }
}
const holdUps = (...texts: readonly string[]) =>
  holdUpsOf(resourcesOf(texts.map(lock))).map(({ object, waiting, isRoot }) => [object.name, waiting, isRoot])

test('a resource has its holders, and its queue in order; those in demand come first', () => {
  const resources = resourcesOf(
    ['a holds quiet X', 'c wants busy S 2', 'b wants busy X 1', 'a holds busy S', 'd holds busy S'].map(lock),
  )
  expect(resources.map(({ name }) => name)).toEqual(['busy', 'quiet'])
  const [busy] = resources
  expect(busy?.holders.map(({ object }) => object?.name)).toEqual(['a', 'd'])
  expect(busy?.queue.map(({ object, behind }) => [object?.name, behind?.map((one) => one.object?.name)])).toEqual([
    ['b', ['a', 'd']],
    ['c', ['b']],
  ])
})

test('who holds up whom goes through all that wait in between', () => {
  expect(holdUps('a holds r X', 'b wants r X 1', 'b holds s X', 'c wants s S 1', 'd wants s S 2')).toEqual([
    ['a', 3, true],
    ['b', 2, false],
  ])
})

test('who could share is held up by nobody who shares', () => {
  // It waits for s alone: r it could have at once.
  const texts = ['a holds r S', 'b holds s X', 'c wants r S 1', 'c wants s X 1']
  expect(holdUps(...texts)).toEqual([['b', 1, true]])
  expect(resourcesOf(texts.map(lock)).find(({ name }) => name === 'r')?.queue[0]?.behind).toBe(null)
})

test('a long queue is counted once for each', () => {
  const queue = Array.from({ length: 2_000 }, (_, i) => `w${i} wants r X ${i + 1}`)
  expect(holdUps('a holds r X', ...queue)).toEqual([['a', 2_000, true]])
})

let stack: AsyncDisposableStack
let server: ReachableServer
let browser: Browser
let runner: PlayedRunner
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  // Without agents: only the played one takes jobs.
  const env = { PHASELINE_ROLES: 'gateway,engine' }
  ;[browser, server] = await Promise.all([openBrowser(), startTestApp({ env })])
  stack.use(server)
  runner = stack.use(await playRunner(server))
})
afterAll(() => stack.disposeAsync())

async function start(name: string, ...locks: readonly string[]): Promise<string> {
  const { id } = await ask(server.client, MUTATIONS.createTask, { name, jobs: [{ name: 'job', gadget: 'any' }] })
  await runner.declare(`default/${name}/job`, ...locks)
  return id
}

test('locks are seen to be taken, waited for and passed on, and lead to their jobs', async () => {
  await using visited = await visit(browser, server, '/locks')
  const { page, complaints } = visited
  await page.getByText('No resource is locked.').waitFor()
  expect(await page.getByRole('link', { name: 'Create a task' }).getAttribute('href')).toBe('/create/task')

  await start('first', 'host:web-1=X', 'host:web-2=S')
  const second = await start('second', 'host:web-1=X')
  await start('third', 'host:web-1=S', 'host:web-2=S')
  const card = page.getByRole('region', { name: 'host:web-1' })
  const holds = card.getByRole('list', { name: 'Holds host:web-1' }).getByRole('listitem')
  const waits = card.getByRole('list', { name: 'Waits for host:web-1' }).getByRole('listitem')
  await waits.nth(1).getByText('default/third').waitFor()
  expect(await holds.allTextContents()).toEqual([
    expect.stringMatching(/^●job of default\/first.*exclusive holds it for/),
  ])
  expect(await waits.allTextContents()).toEqual([
    expect.stringMatching(/^1\.job of default\/second.*WAITING exclusive waits for \d+s$/),
    expect.stringMatching(/^2\.job of default\/third.*shared waits for \d+s$/),
  ])
  const blocks = page.getByRole('region', { name: 'Blocks others' })
  await blocks.getByText('2 jobs wait for it').waitFor()
  expect(await blocks.getByRole('listitem').count()).toBe(1)
  // It could have this one, and waits for the other.
  await page.getByRole('region', { name: 'host:web-2' }).getByText('for another that it needs too').waitFor()

  const run = await runner.take('default/first/job', 'RUN')
  await runner.report(run, { phase: 'DONE' })
  await holds.getByText('default/second').waitFor()
  expect(await waits.count()).toBe(1)

  await page.getByLabel('Resource').fill('web-2')
  await page.waitForURL(/\/locks\?resource=web-2$/)
  await card.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('region', { name: 'host:web-2' }).waitFor()
  expect(await card.count()).toBe(0)
  await page.getByLabel('Resource').fill('nothing')
  await page.getByRole('button', { name: 'Show all resources' }).click()
  await holds.getByRole('link', { name: 'job', exact: true }).click()
  await page.waitForURL(new RegExp(`/tree/${second}\\?object=`))
  expect(complaints).toEqual([])
})

const JOB = gql('{ objectByPath(kind: GADGET_JOB, path: ["copy", "dump"]) { id root { id phase } } }')
const AGAIN = gql('{ objectByPath(kind: TASK, path: ["copy-2"]) { children { edges { node { name } } } } }')
test('a job of a task that has failed runs alone again', async () => {
  const { client } = server
  await ask(client, MUTATIONS.createTask, {
    name: 'copy',
    jobs: ['dump', 'restore'].map((name) => ({ name, gadget: 'any' })),
  })
  await runner.report(await runner.take('default/copy/dump', 'GET_LOCKS'), {
    phase: 'FAILED',
    error: { code: 'BROKEN', message: 'It is broken.' },
  })
  const job = await until(
    async () => {
      const { objectByPath: found } = await client.query(JOB, {})
      return found?.root.phase === 'FAILED' ? found : null
    },
    { what: 'the task has failed' },
  )
  await using visited = await visit(browser, server, `/tree/${job.root.id}?object=${job.id}`)
  const { page, complaints } = visited
  await page.getByRole('button', { name: 'Run this job again' }).click()
  await page.getByText('Run this job again: asked for.').waitFor()
  const { objectByPath: again } = await client.query(AGAIN, {})
  expect(again?.children.edges.map(({ node }) => node.name)).toEqual(['dump'])
  expect(complaints).toEqual([])
})

test('queues can be read by everyone, light and dark, wide and narrow', async () => {
  for (const look of [{}, { dark: true, width: 390 }]) {
    await using visited = await visit(browser, server, '/locks', look)
    const { page, complaints } = visited
    await page.getByRole('region', { name: 'Blocks others' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(await widerBy(page)).toBeLessThanOrEqual(0)
    expect(complaints).toEqual([])
  }
})
