import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPages } from '../../src/client-model/index.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { payloadOf, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { type Api, createApi } from './api.ts'

/** Principals, their tokens and their grants, as viewers of real tokens write and read them. */

let api: Api
beforeAll(async () => {
  api = await createApi()
  for (const name of ['own', 'foreign']) await createProject(name)
})
afterAll(() => api[Symbol.asyncDispose]())

const CREATE_PROJECT = gql(
  'mutation ($input: CreateProjectInput!) { answer: createProject(input: $input) { ... on Project { id } ... on Error { message } } }',
)
const DELETE_PROJECT = gql(
  'mutation ($input: DeleteProjectInput!) { answer: deleteProject(input: $input) { __typename ... on Error { message } } }',
)
const CREATE_TOKEN = gql(`mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) {
  ... on CreatedToken { secret token { id principal { id } } } ... on InvalidInputError { fields { path } } ... on Error { code message }
} }`)
const CREATE_PRINCIPAL = gql(`mutation ($input: CreatePrincipalInput!) { answer: createPrincipal(input: $input) {
  ... on Principal { id name role administrator grants { role project { name } } }
  ... on InvalidInputError { fields { path } } ... on Error { code message }
} }`)
const UPDATE_PRINCIPAL = gql(`mutation ($input: UpdatePrincipalInput!) { answer: updatePrincipal(input: $input) {
  ... on Principal { id name role administrator grants { role project { name } } }
  ... on InvalidInputError { fields { path } } ... on Error { code message }
} }`)
const DELETE_PRINCIPAL = gql(`mutation ($input: DeletePrincipalInput!) { answer: deletePrincipal(input: $input) {
  ... on DeletedPrincipal { id } ... on Error { code message }
} }`)
const ADD_TOKEN = gql(`mutation ($input: CreatePrincipalTokenInput!) { answer: createPrincipalToken(input: $input) {
  ... on CreatedToken { secret token { id } } ... on Error { code message }
} }`)
const REVOKE = gql(`mutation ($input: RevokeTokenInput!) { answer: revokeToken(input: $input) {
  ... on RevokedToken { id } ... on Error { code message }
} }`)
const LISTS = gql(`{
  tokens { id name revokedAt lastUsedAt } principals { id name tokens { name } } subscriptions { totalCount }
}`)
const CLAIM = gql(`mutation { claimWork(input: { instance: "one", types: ["mock"] }) {
  ... on ClaimedWork { items { fence } } ... on Error { message }
} }`)
const RENEW = gql(`mutation ($fence: String!) { renewLeases(input: { fences: [$fence] }) {
  ... on RenewedLeases { leases { state } }
} }`)
const REPORT =
  gql(`mutation ($fence: String!) { reportPhases(input: { reports: [{ fence: $fence, phase: SUCCEEDED }] }) {
  ... on PhaseReports { results { __typename } }
} }`)
const VIEWER = gql('{ viewer { id name role administrator projects grants { role project { name } } } }')

const createProject = (name: string) => api.query(CREATE_PROJECT, { input: { name } })
const viewerOf = async (secret: string): Promise<Viewer | null> => api.services.tokens.authenticate(secret)
/** With a real token. */
const as = async (input: Parameters<Api['token']>[0]): Promise<Viewer> =>
  present(await viewerOf(await api.token(input)))

type Answer<D> = D extends TypedDocument<{ readonly answer: infer A }, never> ? NonNullable<A> : never
async function ask<D extends TypedDocument<{ readonly answer: unknown }, never>>(
  document: D,
  input: object,
  viewer?: Viewer,
): Promise<Answer<D>> {
  const { answer } = (await api.query(document as never, { input } as never, viewer)) as { answer: Answer<D> }
  return present(answer)
}

