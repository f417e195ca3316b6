import { once } from 'node:events'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { call } from './call.ts'

/** A value that JSON, Postgres or JavaScript cannot hold is refused with its position, at every entrance, or kept exactly. */

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

/** JSON texts, and what is wrong with them. */
const PLANTS: readonly (readonly [json: string, problem: string | null])[] = [
  ['9007199254740993', 'is a whole number beyond'],
  ['-9007199254740992', 'is a whole number beyond'],
  ['1234567890123456789012345678', 'is a whole number beyond'],
  ['18446744073709551615', 'is a whole number beyond'],
  ['1e21', 'is a whole number beyond'],
  ['1e400', 'is no number that JSON has'],
  ['-6e81937', 'is no number that JSON has'],
  [String.raw`"a\u0000"`, 'holds the character NUL'],
  [String.raw`"\ud83d"`, 'holds half of a surrogate pair'],
  [String.raw`"\udc00\ud800"`, 'holds half of a surrogate pair'],
  [String.raw`{"k\u0000":1}`, 'has a key that holds the character NUL'],
  [String.raw`{"\udfff":1}`, 'has a key that holds half of a surrogate pair'],
  ['9007199254740991', null],
  ['-9007199254740991', null],
  ['1e-7', null],
  ['0.30000000000000004', null],
  [String.raw`"\ud83d\ude00\uffff\\u0000"`, null],
  ['{"__proto__":{"then":1}}', null],
]

const MARK = '"@plant@"'
const step = fc.oneof(fc.nat(3), fc.stringMatching(/^[a-z]{1,8}$/))
/** A document with a plant somewhere. */
const planted = fc
  .record({
    path: fc.array(step, { maxLength: 6 }),
    beside: fc.jsonValue({ maxDepth: 2 }).filter((value) => !/e\+|\d{16}/.test(JSON.stringify(value))),
    plant: fc.constantFrom(...PLANTS),
  })
  .map(({ path, beside, plant: [json, problem] }) => {
    const value = path.reduceRight<unknown>(
      (inner, key) =>
        typeof key === 'number' ? [...Array.from({ length: key }, () => beside), inner] : { _: beside, [key]: inner },
      JSON.parse(MARK),
    )
    return { text: JSON.stringify(value).replace(MARK, json), path, problem }
  })

const SET = `mutation ($name: String!, $value: JSON!) {
  answer: setDataObject(input: { name: $name, value: $value }) { ... on DataObject { value } ... on InvalidInputError { fields { path message } } }
}`
interface Answer {
  readonly data: {
    readonly answer: { readonly value?: unknown; readonly fields?: readonly { path: string; message: string }[] }
  }
}

/** The request, with the text of the value as it is. */
const requestOf = (text: string, more: object = {}): string =>
  JSON.stringify({ ...more, payload: { query: SET, variables: { name: 'x', value: '@value@' } } }).replace(
    '"@value@"',
    () => text,
  )

const ENTRANCES = {
  async HTTP(): Promise<(text: string) => Promise<Answer>> {
    return async (text) => {
      const { body } = await call(server.port, '/graphql', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
        body: requestOf(text).slice('{"payload":'.length, -1),
      })
      return JSON.parse(body)
    }
  },
  async WebSocket(): Promise<(text: string) => Promise<Answer>> {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws')
    onTestFinished(() => socket.terminate())
    await once(socket, 'open')
    const next = async (type: string): Promise<{ payload: Answer }> => {
      for (;;) {
        const message = JSON.parse(String((await once(socket, 'message'))[0]))
        if (message.type === type) return message
      }
    }
    const acknowledged = next('connection_ack')
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
    await acknowledged
    let id = 0
    return async (text) => {
      id += 1
      const answered = next('next')
      socket.send(requestOf(text, { id: String(id), type: 'subscribe' }))
      return (await answered).payload
    }
  },
}

/** The value of the data, as Postgres has it. */
async function stored(): Promise<unknown> {
  const { rows } = await api.world.pool.query<{ value: unknown }>(`select value from data_object where name = 'x'`)
  return rows[0]?.value
}

describe.each(Object.entries(ENTRANCES))('over %s', (_, open) => {
  test('a value is refused with its place, or read back as it is', async () => {
    const send = await open()
    await fc.assert(
      fc.asyncProperty(planted, async ({ text, path, problem }) => {
        const { answer } = (await send(text)).data
        if (problem === null) {
          expect(answer).toEqual({ value: JSON.parse(text) })
          expect(await stored()).toEqual(JSON.parse(text))
        } else
          expect(answer.fields).toEqual([
            { path: ['input', 'value', ...path].join('.'), message: expect.stringContaining(problem) },
          ])
      }),
      { numRuns: 60 },
    )
  })
})

