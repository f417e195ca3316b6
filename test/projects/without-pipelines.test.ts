import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { deployments } from '../../src/families/deployments/index.ts'
import { type CommandLine, commandLine } from '../cli/command.ts'
import { startSharedServer } from '../testkit/server.ts'
import { usePlaceOf } from '../web/place.ts'
import { visit } from '../web/visit.ts'

/** Projects and their secrets belong to no family: a server has them without the one that runs workers, and the one that runs tasks. */

const program = join(import.meta.dirname, 'phaseline.ts')
const here = usePlaceOf(() => startSharedServer({ program, env: { PHASELINE_ROLES: 'gateway,engine' } }))
let phaseline: CommandLine

beforeAll(() => {
  phaseline = commandLine({ PHASELINE_URL: here.server.url, PHASELINE_TOKEN: here.server.token }, [deployments])
})

test('a project is created, changed, listed and deleted from the command line', async () => {
  expect(await phaseline('project create web --max-workers 2')).toMatchObject({ code: 0, err: '' })
  const stdin = JSON.stringify({ name: 'web', limits: { maxWorkers: 3 } })
  expect(await phaseline('project apply -f -', { stdin })).toMatchObject({ code: 0, err: '' })
  expect((await phaseline('project list')).out).toMatch(/web .*3 workers/)
  expect(await phaseline('project delete web --yes')).toMatchObject({ code: 0, err: '' })
})

test('a subscription with a task is refused, since nothing here runs tasks', async () => {
  const subscription = { source: 'a', types: ['b'], task: { jobs: [{ name: 'a', gadget: 'a' }] } }
  const stdin = JSON.stringify({ name: 'tasks', subscriptions: [subscription] })
  const applied = await phaseline('project apply -f -', { stdin })
  expect(applied).toMatchObject({ code: 2, err: expect.stringContaining('this server runs no tasks') })
})

test('a secret is set, listed, resealed and deleted', async () => {
  expect(await phaseline('secret set default TOKEN', { stdin: 'x' })).toMatchObject({ code: 0, err: '' })
  expect((await phaseline('secret list default')).out).toContain('TOKEN')
  expect(await phaseline('secret reseal')).toMatchObject({ code: 0, err: '' })
  expect(await phaseline('secret delete default TOKEN --yes')).toMatchObject({ code: 0, err: '' })
})

test('the dashboard has the form of a project', async () => {
  await using visited = await visit(here.browser, here.server, '/create/project')
  const forms = visited.page.getByRole('navigation', { name: 'What to create' }).getByRole('link')
  await forms.first().waitFor()
  expect(await forms.allTextContents()).toEqual(['Installation', 'Project'])
})
