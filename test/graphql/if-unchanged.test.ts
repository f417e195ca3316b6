import { afterAll, beforeAll, expect, test } from 'vitest'
import { FENCED } from '../../mcp/src/plans.ts'
import { GATE, LONG } from '../graphql/situations.ts'
import { present } from '../testkit/ask.ts'
import { schema } from '../testkit/mutate.ts'
import { addTask, gadget } from '../testkit/operations.ts'
import { addEvent, addProject } from '../testkit/pipelines.ts'
import { item } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** Mutations that depend on what their caller has read: an older reading writes nothing, the present one does. */

let api: Api
beforeAll(async () => {
  api = await createApi()
  await addProject(api.world, 'ci')
})
afterAll(() => api[Symbol.asyncDispose]())

interface Version {
  readonly id: string
  readonly revision: number
  readonly generation: number
}
const read = async (id: string): Promise<Version> => {
  const { rows } = await api.world.pool.query<Version>('select id, revision, generation from object where id = $1', [
    id,
  ])
  return present(rows[0])
}
const idOf = async (name: string): Promise<string> => {
  const { rows } = await api.world.pool.query<{ id: string }>('select id from object where name = $1', [name])
  return present(rows[0]).id
}

let count = 0
const tree = (spec: object = { deployItems: [item('a')] }) => api.world.create(`tree-${++count}`, spec)
const done = async (): Promise<string> => {
  const id = await tree()
  await api.world.work()
  return id
}
const gate = async (): Promise<string> => {
  const name = `gate-${++count}`
  const [one] = GATE({ approval: { authorMay: true } })
  await tree({ deployItems: [{ ...one, name }] })
  return await idOf(name)
}
const waiting = async (): Promise<string> => {
  const name = `flaky-${++count}`
  await tree({
    deployItems: [{ ...item(name), timeouts: LONG, retry: { attempts: 5, backoff: { initialMs: 3_600_000 } } }],
  })
  await api.world.work(() => ({ phase: 'FAILED', error: { code: 'FLAKY', message: 'Not now.' } }))
  return await idOf(name)
}
const task = async (ended = false): Promise<string> => {
  const id = await addTask(api.world, [gadget('one')])
  if (ended) await ask('cancelTask', { id })
  await api.world.settle()
  return id
}

/** Makes an object for each. */
const OBJECTS: Readonly<Record<string, () => Promise<string>>> = {
  updateInstallation: tree,
  reconcileInstallation: done,
  cancelInstallation: tree,
  deleteInstallation: done,
  approve: gate,
  reject: gate,
  pause: tree,
  resume: tree,
  retryNow: waiting,
  giveUpRetries: waiting,
  cancelTask: task,
  deleteTask: () => task(true),
  cancelEvent: () => addEvent(api.world, 'ci'),
  deleteEvent: () => addEvent(api.world, 'ci'),
}
const INPUTS: Readonly<Record<string, object>> = { updateInstallation: { spec: { deployItems: [item('b')] } } }

async function ask(mutation: string, input: object): Promise<string | null> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
  const document = `mutation ($input: ${type}!) { answer: ${mutation}(input: $input) { __typename ... on Error { code } } }`
  const { data, errors } = await api.execute(document, { input })
  expect(errors).toBeUndefined()
  return (present(data?.answer) as { readonly code?: string }).code ?? null
}

test('these mutations compare, and the MCP server offers them and the creation', () => {
  const mutations = Object.values(present(schema.getMutationType()).getFields())
  const fenced = mutations.filter(({ args }) => {
    const type = args[0] && schema.getType(String(args[0].type).replace('!', ''))
    return type && 'getFields' in type && 'ifUnchanged' in type.getFields()
  })
  const names = fenced.map(({ name }) => name).toSorted()
  expect(names).toEqual(Object.keys(OBJECTS).toSorted())
  expect([...FENCED].toSorted()).toEqual([...names, 'createInstallation'].toSorted())
})

test.each(Object.entries(OBJECTS))('%s writes nothing for an older reading', async (mutation, make) => {
  const id = await make()
  const now = await read(id)
  const input = { id, ...INPUTS[mutation] }
  for (const older of [
    { ...now, revision: now.revision - 1 },
    { ...now, generation: now.generation - 1 },
    { ...now, id: '00000000-0000-0000-0000-000000000000' },
    { ...now, id: 'no id at all' },
  ])
    expect(await ask(mutation, { ...input, ifUnchanged: [now, older] })).toBe('REVISION_MISMATCH')
  await api.world.settle()
  expect(await read(id)).toEqual(now)
  expect(await ask(mutation, { ...input, ifUnchanged: [now] })).toBeNull()
})

test('an object of another tree is not compared with, but refused', async () => {
  const [one, other] = [await tree(), await tree()]
  expect(await ask('pause', { id: one, ifUnchanged: [await read(other)] })).toBe('REVISION_MISMATCH')
})

test('of two that have read the same, one writes', async () => {
  const id = await tree()
  const now = await read(id)
  const specs = ['x', 'y', 'z'].map((name) => ({ deployItems: [item(name)] }))
  const codes = await Promise.all(specs.map((spec) => ask('updateInstallation', { id, spec, ifUnchanged: [now] })))
  expect(codes.toSorted()).toEqual(['REVISION_MISMATCH', 'REVISION_MISMATCH', null])
  expect(await read(id)).toMatchObject({ generation: now.generation + 1 })
})

test('a repetition is answered as the first request, although that has changed the object', async () => {
  const id = await tree()
  const input = { id, spec: { deployItems: [item('x')] }, ifUnchanged: [await read(id)] }
  expect(await ask('updateInstallation', { ...input, idempotencyKey: 'once' })).toBeNull()
  expect(await ask('updateInstallation', { ...input, idempotencyKey: 'once' })).toBeNull()
  expect(await ask('updateInstallation', { ...input, idempotencyKey: 'again' })).toBe('REVISION_MISMATCH')
})
