import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { WebSocket } from 'ws'
import { type Client, createClient } from '../../src/client/index.ts'

/** The disturbances run in a process of their own, which ends when its channel closes. */

export interface Disturbance {
  readonly name: DisturbanceName
  readonly origin: string
  /** Token of a principal that is not measured. */
  readonly token: string
  readonly databaseUrl: string
  /** A root that nobody else uses. */
  readonly rootId: string
  /** Begins names that are not taken yet. */
  readonly prefix: string
}
interface Started extends Disturbance {
  readonly client: Client
}
type Disturb = (started: Started) => Promise<void>

const PAUSE_MS = 10
const SLOW_EVERY_MS = 250
/** Requests at a time. */
export const FLOOD = 32
export const READERS = 20
/** Takes longer than an expression may: its process is ended, and started again. */
const NUMBERS = JSON.stringify(Array.from({ length: 220 }, (_, i) => i))
const SLOW = `\${${NUMBERS}.exists(a, ${NUMBERS}.exists(b, (string(a * b) + string(a) + string(b)).matches("(0|1|2|3)+x")))}`

const CANCEL =
  'mutation ($input: CancelInstallationInput!) { answer: cancelInstallation(input: $input) { __typename } }'
const CREATE =
  'mutation ($input: CreateInstallationInput!) { answer: createInstallation(input: $input) { __typename } }'
const RECONCILE =
  'mutation ($input: ReconcileInstallationInput!) { answer: reconcileInstallation(input: $input) { __typename } }'
const EVENTS = 'subscription { phaseChanges(after: 0) { sequence objectId name from to at } }'

let made = 0
const create = ({ client, prefix }: Started, project: string, config: unknown = {}): Promise<unknown> => {
  const spec = { deployItems: [{ name: 'item', type: 'nobody', config }] }
  return client.query(CREATE, { input: { project, name: `${prefix}${made++}`, spec } })
}

export const DISTURBANCES = {
  nothing: async () => {},
  'a locked tree': async (started) => {
    await lock(started)
    await everywhere(FLOOD, () => started.client.query(CANCEL, { input: { id: started.rootId } }))
  },
  'readers that stall': async (started) => {
    await everywhere(READERS, () => stall(started))
  },
  'slow expressions': (started) =>
    everywhere(2, async () => {
      await create(started, 'slow', { value: SLOW })
      // Otherwise it is a flood of creations, which has a row of its own.
      await delay(SLOW_EVERY_MS)
    }),
  'a flooded tree': ({ client, rootId: id }) =>
    everywhere(FLOOD, () => client.query(RECONCILE, { input: { id, mode: 'STANDARD' } })),
  'a flooded project': (started) => everywhere(FLOOD, () => create(started, 'flooded')),
} as const satisfies Readonly<Record<string, Disturb>>
export type DisturbanceName = keyof typeof DISTURBANCES

process.once('message', (disturbance: Disturbance) => {
  const { origin, token } = disturbance
  const client = createClient({ url: `${origin}/graphql`, token })
  DISTURBANCES[disturbance.name]({ ...disturbance, client }).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(1)
  })
  process.send?.('started')
})
process.on('disconnect', () => process.exit())

/** So many at a time, each again as soon as it has ended. */
async function everywhere(count: number, run: () => Promise<unknown>): Promise<void> {
  const one = async (): Promise<never> => {
    for (;;) await run().catch(() => delay(PAUSE_MS))
  }
  await Promise.all(Array.from({ length: count }, one))
}

/** Until this process ends, whose connection Postgres then closes. */
async function lock({ databaseUrl, rootId }: Started): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('begin')
  await client.query('select from object where id = $1 for update', [rootId])
}

/** Subscribes to the whole log from its beginning, and reads nothing of it. */
async function stall({ origin, token }: Started): Promise<void> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  await once(socket, 'message')
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: EVENTS } }))
  ;(socket as unknown as { readonly _socket: Socket })._socket.pause()
  await closed
}
