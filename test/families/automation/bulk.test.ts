import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../../src/client/index.ts'
import { readPages } from '../../../src/client-model/index.ts'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { type BulkFilter, previewBulkOperation } from '../../../src/families/automation/commands/bulk.ts'
import type { AutomationParts } from '../../../src/families/automation/commands/parts.ts'
import { task as taskMachine } from '../../../src/families/operations/machines.ts'
import { rights } from '../../../src/families/operations/rights.ts'
import { commandLine } from '../../cli/command.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { payloadOf, present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { create } from '../../testkit/mutations.ts'
import { createTestDatabase, type TestDatabase } from '../../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { viewerWith } from '../../testkit/viewers.ts'
import { PATIENCE_MS, until } from '../../testkit/wait.ts'

let app: TestApp
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase(1)
  app = await startTestApp({ env: { DATABASE_URL: database.url } })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const PROJECT = gql(`mutation ($name: String!) {
  createProject(input: { name: $name, workerTemplate: { command: ["true"] } }) { __typename ... on Error { message } }
}`)
const CREATE = gql(`mutation ($input: CreateBulkOperationInput!) {
  answer: createBulkOperation(input: $input) { __typename ... on BulkOperation { id phase } ... on Error { code message } }
}`)
const PREVIEW = gql(`query ($input: PreviewBulkOperationInput!) {
  answer: previewBulkOperation(input: $input) { __typename
    ... on BulkPreview { count groups { kind phase count refusal } sample { id } } ... on Error { message } }
}`)
const CANCEL = gql(`mutation ($id: ID!) { answer: cancelBulkOperation(input: { id: $id }) {
  __typename ... on BulkOperation { id phase } ... on Error { code message }
} }`)
const DELETE = gql(`mutation ($id: ID!) { answer: deleteBulkOperation(input: { id: $id }) {
  __typename ... on BulkOperation { id phase } ... on Error { code message }
} }`)
const READ = gql(`query ($id: ID!) {
  object(id: $id) { phase finished error { code message } ... on BulkOperation {
    verb flags note ratePerSecond author endedAt selection
    counts { all waiting done unchanged refused forbidden gone cancelled }
  } }
}`)
const TARGETS = gql(`query ($id: ID!, $only: [BulkOutcome!], $first: Int!, $after: String) {
  object(id: $id) { ... on BulkOperation { outcomes(only: $only, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { targetId targetKind targetName outcome code message at object { id phase } caused { id kind } } }
  } } }
}`)
const EVENT = gql(`mutation ($project: String!, $type: String!) {
  createEvent(input: { project: $project, source: "test", type: $type, labels: [{ key: "team", value: "a" }] }) {
    __typename ... on CreatedEvents { events { id } }
  }
}`)

async function project(name: string, events = 0, { client }: { readonly client: Client } = app): Promise<string[]> {
  await client.query(PROJECT, { name })
  const ids: string[] = []
  for (let i = 0; i < events; i += 50) {
    const made = await Promise.all(
      Array.from({ length: Math.min(50, events - i) }, async () => {
        const { createEvent } = await client.query(EVENT, { project: name, type: 'push' })
        return createEvent && 'events' in createEvent ? (createEvent.events?.[0]?.id ?? '') : ''
      }),
    )
    ids.push(...made)
  }
  return ids
}
type Input = VariablesOf<typeof CREATE>['input']
const asked = async (input: Input, { client }: { readonly client: Client } = app) =>
  present((await client.query(CREATE, { input })).answer)
async function created(input: Input, from: { readonly client: Client } = app): Promise<string> {
  const answer = await asked(input, from)
  if (!('id' in answer)) throw new Error(JSON.stringify(answer))
  return answer.id ?? ''
}
const read = async (id: string, { client }: { readonly client: Client } = app) => {
  const { object } = await client.query(READ, { id })
  if (!object?.counts) throw new Error('gone')
  return { ...object, counts: object.counts }
}
const ended = (id: string, from: { readonly client: Client } = app, timeoutMs = PATIENCE_MS) =>
  until(
    async () => {
      const found = await read(id, from)
      return found.finished ? found : null
    },
    { what: 'it has ended', timeoutMs },
  )