describe('a token', () => {
  test('is one of several of its principal; they share what it holds', async () => {
    const { id } = await ask(CREATE_PRINCIPAL, { name: 'ci', grants: [{ role: 'EDITOR', project: 'own' }] })
    const [first, second] = await Promise.all(
      ['first', 'second'].map(async (name) => payloadOf(await ask(ADD_TOKEN, { principalId: id, name }))),
    )
    const [one, other] = [present(await viewerOf(first?.secret ?? '')), present(await viewerOf(second?.secret ?? ''))]
    expect(one).toEqual({ ...other, tokenId: first?.token.id })
    expect(one.principalId).toBe(id)

    const create = (viewer: Viewer, name: string) =>
      api.query(
        MUTATIONS.createInstallation,
        { input: { project: 'own', name, spec: {}, idempotencyKey: 'k' } },
        viewer,
      )
    expect(await create(one, 'shared')).toMatchObject({ answer: { __typename: 'Installation' } })
    expect(await create(other, 'other')).toMatchObject({ answer: { __typename: 'InvalidInputError' } })

    await ask(REVOKE, { id: first?.token.id })
    expect(await viewerOf(first?.secret ?? '')).toBeNull()
    expect(await viewerOf(second?.secret ?? '')).toEqual(other)
  })

  test('shares no idempotency key with one of the same name', async () => {
    const token = { name: 'twin', role: 'USER', projects: ['own'] } as const
    const [one, other] = [await as(token), await as(token)]
    expect(one.name).toBe(other.name)
    expect(one.principalId).not.toBe(other.principalId)

    const create = async (viewer: Viewer, name: string) =>
      (await api.query(
        MUTATIONS.createInstallation,
        { input: { project: 'own', name, spec: {}, idempotencyKey: 'twin' } },
        viewer,
      )) as { answer: { __typename: string; id?: string } }
    const first = await create(one, 'first-twin')
    const second = await create(other, 'second-twin')
    expect([first, second]).toMatchObject([
      { answer: { __typename: 'Installation' } },
      { answer: { __typename: 'Installation' } },
    ])
    expect(second.answer.id).not.toBe(first.answer.id)
    expect((await create(one, 'first-twin')).answer.id).toBe(first.answer.id)
  })

  test('has no hand in the leases of one with the same name, of the same instance', async () => {
    const token = { name: 'twin-agent', role: 'AGENT', projects: ['own'] } as const
    const [holder, other] = [await as(token), await as(token)]
    const spec = { deployItems: [{ name: 'a', type: 'mock', config: {} }] }
    const input = { project: 'own', name: 'leased', spec }
    await api.query(MUTATIONS.createInstallation, { input })
    await api.world.settle()
    const [work] = payloadOf(present((await api.query(CLAIM, {}, holder)).claimWork)).items
    const variables = { fence: present(work?.fence) }
    const states = async (viewer: Viewer) => (await api.query(RENEW, variables, viewer)).renewLeases?.leases
    expect(await states(other)).toEqual([{ state: 'LOST' }])
    const reports = async (viewer: Viewer) => (await api.query(REPORT, variables, viewer)).reportPhases?.results
    expect(await reports(other)).toEqual([{ __typename: 'StaleReportError' }])
    expect(await states(holder)).toEqual([{ state: 'HELD' }])
    expect(await reports(holder)).toEqual([{ __typename: 'PhaseReportAccepted' }])
  })

  test('is listed when it is revoked, with its last use', async () => {
    const secret = await api.token({ name: 'kept' })
    const find = async () => present((await api.query(LISTS)).tokens).find(({ name }) => name === 'kept')
    expect(await find()).toMatchObject({ revokedAt: null, lastUsedAt: null })
    await viewerOf(secret)
    const used = await until(async () => (await find())?.lastUsedAt, { what: 'its use is noted' })
    // Within a minute it is not noted again.
    api.world.clock.advance(59_000)
    await viewerOf(secret)
    api.world.clock.advance(3_000)
    await viewerOf(secret)
    await until(async () => (await find())?.lastUsedAt !== used, { what: 'a later use is noted' })
    expect(new Date(present((await find())?.lastUsedAt)).getTime() - new Date(used).getTime()).toBe(62_000)
    await api.revoke('kept')
    await api.revoke('kept')
    expect(await find()).toMatchObject({ revokedAt: api.world.clock.now().toISOString() })
  })

  test('is for projects that there are', async () => {
    const wrong = await ask(CREATE_TOKEN, { name: 'x', role: 'USER', projects: ['own', 'nowhere'] })
    expect(wrong).toMatchObject({ code: 'INVALID_INPUT', fields: [{ path: 'input.projects.1' }] })
    const none = await ask(CREATE_TOKEN, { name: 'x', role: 'USER', projects: [] })
    expect(none).toMatchObject({ code: 'INVALID_INPUT', fields: [{ path: 'input.projects' }] })
  })

  test.each([
    ['ADMIN', null, [], 'ADMIN'],
    ['ADMIN', ['own'], ['ADMIN', 'AUTHOR', 'EDITOR'], 'ADMIN'],
    ['USER', null, ['EDITOR', 'AUTHOR'], 'USER'],
    ['READER', ['own'], ['VIEWER'], 'READER'],
    ['AGENT', ['own'], ['AGENT'], 'AGENT'],
  ] as const)('of the role %s in the projects %j has the roles %j', async (role, projects, roles, summary) => {
    const viewer = await as({ name: 'one', role, projects })
    const shown = present((await api.query(VIEWER, {}, viewer)).viewer)
    expect(shown).toMatchObject({ role: summary, projects, administrator: role === 'ADMIN' && projects === null })
    expect(shown.grants).toEqual(roles.map((one) => ({ role: one, project: projects && { name: 'own' } })))
  })
})

