import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
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
  // Output may arrive after the end of its job, and is dropped once the next one has begun.
  await until(async () => (await phaseline('logs shop')).out.includes('line 2'), { what: 'its output is there' })
  expect(await apply('shop', 'db', { fail: true, logLines: 1 })).toMatchObject({ code: 1 })
  await until(async () => (await phaseline('runs shop --logs 2')).out !== '', { what: 'its output is there' })
  const { code, out } = await phaseline('runs shop')
  expect(code).toBe(0)
  const [head, newest, first] = out.split('\n')
  expect(head).toMatch(/^RUN +PHASE +WHY +BY +SPEC +BEGAN +TOOK +ERROR/)
  expect(newest).toMatch(/^2 +FAILED +changed +\S.* 2 .* shop\/deploy-items\/db: MOCK_FAILURE: /)
  expect(first).toMatch(/^1 +SUCCEEDED +created +\S.* 1 /)

  const back = await phaseline('rollback shop --wait')
  expect(back.out).toContain(
    'Rolled back shop to spec 1 (now spec 3). An earlier spec was brought back. A job begins now.',
  )
  expect(back).toMatchObject({ code: 0 })
  // Each run has its own output.
  const ofDb = 'default/shop/deploy-items/db | line 1\ndefault/shop/deploy-items/db | line 2\n'
  expect(await phaseline('runs shop --logs 1')).toMatchObject({ code: 0, out: ofDb })
  expect((await phaseline('runs shop --logs 2')).out).toBe('default/shop/deploy-items/db | line 1\n')
  expect(await phaseline('runs shop --logs 7')).toMatchObject({ code: 3, err: expect.stringContaining('no run 7') })
  expect((await phaseline('runs shop --limit 1')).out).toMatch(/\n3 +SUCCEEDED +rolled back /)
  const { runs } = JSON.parse((await phaseline('runs shop --json')).out) as { runs: { number: number }[] }
  expect(runs.map(({ number }) => number)).toEqual([3, 2, 1])
  expect((await phaseline('get shop/deploy-items/db --kind deploy-item')).code).toBe(0)
})

test('rollback leads to the last spec that has succeeded, or asks which one', async () => {
  for (const [i, fail] of [false, true, false].entries())
    expect(await apply('back', 'db', { fail, logLines: i })).toMatchObject({ code: fail ? 1 : 0 })
  expect(await phaseline('rollback back --wait')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Rolled back back to spec 1 (now spec 4)'),
  })
  expect(await apply('never', 'db', { fail: true })).toMatchObject({ code: 1 })
  expect(await apply('never', 'db', { fail: true, logLines: 1 })).toMatchObject({ code: 1 })
  expect(await phaseline('rollback never')).toMatchObject({
    code: 2,
    err: expect.stringContaining('No earlier spec of never has succeeded: choose one with --to (1)'),
  })
})

test('what is requested while a job runs is seen: of the object, in lists and in the log; so is what the job left out', async () => {
  const items = [
    { name: 'slow', type: 'mock', config: { hang: true } },
    { name: 'bad', type: 'mock', config: { fail: true } },
    { name: 'after', type: 'mock', dependsOn: ['bad'] },
  ]
  const made = await phaseline('apply -f -', { stdin: JSON.stringify({ name: 'asked', spec: { deployItems: items } }) })
  expect(made).toMatchObject({ code: 0 })
  // Its deadlines name the phase before.
  const hasFailed = async () => /^phase +\S+ FAILED/m.test((await phaseline('get asked/deploy-items/bad')).out)
  await until(hasFailed, { what: 'bad fails' })
  const after = (await phaseline('get asked/deploy-items/after')).out
  expect(after).toMatch(/^left out +Not in this job: it depends on bad, which ended FAILED in it\.$/m)
  expect(after).toMatch(/^phase +○ PENDING$/m)
  expect(await phaseline('get --unfinished --name-contains after')).toMatchObject({ err: 'Nothing matches.\n' })

  expect(await phaseline('delete asked --yes')).toMatchObject({ code: 0 })
  const { out } = await phaseline('get asked')
  expect(out).toMatch(
    /^pending +delete, by \S+, \S+ \(.* ago\): Its deletion begins once the running job has ended\.$/m,
  )
  expect(out).toMatch(/^deletion +requested /m)
  expect((await phaseline('get --name-contains asked')).out).toMatch(/ delete$/m)
  expect((await phaseline('log asked')).out).toMatch(
    / … default\/asked {2}PROGRESSING {2}USER \S+: delete requested\. Its deletion begins/,
  )
  expect(await phaseline('cancel asked --wait')).toMatchObject({ code: 0 })
  // The deletion that was requested has removed it.
  expect((await phaseline('log --search cancel')).out).toMatch(/default\/asked .*cancel requested/)
})

test('what has no runs, no earlier spec or not that one is said plainly', async () => {
  expect(await apply('only', 'db')).toMatchObject({ code: 0 })
  expect(await phaseline('rollback only')).toMatchObject({ err: expect.stringContaining('no earlier spec') })
  expect(await phaseline('rollback only --to 7')).toMatchObject({
    err: expect.stringContaining('There is no earlier generation 7'),
  })
  expect((await phaseline('diff only --runs 1,9')).err).toContain('does not have both runs, 1 and 9')
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
