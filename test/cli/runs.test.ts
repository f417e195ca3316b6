import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { type CommandLine, commandLine } from './command.ts'

/** `phaseline runs` and `phaseline rollback`. */

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp())
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
})
afterAll(() => stack.disposeAsync())

const apply = async (name: string, item: string, config: object = {}) =>
  await phaseline('apply -f - --wait', {
    stdin: JSON.stringify({ name, spec: { deployItems: [{ name: item, type: 'mock', config }] } }),
  })

test('runs are listed with who asked for them and how they ended, and an earlier spec comes back', async () => {
  expect(await apply('shop', 'db', { logLines: 2 })).toMatchObject({ code: 0 })
  expect(await apply('shop', 'db', { fail: true, logLines: 1 })).toMatchObject({ code: 1 })
  const { code, out } = await phaseline('runs shop')
  expect(code).toBe(0)
  const [head, newest, first] = out.split('\n')
  expect(head).toMatch(/^RUN +PHASE +WHY +BY +SPEC +BEGAN +TOOK +ERROR/)
  expect(newest).toMatch(/^2 +FAILED +changed +\S.* 2 .*did not succeed/)
  expect(first).toMatch(/^1 +SUCCEEDED +created +\S.* 1 /)

  const back = await phaseline('rollback shop --wait')
  expect(back.out).toContain('shop has the spec 1 again, as 3')
  expect(back).toMatchObject({ code: 0 })
  // What each of them has printed.
  const ofDb = 'default/shop/deploy-items/db | line 1\ndefault/shop/deploy-items/db | line 2\n'
  expect(await phaseline('runs shop --logs 1')).toMatchObject({ code: 0, out: ofDb })
  expect((await phaseline('runs shop --logs 2')).out).toBe('default/shop/deploy-items/db | line 1\n')
  expect(await phaseline('runs shop --logs 7')).toMatchObject({ code: 3, err: expect.stringContaining('no run 7') })
  expect((await phaseline('runs shop --limit 1')).out).toMatch(/\n3 +SUCCEEDED +rolled back /)
  const { runs } = JSON.parse((await phaseline('runs shop --json')).out) as { runs: { number: number }[] }
  expect(runs.map(({ number }) => number)).toEqual([3, 2, 1])
  expect((await phaseline('get shop/deploy-items/db --kind deploy-item')).code).toBe(0)
})

test('what has no runs, no earlier spec or not that one is said plainly', async () => {
  expect(await apply('only', 'db')).toMatchObject({ code: 0 })
  expect(await phaseline('rollback only')).toMatchObject({ err: expect.stringContaining('no earlier spec') })
  expect(await phaseline('rollback only --to 7')).toMatchObject({
    err: expect.stringContaining('There is no earlier generation 7'),
  })
  expect(await phaseline('runs nowhere')).toMatchObject({ err: expect.stringContaining('nowhere') })
  expect(await phaseline('runs only/deploy-items --kind execution')).toMatchObject({
    err: expect.stringContaining('only installations have runs'),
  })
})

test('open prints where an object is in the dashboard', async () => {
  const { id } = JSON.parse((await phaseline('get shop --json')).out) as { id: string }
  expect((await phaseline('open shop')).out).toBe(`${server.origin}/tree/${id}\n`)
  const item = JSON.parse((await phaseline('get shop/deploy-items/db --json')).out) as { id: string }
  expect(JSON.parse((await phaseline('open shop/deploy-items/db --json')).out)).toEqual({
    url: `${server.origin}/tree/${id}?object=${item.id}`,
  })
  expect((await phaseline('open')).out).toBe(`${server.origin}/\n`)
})