test('the role MONITOR of a token is of the instance, and of no project', async () => {
  const viewer = await as({ name: 'prometheus', role: 'MONITOR' })
  const shown = present((await api.query(VIEWER, {}, viewer)).viewer)
  expect(shown).toMatchObject({ role: 'MONITOR', projects: [], administrator: false })
  expect(shown.grants).toEqual([{ role: 'MONITOR', project: null }])
  const refused = await ask(CREATE_TOKEN, { name: 'prometheus', role: 'MONITOR', projects: ['own'] })
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', fields: [{ path: 'input.projects' }] })
  const admin = await as({ name: 'owner', role: 'ADMIN', projects: ['own'] })
  expect(await ask(CREATE_TOKEN, { name: 'prometheus', role: 'MONITOR' }, admin)).toMatchObject({ code: 'FORBIDDEN' })
})

describe('the administrator of a project', () => {
  test('creates no token beyond it', async () => {
    const admin = await as({ name: 'limited', role: 'ADMIN', projects: ['own'] })
    const code = async (input: object) =>
      ((await ask(CREATE_TOKEN, { name: 'x', ...input }, admin)) as { code?: string }).code ?? null
    for (const role of ['ADMIN', 'USER', 'READER', 'AGENT']) {
      expect(await code({ role })).toBe('FORBIDDEN')
      expect(await code({ role, projects: ['own'] })).toBeNull()
      // It does not learn that there is one.
      expect(await code({ role, projects: ['own', 'foreign'] })).toBe('INVALID_INPUT')
    }
    const wanted = { name: 'x', grants: [{ role: 'VIEWER', project: 'own' }] }
    expect(await ask(CREATE_PRINCIPAL, { ...wanted, administrator: true }, admin)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await ask(CREATE_PRINCIPAL, { ...wanted, grants: [] }, admin)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await ask(CREATE_PRINCIPAL, { ...wanted, grants: [{ role: 'VIEWER' }] }, admin)).toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await ask(CREATE_PRINCIPAL, wanted, admin)).toMatchObject({ role: 'READER' })
  })

  test('sees, changes and revokes only what is of its projects alone', async () => {
    const admin = await as({ name: 'overseer', role: 'ADMIN', projects: ['own'] })
    const create = async (name: string, ...projects: readonly string[]) =>
      payloadOf(await ask(CREATE_TOKEN, { name, role: 'READER', ...(projects.length > 0 && { projects }) }))
    const [inside, across, outside, everywhere] = [
      await create('inside', 'own'),
      await create('across', 'own', 'foreign'),
      await create('outside', 'foreign'),
      await create('everywhere'),
    ]
    const { tokens, principals, subscriptions } = await api.query(LISTS, {}, admin)
    const names = (list: readonly { readonly name: string }[] | null) => list?.map(({ name }) => name) ?? []
    for (const list of [names(tokens), names(principals)]) {
      expect(list).toContain('inside')
      expect(list).toContain('overseer')
      for (const hidden of ['across', 'outside', 'everywhere', 'ada']) expect(list).not.toContain(hidden)
    }
    expect(subscriptions?.totalCount).toBe(0)
    for (const { token } of [across, outside, everywhere]) {
      expect(await ask(REVOKE, { id: token.id }, admin)).toMatchObject({ code: 'NOT_FOUND' })
      const { id } = token.principal
      expect(await ask(UPDATE_PRINCIPAL, { id, name: 'mine' }, admin)).toMatchObject({ code: 'NOT_FOUND' })
      expect(await ask(ADD_TOKEN, { principalId: id, name: 'mine' }, admin)).toMatchObject({ code: 'NOT_FOUND' })
      expect(await ask(DELETE_PRINCIPAL, { id }, admin)).toMatchObject({ code: 'NOT_FOUND' })
    }
    const { id } = inside.token.principal
    const up = { id, grants: [{ role: 'ADMIN', project: 'own' }, { role: 'VIEWER' }] }
    expect(await ask(UPDATE_PRINCIPAL, up, admin)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await ask(UPDATE_PRINCIPAL, { id, administrator: true }, admin)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await ask(UPDATE_PRINCIPAL, { id, grants: [{ role: 'EDITOR', project: 'own' }] }, admin)).toMatchObject({
      role: 'USER',
    })
    expect(await ask(REVOKE, { id: inside.token.id }, admin)).toMatchObject({ id: inside.token.id })
    expect(await viewerOf(inside.secret)).toBeNull()
  })
})

