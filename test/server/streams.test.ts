import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { DEPLOYER, item } from '../testkit/world.ts'

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

interface Stream {
  readonly events: any[]
  ended(): boolean
  /** The server has said that nothing more comes. */
  isComplete(): boolean
  stop(): Promise<void>
}

function overSocket(
  query: string,
  variables: Record<string, unknown> = {},
  secret = token,
  port = server.port,
): Stream {
  const client = createClient({
    url: `ws://127.0.0.1:${port}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${secret}` },
    retryAttempts: 0,
  })
  const events: any[] = []
  let [ended, isComplete] = [false, false]
  const iterator = client.iterate({ query, variables })
  void (async () => {
    try {
      for await (const event of iterator) events.push(event)
      isComplete = true
    } catch (error) {
      events.push({ closed: error })
    }
    ended = true
  })()
  return {
    events,
    ended: () => ended,
    isComplete: () => isComplete,
    async stop() {
      await iterator.return?.()
      await client.dispose()
    },
  }
}

/** Server-sent events, as GraphiQL asks for them: POST with the token in a header. */
function overEvents(
  query: string,
  variables: Record<string, unknown> = {},
  secret = token,
  port = server.port,
): Stream {
  const controller = new AbortController()
  const events: any[] = []
  let [ended, isComplete] = [false, false]
  const run = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ query, variables }),
      signal: controller.signal,
    })
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, name, data] = /^event: (\w+)\ndata: ?(.*)$/s.exec(block) ?? []
        if (name === 'next') events.push(JSON.parse(data ?? ''))
        if (name === 'complete') isComplete = true
      }
    }
  }
  void run().then(
    () => (ended = true),
    (error: unknown) => {
      events.push({ closed: error })
      ended = true
    },
  )
  return {
    events,
    ended: () => ended,
    isComplete: () => isComplete,
    async stop() {
      controller.abort()
    },
  }
}

const TRANSPORTS = [
  ['WebSocket', overSocket],
  ['events', overEvents],
] as const

