import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { Role } from '../../src/core/rights.ts'
import type { TypedDocument, VariablesOf } from '../../src/documents/typed-document.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { payloadOf, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf, viewerWith } from '../testkit/viewers.ts'
import { DEPLOYER } from '../testkit/world.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const READER: Viewer = viewerOf('READER')
const MEMBER: Viewer = viewerOf('USER')
const idOf = async (name: string): Promise<string> =>
  (await api.world.pool.query<{ id: string }>('select id from project where name = $1', [name])).rows[0]?.id ?? ''

const FIELDS = `id name
  workerTemplate { runtime image command args env { name value } files { path content } timeoutMs workspace }
  subscriptions { source types qualifiers { key value } labels { key value } }
  limits { maxWorkers maxJobs strategy }
  secrets { name updatedAt }`
const REFUSAL = '... on Error { message code } ... on InvalidInputError { fields { path } }'
const CREATE = gql(`mutation ($input: CreateProjectInput!) { answer: createProject(input: $input) {
  __typename ... on Project { ${FIELDS} } ${REFUSAL} ... on ConflictError { object { name } }
} }`)
const UPDATE = gql(`mutation ($input: UpdateProjectInput!) { answer: updateProject(input: $input) {
  __typename ... on Project { ${FIELDS} } ${REFUSAL}
} }`)
const DELETE = gql(`mutation ($input: DeleteProjectInput!) { answer: deleteProject(input: $input) {
  __typename ... on DeletedProject { name } ${REFUSAL} ... on ConflictError { object { name } }
} }`)
const DELETE_SECRET = gql(`mutation ($input: DeleteSecretInput!) { answer: deleteSecret(input: $input) {
  __typename ... on Error { code }
} }`)
const PROJECT = gql(`query ($name: String!) { project(name: $name) { ${FIELDS} } }`)
const PROJECTS = gql(`query ($first: Int!) { projects(first: $first) { edges { node { ${FIELDS} } } } }`)

async function ask<Result, Input>(
  document: TypedDocument<{ readonly answer: Result | null }, { readonly input: Input }>,
  input: NoInfer<Input>,
  viewer?: Viewer,
): Promise<Result> {
  return present((await api.query(document, { input }, viewer)).answer)
}
const create = (input: VariablesOf<typeof CREATE>['input'], viewer?: Viewer) => ask(CREATE, input, viewer)
const update = (input: VariablesOf<typeof UPDATE>['input'], viewer?: Viewer) => ask(UPDATE, input, viewer)
const remove = (name: string, viewer?: Viewer) => ask(DELETE, { name }, viewer)
const read = async (name: string, viewer?: Viewer) => (await api.query(PROJECT, { name }, viewer)).project

const TEMPLATE = {
  command: ['node', 'worker.mjs'],
  args: ['--fast'],
  env: [{ name: 'MODE', value: 'ci' }],
  files: [{ path: 'worker.mjs', content: 'export {}\n' }],
  timeoutMs: 60_000,
  workspace: true,
}
const SUBSCRIPTIONS = [
  { source: 'git', types: ['push', 'tag'], qualifiers: [{ key: 'repo', value: 'shop' }], labels: [] },
  { source: 'timer', types: ['*'], qualifiers: [], labels: [{ key: 'team', value: 'a' }] },
] as const