describe('the administrator of a project without other roles', () => {
  const roles = ['VIEWER', 'EDITOR', 'AUTHOR', 'ADMIN'] as const
  const code = (answer: object) => ('code' in answer ? answer.code : null)
  const create = async (name: string, ...grants: readonly object[]) =>
    ((await ask(CREATE_PRINCIPAL, { name, grants })) as { id: string }).id
  const tokenOf = async (principalId: string): Promise<Viewer> =>
    present(await viewerOf(payloadOf(await ask(ADD_TOKEN, { principalId, name: 'one' })).secret))
  const granted = (role: string) => ({ role, project: 'own' })

  test('grants what it has itself, VIEWER and AGENT, and reads which role it lacks', async () => {
    const admin = await tokenOf(await create('only-admin', granted('ADMIN')))
    const grants = async (role: string) => ask(CREATE_PRINCIPAL, { name: role, grants: [granted(role)] }, admin)
    for (const role of ['VIEWER', 'ADMIN']) expect(code(await grants(role)), role).toBeNull()
    expect(
      await ask(CREATE_PRINCIPAL, { name: 'a', actor: 'DEPLOYER', grants: [granted('AGENT')] }, admin),
    ).toMatchObject({
      name: 'a',
    })
    // It would get the tokens of workers, which create jobs.
    const runtime = { name: 'a', actor: 'RUNTIME', grants: [granted('AGENT')] }
    expect(await ask(CREATE_PRINCIPAL, runtime, admin)).toMatchObject({
      code: 'FORBIDDEN',
      message: 'only-admin may not make a RUNTIME an AGENT: it takes the role AUTHOR in the project.',
    })
    const { id: known } = (await ask(CREATE_PRINCIPAL, runtime)) as { id: string }
    expect(code(await ask(ADD_TOKEN, { principalId: known, name: 'mine' }, admin))).toBe('FORBIDDEN')
    for (const role of ['EDITOR', 'AUTHOR'])
      expect(await grants(role), role).toMatchObject({
        code: 'FORBIDDEN',
        message: `only-admin may not grant ${role}: it takes the role ${role} in the project.`,
      })
    for (const role of ['ADMIN', 'USER'])
      expect(code(await ask(CREATE_TOKEN, { name: 'x', role, projects: ['own'] }, admin)), role).toBe('FORBIDDEN')
    expect(code(await ask(CREATE_TOKEN, { name: 'x', role: 'READER', projects: ['own'] }, admin))).toBeNull()
  })

  test('makes no author: not of itself, not by the token of one, and keeps what others have', async () => {
    const id = await create('climber', granted('ADMIN'))
    const admin = await tokenOf(id)
    const up = { id, grants: [granted('ADMIN'), granted('AUTHOR')] }
    expect(code(await ask(UPDATE_PRINCIPAL, up, admin))).toBe('FORBIDDEN')
    const author = await create('author', granted('AUTHOR'))
    expect(code(await ask(ADD_TOKEN, { principalId: author, name: 'mine' }, admin))).toBe('FORBIDDEN')
    expect(code(await ask(ADD_TOKEN, { principalId: id, name: 'mine' }, admin))).toBeNull()
    const kept = { id: author, name: 'renamed', grants: [granted('VIEWER'), granted('AUTHOR')] }
    expect(code(await ask(UPDATE_PRINCIPAL, kept, admin))).toBeNull()
    expect(code(await ask(UPDATE_PRINCIPAL, { id: author, grants: [granted('VIEWER')] }, admin))).toBeNull()
    expect(code(await ask(UPDATE_PRINCIPAL, kept, admin))).toBe('FORBIDDEN')

    // The answer to a repetition is a new secret.
    const both = await create('both', granted('ADMIN'), granted('AUTHOR'))
    const was = await tokenOf(both)
    const again = { principalId: await create('other', granted('AUTHOR')), name: 'x', idempotencyKey: 'again' }
    expect(code(await ask(ADD_TOKEN, again, was))).toBeNull()
    await ask(UPDATE_PRINCIPAL, { id: both, grants: [granted('ADMIN')] })
    expect(code(await ask(ADD_TOKEN, again, { ...was, ...(await reread(was)) }))).toBe('FORBIDDEN')
  })

  test('of all projects, too', async () => {
    const admin = await tokenOf(await create('of-all', { role: 'ADMIN' }, { role: 'AUTHOR', project: 'own' }))
    for (const role of [...roles, 'MONITOR'])
      expect(code(await ask(CREATE_PRINCIPAL, { name: role, grants: [{ role }] }, admin)), role).toBe(
        ['VIEWER', 'ADMIN'].includes(role) ? null : 'FORBIDDEN',
      )
    for (const [project, expected] of [
      ['own', null],
      ['foreign', 'FORBIDDEN'],
    ])
      expect(code(await ask(CREATE_PRINCIPAL, { name: 'x', grants: [{ role: 'AUTHOR', project }] }, admin))).toBe(
        expected,
      )
  })
})