describe.each(TRANSPORTS)('over %s', (transport, open) => {
  test('queries work too', async () => {
    const stream = open('{ viewer { name } }')
    await until(() => stream.ended(), { what: 'it ends' })
    expect(stream.events).toEqual([{ data: { viewer: { name: 'ada' } } }])
    await stream.stop()
  })

  test('output is streamed from a cursor on, then live, and ends with its object', async () => {
    const name = `out-${transport}`
    const root = await api.world.create(name, { deployItems: [{ ...item('only'), type: name }] })
    const { id } = await api.world.see(name, 'deploy-items', 'only')
    const [work] = await api.world.claim(1, DEPLOYER, [name])
    const fence = work?.fence ?? ''
    const write = (text: string) =>
      api.world.engineHost.agents.appendLogs(DEPLOYER, [{ fence, stream: 'STDOUT', text }])
    await write('one')
    await write('two')
    const LOGS = gql(
      'subscription ($id: ID!, $after: String) { logs(objectId: $id, after: $after) { cursor text stream } }',
    )
    const stream = open(LOGS, { id })
    await until(() => stream.events.length === 2, { what: 'the lines before are there' })
    await write('three')
    await until(() => stream.events.length === 3, { what: 'the line after is there' })
    const lines = stream.events.map((event) => event.data.logs)
    expect(lines.map((line) => line.text)).toEqual(['one', 'two', 'three'])
    const rest = open(LOGS, { id, after: lines[0].cursor })
    await until(() => rest.events.length === 2, { what: 'it goes on after the cursor' })
    await api.world.report({ fence, phase: 'SUCCEEDED' })
    await api.world.remove(root, { withoutUninstall: true })
    await api.world.pool.query('delete from log_line where object_id = $1', [id])
    await until(() => stream.ended() && rest.ended(), { what: 'it ends with the object' })
    await Promise.all([stream.stop(), rest.stop()])
  })

  test('updates tell of progress and of the end', async () => {
    const name = `upd-${transport}`
    const root = await api.world.create(name, { deployItems: [{ ...item('only'), type: name }] })
    const stream = open(
      'subscription ($id: ID!) { objectUpdates(rootId: $id, kinds: [DEPLOY_ITEM]) { objectId revision object { phase progress { step } } } }',
      { id: root },
    )
    const [work] = await api.world.claim(1, DEPLOYER, [name])
    const fence = work?.fence ?? ''
    await until(() => stream.events.some(({ data }) => data.objectUpdates.object?.phase === 'PROGRESSING'), {
      what: 'the claim is told',
    })
    await api.world.report({ fence, progress: { step: 'halfway' } })
    await until(() => stream.events.some(({ data }) => data.objectUpdates.object?.progress?.step === 'halfway'), {
      what: 'the progress is told',
    })
    await api.world.report({ fence, phase: 'SUCCEEDED' })
    await api.world.remove(root, { withoutUninstall: true })
    await until(() => stream.ended(), { what: 'it ends with the root' })
    const last = stream.events.at(-1).data.objectUpdates
    expect(last).toMatchObject({ object: null })
    await stream.stop()
  })

  test('work is offered to whom it is for', async () => {
    const type = `offer-${transport}`
    const agent = await api.token({ name: 'offered', role: 'AGENT', actor: 'DEPLOYER', types: [type] })
    const OFFERS = gql('subscription ($types: [String!]!) { workOffered(types: $types) { type waiting } }')
    const stream = open(OFFERS, { types: [type] }, agent)
    await api.world.create(type, {
      deployItems: [
        { ...item('a'), type },
        { ...item('b'), type },
      ],
    })
    await until(() => stream.events.length > 0, { what: 'the offer is there' })
    expect(stream.events.at(-1)).toEqual({ data: { workOffered: { type, waiting: 2 } } })
    const foreign = open(OFFERS, { types: ['another'] }, agent)
    const user = open(OFFERS, { types: [type] })
    await until(() => foreign.ended() && user.ended(), { what: 'the others are refused' })
    for (const { events } of [foreign, user]) expect(JSON.stringify(events)).toContain('FORBIDDEN')
    await Promise.all([stream.stop(), foreign.stop(), user.stop()])
  })

  test('phase changes come in order, each once: those after a cursor, then live', async () => {
    const name = `log-${transport}`
    const root = await api.world.create(name, { deployItems: [{ ...item('only'), type: name }] })
    const CHANGES =
      'subscription ($id: ID!, $after: Sequence) { phaseChanges(filter: { rootId: $id }, after: $after) { sequence name from to actor revision object { phase } } }'
    const fromStart = open(CHANGES, { id: root, after: 0 })
    const live = open(CHANGES, { id: root })
    const batches = open(
      'subscription ($id: ID!) { phaseLog(filter: { rootId: $id, to: [SUCCEEDED] }, after: 0) { through changes { name to } } }',
      { id: root },
    )
    await until(() => fromStart.events.length >= 8, { what: 'what was before is told' })
    const [work] = await api.world.claim(1, DEPLOYER, [name])
    await api.world.report({ fence: work?.fence ?? '', phase: 'SUCCEEDED' })
    await until(() => fromStart.events.at(-1).data.phaseChanges.to === 'SUCCEEDED' && live.events.length > 0, {
      what: 'what came after is told',
    })
    const { phaseChanges } = await api.query(
      gql(
        'query ($id: ID!) { phaseChanges(filter: { rootId: $id }, first: 500) { totalCount edges { node { sequence } } } }',
      ),
      { id: root },
    )
    const { totalCount, edges } = present(phaseChanges)
    await until(() => fromStart.events.length === totalCount, { what: 'all is told' })
    const sequences = fromStart.events.map((event) => event.data.phaseChanges.sequence)
    expect(sequences).toEqual(edges.map(({ node }) => node.sequence))
    await until(() => live.events.at(-1)?.data.phaseChanges.sequence === sequences.at(-1), { what: 'the live one too' })
    const heard = live.events.map((event) => event.data.phaseChanges.sequence)
    expect(heard).toEqual(sequences.slice(-heard.length))
    await until(
      () => batches.events.flatMap(({ data }) => data.phaseLog.changes).some((change: any) => change.name === name),
      { what: 'the batches hold what was asked for' },
    )
    expect(
      batches.events.flatMap(({ data }) => data.phaseLog.changes).every((change: any) => change.to === 'SUCCEEDED'),
    ).toBe(true)
    const places = batches.events.map(({ data }) => data.phaseLog.through)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    await Promise.all([fromStart.stop(), live.stop(), batches.stop()])
  })

  test('a cursor that is not in the log ends the stream, and reports the range of the log', async () => {
    const stream = open('subscription { phaseLog(after: 1000000) { through } }')
    await until(() => stream.ended(), { what: 'it ends' })
    expect(JSON.stringify(stream.events)).toContain('CURSOR_EXPIRED')
    expect(stream.events[0].errors[0].extensions).toMatchObject({ oldest: 1, head: expect.any(Number) })
    await stream.stop()
  })

  test('an unreadable object cannot be followed', async () => {
    const secret = await api.token({ name: `blind-${transport}`, projects: ['another'] })
    const root = await api.world.create(`hid-${transport}`, {})
    for (const field of ['logs(objectId: $id) { text }', 'objectUpdates(rootId: $id) { revision }']) {
      const stream = open(`subscription ($id: ID!) { ${field} }`, { id: root }, secret)
      await until(() => stream.ended(), { what: 'it is refused' })
      expect(JSON.stringify(stream.events)).toContain('NOT_FOUND')
      await stream.stop()
    }
  })

  test('a stream without a client stops its source', async () => {
    const root = await api.world.create(`left-${transport}`, {})
    const { changes } = api.services.live
    let asked = 0
    const load = changes.load.bind(changes)
    changes.load = (key) => {
      asked += 1
      return load(key)
    }
    const stream = open('subscription ($id: ID!) { objectUpdates(rootId: $id) { revision } }', { id: root })
    await until(() => asked > 1, { what: 'it looks' })
    await stream.stop()
    await until(
      async () => {
        const before = asked
        await new Promise((resolve) => setTimeout(resolve, 1_200))
        return asked === before
      },
      { what: 'it looks no more' },
    )
    changes.load = load
  })
})

