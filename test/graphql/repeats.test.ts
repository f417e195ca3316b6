import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLInputType, getNamedType, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { payloadOf, present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { type Api, createApi } from './api.ts'

/** A client that has not got the answer of a mutation sends it again. */

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
const mutations = Object.values(schema.getMutationType()?.getFields() ?? {})
const inputOf = (args: readonly { readonly type: GraphQLInputType }[]) => {
  const input = args[0] && getNamedType(args[0].type)
  return input && isInputObjectType(input) ? input.getFields() : {}
}

/** Why a mutation needs no key. */
const HARMLESS = {
  'says what is to be, by id or name: a repetition finds it so': [
    'cancelBackfill',
    'cancelBulkOperation',
    'deleteAppInst',
    'deleteBulkOperation',
    'deleteCache',
    'deleteCloudlet',
    'deleteClusterInst',
    'deleteDataObject',
    'deleteEvent',
    'deleteHook',
    'deleteInstallation',
    'deleteInvariant',
    'deleteLimit',
    'deleteNotificationRule',
    'deletePrincipal',
    'deleteProject',
    'deleteSchedule',
    'deleteSecret',
    'deleteTarget',
    'deleteTask',
    'drainPlace',
    'holdAutomation',
    'pauseSchedule',
    'registerPlace',
    'releaseAutomation',
    'resumeSchedule',
    'revokeToken',
    'setDataObject',
    'setSecret',
    'setTarget',
    'undrainPlace',
    'updateHook',
    'updateInvariant',
    'overrideLimit',
    'pauseLimit',
    'resumeLimit',
    'updateLimit',
    'updateNotificationRule',
    'updateSchedule',
  ],
  'names what it creates: the same name with the same spec is the same job': ['createJob'],
  'names what it creates: a repetition finds the name taken': ['createNotificationRule'],
  'sends a message once more: twice does no harm': ['replayNotification', 'testNotificationRule'],
  'changes what is left to change, and counts only that': ['cancelEvents', 'deleteEvents', 'resealSecrets'],
  'is sent again by agents, under a fence or a lease': [
    'appendLogs',
    'claimWork',
    'connectCrm',
    'renewLeases',
    'reportDryRuns',
    'reportPhases',
  ],
  'writes nothing': ['log'],
  'asks a question, whose answer changes nothing': ['dryRunInstallation'],
} as const

test('each mutation has an idempotency key, or a reason not to need one', () => {
  const keyed = mutations.filter(({ args }) => 'idempotencyKey' in inputOf(args)).map(({ name }) => name)
  expect([...keyed, ...Object.values(HARMLESS).flat()].toSorted()).toEqual(mutations.map(({ name }) => name).toSorted())
})

test('who replaces a whole list or a whole spec can say which one it has read', () => {
  const isWhole = (type: GraphQLInputType): boolean =>
    isListType(isNonNullType(type) ? type.ofType : type) || String(type) === 'JSON!'
  const replacing = mutations.filter(
    ({ name, args }) =>
      /^(update|rollback)/.test(name) &&
      Object.values(inputOf(args)).some(({ type }) => isWhole(type as GraphQLInputType)),
  )
  expect(replacing.map(({ name }) => name).toSorted()).toEqual([
    'updateAppInst',
    'updateClusterInst',
    'updateHook',
    'updateInstallation',
    'updateLabels',
    'updateLimit',
    'updateNotificationRule',
    'updatePrincipal',
    'updateProject',
  ])
  for (const { name, args } of replacing)
    expect([name, Object.keys(inputOf(args))]).toEqual([name, expect.arrayContaining(['expectedGeneration'])])
})

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const CREATE_TOKEN = gql(`mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) {
  __typename ... on CreatedToken { secret token { id principal { id } } } ... on InvalidInputError { fields { path message } } ... on Error { code message }
} }`)
const ADD_TOKEN = gql(`mutation ($input: CreatePrincipalTokenInput!) { answer: createPrincipalToken(input: $input) {
  __typename ... on CreatedToken { secret token { id } } ... on Error { code message }
} }`)
const CREATE_PRINCIPAL = gql(`mutation ($input: CreatePrincipalInput!) { answer: createPrincipal(input: $input) {
  __typename ... on Principal { id generation } ... on Error { code message }
} }`)
const UPDATE_PRINCIPAL = gql(`mutation ($input: UpdatePrincipalInput!) { answer: updatePrincipal(input: $input) {
  __typename ... on Principal { id name generation } ... on Error { code message }
} }`)
const CREATE_PROJECT = gql(`mutation ($input: CreateProjectInput!) { answer: createProject(input: $input) {
  __typename ... on Project { id generation } ... on Error { code message }
} }`)
const UPDATE_PROJECT = gql(`mutation ($input: UpdateProjectInput!) { answer: updateProject(input: $input) {
  __typename ... on Project { id generation subscriptions { source } } ... on Error { code message }
} }`)
const DELETE_PROJECT = gql(
  'mutation ($input: DeleteProjectInput!) { answer: deleteProject(input: $input) { __typename } }',
)
const REVOKE = gql('mutation ($input: RevokeTokenInput!) { answer: revokeToken(input: $input) { __typename } }')

const viewerOf = (secret: string): Promise<Viewer | null> => api.services.tokens.authenticate(secret)

test('a token whose answer was lost is the same token, with a secret that works', async () => {
  const input = { name: 'ci', role: 'READER', idempotencyKey: 'lost' } as const
  const create = async (more: object = {}) =>
    present((await api.query(CREATE_TOKEN, { input: { ...input, ...more } })).answer)
  const [lost, got] = [payloadOf(await create()), payloadOf(await create())]
  expect(got.token).toEqual(lost.token)
  expect(await viewerOf(lost.secret)).toBeNull()
  expect(await viewerOf(got.secret)).toMatchObject({ tokenId: got.token.id })
  const { rows } = await api.world.pool.query("select * from idempotency_key where mutation = 'createToken'")
  expect(rows).toMatchObject([{ key: 'lost', object_id: got.token.id }])
  expect(JSON.stringify(rows)).not.toContain(got.secret)

  expect(await create({ name: 'other' })).toMatchObject({ fields: [{ path: 'input.idempotencyKey' }] })
  await api.world.pool.query('update token set last_used_at = now() where id = $1', [got.token.id])
  const used = await create()
  expect(used).toMatchObject({ __typename: 'InvalidInputError', message: expect.stringContaining(got.token.id) })
  expect(await viewerOf(got.secret)).toMatchObject({ tokenId: got.token.id })
  await api.query(REVOKE, { input: { id: got.token.id } })
  expect(await create()).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('not valid') })
})