describe('a principal', () => {
  test.each([
    ['', 'empty'],
    ['ada ', 'blank'],
    ['a\u001b[31mda', 'seen'],
    ['ada\u009b', 'seen'],
    ['\u202eada', 'seen'],
    ['a\u200bda', 'seen'],
    ['a\ufe0fda', 'seen'],
    ['ada\u2800', 'seen'],
    ['a\u3164da', 'seen'],
    ['ada\u00a0lovelace', 'seen'],
    ['ada  lovelace', 'single blanks'],
    ['\uff41da', 'NFKC'],
    ['Ze\u0301', 'NFKC'],
    ['ad\u0430', 'must not mix'],
  ])('is never named %j, nor is a token', async (name, why) => {
    const problem = { code: 'INVALID_INPUT', fields: [{ path: 'input.name' }], message: expect.stringContaining(why) }
    expect(await ask(CREATE_PRINCIPAL, { name, grants: [] })).toMatchObject(problem)
    expect(await ask(CREATE_TOKEN, { name, role: 'READER' })).toMatchObject(problem)
    const { id } = await ask(CREATE_PRINCIPAL, { name: 'sound', grants: [] })
    expect(await ask(UPDATE_PRINCIPAL, { id, name })).toMatchObject(problem)
    const { code } = await ask(ADD_TOKEN, { principalId: id, name })
    expect(code).toBe('INVALID_INPUT')
    // One of an earlier release keeps the name that it has.
    await api.world.pool.query('update principal set name = $2 where id = $1', [id, name])
    const kept = await ask(UPDATE_PRINCIPAL, { id, grants: [{ role: 'VIEWER', project: 'own' }] })
    expect(kept).toMatchObject({ id, name, grants: [{ role: 'VIEWER' }] })
  })

  test.each(['ada', 'Zoë Ελένη', 'Олег', '李小龍', 'ci/deploy-bot_2 (prod)', 'ada@example.org'])(
    'may be named %s',
    async (name) => {
      expect(await ask(CREATE_PRINCIPAL, { name, grants: [] })).toMatchObject({ name })
    },
  )

  test('has new rights at once, and keeps what the input leaves out', async () => {
    const secret = await api.token({ name: 'promoted', role: 'READER', projects: ['own'] })
    const { principalId: id } = present(await viewerOf(secret))
    const grants = [
      { role: 'EDITOR', project: 'own' },
      { role: 'VIEWER', project: 'foreign' },
    ]
    expect(await ask(UPDATE_PRINCIPAL, { id, grants })).toMatchObject({
      name: 'promoted',
      role: 'USER',
      grants: [
        { role: 'EDITOR', project: { name: 'own' } },
        { role: 'VIEWER', project: { name: 'foreign' } },
      ],
    })
    expect((await viewerOf(secret))?.projects).toHaveLength(2)
    expect(await ask(UPDATE_PRINCIPAL, { id, name: 'renamed' })).toMatchObject({ name: 'renamed', role: 'USER' })
    expect((await viewerOf(secret))?.name).toBe('renamed')
  })

  test('that is deleted has no rights and no valid token; the log keeps its id', async () => {
    const secret = await api.token({ name: 'leaver', role: 'USER' })
    const viewer = present(await viewerOf(secret))
    const { answer } = await api.query(MUTATIONS.createInstallation, { input: { name: 'left', spec: {} } }, viewer)
    expect(await ask(DELETE_PRINCIPAL, { id: viewer.principalId })).toEqual({ id: viewer.principalId })
    expect(await viewerOf(secret)).toBeNull()
    expect(await ask(DELETE_PRINCIPAL, { id: viewer.principalId })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await ask(ADD_TOKEN, { principalId: viewer.principalId, name: 'x' })).toMatchObject({ code: 'NOT_FOUND' })
    const changes = await api.query(
      gql('query ($id: ID) { phaseChanges(filter: { objectId: $id }) { edges { node { actor by byId } } } }'),
      { id: present((answer as { id?: string }).id) },
    )
    const [created, ...others] = present(changes.phaseChanges).edges.map(({ node }) => node)
    expect(created).toEqual({ actor: 'USER', by: 'leaver', byId: viewer.principalId })
    for (const other of others) expect(other).toMatchObject({ actor: 'CONTROLLER', by: null, byId: null })
  })

  test('of the server itself is changed by its setting alone', async () => {
    const id = '00000000-0000-8000-8000-000000000001'
    await api.world.pool.query(
      `insert into principal (id, name, actor, administrator, created_at) values ($1, 'admin', 'USER', true, now())`,
      [id],
    )
    for (const answer of [
      await ask(UPDATE_PRINCIPAL, { id, name: 'x' }),
      await ask(DELETE_PRINCIPAL, { id }),
      await ask(ADD_TOKEN, { principalId: id, name: 'x' }),
    ])
      expect(answer).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('PHASELINE_TOKEN') })
  })

  test.each([
    [{ name: ' a' }, ['input.name']],
    [{ actor: 'WORKER' }, ['input.actor']],
    [{ actor: 'DEPLOYER', administrator: true }, ['input.administrator']],
    [{ types: ['mock'] }, ['input.actor']],
    [{ grants: [{ role: 'AGENT' }] }, ['input.grants.0.role']],
    [{ actor: 'RUNTIME', grants: [{ role: 'EDITOR' }] }, ['input.grants.0.role']],
    [{ grants: [{ role: 'EDITOR' }, { role: 'VIEWER', project: 'nowhere' }] }, ['input.grants.1.project']],
  ])('%j is refused', async (input, paths) => {
    const answer = await ask(CREATE_PRINCIPAL, { name: 'wrong', ...input })
    expect((answer as { fields?: readonly { path: string }[] }).fields?.map(({ path }) => path)).toEqual(paths)
  })
})