async function targetsOf(id: string, { client }: { readonly client: Client } = app) {
  const { nodes } = present(
    await readPages(
      200_000,
      async (first, after) => (await client.query(TARGETS, { id, first, after })).object?.outcomes ?? null,
    ),
  )
  return nodes
}
/** Phase changes that operations have made by users, of each object. */
async function changesBy(name: string, pool = database.pool): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ id: string; count: number }>(
    `select root_id as id, count(*)::int as count from phase_change
     where "by" = $1 and actor = 'USER' and not rejected and kind = 'WORKER' group by 1`,
    [name],
  )
  return new Map(rows.map(({ id, count }) => [id, count]))
}

test('a filter is fixed when it is created: each object is asked once, and its outcome is a row', async () => {
  const ids = await project('fixed', 30)
  const input = { project: 'fixed', verb: 'cancel', filter: { kinds: ['EVENT' as const] } }
  const preview = payloadOf((await app.client.query(PREVIEW, { input })).answer)
  expect(preview).toMatchObject({ count: 30, sample: { length: 10 } })
  expect(preview.groups?.map(({ kind, refusal }) => [kind, refusal])).toEqual([['EVENT', null]])
  const id = await created({ ...input, name: 'all', note: 'the end of it' })
  const [late] = await projectMore('fixed')
  const found = await ended(id)
  expect(found).toMatchObject({
    ...{ phase: 'SUCCEEDED', verb: 'cancel', note: 'the end of it', author: 'admin', error: null },
    ...{ selection: { kinds: ['EVENT'] }, counts: { all: 30, done: 30, waiting: 0 } },
  })
  const targets = await targetsOf(id)
  expect(targets.map(({ targetId }) => targetId).toSorted()).toEqual(ids.toSorted())
  for (const { outcome, object, caused, at } of targets) {
    expect({ outcome, caused, phase: object?.phase }).toMatchObject({ outcome: 'DONE', caused: null })
    expect(object?.phase).toMatch(/CANCELED|ABORTED/)
    expect(at).not.toBeNull()
  }
  expect(await changesBy('bulk:fixed/all')).toEqual(new Map(ids.map((one) => [one, 1])))
  const { object } = await app.client.query(gql('query ($id: ID!) { object(id: $id) { finished } }'), {
    id: late ?? '',
  })
  expect(object?.finished).toBe(false)
  // An operation without targets succeeds.
  const again = await created({
    ...input,
    name: 'again',
    filter: { kinds: ['EVENT'], labels: [{ key: 'team', value: 'b' }] },
  })
  expect(await ended(again)).toMatchObject({ phase: 'SUCCEEDED', counts: { all: 0 } })
  expect(await asked({ ...input, name: 'all' })).toMatchObject({ code: 'ALREADY_EXISTS' })
})
const projectMore = (name: string) => project(name, 1)

test('a selection by ids: what is gone, has ended or is refused has its outcome, and a retry says what it has made', async () => {
  const [one = '', two = '', three = ''] = await project('picked', 3)
  await app.client.query(gql('mutation ($id: ID!) { deleteEvent(input: { id: $id }) { __typename } }'), { id: one })
  await app.client.query(gql('mutation ($id: ID!) { cancelEvent(input: { id: $id }) { __typename } }'), { id: two })
  const outcomes = async (name: string, verb: string, ids: readonly string[]) => {
    const id = await created({ project: 'picked', name, verb, ids: [...ids] })
    const { phase } = await ended(id)
    const targets = await targetsOf(id)
    return { phase, by: new Map(targets.map((target) => [target.targetId, target])) }
  }
  const retried = await outcomes('retry', 'retry', [one, two, three])
  expect(retried.phase).toBe('FAILED')
  expect(retried.by.get(one)).toMatchObject({ outcome: 'GONE', targetName: null })
  expect(retried.by.get(two)).toMatchObject({ outcome: 'DONE', caused: { kind: 'EVENT' } })
  expect(retried.by.get(three)).toMatchObject({ outcome: 'REFUSED', code: 'BUSY' })
  const cancelled = await outcomes('cancel', 'cancel', [two, three])
  expect(cancelled.phase).toBe('SUCCEEDED')
  expect(cancelled.by.get(two)).toMatchObject({ outcome: 'UNCHANGED', code: 'TRANSITION' })
  expect(cancelled.by.get(three)).toMatchObject({ outcome: 'DONE' })
})