test('of reports that come together each is refused with its place, or kept as it is', async () => {
  const { world } = api
  const documents = fc.sample(planted, 60)
  const names = documents.map((_, i) => `item${i}`)
  await world.create('reports', { deployItems: names.map((name) => ({ name, type: 'mock' })) })
  const agent = await api.token({ name: 'deployer', role: 'AGENT', types: ['mock'] })
  const ask = async (query: string, variables: object, texts: Readonly<Record<string, string>> = {}) => {
    const body = JSON.stringify({ query, variables }).replace(/"@(\d+)@"/g, (mark, i) => texts[i] ?? mark)
    const headers = { authorization: `Bearer ${agent}`, 'content-type': 'application/json', accept: 'application/json' }
    return (await call(server.port, '/graphql', { method: 'POST', headers, body })).json()
  }
  const claimed = await ask(
    'mutation ($input: ClaimWorkInput!) { claimWork(input: $input) { ... on ClaimedWork { items { fence name objectId } } } }',
    { input: { instance: 'one', types: ['mock'], max: 100 } },
  )
  const items: readonly { fence: string; name: string; objectId: string }[] = claimed.data.claimWork.items
  expect(items).toHaveLength(60)
  const reports = items.map(({ fence, name }) => ({
    ...{ fence, phase: 'SUCCEEDED', exports: { it: `@${name.slice(4)}@` }, message: `${name} \0\ud83d` },
  }))
  const texts = Object.fromEntries(documents.map(({ text }, i) => [i, text]))
  const reported = await ask(
    `mutation ($input: ReportPhasesInput!) { reportPhases(input: $input) {
      ... on PhaseReports { results {
        ... on PhaseReportAccepted { object { ... on DeployItem { exports } } } ... on InvalidInputError { fields { path message } }
      } }
    } }`,
    { input: { reports } },
    texts,
  )
  for (const [i, result] of reported.data.reportPhases.results.entries()) {
    const { text, path, problem } = documents[Number(items[i]?.name.slice(4))] as (typeof documents)[number]
    const message = expect.stringContaining(problem ?? '')
    const field = { path: ['input.reports', i, 'exports.it', ...path].join('.'), message }
    expect(result).toEqual(problem === null ? { object: { exports: { it: JSON.parse(text) } } } : { fields: [field] })
  }
  const lines = items
    .slice(0, 3)
    .map(({ fence }, i) => ({ fence, stream: 'STDOUT', text: i === 1 ? 'x\0y\ud83d' : 'z' }))
  const appended = await ask(
    'mutation ($input: AppendLogsInput!) { appendLogs(input: $input) { ... on AppendedLogs { accepted } } }',
    { input: { lines } },
  )
  expect(appended.data.appendLogs).toEqual({ accepted: 3 })
  const { rows } = await world.pool.query('select text from log_line order by seq')
  expect(rows.map(({ text }) => text)).toEqual(['z', 'x\ufffdy\ufffd', 'z'])
  const changes = await world.pool.query(
    "select message from phase_change where \"to\" = 'SUCCEEDED' and kind = 'DEPLOY_ITEM'",
  )
  expect(changes.rows.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^item\d+ \ufffd\ufffd$/))
})

test('progress is of finite numbers, also where they are written into the document, and exports are an object', async () => {
  const { world } = api
  await world.create('progress', { deployItems: ['a', 'b', 'c'].map((name) => ({ name, type: 'progressing' })) })
  const agent = await api.token({ name: 'progressing', role: 'AGENT', types: ['progressing'] })
  const ask = async (query: string) => {
    const headers = { authorization: `Bearer ${agent}`, 'content-type': 'application/json', accept: 'application/json' }
    const body = JSON.stringify({ query })
    return (await call(server.port, '/graphql', { method: 'POST', headers, body })).json()
  }
  const claimed = await ask(
    'mutation { claimWork(input: { instance: "one", types: ["progressing"], max: 3 }) { ... on ClaimedWork { items { fence } } } }',
  )
  const parts = ['progress: { value: 1e400 }', 'progress: { value: 1e4 }', 'phase: SUCCEEDED, exports: [1]']
  const reports = claimed.data.claimWork.items.map(
    ({ fence }: { fence: string }, i: number) => `{ fence: "${fence}", ${parts[i]} }`,
  )
  const reported =
    await ask(`mutation { reportPhases(input: { reports: [${reports}] }) { ... on PhaseReports { results {
    ... on PhaseReportAccepted { object { progress { value } } } ... on InvalidInputError { fields { path message } }
  } } } }`)
  expect(reported.data.reportPhases.results).toEqual([
    { fields: [{ path: 'input.reports.0.progress.value', message: 'must be a finite number' }] },
    { object: { progress: { value: 10_000 } } },
    { fields: [{ path: 'input.reports.2.exports', message: 'must be an object, whose fields are the exports' }] },
  ])
})
