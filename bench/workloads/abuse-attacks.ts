import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { Agent, type ClientRequest, request } from 'node:http'
import { connect as connectTo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { asked } from './abuse-client.ts'
import { createMany, openTabs, runJobs } from './abuse-honest.ts'
import { searchLines, subscribeToChanges } from './abuse-live.ts'

/** The attacks themselves, in a process of their own, which ends when its channel closes. */

export interface Attack {
  /** One of ATTACKS. */
  readonly name: string
  readonly port: number
  /** Token of the attacker, a different principal than the measured one. */
  readonly token: string
  /** Tokens of the attacker and of two others, and after them those of many principals of one project. */
  readonly tokens: readonly string[]
}
type Attacker = (attack: Attack) => Promise<void>

const MB = 1_024 * 1_024
const PAUSE_MS = 10

const repeat = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes)
const VIEWER = JSON.stringify({ query: '{ viewer { name } }' })
const UNUSED = `{"query":"{ viewer { name } }","variables":{"unused":[${'{"a":1},'.repeat(1_900_000)}0]}}`
const ALIASES = JSON.stringify({
  query: `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: project(name: "default") { dataObjects(first: 1) { edges { node { value } } } }`).join(' ')} }`,
})
const CLAIM = (): string =>
  JSON.stringify({
    query: 'mutation ($input: ClaimWorkInput!) { claimWork(input: $input) { __typename } }',
    variables: { input: { types: ['x'], leaseMs: 10_000, instance: 'x'.repeat(15 * MB) } },
  })
/** A mutation with a text, as it is sent. */
const mutationOf = (sent: string): string =>
  `{"query":"mutation ($input: SetDataObjectInput!) { setDataObject(input: $input) { __typename } }","variables":{"input":{"name":"text","value":"${sent}"}}}`
/** A plan of one installation, which stores nothing. */
const planOf = (spec: object): string =>
  JSON.stringify({
    query: 'query ($input: PlanInstallationInput!) { planInstallation(input: $input) { __typename } }',
    variables: { input: { create: { name: 'planned', spec } } },
  })
const PATTERN = planOf({ imports: [{ name: 'a', schema: { pattern: '[^\\p{L}]'.repeat(6_000) } }] })
const CONFIGS = planOf({
  deployItems: Array.from({ length: 10 }, (_, i) => ({
    ...{ name: `item${i}`, type: 'container' },
    config: { image: 'x', ...Object.fromEntries(Array.from({ length: 30_000 }, (_, j) => [`a${j}`, {}])) },
  })),
})
const ITEMS = planOf({ deployItems: Array.from({ length: 20_000 }, (_, i) => ({ name: `item-${i}`, type: 'x' })) })
const DEEP = JSON.stringify({ query: `${'{a'.repeat(3_000)}${'}'.repeat(3_000)}` })

/** It has as many fields as a document may have, and takes too much memory to be kept parsed. */
const manyTimes = (field: string): string =>
  JSON.stringify({ query: `{ ${Array.from({ length: 450 }, (_, i) => `a${i}: ${field}`).join(' ')} }` })

const MANY_VIEWERS = manyTimes('viewer { name }')

/** Valid, and not known to any cache. */
const newDocument = (): string => {
  const name = `a${randomBytes(6).toString('hex')}`
  return JSON.stringify({
    query: `{ ${Array.from({ length: 900 }, (_, i) => `${name}${i}: viewer { name }`).join(' ')} }`,
  })
}

export const ATTACKS = {
  'a busy processor without requests': () => everywhere(1, compute),
  '60 unfinished frames of 14 MB': (attack) => everywhere(60, () => unfinishedFrame(attack)),
  'connection_init of 16 MB': (attack) => everywhere(4, () => largeInit(attack)),
  'unused variables of 16 MB': (attack) => everywhere(4, poster(attack, UNUSED)),
  '20 aliases of a large data object': (attack) => everywhere(8, poster(attack, ALIASES)),
  'answers that are never read': (attack) => everywhere(5, () => unread(attack)),
  'claimWork with an instance of 15 MB': (attack) => everywhere(4, poster(attack, CLAIM())),
  'wrong tokens': (attack) =>
    everywhere(
      32,
      poster(attack, VIEWER, () => randomBytes(24).toString('base64url')),
    ),
  'a flood of one principal': (attack) => everywhere(64, poster(attack, VIEWER)),
  '200 slow bodies': (attack) => everywhere(200, () => slowBody(attack)),
  'documents 3,000 deep': (attack) => everywhere(16, poster(attack, DEEP)),
  'one document of 900 fields': (attack) => everywhere(16, poster(attack, manyTimes('viewer { name }'))),
  'one document of 450 refused fields': (attack) =>
    everywhere(16, poster(attack, manyTimes('principalsConnection { nodes { name } }'))),
  'new documents of 900 fields': (attack) => everywhere(16, () => poster(attack, newDocument())()),
  'texts of 7 MB of three principals': (attack) => ofEach(attack, mutationOf('x'.repeat(7 * MB - 100))),
  'escaped texts of 6 MB of three principals': (attack) => ofEach(attack, mutationOf('\\u00e9'.repeat(MB - 100))),
  'pages without compression': readPages,
  '1,024 silent sockets at two addresses': (attack) =>
    Promise.all(
      ['127.0.0.2', '127.0.0.3'].map((localAddress) => everywhere(512, () => silentSocket(attack, localAddress))),
    ).then(() => {}),
  'requests for /livez that wait for no answer': (attack) =>
    everywhere(8, () => pipeline(attack, 'GET /livez HTTP/1.1', '')),
  'wrong tokens that wait for no answer': (attack) =>
    everywhere(8, () => pipeline({ ...attack, token: 'wrong'.repeat(8) }, 'POST /graphql HTTP/1.1', VIEWER)),
  'pings of 15 KB': (attack) =>
    everywhere(4, () => flood(attack, `{"type":"ping","payload":{"a":"${'x'.repeat(15_000)}"}}`)),
  'completions of what never began': (attack) => everywhere(4, () => flood(attack, '{"id":"x","type":"complete"}')),
  'a schema whose pattern takes seconds': (attack) => everywhere(4, poster(attack, PATTERN)),
  'ten configs of 30,000 settings': (attack) => everywhere(4, poster(attack, CONFIGS)),
  'plans of 20,000 items': (attack) => everywhere(4, poster(attack, ITEMS)),
  '5,000 idle connections': (attack) => everywhere(5_000, () => idle(attack)),
  '2,000 slow requests of two principals': (attack) =>
    Promise.all(
      attack.tokens.slice(0, 2).map((token) => everywhere(1_000, () => slowBody({ ...attack, token }, 100))),
    ).then(() => {}),
  '2,000 different live subscriptions': (attack) => subscribeToChanges(attack, 2_000),
  '400 live searches of lines': (attack) => searchLines(attack, 400),
  '100 principals of one project': (attack) =>
    Promise.all(attack.tokens.slice(3).map((token) => everywhere(4, poster({ ...attack, token }, MANY_VIEWERS)))).then(
      () => {},
    ),
  'honest: 200 CI jobs with one token': (attack) => runJobs(attack, 200),
  'honest: 40 tabs of 8 queries and 2 subscriptions': (attack) => openTabs(attack, 40),
  'honest: creations, 32 at a time': (attack) => createMany(attack, 32, 'nobody'),
  'honest: creations that agents run, 32 at a time': (attack) => createMany(attack, 32, 'mock'),
} as const satisfies Readonly<Record<string, Attacker>>
export type AttackName = keyof typeof ATTACKS

process.once('message', (attack: Attack) => {
  void ATTACKS[attack.name as AttackName](attack)
  process.send?.('started')
  process.on('message', () => process.send?.(asked))
})
process.on('disconnect', () => process.exit())

/** So many at a time, each again as soon as it has ended. */
async function everywhere(count: number, attack: () => Promise<unknown>): Promise<void> {
  const one = async (): Promise<never> => {
    for (;;) await attack().catch(() => delay(PAUSE_MS))
  }
  await Promise.all(Array.from({ length: count }, one))
}

/** Takes as much processor time as an attack can, for comparison. */
async function compute(): Promise<void> {
  const until = performance.now() + PAUSE_MS
  while (performance.now() < until);
  await setImmediate()
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

function open({ port, token }: Attack, length: number): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': length }
  return request({ agent, host: '127.0.0.1', port, path: '/graphql', method: 'POST', headers })
}

function poster(attack: Attack, text: string, tokenOf = () => attack.token): () => Promise<void> {
  const body = Buffer.from(text)
  return () =>
    new Promise((resolve, reject) => {
      const sent = open({ ...attack, token: tokenOf() }, body.length)
      ended(sent, resolve, reject).end(body)
    })
}

/** Settles when a response is over, which is thrown away. */
function ended(sent: ClientRequest, resolve: () => void, reject: (error: unknown) => void): ClientRequest {
  sent.on('error', reject)
  return sent.on('response', (response) => {
    response.resume()
    response.once('close', resolve)
  })
}

/** Two connections of each principal. */
async function ofEach(attack: Attack, text: string): Promise<void> {
  const three = attack.tokens.slice(0, 3)
  await Promise.all(three.map((token) => everywhere(2, poster({ ...attack, token }, text))))
}

/** The largest page of the documentation and the largest file of the dashboard, by turns. */
async function readPages(attack: Attack): Promise<void> {
  const folder = join(import.meta.dirname, '../../web-playground/dist/assets')
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => ({ name, size: (await stat(join(folder, name))).size })),
  )
  const largest = files.sort((a, b) => b.size - a.size)[0]?.name
  const paths = ['/docs/reference/types', `/assets/${largest}`]
  let next = 0
  await everywhere(64, () => read(attack, paths[next++ % paths.length] as string))
}

const read = ({ port }: Attack, path: string): Promise<void> =>
  new Promise((resolve, reject) => ended(request({ agent, host: '127.0.0.1', port, path }), resolve, reject).end())

async function unread(attack: Attack): Promise<void> {
  const sent = open(attack, ALIASES.length)
  sent.on('error', () => {})
  sent.end(ALIASES)
  const [response] = await once(sent, 'response')
  response.pause()
  await once(response, 'close')
}

async function slowBody(attack: Attack, length = MB): Promise<void> {
  const sent = open(attack, length)
  const closed = once(sent, 'close')
  sent.on('error', () => {})
  sent.write('x')
  const timer = length === MB ? setInterval(() => sent.write('x'), 100) : undefined
  await closed
  clearInterval(timer)
}

async function connect(
  { port }: Attack,
  options: { readonly localAddress?: string } = {},
): Promise<{ readonly socket: WebSocket; readonly closed: Promise<unknown> }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', options)
  const closed = once(socket, 'close')
  socket.on('error', () => {})
  await once(socket, 'open')
  return { socket, closed }
}

const PIECE = 64 * 1_024

/** The same request again and again, as fast as it is taken, until the server closes the connection. */
async function pipeline({ port, token }: Attack, head: string, body: string): Promise<void> {
  const headers = `host: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
  const text = `${head}\r\n${headers}\r\n\r\n${body}`
  const sent = Buffer.from(text.repeat(Math.ceil(PIECE / text.length)))
  const socket = connectTo({ port, host: '127.0.0.1' })
  const closed = once(socket, 'close')
  const write = (): void => {
    while (socket.writable && socket.write(sent));
  }
  socket
    .on('connect', write)
    .on('drain', write)
    .on('error', () => {})
    .resume()
  await closed
}