test('a flag of the verb is set', async () => {
  const { client } = app
  // Nobody deploys its item, so its deletion waits.
  const id = await create(client, 'nobodys', { deployItems: [{ name: 'one', type: 'nobodys' }] })
  const flags = ['withoutUninstall']
  const operation = await created({ project: 'default', name: 'flags', verb: 'delete', ids: [id], flags })
  expect(await ended(operation)).toMatchObject({ phase: 'SUCCEEDED', flags, counts: { done: 1 } })
  const { rows } = await database.pool.query('select next_origin as origin from installation where object_id = $1', [
    id,
  ])
  expect(rows).toMatchObject([{ origin: { cause: 'DELETED', withoutUninstall: true } }])
})

test('what cannot be asked is refused with its place, and nothing is written', async () => {
  await project('wrong', 1)
  const refusalOf = async (more: Partial<Input>) => {
    const answer = await asked({ project: 'wrong', name: 'one', verb: 'cancel', ...more })
    return 'message' in answer ? answer.message : JSON.stringify(answer)
  }
  const filter = { kinds: ['EVENT' as const] }
  expect(await refusalOf({})).toMatch('input: takes either `filter` or `ids`')
  expect(await refusalOf({ filter, ids: ['0'] })).toMatch('takes either')
  expect(await refusalOf({ ids: [] })).toMatch('input.ids: names no object')
  expect(await refusalOf({ filter, verb: 'explode' })).toMatch(/input.verb: is none .* cancel, .*retry/)
  expect(await refusalOf({ filter: { kinds: ['BULK_OPERATION'] } })).toMatch('BULK_OPERATION has no verb cancel')
  expect(await refusalOf({ filter: { project: 'fixed' } })).toMatch('input.filter.project')
  expect(await refusalOf({ filter, flags: ['cascade'] })).toMatch('input.flags.0: is no flag of cancel')
  expect(await refusalOf({ filter, verb: 'delete', flags: ['force', 'gently'] })).toMatch(
    /flags.1: is no flag of delete: write .*cascade/,
  )
  expect(await refusalOf({ filter, ratePerSecond: 0 })).toMatch('input.ratePerSecond: must be from 1 to 1000')
  const { rows } = await database.pool.query(`select from object where kind = 'BULK_OPERATION' and name = 'one'`)
  expect(rows).toHaveLength(0)
})

test('at a rate it can be cancelled: what was not asked stays, and only then it can be deleted', async () => {
  const ids = await project('slow', 20)
  const id = await created({ project: 'slow', name: 'slow', verb: 'cancel', ids, ratePerSecond: 2 })
  await until(async () => (await read(id)).counts.done >= 3, { what: 'some are asked' })
  const within = await database.pool.query<{ most: number }>(
    `select max((select count(*) from bulk_target o where o.operation_id = t.operation_id and o.at > t.at - interval '0.9 s' and o.at <= t.at))::int as most
     from bulk_target t where t.operation_id = $1 and t.at is not null`,
    [id],
  )
  expect(within.rows[0]?.most).toBeLessThanOrEqual(2)
  expect(present((await app.client.query(DELETE, { id })).answer)).toMatchObject({ code: 'TRANSITION' })
  expect(payloadOf((await app.client.query(CANCEL, { id })).answer)).toMatchObject({ phase: 'ABORTED' })
  const { counts, phase } = await read(id)
  expect(phase).toBe('ABORTED')
  expect(counts.done + counts.cancelled).toBe(20)
  expect(counts).toMatchObject({ waiting: 0 })
  expect(present((await app.client.query(CANCEL, { id })).answer)).toMatchObject({ code: 'TRANSITION' })
  expect((await changesBy('bulk:slow/slow')).size).toBe(counts.done)
  expect(payloadOf((await app.client.query(DELETE, { id })).answer)).toMatchObject({ id })
  const { rows } = await database.pool.query('select from bulk_target where operation_id = $1', [id])
  expect(rows).toHaveLength(0)
})

