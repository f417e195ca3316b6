import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClient, type PhaseChange } from '../../src/client/index.ts'
import { gadgetFolder } from '../agents/gadget-folder.ts'
import { ask } from '../testkit/ask.ts'
import { startBalancer } from '../testkit/balancer.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const HEAD = gql('{ log { head } }')
const portOf = ({ origin }: { readonly origin: string }): number => Number(new URL(origin).port)

test('a gateway that is told to end under load fails no request, and its subscriptions go on elsewhere without a gap', async () => {
  await using database = await createTestDatabase()
  const env = {
    DATABASE_URL: database.url,
    PHASELINE_SECRET_KEY: SECRET_KEY,
    PHASELINE_ROLES: 'gateway,engine',
    // The balancer's port is in the Host header.
    PHASELINE_ALLOWED_HOSTS: '127.0.0.1',
  }
  await using leaves = await startServer({
    env: { ...env, PHASELINE_DRAIN_DELAY_MS: '5000', PHASELINE_DRAIN_TIMEOUT_MS: '120000' },
  })
  await using balancer = await startBalancer(portOf(leaves))
  const url = `http://127.0.0.1:${balancer.port}/graphql`
  await using client = createClient({ url, token: leaves.token })
  await until(() => client.query(HEAD).catch(() => null), { what: 'the balancer knows the server' })

  const stop = new AbortController()
  const seen: PhaseChange[] = []
  const reading = (async () => {
    for await (const batch of client.followPhases({ after: 0, signal: stop.signal })) seen.push(...batch.changes)
  })()
  const failures: unknown[] = []
  let done = 0
  const load = async (worker: number): Promise<void> => {
    for (let i = 0; !stop.signal.aborted; i++) {
      try {
        const id = await create(client, `tree-${worker}-${i}`, items(2))
        if (!(await show(client, id))) failures.push(`${id} is gone`)
      } catch (error) {
        failures.push(error)
      }
      done += 1
    }
  }
  const loading = [1, 2, 3].map(load)
  await until(() => seen.length > 0 && done > 10, { what: 'all of it runs over the first server' })

  await using stays = await startServer({ env: { ...env, PHASELINE_DRAIN_TIMEOUT_MS: '1500' }, token: leaves.token })
  balancer.add(portOf(stays))
  await until(() => balancer.served(portOf(stays)) > 0 || done > 30, { what: 'the second server is known' })
  // Browsers open connections beforehand, and may never use them.
  const unused = connect(portOf(leaves), '127.0.0.1').on('error', () => undefined)
  await once(unused, 'connect')
  expect(await leaves.stop()).toBe(0)

  const atEnd = done
  await until(() => done > atEnd + 10 || failures.length > 0, { what: 'the load goes on' })
  const { log } = await stays.client.query(HEAD)
  await until(() => (seen.at(-1)?.sequence ?? 0) >= (log?.head ?? 0), { what: 'the reader has caught up' })
  stop.abort()
  await Promise.all([reading, ...loading])
  expect(failures).toEqual([])
  expect(balancer.served(portOf(stays))).toBeGreaterThan(0)
  expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, i) => i + 1))

  // A request that hangs delays the end no longer than the setting allows.
  const holder = await database.pool.connect()
  await holder.query('begin; lock table object in access exclusive mode')
  const hanging = create(stays.client, 'hangs', items(1)).catch((error: unknown) => error)
  const waiting = `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  await until(async () => ((await database.pool.query(waiting)).rowCount ?? 0) > 0, { what: 'the request hangs' })
  expect(await stays.stop()).toBe(1)
  expect(stays.output()).toContain('PHASELINE_DRAIN_TIMEOUT_MS')
  await holder.query('rollback')
  holder.release()
  expect(await hanging).toBeInstanceOf(Error)
})

test('requests whose clients have left end before the connections to the database, and the process ends with 0', async () => {
  await using database = await createTestDatabase()
  const env = { DATABASE_URL: database.url, PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_DRAIN_TIMEOUT_MS: '20000' }
  await using server = await startServer({ env: { ...env, PHASELINE_ROLES: 'gateway,engine' } })
  const holder = await database.pool.connect()
  await holder.query('begin; lock table project in access exclusive mode')
  const query = MUTATIONS.createInstallation
  const payload = (name: string) => ({ query, variables: { input: { name, spec: items(1) } } })
  const socket = new WebSocket(server.url.replace('http', 'ws'), 'graphql-transport-ws')
  const message = () => once(socket, 'message').then(([data]) => JSON.parse(String(data)) as { readonly id?: string })
  await once(socket, 'open')
  const send = (sent: object) => socket.send(JSON.stringify(sent))
  send({ type: 'connection_init', payload: { authorization: `Bearer ${server.token}` } })
  await message()
  for (let i = 0; i < 20; i++) send({ id: `create-${i}`, type: 'subscribe', payload: payload(`socket-${i}`) })
  send({ id: 'last', type: 'subscribe', payload: { query: '{ __typename }' } })
  expect(await message()).toMatchObject({ id: 'last' })
  const leaving = new AbortController()
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${server.token}` }
  const posted = Array.from({ length: 20 }, (_, i) =>
    fetch(server.url, {
      method: 'POST',
      headers,
      body: JSON.stringify(payload(`post-${i}`)),
      signal: leaving.signal,
    }).catch(() => null),
  )
  // Answered after the others have come.
  await server.client.query(HEAD)
  const waiting = `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`
  await until(async () => ((await database.pool.query(waiting)).rowCount ?? 0) > 0, {
    what: 'a request waits for the table',
  })

  leaving.abort()
  socket.terminate()
  await Promise.all(posted)
  const stopped = server.stop()
  const isClosed = () =>
    fetch(server.origin).then(
      () => false,
      () => true,
    )
  await until(isClosed, { what: 'the server takes no more connections' })
  await holder.query('rollback')
  holder.release()
  expect(await stopped).toBe(0)
  expect(server.output()).not.toMatch(/"level":[456]0/)
  const { rows } = await database.pool.query(`select count(*)::int as trees from object where kind = 'INSTALLATION'`)
  // Requests that had begun are finished; the server does not wait for the others.
  expect(rows[0]?.trees).toBeGreaterThanOrEqual(1)
})

test('built-in agents whose work takes long are asked to end at once, and not one after the other', async () => {
  await using folder = await gadgetFolder()
  await folder.add('long', `[ "$2" = --getlocks ] && exit 0; echo STEP at work; while :; do sleep 0.1; done`)
  const env = { PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_GADGETS: folder.path, PHASELINE_LOG_LEVEL: 'debug' }
  await using database = await createTestDatabase()
  await using server = await startServer({ env: { ...env, DATABASE_URL: database.url } })
  await create(server.client, 'long', items(1, { delayMs: 600_000 }))
  await ask(server.client, MUTATIONS.createTask, { name: 'long', jobs: [{ name: 'x', gadget: 'long' }] })
  const isBusy = async () => (await database.pool.query('select from work where state = 1')).rowCount === 2
  await until(isBusy, { what: 'both are at work' })
  expect(await server.stop()).toBe(0)
  const said: readonly string[] = server.output().match(/(?<="type":")(ending|ended)(?=")/g) ?? []
  expect(said.lastIndexOf('ending')).toBeLessThan(said.indexOf('ended'))
  expect(said.filter((type) => type === 'ended').length).toBeGreaterThan(1)
})