test('requests with one key at the same time make one token', async () => {
  const principal = payloadOf(present((await api.query(CREATE_PRINCIPAL, { input: { name: 'many' } })).answer))
  const input = { principalId: principal.id, name: 'one', idempotencyKey: 'together' }
  const answers = await Promise.all(
    Array.from({ length: 4 }, async () => payloadOf(present((await api.query(ADD_TOKEN, { input })).answer))),
  )
  expect(new Set(answers.map(({ token }) => token.id)).size).toBe(1)
  const valid = await Promise.all(answers.map(({ secret }) => viewerOf(secret)))
  expect(valid.filter((viewer) => viewer !== null)).toHaveLength(1)
})

test('a principal is created and changed once, and not over the change of somebody else', async () => {
  const input = { name: 'bot', idempotencyKey: 'bot' }
  const create = async () => payloadOf(present((await api.query(CREATE_PRINCIPAL, { input })).answer))
  const { id, generation } = await create()
  expect(await create()).toEqual({ __typename: 'Principal', id, generation: 1 })

  const update = async (more: object) => present((await api.query(UPDATE_PRINCIPAL, { input: { id, ...more } })).answer)
  const renamed = { name: 'robot', expectedGeneration: generation, idempotencyKey: 'rename' }
  expect(await update(renamed)).toMatchObject({ name: 'robot', generation: 2 })
  expect(await update(renamed)).toMatchObject({ name: 'robot', generation: 2 })
  expect(await update({ name: 'late', expectedGeneration: 1 })).toMatchObject({
    __typename: 'ConflictError',
    code: 'GENERATION_MISMATCH',
  })
  expect(await update({ expectedGeneration: 2 })).toMatchObject({ name: 'robot', generation: 3 })
})

test('a project is created and changed once, and not over the change of somebody else', async () => {
  const created = { name: 'again', idempotencyKey: 'again' }
  const create = async () => present((await api.query(CREATE_PROJECT, { input: created })).answer)
  const { id } = payloadOf(await create())
  expect(await create()).toEqual({ __typename: 'Project', id, generation: 1 })

  const update = async (more: object) =>
    present((await api.query(UPDATE_PROJECT, { input: { name: 'again', ...more } })).answer)
  const subscriptions = [{ source: 'git', types: ['push'] }]
  const change = { subscriptions, expectedGeneration: 1, idempotencyKey: 'subscribe' }
  for (const _ of [1, 2])
    expect(await update(change)).toMatchObject({ id, generation: 2, subscriptions: [{ source: 'git' }] })
  expect(await update({ subscriptions: [], expectedGeneration: 1 })).toMatchObject({ code: 'GENERATION_MISMATCH' })
  expect(await update({ ...change, subscriptions: [] })).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await update({ limits: {} })).toMatchObject({ generation: 3, subscriptions: [{ source: 'git' }] })

  await api.query(DELETE_PROJECT, { input: { name: 'again' } })
  expect(await create()).toMatchObject({ code: 'INVALID_INPUT' })
})