async function idle({ port }: Attack): Promise<void> {
  const socket = connectTo({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  const closed = once(socket, 'close')
  socket.on('error', () => {})
  await closed
  // A crowd that is sent away comes back, but not at once.
  await delay(1_000)
}

/** The same message again and again, as fast as it is read. */
async function flood(attack: Attack, message: string): Promise<void> {
  const { socket, closed } = await connect(attack)
  let isOpen = true
  const ended = closed.then(() => {
    isOpen = false
  })
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${attack.token}` } }))
  while (isOpen) {
    if (socket.bufferedAmount < MB) for (let i = 0; i < 50; i++) socket.send(message)
    await setImmediate()
  }
  await ended
}

async function silentSocket(attack: Attack, localAddress: string): Promise<void> {
  const { closed } = await connect(attack, { localAddress })
  await closed
}

/** The head of a frame that announces 15 MB. */
const HEAD = Buffer.alloc(14)
HEAD.writeUInt16BE(0x81ff)
HEAD.writeBigUInt64BE(BigInt(15 * MB), 2)
const UNFINISHED = Buffer.concat([HEAD, Buffer.alloc(14 * MB, 'x')])

async function unfinishedFrame(attack: Attack): Promise<void> {
  const { socket, closed } = await connect(attack)
  ;(socket as unknown as { readonly _socket: Socket })._socket.write(UNFINISHED)
  await closed
}

async function largeInit(attack: Attack): Promise<void> {
  const { socket, closed } = await connect(attack)
  socket.send(`{"type":"connection_init","payload":{"a":[${repeat('[],', 16 * MB - 100)}0]}}`)
  await closed
}
