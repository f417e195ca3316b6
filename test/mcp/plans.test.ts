import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../graphql/api.ts'
import { addTask, gadget } from '../testkit/operations.ts'
import { accepted } from '../testkit/pipelines.ts'
import { item, USER } from '../testkit/world.ts'
import { type InProcess, openTools, type Tools } from './mcp-client.ts'

/** Writing in two steps, and its bounds. */

let api: Api
let url: string
let token: string
beforeAll(async () => {
  api = await createApi()
  ;({ url } = await api.serve())
  token = await api.token({ name: 'mcp', role: 'USER', projects: ['default'] })
})
afterAll(() => api[Symbol.asyncDispose]())

const ANY = { verbs: null, projects: null, max: 100 }
const open = (options: InProcess = {}): Promise<Tools> => openTools(url, token, { bounds: ANY, ...options })
async function planned(tools: Tools, request: object): Promise<string> {
  const { text, data, isError } = await tools.call('plan', request)
  expect(isError, text).toBe(false)
  return String(data.plan)
}
let count = 0
const tree = async (): Promise<string> => {
  const name = `tree-${++count}`
  await api.world.create(name, { deployItems: [item('a'), item('b')] })
  return name
}

test('a plan is applied once, as its principal, and the audit has it', async () => {
  await using tools = await open()
  const { tools: listed } = await tools.client.listTools()
  expect(listed.find(({ name }) => name === 'apply')?.annotations).toMatchObject({ destructiveHint: true })
  const name = await tree()
  const plan = await planned(tools, { verb: 'cancel', object: name })
  expect(await tools.call('apply', { plan })).toMatchObject({
    isError: false,
    text: expect.stringContaining(`cancel default/${name}`),
  })
  await api.world.settle()
  expect(await api.world.see(name)).toMatchObject({ phase: 'ABORTED' })
  expect(await tools.call('apply', { plan })).toMatchObject({ isError: true })
  const { rows } = await api.world.pool.query(
    `select principal_name as by, operation, outcome, object_name as name from audit_event where object_name = $1 and principal_name = 'mcp'`,
    [name],
  )
  expect(rows).toEqual([{ by: 'mcp', operation: 'cancelInstallation', outcome: 'DONE', name }])
})

test('a plan is not applied once the object, its children or its spec have changed', async () => {
  await using tools = await open()
  const { world } = api
  const name = await tree()
  const id = (await world.see(name)).id
  const plan = await planned(tools, { verb: 'pause', object: name })
  await world.work()
  expect(await tools.call('apply', { plan })).toMatchObject({
    isError: true,
    text: expect.stringContaining('REVISION_MISMATCH'),
  })

  const manifest = `name: ${name}\nspec: { deployItems: [{ name: c, type: mock }] }`
  const update = await planned(tools, { manifest })
  await world.update(id, { deployItems: [item('z')] }, false)
  expect((await tools.call('apply', { plan: update })).text).toContain('REVISION_MISMATCH')
  const again = await planned(tools, { manifest })
  expect((await tools.call('apply', { plan: again })).isError).toBe(false)

  const fresh = { manifest: `name: fresh-${name}\nspec: { deployItems: [] }` }
  const [first, second] = [await planned(tools, fresh), await planned(tools, fresh)]
  expect((await tools.call('apply', { plan: first })).isError).toBe(false)
  expect((await tools.call('apply', { plan: second })).text).toContain('ALREADY_EXISTS')
})

test('bounds of verbs, projects and number hold, whatever the token may', async () => {
  const name = await tree()
  await using bounded = await open({
    bounds: { verbs: new Set(['pause', 'resume']), projects: new Set(['default']), max: 1 },
  })
  expect(await bounded.call('plan', { verb: 'cancel', object: name })).toMatchObject({
    isError: true,
    text: 'cancel may not be applied here: pause, resume may.',
  })
  const pause = await planned(bounded, { verb: 'pause', object: name })
  const other = await planned(bounded, { verb: 'pause', object: await tree() })
  expect((await bounded.call('apply', { plan: pause })).isError).toBe(false)
  expect((await bounded.call('apply', { plan: other })).text).toBe('No more than 1 plans may be applied here.')
  await using elsewhere = await open({ bounds: { ...ANY, projects: new Set(['elsewhere']) } })
  expect(await elsewhere.call('plan', { verb: 'resume', object: name })).toMatchObject({ isError: true })
  await using reader = await openTools(url, await api.token({ name: 'r', role: 'READER' }), { bounds: ANY })
  const plan = await planned(reader, { manifest: `name: ${name}-x\nspec: { deployItems: [] }` })
  expect((await reader.call('apply', { plan })).text).toContain('FORBIDDEN')
})

test('a refused plan does not count', async () => {
  await using tools = await open({ bounds: { ...ANY, max: 1 } })
  const name = await tree()
  const stale = await planned(tools, { verb: 'pause', object: name })
  await api.world.work()
  expect((await tools.call('apply', { plan: stale })).isError).toBe(true)
  const plan = await planned(tools, { verb: 'reconcile', object: name })
  expect((await tools.call('apply', { plan })).isError).toBe(false)
})

test('with --approve a person decides through the client, and nobody else', async () => {
  const name = await tree()
  const plan = (tools: Tools) => planned(tools, { verb: 'pause', object: name })
  await using silent = await open({ isApproved: true })
  expect((await silent.call('apply', { plan: await plan(silent) })).text).toContain('cannot ask one')
  await using declined = await open({ isApproved: true, answer: 'decline' })
  expect((await declined.call('apply', { plan: await plan(declined) })).text).toContain('was not approved')
  await using accepted = await open({ isApproved: true, answer: 'accept' })
  expect((await accepted.call('apply', { plan: await plan(accepted) })).isError).toBe(false)
})

test('a verb whose mutation compares nothing is not planned', async () => {
  await using tools = await open()
  const id = await addTask(api.world, [gadget('one')], 'ended')
  await planned(tools, { verb: 'cancel', object: id })
  await accepted(api.world.operations.cancelTask(USER, { id }))
  await api.world.settle()
  const { text } = await tools.call('plan', { verb: 'rerun', object: id })
  expect(text).toBe('rerun cannot be planned: retryTask compares nothing with what was read.')
})