describe('a project', () => {
  test('is created with everything, or with nothing', async () => {
    const shop = {
      name: 'shop',
      workerTemplate: { runtime: 'process', image: null, ...TEMPLATE },
      subscriptions: SUBSCRIPTIONS,
      limits: { maxWorkers: 2, maxJobs: 5, strategy: 'LATEST_ONLY' as const },
      secrets: [],
    }
    const { secrets: _, ...input } = shop
    expect(await create(input)).toMatchObject({ __typename: 'Project', ...shop })
    expect(await read('shop')).toMatchObject(shop)
    expect(await create({ name: 'bare' })).toMatchObject({
      workerTemplate: null,
      subscriptions: [],
      limits: { maxWorkers: null, maxJobs: null, strategy: 'QUEUE' },
    })
  })

  test('names are plain and taken once, also when two ask at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'once' })))
    expect(answers.map(({ __typename }) => __typename).sort()).toEqual([...Array(7).fill('ConflictError'), 'Project'])
    expect(answers.find(({ code }) => code)).toMatchObject({ code: 'ALREADY_EXISTS', object: null })
    for (const name of ['', 'a b', '../x', 'a'.repeat(64)])
      expect((await create({ name })).fields).toEqual([{ path: 'input.name' }])
  })

  test('problems are reported by their path, and nothing is written', async () => {
    const workerTemplate = { ...TEMPLATE, env: [...TEMPLATE.env, { name: 'PHASELINE_X', value: '' }] }
    expect((await create({ name: 'wrong', workerTemplate })).fields).toEqual([
      { path: 'input.workerTemplate.env.1.name' },
    ])
    expect(await read('wrong')).toBeNull()
    await create({ name: 'right', subscriptions: SUBSCRIPTIONS })
    const before = await read('right')
    expect((await update({ name: 'right', subscriptions: [], limits: { maxJobs: -1 } })).fields).toEqual([
      { path: 'input.limits.maxJobs' },
    ])
    expect(await read('right')).toEqual(before)
  })

  test('an update changes only the fields of the input, and null clears them', async () => {
    await create({ name: 'up', workerTemplate: TEMPLATE, subscriptions: SUBSCRIPTIONS, limits: { maxWorkers: 1 } })
    expect(await update({ name: 'up', limits: { maxJobs: 7 } })).toMatchObject({
      workerTemplate: { command: TEMPLATE.command },
      subscriptions: SUBSCRIPTIONS,
      limits: { maxWorkers: 1, maxJobs: 7, strategy: 'QUEUE' },
    })
    expect(
      await update({ name: 'up', workerTemplate: { command: ['true'] }, subscriptions: [SUBSCRIPTIONS[1]] }),
    ).toMatchObject({
      workerTemplate: { command: ['true'], args: [], env: [], files: [], timeoutMs: null, workspace: false },
      subscriptions: [SUBSCRIPTIONS[1]],
      limits: { maxWorkers: 1, maxJobs: 7 },
    })
    expect(await update({ name: 'up', workerTemplate: null, subscriptions: null, limits: null })).toMatchObject({
      workerTemplate: null,
      subscriptions: [],
      limits: { maxWorkers: null, maxJobs: null, strategy: 'QUEUE' },
    })
    expect(await update({ name: 'none' })).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('is deleted once it has no objects, and its name is free again', async () => {
    await create({ name: 'busy', subscriptions: SUBSCRIPTIONS })
    await ask(MUTATIONS.setSecret, { project: 'busy', name: 'S', value: 'v' })
    const { id } = payloadOf(await ask(MUTATIONS.createInstallation, { project: 'busy', name: 'thing', spec: {} }))
    expect(await remove('busy')).toMatchObject({ code: 'IN_USE', object: { name: 'thing' } })
    await api.world.settle()
    await api.world.remove(id)
    expect(await remove('busy')).toEqual({ __typename: 'DeletedProject', name: 'busy' })
    expect(await remove('busy')).toMatchObject({ code: 'NOT_FOUND' })
    expect(await create({ name: 'busy' })).toMatchObject({ subscriptions: [], secrets: [] })
    expect(await remove('default')).toMatchObject({ code: 'INVALID_INPUT', fields: [{ path: 'input.name' }] })
  })

  test('deletion and creation at the same time: one of them wins', async () => {
    for (let round = 0; round < 5; round++) {
      await create({ name: 'race' })
      const [deleted, created] = await Promise.all([
        remove('race'),
        ask(MUTATIONS.createInstallation, { project: 'race', name: 'x', reconcile: false, spec: {} }),
      ])
      expect(deleted.__typename).toBe(created.id === undefined ? 'DeletedProject' : 'ConflictError')
      if (created.id === undefined) continue
      await api.world.remove(created.id)
      expect(await remove('race')).toMatchObject({ __typename: 'DeletedProject' })
    }
  })

  test('a list of projects costs the same statements, however many there are', async () => {
    const list = (first: number) => api.statements(() => api.query(PROJECTS, { first }))
    const few = await list(1)
    expect(await list(6)).toBe(few)
  })
})

describe('authorisation', () => {
  const code = async (answer: Promise<{ readonly code?: string | undefined }>) => (await answer).code ?? null

  test('create: who administers all projects; with code, who is their author besides', async () => {
    const everywhere = (...roles: readonly Role[]) => viewerWith(roles.map((role) => ({ role, projectId: null })))
    expect(await code(create({ name: 'by_admin' }, everywhere('ADMIN')))).toBeNull()
    const withCode = { name: 'with_code', workerTemplate: TEMPLATE }
    expect(await code(create(withCode, everywhere('ADMIN')))).toBe('FORBIDDEN')
    expect(await code(create(withCode, everywhere('ADMIN', 'AUTHOR')))).toBeNull()
    const tied = viewerOf('ADMIN', { projects: [await idOf('default')] })
    for (const viewer of [MEMBER, tied, READER, DEPLOYER])
      expect(await code(create({ name: 'secretive' }, viewer))).toBe('FORBIDDEN')
    // Nor does it learn that there is one already.
    expect(await code(create({ name: 'by_admin' }, tied))).toBe('FORBIDDEN')
  })

  test('change: who administers the project; for others it does not exist', async () => {
    await create({ name: 'inner' })
    const [own, foreign] = [await idOf('inner'), await idOf('default')]
    const changes = (name: string, viewer: Viewer) =>
      Promise.all([
        code(update({ name, limits: { maxJobs: 1 } }, viewer)),
        code(ask(MUTATIONS.setSecret, { project: name, name: 'A', value: 'x' }, viewer)),
        code(ask(DELETE_SECRET, { project: name, name: 'A' }, viewer)),
        code(remove(name, viewer)),
      ])
    for (const viewer of [READER, DEPLOYER, MEMBER, viewerOf('USER', { projects: [own] })])
      expect(new Set(await changes('inner', viewer))).toEqual(new Set(['FORBIDDEN']))
    const stranger = viewerOf('ADMIN', { projects: [foreign] })
    expect(new Set(await changes('inner', stranger))).toEqual(new Set(['NOT_FOUND']))
    const missing = await update({ name: 'nix' }, stranger)
    expect(await update({ name: 'inner' }, stranger)).toEqual({
      ...missing,
      message: 'There is no project inner that you may read.',
    })
    expect(await read('inner', stranger)).toBeNull()
    const admin = viewerOf('ADMIN', { projects: [own] })
    expect(await code(update({ name: 'inner', limits: { maxJobs: 1 } }, admin))).toBeNull()
    expect(await read('inner', READER)).toMatchObject({ limits: { maxJobs: 1 } })
    expect(await code(remove('inner', admin))).toBeNull()
  })

  test('change: code is for authors, settings are for administrators', async () => {
    await create({ name: 'programmed' })
    const projectId = await idOf('programmed')
    const as = (role: Role) => viewerWith([{ role, projectId }])
    const changes = {
      template: { workerTemplate: TEMPLATE },
      settings: { limits: { maxJobs: 1 }, subscriptions: SUBSCRIPTIONS },
      both: { subscriptions: [{ source: 'git', types: ['*'], task: { jobs: [{ name: 'j', gadget: 'g' }] } }] },
    }
    const allowed = async (role: Role) => {
      const codes = Object.entries(changes).map(async ([name, change]) =>
        (await code(update({ name: 'programmed', ...change }, as(role)))) === null ? name : [],
      )
      return (await Promise.all(codes)).flat()
    }
    expect(await allowed('AUTHOR')).toEqual(['template'])
    expect(await allowed('ADMIN')).toEqual(['settings'])
    expect(await allowed('EDITOR')).toEqual([])
  })
})