describe('sockets', () => {
  test('without a token they are closed as forbidden', async () => {
    for (const secret of ['wrong', '']) {
      const stream = overSocket('{ viewer { name } }', {}, secret)
      await until(() => stream.ended(), { what: 'it is closed' })
      expect(stream.events[0].closed).toMatchObject({ code: 4403 })
    }
  })

  test('a document that is wrong, too large or no operation is an error, and the socket lives on', async () => {
    for (const query of [
      '{',
      '{ nothing }',
      'fragment x on Viewer { name }',
      `{ viewer { name } } # ${'x'.repeat(300_000)}`,
    ]) {
      const stream = overSocket(query)
      await until(() => stream.ended(), { what: 'it is refused' })
      expect(stream.events[0].closed).not.toHaveProperty('code')
      await stream.stop()
    }
  })
})

test('a server that closes tells its sockets to come again, and ends its events without saying that they are complete', async () => {
  const own = await api.serve()
  const root = await api.world.create('closing', {})
  const UPDATES = gql('subscription ($id: ID!) { objectUpdates(rootId: $id) { revision } }')
  const socket = overSocket(UPDATES, { id: root }, token, own.port)
  const events = overEvents(UPDATES, { id: root }, token, own.port)
  await until(() => socket.events.length > 0 && events.events.length > 0, { what: 'both are open' })
  await own.close()
  await until(() => socket.ended() && events.ended(), { what: 'both have ended' })
  expect(socket.events.at(-1).closed).toMatchObject({ code: 1012 })
  expect(events.events.filter((event) => 'closed' in event)).toEqual([])
  expect(events.isComplete()).toBe(false)
  await expect(fetch(`${own.url}/livez`)).rejects.toThrow()
})

test('a server that closes still answers the queries of its sockets', async () => {
  const own = await api.serve()
  const root = await api.world.create('slow', {})
  const { pool } = api.world
  const holder = await pool.connect()
  await holder.query('begin; lock table object in access exclusive mode')
  const socket = overSocket('query ($id: ID!) { object(id: $id) { name } }', { id: root }, token, own.port)
  const waiting = `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  await until(async () => ((await pool.query(waiting)).rowCount ?? 0) > 0, { what: 'the query runs' })
  const closed = own.close()
  await expect(fetch(`${own.url}/livez`)).rejects.toThrow()
  await holder.query('rollback')
  holder.release()
  await closed
  await until(() => socket.ended(), { what: 'it has ended' })
  expect(socket.events).toEqual([{ data: { object: { name: 'slow' } } }])
})

test('streams end when their token is revoked', async () => {
  const secret = await api.token({ name: 'soon-gone' })
  const root = await api.world.create('revoking', {})
  const UPDATES = gql('subscription ($id: ID!) { objectUpdates(rootId: $id) { revision } }')
  const socket = overSocket(UPDATES, { id: root }, secret)
  const events = overEvents(UPDATES, { id: root }, secret)
  await until(() => socket.events.length > 0 && events.events.length > 0, { what: 'both are open' })
  await api.revoke('soon-gone')
  await until(() => socket.ended() && events.ended(), { what: 'both have ended' })
  expect(socket.events.at(-1).closed).toMatchObject({ code: 4403 })
})
