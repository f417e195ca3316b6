import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../../graphql/api.ts'
import { present } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { accepted, addEvent, addProject, phaseOf, refused, TEMPLATE } from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { item, USER } from '../../testkit/world.ts'

/** A limit that one project shares with all. */

let api: Api
let limitId: string
beforeAll(async () => {
  api = await createApi()
  const { world } = api
  for (const name of ['ops', 'web', 'shop']) await addProject(world, name)
  const { objectId } = await accepted(
    world.services.flow.createLimit(USER, { project: 'ops', name: 'licences', max: 2, shared: true }),
  )
  limitId = objectId
})
afterAll(() => api[Symbol.asyncDispose]())

const flow = () => api.world.services.flow
const projectId = async (name: string) =>
  (await api.world.pool.query<{ id: string }>('select id from project where name = $1', [name])).rows[0]?.id ?? ''
const limits = [{ limit: 'ops/licences', key: 'a' }]
/** An event of the project, whose worker asks for the limit. */
async function event(project: string, asked = limits): Promise<string> {
  const workerTemplate = { ...TEMPLATE, limits: asked }
  await accepted(api.world.projects.updateProject(USER, { name: project, workerTemplate }))
  return await addEvent(api.world, project)
}
const create = async (project: string, name: string, limit: string) => {
  const spec = { deployItems: [{ ...item('app'), limits: [{ limit }] }] }
  const { answer } = await api.query(MUTATIONS.createInstallation, { input: { project, name, spec } as never })
  await api.world.settle()
  return present(answer) as { readonly id?: string | undefined; readonly message?: string | undefined }
}
const BLOCKED = gql(`query ($id: ID!) { object(id: $id) { blockedBy { reason message
  ... on LimitBlocker { limitName position holderCount holders { path } } } } }`)
const LIMIT = gql(`{ limit(project: "ops", name: "licences") {
  shared runningCount waitingCount holders(first: 5) { edges { node { key object { path } } } }
} }`)

test('what runs of all projects together is bounded by it', async () => {
  const [web, shop] = [await event('web'), await event('shop')]
  const { id: item } = await create('shop', 'app', 'ops/licences')
  const [third] = [await event('web')]
  expect(await Promise.all([web, shop].map((id) => phaseOf(api.world, id)))).toEqual(['STARTING', 'STARTING'])
  expect(await phaseOf(api.world, third ?? '')).toBe('PENDING')
  expect((await api.query(LIMIT, {})).limit).toMatchObject({ shared: true, runningCount: 2, waitingCount: 2 })

  // A reader of one project learns how many there are, and no names of others.
  const own = viewerOf('READER', { name: 'reader', projects: [await projectId('web')] })
  const { object } = await api.query(BLOCKED, { id: third ?? '' }, own)
  expect(object?.blockedBy).toEqual([
    {
      ...{ reason: 'LIMIT', limitName: 'ops/licences', position: 1, holderCount: 2 },
      message: 'The limit ops/licences is used by 2 of 2. It is the next one of its key.',
      holders: [expect.objectContaining({ path: expect.stringContaining('worker') }), null],
    },
  ])
  expect((await api.query(LIMIT, {}, own)).limit).toBeNull()
  const ops = viewerOf('READER', { name: 'ops', projects: [await projectId('ops')] })
  expect((await api.query(LIMIT, {}, ops)).limit).toMatchObject({
    holders: { edges: [{ node: { key: 'a', object: null } }, { node: { key: 'a', object: null } }] },
  })
  await accepted(api.world.pipelines.cancelEvent(USER, { id: web }))
  await api.world.settle()
  expect((await api.query(BLOCKED, { id: item ?? '' })).object?.blockedBy.at(-1)?.reason).toBe('CHILDREN')
})

test('it is found as project/name, and only where it is shared', async () => {
  await accepted(flow().createLimit(USER, { project: 'ops', name: 'own', max: 1 }))
  for (const limit of ['ops/own', 'ops/none', 'none/licences'])
    expect((await create('web', 'refused', limit)).message).toMatch(`${limit}, which no other project shares`)
  expect((await create('web', 'refused', 'licences')).message).toMatch('licences, which the project lacks')
  // A project has one spelling of its own.
  expect((await create('ops', 'refused', 'ops/licences')).message).toMatch('which no other project shares')
  for (const limit of ['ops/', '/licences', 'a/b/c', 'ops licences'])
    expect((await create('web', 'refused', limit)).message).toMatch(/must be the name of a limit, or project\/name/)
})

test('only an administrator shares one, and it lets all wait for their turn', async () => {
  const editor = viewerOf('USER', { name: 'eve', projects: [await projectId('ops')] })
  const of = (name: string) => ({ project: 'ops', name, max: 1, shared: true })
  expect(await refused(flow().createLimit(editor, of('more')))).toMatchObject({ type: 'ForbiddenError' })
  const { objectId } = await accepted(flow().createLimit(editor, { ...of('more'), shared: false }))
  expect(await refused(flow().updateLimit(editor, { id: objectId, max: 1, shared: true }))).toMatchObject({
    type: 'ForbiddenError',
  })
  // It has the right to the rest.
  await accepted(flow().updateLimit(editor, { id: limitId, max: 2, description: 'Of the compiler.', shared: true }))
  expect(await refused(flow().createLimit(USER, { ...of('newest'), strategy: 'LATEST_ONLY' }))).toMatchObject({
    fields: [{ path: 'input.shared', message: 'takes the strategy QUEUE' }],
  })
})

test('its project stays while it is shared, and what waits for it starts once it is deleted', async () => {
  const waiting = await event('shop')
  expect(await phaseOf(api.world, waiting)).toBe('PENDING')
  for (const shared of [true, false]) {
    await accepted(flow().updateLimit(USER, { id: limitId, max: 2, shared }))
    expect(await refused(api.world.projects.deleteProject(USER, { name: 'ops' }))).toMatchObject({
      code: 'IN_USE',
      message: 'ops still shares the limit licences with other projects: delete it first.',
    })
  }
  // Nobody loses a place.
  await api.world.settle()
  expect(await phaseOf(api.world, waiting)).toBe('PENDING')
  await accepted(flow().deleteLimit(USER, { id: limitId }))
  await api.world.settle()
  expect(await phaseOf(api.world, waiting)).toBe('STARTING')
  await accepted(api.world.projects.deleteProject(USER, { name: 'ops' }))
})