describe('a project that is created again under its name', () => {
  test('is not read with grants of the one before, nor the other way round', async () => {
    await createProject('tenant')
    const before = await as({ name: 'before', role: 'USER', projects: ['tenant', 'own'] })
    const input = { project: 'tenant', name: 'secret-plan', spec: {}, reconcile: false }
    const { answer } = await api.query(MUTATIONS.createInstallation, { input }, before)
    const id = present((answer as { id?: string }).id)
    await api.world.remove(id)
    await ask(DELETE_PROJECT, { name: 'tenant' })
    await createProject('tenant')
    const after = await as({ name: 'after', role: 'USER', projects: ['tenant'] })
    await api.query(MUTATIONS.createInstallation, { input: { ...input, name: 'new-plan' } }, after)

    const SEEN = gql(`query ($id: ID!) {
      project(name: "tenant") { name } objects(filter: { project: "tenant" }) { totalCount }
      phaseChanges(filter: { project: "tenant" }) { totalCount edges { node { name } } }
      treeAt(rootId: $id, sequence: 1000000) { rootId }
    }`)
    const seen = async (viewer: Viewer) => {
      const { data } = await api.execute(SEEN.valueOf(), { id }, viewer)
      const { project, objects, phaseChanges } = data as unknown as {
        project: object | null
        objects: { totalCount: number }
        phaseChanges: { edges: { node: { name: string } }[] }
      }
      return [project, objects.totalCount, [...new Set(phaseChanges.edges.map(({ node }) => node.name))]]
    }
    const fresh = { ...before, ...(await reread(before)) }
    expect(await seen(fresh)).toEqual([null, 0, []])
    expect(await seen(after)).toEqual([{ name: 'tenant' }, 1, ['new-plan']])
    expect(await api.query(MUTATIONS.createInstallation, { input: { ...input, name: 'mine' } }, before)).toMatchObject({
      answer: { __typename: 'ForbiddenError' },
    })
  })
})