test('one that is deleted midway is GONE, and an author who has lost the right asks nothing more', async () => {
  const ids = (await project('lost', 12)).toSorted()
  const { createPrincipal } = await app.client.query(
    gql(`mutation { createPrincipal(input: { name: "ed", grants: [{ role: EDITOR, project: "lost" }] }) {
      __typename ... on Principal { id } ... on Error { message }
    } }`),
  )
  const { id: principalId = '' } = payloadOf(createPrincipal)
  const { createPrincipalToken } = await app.client.query(
    gql(`mutation ($principalId: ID!) { createPrincipalToken(input: { principalId: $principalId, name: "one" }) {
      __typename ... on CreatedToken { secret } ... on Error { message }
    } }`),
    { principalId },
  )
  const { secret } = payloadOf(createPrincipalToken)
  await using client = createClient({ url: app.url, token: secret ?? '' })
  const ed = { client }
  const id = await created({ project: 'lost', name: 'lost', verb: 'cancel', ids, ratePerSecond: 1 }, ed)
  await app.client.query(gql('mutation ($id: ID!) { deleteEvent(input: { id: $id }) { __typename } }'), {
    id: ids[11] ?? '',
  })
  await until(async () => (await read(id)).counts.done >= 2, { what: 'some are asked' })
  await app.client.query(
    gql(
      `mutation ($id: ID!) { updatePrincipal(input: { id: $id, grants: [{ role: VIEWER, project: "lost" }] }) { __typename } }`,
    ),
    { id: principalId },
  )
  // The rest need no rate: cancelling would hide what this test is about.
  const found = await ended(id)
  expect(found).toMatchObject({ phase: 'FAILED', counts: { all: 12, gone: 1, waiting: 0 } })
  expect(found.counts.done + found.counts.forbidden).toBe(11)
  expect(found.counts.forbidden).toBeGreaterThan(0)
  expect(found.error?.message).toMatch(/forbidden to its author/)
  const forbidden = (await targetsOf(id)).filter(({ outcome }) => outcome === 'FORBIDDEN')
  expect(forbidden[0]).toMatchObject({ code: 'FORBIDDEN', message: expect.stringMatching(/^ed may not cancel event/) })
  expect(await asked({ project: 'lost', name: 'more', verb: 'cancel', ids }, ed)).toMatchObject({ code: 'FORBIDDEN' })
})

test('two engines and whatever is killed: each object is asked once, and has its outcome', {
  timeout: soak(4, 60) * 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase(4))
  const token = 'bulk-administrator-token'
  const env = {
    ...{ DATABASE_URL: database.url, PHASELINE_TOKEN: token, PHASELINE_SECRET_KEY: SECRET_KEY },
    PHASELINE_ROLES: 'gateway,engine',
  }
  const servers = [stack.use(await startServer({ env, token })), stack.use(await startServer({ env, token }))] as const
  const [one, two] = servers
  const count = soak(300, 50_000)
  const timeoutMs = soak(1, 20) * PATIENCE_MS
  const ids = new Set(await project('ci', count, one))
  expect(ids.size).toBe(count)
  const filter = { kinds: ['EVENT' as const] }
  const begun = performance.now()
  const id = await created({ project: 'ci', name: 'all', verb: 'delete', filter }, one)
  for (let round = 1; round <= soak(2, 10); round += 1) {
    const [killed, other] = round % 2 === 0 ? [one, two] : [two, one]
    const more = Math.floor((count * round) / soak(3, 11))
    await until(async () => (await read(id, other)).counts.done >= more, { what: `${more} are asked`, timeoutMs })
    await killed.kill()
    await killed.start()
  }
  const found = await ended(id, one, timeoutMs)
  if (process.env.SOAK) console.log(`${count} objects in ${Math.round((performance.now() - begun) / 1_000)} s`)
  expect(found).toMatchObject({ phase: 'SUCCEEDED', counts: { all: count, done: count } })
  const { rows } = await database.pool.query<{ id: string; count: number }>(
    `select root_id as id, count(*)::int as count from phase_change
     where "by" = 'bulk:ci/all' and not rejected and kind = 'EVENT' group by 1`,
  )
  expect(new Map(rows.map((row) => [row.id, row.count]))).toEqual(new Map([...ids].map((one) => [one, 1])))
  const left = await database.pool.query(`select from object where kind = 'EVENT'`)
  expect(left.rows).toHaveLength(0)
})

