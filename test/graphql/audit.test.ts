import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyChain } from '../../src/chain-hash.ts'
import type { AuditFilter } from '../../src/core/audit.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { auditAnchor, auditHead, listAudit } from '../../src/store/audit.ts'
import { present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { type Api, createApi } from './api.ts'

/** The trail of what callers do, as real mutations write it. */

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const LOG = gql(`query ($filter: AuditFilter, $first: Int, $after: String) {
  auditLog(filter: $filter, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes: edges { node {
    operation outcome code principalName projectName objectKind objectName objectId fields count address requestId
  } } }
}`)
const CREATE_TOKEN = gql(
  'mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } } }',
)
const CREATE_PROJECT = gql(
  'mutation ($input: CreateProjectInput!) { answer: createProject(input: $input) { ... on Project { id } ... on Error { message } } }',
)
const CREATE_RULE = gql(
  'mutation ($input: CreateNotificationRuleInput!) { answer: createNotificationRule(input: $input) { ... on NotificationRule { id } ... on Error { message } } }',
)
const UPDATE_RULE = gql(
  'mutation ($input: UpdateNotificationRuleInput!) { answer: updateNotificationRule(input: $input) { ... on NotificationRule { id } ... on Error { message } } }',
)
const DELETE_RULE = gql(
  'mutation ($input: DeleteNotificationRuleInput!) { answer: deleteNotificationRule(input: $input) { __typename ... on Error { message } } }',
)
const SET_SECRET = gql(
  'mutation ($input: SetSecretInput!) { answer: setSecret(input: $input) { __typename ... on Error { message } } }',
)

const viewerOf = async (secret: string): Promise<Viewer> => present(await api.services.tokens.authenticate(secret))
async function events(filter: object = {}, viewer?: Viewer) {
  const { auditLog } = await api.query(LOG, { filter, first: 50 }, viewer)
  return present(auditLog).nodes.map(({ node }) => node)
}

describe('what is recorded', () => {
  test('changes of projects, tokens, secrets and trees, by names and never with values', async () => {
    await api.query(CREATE_PROJECT, { input: { name: 'audited' } })
    await api.query(CREATE_TOKEN, { input: { name: 'ci', role: 'READER', projects: ['audited'] } })
    await api.query(SET_SECRET, { input: { project: 'audited', name: 'PASSWORD', value: 'never-shown' } })
    const id = await api.world.create('shop', {})
    const done = await events()
    expect(
      done
        .slice(0, 4)
        .map(({ operation, outcome, objectKind, objectName }) => [operation, outcome, objectKind, objectName]),
    ).toEqual([
      ['createInstallation', 'DONE', 'INSTALLATION', 'shop'],
      ['setSecret', 'DONE', 'SECRET', 'PASSWORD'],
      ['createToken', 'DONE', 'TOKEN', 'ci'],
      ['createProject', 'DONE', 'PROJECT', 'audited'],
    ])
    expect(done[0]).toMatchObject({ objectId: id, projectName: 'default' })
    expect(done[1]).toMatchObject({ projectName: 'audited', fields: ['name', 'project', 'value'] })
    const { rows } = await api.world.pool.query('select e::text from audit_event e')
    expect(JSON.stringify(rows)).not.toContain('never-shown')
  })

  test('changes of a tree under its own lock', async () => {
    const id = await api.world.create('locked', {})
    await api.world.remove(id)
    expect(await events({ objectId: id, operation: 'deleteInstallation' })).toMatchObject([
      { outcome: 'DONE', objectName: 'locked', projectName: 'default', code: null },
    ])
  })

  test('a request that names its object by an id, with the name of the object', async () => {
    const id = await api.world.create('edited', {})
    await api.query(MUTATIONS.updateInstallation, { input: { id, spec: { deployItems: [] } } })
    await api.query(MUTATIONS.updateInstallation, { input: { id, spec: { deployItems: [] } } })
    const same = { outcome: 'DONE', objectName: 'edited', projectName: 'default', objectKind: 'INSTALLATION' }
    expect(await events({ objectId: id, operation: 'updateInstallation' })).toMatchObject([same, same])
  })

  test('a record is named, too, by its update and its deletion', async () => {
    const rule = { changes: { classes: ['FAILED'] }, receiver: { email: { to: ['a@example.org'] } }, text: 'failed' }
    const { answer } = await api.query(CREATE_RULE, { input: { project: 'default', name: 'tells', ...rule } } as never)
    const { id } = answer as { readonly id: string }
    await api.query(UPDATE_RULE, { input: { id, ...rule, text: 'has failed' } } as never)
    await api.query(DELETE_RULE, { input: { id } })
    expect((await events({ objectId: id })).map(({ operation, objectName }) => [operation, objectName])).toEqual([
      ['deleteNotificationRule', 'tells'],
      ['updateNotificationRule', 'tells'],
      ['createNotificationRule', 'tells'],
    ])
  })

  test('refusals, equal ones of a second as one event', async () => {
    const reader = await viewerOf(await api.token({ name: 'reader', role: 'READER' }))
    const forbidden = () => api.query(CREATE_PROJECT, { input: { name: 'refused' } }, reader)
    await Promise.all([forbidden(), forbidden(), forbidden()])
    await api.query(CREATE_PROJECT, { input: { name: 'default' } })
    expect(await events({ outcome: 'REFUSED', operation: 'createProject' })).toMatchObject([
      { code: 'ALREADY_EXISTS', count: 1 },
      { code: 'FORBIDDEN', principalName: 'reader', objectName: 'refused', count: 3 },
    ])
  })
})

test('a change and its event are written together, or not at all', async () => {
  const { pool } = api.world
  await pool.query(`create function fail_audit() returns trigger language plpgsql as $$ begin
    if new.outcome = 'DONE' then raise exception 'no'; end if; return new; end $$`)
  await pool.query('create trigger fail before insert on audit_event for each row execute function fail_audit()')
  try {
    await expect(api.query(CREATE_TOKEN, { input: { name: 'half', role: 'READER' } })).rejects.toThrow()
    await expect(api.query(CREATE_PROJECT, { input: { name: 'half' } })).rejects.toThrow()
    await expect(api.query(SET_SECRET, { input: { project: 'default', name: 'HALF', value: 'x' } })).rejects.toThrow()
    await expect(
      api.query(MUTATIONS.createInstallation, { input: { project: 'default', name: 'half', spec: {} } }),
    ).rejects.toThrow()
  } finally {
    await pool.query('drop function fail_audit cascade')
  }
  const { rows } =
    await pool.query(`select name from principal where name = 'half' union all select name from project where name = 'half'
    union all select name from secret where name = 'HALF' union all select name from object where name = 'half'`)
  expect(rows).toEqual([])
  const failed = await events({ outcome: 'FAILED' })
  expect(failed.map(({ operation, code }) => [operation, code])).toEqual(
    expect.arrayContaining([
      ['createToken', 'INTERNAL_SERVER_ERROR'],
      ['createInstallation', 'INTERNAL_SERVER_ERROR'],
    ]),
  )
})

describe('who reads it', () => {
  test('an administrator of projects reads what concerns them, page by page, and others nothing', async () => {
    await api.query(CREATE_PROJECT, { input: { name: 'theirs' } })
    for (const name of ['A', 'B', 'C']) await api.query(SET_SECRET, { input: { project: 'theirs', name, value: 'x' } })
    const admin = await viewerOf(await api.token({ name: 'owner', role: 'ADMIN', projects: ['theirs'] }))
    const first = present((await api.query(LOG, { first: 2 }, admin)).auditLog)
    expect(first.nodes.map(({ node }) => node.objectName)).toEqual(['C', 'B'])
    const { hasNextPage, endCursor: after } = first.pageInfo
    expect([first.totalCount, hasNextPage]).toEqual([4, true])
    const rest = present((await api.query(LOG, { first: 2, after }, admin)).auditLog)
    expect(rest.nodes.map(({ node }) => [node.operation, node.objectName])).toEqual([
      ['setSecret', 'A'],
      ['createProject', 'theirs'],
    ])
    const editor = await viewerOf(await api.token({ name: 'editor', role: 'USER' }))
    await expect(api.query(LOG, {}, editor)).rejects.toThrow('editor may not read audit')
    const CHAIN = gql('{ auditChain { head { sequence } } }')
    await expect(api.query(CHAIN, {}, admin)).rejects.toThrow('may not verify audit')
  })
})

describe('the chain', () => {
  const ALL: AuditFilter = {
    ...{ projects: null, principalId: null, tokenId: null, operation: null, project: null },
    ...{ objectId: null, outcome: null, since: null, until: null },
  }
  const verify = async () => {
    const { pool } = api.world
    const window = { limit: 1_000, backward: true, after: null, before: null }
    return verifyChain(await auditAnchor(pool), (await listAudit(pool, ALL, window)).toReversed())
  }
  /** As a superuser who switches the guard off. */
  const tamper = async (sql: string): Promise<void> => {
    const { pool } = api.world
    await pool.query(
      `begin; alter table audit_event disable trigger all; ${sql}; alter table audit_event enable trigger all; commit`,
    )
  }

  test('holds as it is, and shows the first event that was changed, removed or inserted', async () => {
    const { pool, audit } = api.world
    await audit.settle()
    expect(await verify()).toEqual(await auditHead(pool))
    await tamper(`create table kept as select * from audit_event`)
    const restore = 'delete from audit_event; insert into audit_event select * from kept'
    await tamper(`update audit_event set principal_name = 'nobody' where sequence = 3`)
    expect(await verify()).toEqual({ sequence: 3, problem: 'CHANGED' })
    await tamper(`${restore}; delete from audit_event where sequence = 2`)
    expect(await verify()).toEqual({ sequence: 2, problem: 'MISSING' })
    await tamper(`${restore}; delete from audit_event where sequence = 4; insert into audit_event
      select gen_random_uuid(), at, principal_id, principal_name, token_id, actor, address, request_id, operation, project_id,
        project_name, object_id, object_kind, object_name, outcome, code, fields, count, 4, hash from kept where sequence = 5`)
    expect(await verify()).toEqual({ sequence: 4, problem: 'CHANGED' })
    await tamper(`${restore}; drop table kept`)
    expect(await verify()).toEqual(await auditHead(pool))
  })

  test.each(['update audit_event set count = 2', 'delete from audit_event', 'truncate audit_event'])(
    'refuses: %s',
    async (sql) => {
      await expect(api.world.pool.query(sql)).rejects.toThrow('audit events are neither changed nor removed')
    },
  )
})

describe('wrong tokens', () => {
  const ask = (url: string, token: string, headers: object = {}) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: '{"query":"{ viewer { name } }"}',
    })

  test('are answered late when there are many, leave a few events, and refuse no right token, known or new', async () => {
    const server = await api.serve({ trustedProxies: ['127.0.0.1'], limits: { requestsPerSecondPerAddress: 20 } })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const known = await api.token({ name: 'known' })
    expect((await ask(server.url, known, from('192.0.2.1'))).status).toBe(200)
    let sent = 0
    const askWrong = () => ask(server.url, `pl_wrong${sent++}`, from('192.0.2.1'))
    const statuses = new Set<number>()
    const wrong = Array.from({ length: 300 }, async () => statuses.add((await askWrong()).status))
    for (let i = 0; i < 5; i++) {
      expect((await ask(server.url, known, from('192.0.2.1'))).status).toBe(200)
      expect((await ask(server.url, await api.token({ name: `new-${i}` }), from('192.0.2.1'))).status).toBe(200)
    }
    await Promise.all(wrong)
    expect([...statuses]).toEqual([401])
    const since = performance.now()
    await Promise.all(Array.from({ length: 6 }, askWrong))
    expect(performance.now() - since).toBeGreaterThan(400)
    const told = await events({ operation: 'token.refused' })
    expect(told.length).toBeLessThan(20)
    expect(
      told.reduce((sum, { count }) => sum + count, 0),
      JSON.stringify(told),
    ).toBe(sent)
    expect(new Set(told.map(({ address }) => address))).toEqual(new Set(['192.0.2.1']))
  })

  test('a request has an id: its own if it is sane, else one that the server makes', async () => {
    const server = await api.serve()
    const token = await api.token({ name: 'ids' })
    const idFor = async (given: string) =>
      (await ask(server.url, token, { 'x-request-id': given })).headers.get('x-request-id')
    expect(await idFor('req-1')).toBe('req-1')
    expect(await idFor('two words')).toMatch(/^[\da-f-]{36}$/)
    await ask(server.url, 'pl_unknown', { 'x-request-id': 'req-2' })
    expect(await events({ operation: 'token.refused' })).toEqual(
      expect.arrayContaining([expect.objectContaining({ requestId: 'req-2', code: 'UNAUTHENTICATED' })]),
    )
  })
})