/** The rights that a principal has by now. */
async function reread({ principalId }: Viewer): Promise<Pick<Viewer, 'grants' | 'projects'>> {
  const { rows } = await api.world.pool.query(
    'select role, project_id as "projectId" from principal_grant where principal_id = $1',
    [principalId],
  )
  return { grants: rows, projects: rows.map(({ projectId }) => projectId) }
}

describe('many tokens', () => {
  const PAGE = gql(`query ($filter: TokenFilter, $first: Int, $after: String, $last: Int, $before: String) {
    tokensConnection(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { node { id name } }
    }
  }`)
  const NODE = gql(`query ($id: ID!) { node(id: $id) {
    __typename id ... on Token { name principal { id } } ... on Principal { name tokensConnection(first: 2) { totalCount edges { node { id } } } }
  } }`)

  test('are in pages, and none is out of reach', async () => {
    const oldest = await as({ name: 'oldest', role: 'ADMIN' })
    const { principalId } = await as({ name: 'busy', role: 'READER', projects: ['own'] })
    await api.world.pool.query(
      `insert into token (id, principal_id, name, hash, created_at)
        select gen_random_uuid(), $1, 'of ' || n, sha256(n::text::bytea), now() from generate_series(1, 1000) n`,
      [principalId],
    )
    const listed = await readPages(Number.POSITIVE_INFINITY, async (first, after) => {
      const { tokensConnection } = await api.query(PAGE, { first, after })
      return tokensConnection
    })
    const names = present(listed).nodes.map(({ name }) => name)
    expect(names).toContain('oldest')
    expect(names).toContain('of 1')
    expect(new Set(names).size).toBeGreaterThan(1_000)
    const { tokensConnection: last } = await api.query(PAGE, { last: 2, filter: { nameContains: 'OF 100' } })
    expect(last).toMatchObject({ totalCount: 2, pageInfo: { hasPreviousPage: false } })
    expect(present(last).edges).toHaveLength(2)

    const { tokensConnection: named } = await api.query(PAGE, { filter: { name: 'of 100' } })
    expect(named).toMatchObject({ totalCount: 1, edges: [{ node: { name: 'of 100' } }] })

    const filter = { administrator: true, valid: true, nameContains: 'oldest' }
    expect((await api.query(PAGE, { filter })).tokensConnection?.edges).toMatchObject([
      { node: { id: oldest.tokenId } },
    ])
    expect((await api.query(NODE, { id: oldest.tokenId })).node).toMatchObject({ __typename: 'Token', name: 'oldest' })
    expect((await api.query(NODE, { id: principalId })).node).toMatchObject({
      __typename: 'Principal',
      tokensConnection: { totalCount: 1_001, edges: [{}, {}] },
    })

    const { errors } = await api.execute('{ tokens { id } }')
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    expect(errors?.[0]?.message).toContain('`tokensConnection`')
    const all = await api.execute('{ principals { tokens { id } } }')
    expect(all).toMatchObject({ data: { principals: null }, errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] })
    await api.world.pool.query('delete from token where principal_id = $1', [principalId])
  })

  test('are those of principals that the viewer administers, also by their ids', async () => {
    const admin = await as({ name: 'own-admin', role: 'ADMIN', projects: ['own'] })
    const [mine, other] = [
      await as({ name: 'mine', role: 'READER', projects: ['own'] }),
      await as({ name: 'other', role: 'READER', projects: ['foreign'] }),
    ]
    const nodeOf = async (id: string, viewer: Viewer) => (await api.query(NODE, { id }, viewer)).node
    expect(await nodeOf(mine.tokenId, admin)).toMatchObject({ name: 'mine', principal: { id: mine.principalId } })
    for (const id of [other.tokenId, other.principalId]) expect(await nodeOf(id, admin)).toBeNull()
    for (const id of [mine.tokenId, mine.principalId]) expect(await nodeOf(id, mine)).toBeNull()
  })
})