test('the command line shows what it would ask, asks, waits, and shows the outcomes', async () => {
  await project('told', 3)
  const phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  const { out } = await phaseline('bulk cancel --project told --kind EVENT -l team=a --dry-run')
  expect(out).toMatch(/^cancel would be asked of 3 objects\n/)
  expect(out).toMatch(/EVENT +told\//)
  expect((await phaseline('bulk cancel --project told --kind PLACE --dry-run')).code).toBe(2)
  const asked = await phaseline('bulk cancel --project told --kind EVENT -l team=a --as stopped --note late --wait')
  expect(asked).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^told\/stopped .*SUCCEEDED: 3 objects, 3 done\n$/),
  })
  expect((await phaseline('bulk show told/stopped --outcome DONE')).out).toMatch(/note +late[\s\S]*EVENT +\S+ +DONE/)
  expect((await phaseline('bulk list --project told')).out).toMatch(/stopped +cancel .*3 objects, 3 done +admin/)
  expect((await phaseline('bulk stop told/stopped')).err).toMatch(/SUCCEEDED/)
  expect((await phaseline('delete told/stopped --yes')).code).toBe(0)
})

const RUN_TASK = gql(`mutation ($input: CreateTaskInput!) { answer: createTask(input: $input) {
  __typename ... on Task { id } ... on Error { message }
} }`)
const CANCEL_TASK = gql('mutation ($id: ID!) { cancelTask(input: { id: $id }) { __typename } }')
const DELETE_TASK = gql('mutation ($id: ID!) { deleteTask(input: { id: $id }) { __typename } }')
const DELETE_EVENT = gql('mutation ($id: ID!) { deleteEvent(input: { id: $id }) { __typename } }')
const CANCEL_EVENT = gql('mutation ($id: ID!) { cancelEvent(input: { id: $id }) { __typename } }')

async function tokenOf(name: string, grants: VariablesOf<typeof PRINCIPAL>['grants']): Promise<string> {
  const { createPrincipal } = await app.client.query(PRINCIPAL, { name, grants })
  const { id: principalId = '' } = payloadOf(createPrincipal)
  return payloadOf((await app.client.query(TOKEN, { principalId })).createPrincipalToken).secret ?? ''
}
const PRINCIPAL =
  gql(`mutation ($name: String!, $grants: [GrantInput!]!) { createPrincipal(input: { name: $name, grants: $grants }) {
  __typename ... on Principal { id } ... on Error { message }
} }`)
const TOKEN =
  gql(`mutation ($principalId: ID!) { createPrincipalToken(input: { principalId: $principalId, name: "one" }) {
  __typename ... on CreatedToken { secret } ... on Error { message }
} }`)

/** Ids of the objects that the verb would be asked of. */
async function selectedBy(verb: string, inProject: string, from: { readonly client: Client } = app): Promise<string[]> {
  const input = { project: inProject, verb, filter: {} }
  const preview = payloadOf(present((await from.client.query(PREVIEW, { input })).answer))
  return (preview.sample ?? []).map(({ id }) => id)
}
async function task(inProject: string, name: string): Promise<string> {
  const input = { project: inProject, name, jobs: [{ name: 'one', gadget: 'nobody-has' }] }
  return payloadOf((await app.client.query(RUN_TASK, { input })).answer).id ?? ''
}
const finishes = (id: string) =>
  until(async () => (await app.client.query(FINISHED, { id })).object?.finished === true, { what: 'it has ended' })
const FINISHED = gql('query ($id: ID!) { object(id: $id) { finished } }')

test('a selection has the kinds that the caller may ask in the project, whatever it may do in others', async () => {
  const [event = ''] = await project('mine', 1)
  await project('elsewhere')
  await app.client.query(CANCEL_EVENT, { id: event })
  const done = await task('mine', 'theirs')
  await app.client.query(CANCEL_TASK, { id: done })
  await Promise.all([finishes(event), finishes(done)])
  const grants = [
    { role: 'EDITOR' as const, project: 'mine' },
    { role: 'AUTHOR' as const, project: 'elsewhere' },
  ]
  await using client = createClient({ url: app.url, token: await tokenOf('between', grants) })
  expect(await selectedBy('retry', 'mine', { client })).toEqual([event])
  const id = await created({ project: 'mine', name: 'retry', verb: 'retry', filter: {} }, { client })
  expect(await ended(id, { client })).toMatchObject({ phase: 'SUCCEEDED', counts: { all: 1, done: 1 } })
})

test('a verb that the caller may ask of no kind is refused, and selects nothing instead', async () => {
  await project('none')
  const { rows } = await database.pool.query<{ id: string }>("select id from project where name = 'none'")
  const editor = viewerWith([{ role: 'EDITOR', projectId: rows[0]?.id ?? '' }])
  // As on a server whose tasks alone have the verb: they take an author.
  const verb = present(taskMachine.verbs.find(({ name }) => name === 'retry'))
  const ask = () => Promise.reject(new Error('nobody asks'))
  const parts = { pool: database.pool, askedVerbs: [{ verb, right: rights.create, ask }] } as unknown as AutomationParts
  const filter: BulkFilter = { sent: {}, query: { projects: null }, rule: { final: [], outstanding: [], leftOut: [] } }
  const input = { project: 'none', verb: 'retry' }
  expect(await previewBulkOperation(parts, editor, input, filter)).toMatchObject({
    ok: false,
    refusal: {
      type: 'ForbiddenError',
      message: expect.stringMatching(/ may not create task: it takes the role AUTHOR/),
    },
  })
})

test('what has ended for good is not paused, and what is paused is not paused again', async () => {
  const [over = '', open = ''] = await project('paused', 2)
  await app.client.query(CANCEL_EVENT, { id: over })
  await finishes(over)
  expect(await selectedBy('pause', 'paused')).toEqual([open])
  expect(await selectedBy('resume', 'paused')).toEqual([])
  const id = await created({ project: 'paused', name: 'pause', verb: 'pause', filter: {} })
  expect(await ended(id)).toMatchObject({ phase: 'SUCCEEDED', counts: { all: 1, done: 1 } })
  expect(await selectedBy('pause', 'paused')).toEqual([])
  expect(await selectedBy('resume', 'paused')).toEqual([open])
})

test('what has its retry is not retried again, until that is deleted', async () => {
  const [event = ''] = await project('again', 1)
  const first = await task('again', 'first')
  await app.client.query(CANCEL_EVENT, { id: event })
  await app.client.query(CANCEL_TASK, { id: first })
  await Promise.all([finishes(event), finishes(first)])
  const filter = { rootsOnly: true, phases: ['ABORTED', 'CANCELED'] as const }
  const retry = async (name: string) => {
    const id = await created({
      project: 'again',
      name,
      verb: 'retry',
      filter: { ...filter, phases: [...filter.phases] },
    })
    await ended(id)
    return (await targetsOf(id)).flatMap(({ caused }) => (caused ? caused.id : []))
  }
  expect((await selectedBy('retry', 'again')).toSorted()).toEqual([event, first].toSorted())
  const retries = await retry('once')
  expect(retries).toHaveLength(2)
  expect(await retry('twice')).toEqual([])
  expect(await selectedBy('retry', 'again')).toEqual([])
  const RETRY_OF = gql(
    'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Event { retryOf { id } } ... on Task { retryOf { id } } } }',
  )
  const { nodes } = await app.client.query(RETRY_OF, { ids: retries })
  expect(nodes.map((node) => node?.retryOf?.id).toSorted()).toEqual([event, first].toSorted())
  for (const id of retries) {
    await app.client.query(CANCEL_EVENT, { id })
    await app.client.query(CANCEL_TASK, { id })
    await finishes(id)
  }
  // The retry of a retry is its own.
  expect((await selectedBy('retry', 'again')).toSorted()).toEqual(retries.toSorted())
  for (const id of retries) {
    await app.client.query(DELETE_EVENT, { id })
    await app.client.query(DELETE_TASK, { id })
  }
  await until(async () => (await selectedBy('retry', 'again')).length === 2, { what: 'the retries are gone' })
  expect((await selectedBy('retry', 'again')).toSorted()).toEqual([event, first].toSorted())
})
