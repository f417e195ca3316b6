import { createHook, executionAsyncId } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createClient } from '../src/client/index.ts'
import { timeoutsOf } from '../src/families/define-family.ts'
import { families } from '../src/families/index.ts'
import { createLogger } from '../src/logger.ts'
import { startApp } from '../src/main.ts'
import { loadSettings } from '../src/settings.ts'

/**
 * Prints the functions of ours between a resolver and the COMMIT of its transaction: for a creation, a claim, a report,
 * a cancellation, an event and the session of a CRM, on a server in this process with a Postgres of its own. For a
 * subscription it prints those between the message of a client and the first bytes that the socket gets, and those between the
 * news of a phase change and the bytes of its delivery.
 *
 * An async stack trace of V8 ends where a promise is made by hand or handed to a queue. So each promise remembers the
 * frames that made it and the promise in whose continuation that happened; the chain from COMMIT outwards is the way in.
 */

const HOME = join(import.meta.dirname, '..')
const TYPE = 'frames'

/** Calls resolvers: that of the reference implementation, and Yoga's. */
const EXECUTOR = /\/node_modules\/(graphql|@graphql-tools\/executor)\//

interface Frame {
  /** Null: a callback without a name. */
  readonly name: string | null
  readonly file: string
  /** The line where it calls the next frame. */
  readonly line: number
  /** The start of the function distinguishes it from others of the same name. */
  readonly begins: string
}
/** `graphql`: the frame of the executor that calls resolvers. */
type Seen = Frame | 'graphql'
interface Continuation {
  readonly frames: readonly Seen[]
  readonly parent: number
}

const continuations = new Map<number, Continuation>()
const hook = createHook({
  init(id) {
    continuations.set(id, { frames: framesHere(), parent: executionAsyncId() })
  },
})

/** Innermost first; async frames are left out, since the chain has them. */
function framesHere(): readonly Seen[] {
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = (_, sites: NodeJS.CallSite[]) => sites
  const holder: { stack?: NodeJS.CallSite[] } = {}
  Error.captureStackTrace(holder, framesHere)
  const sites = holder.stack ?? []
  Error.prepareStackTrace = prepareStackTrace
  return sites.flatMap((site) => (site.isAsync() ? [] : (frameOf(site) ?? [])))
}

function frameOf(site: NodeJS.CallSite): Seen | null {
  const path = site.getFileName()?.replace('file://', '') ?? ''
  if (EXECUTOR.test(path)) return 'graphql'
  const file = relative(HOME, path)
  if (!file.startsWith('src/')) return null
  const name = site.getFunctionName() ?? ''
  // For a callback V8 makes up a name of where it is handed to.
  return { name: /^#?[\w$]+$/.test(name) ? name : null, file, line: site.getLineNumber() ?? 0, begins: beginOf(site) }
}

/** V8 knows where a function begins; the types of Node do not say so. */
function beginOf(site: NodeJS.CallSite): string {
  const known = site as NodeJS.CallSite & { getEnclosingLineNumber(): number; getEnclosingColumnNumber(): number }
  return `${site.getFileName()}:${known.getEnclosingLineNumber()}:${known.getEnclosingColumnNumber()}`
}

/** The way to here from the resolver, null if there is none, or from where it begins. */
function wayToHere(from: 'resolver' | 'anywhere'): readonly Frame[] | null {
  const way: Frame[] = []
  let frames = framesHere()
  for (let id = executionAsyncId(); ; ) {
    for (const frame of frames) {
      if (frame === 'graphql') {
        if (from === 'resolver') return way.reverse()
        continue
      }
      // A function that has waited appears once for each wait; the innermost is where it calls the next one.
      if (way.at(-1)?.begins !== frame.begins) way.push(frame)
    }
    const continuation = continuations.get(id)
    if (!continuation) return from === 'anywhere' ? way.reverse() : null
    frames = continuation.frames
    id = continuation.parent
  }
}

/** The end of a way: the commit, or the write to a socket. */
type End = 'COMMIT' | 'SOCKET'
let ways: { readonly end: End; readonly way: readonly Frame[] }[] = []

/** Its connections note the way of each COMMIT. Their own `query`, so that a subclass of the driver is no frame. */
function watchCommits(): void {
  const { connect } = pg.Client.prototype
  pg.Client.prototype.connect = function watched(this: pg.Client, ...options: unknown[]) {
    const query = this.query as (...args: unknown[]) => unknown
    this.query = ((...args: unknown[]) => {
      const [statement] = args as [string | { readonly text?: string }]
      const text = typeof statement === 'string' ? statement : statement.text
      if (/^\s*commit\b/i.test(text ?? '')) {
        const way = wayToHere('resolver')
        if (way) ways.push({ end: 'COMMIT', way })
      }
      return query.apply(this, args)
    }) as typeof this.query
    return Reflect.apply(connect, this, options)
  } as typeof connect
}

/** Notes the way of what the server writes to sockets of subscriptions. */
function watchSockets(): void {
  const { write } = Socket.prototype
  Socket.prototype.write = function watched(this: Socket, ...args: unknown[]) {
    const whole = wayToHere('anywhere') ?? []
    // In one process, the delivery of a change continues the transaction that has written it.
    const way = whole.slice(whole.findLastIndex(({ file }) => file.startsWith('src/engine/')) + 1)
    if (way.at(-1)?.file.startsWith('src/server/streams/')) ways.push({ end: 'SOCKET', way })
    return Reflect.apply(write, this, args)
  } as typeof write
}

/** How often the way comes back to a file that it has left. */
function returnsOf(way: readonly Frame[]): number {
  const files = way.map(({ file }) => file).filter((file, i, all) => file !== all[i - 1])
  return files.length - new Set(files).size
}

function print(title: string, way: readonly Frame[], end: End): void {
  const named = way.filter(({ name }) => name !== null).length
  const files = new Set(way.map(({ file }) => file)).size
  console.log(
    `\n${title}: ${named} named frames and ${way.length - named} callbacks in ${files} files; back into a file of before: ${returnsOf(way)}`,
  )
  let at = 0
  for (const { name, file, line } of way) {
    const number = name === null ? '' : String(++at)
    console.log(`${number.padStart(4)}  ${(name ?? '(callback)').padEnd(28)} ${file}:${line}`)
  }
  console.log(`      ${end}`)
}

interface Answer {
  readonly __typename: string
  readonly message?: string
}
const CREATE = `mutation ($input: CreateInstallationInput!) { result: createInstallation(input: $input) {
  __typename ... on Installation { id } ... on Error { message } } }`
const CLAIM = `mutation ($input: ClaimWorkInput!) { result: claimWork(input: $input) {
  __typename ... on ClaimedWork { items { fence } } ... on Error { message } } }`
const REPORT = `mutation ($input: ReportPhasesInput!) { result: reportPhases(input: $input) {
  __typename ... on PhaseReports { results { __typename ... on Error { message } } } ... on Error { message } } }`
const CANCEL = `mutation ($input: CancelInstallationInput!) { result: cancelInstallation(input: $input) {
  __typename ... on Installation { id } ... on Error { message } } }`
const PROJECT = `mutation ($input: CreateProjectInput!) { result: createProject(input: $input) {
  __typename ... on Project { name } ... on Error { message } } }`
const EVENT = `mutation ($input: CreateEventInput!) { result: createEvent(input: $input) {
  __typename ... on CreatedEvents { events { id } } ... on Error { message } } }`
const CLOUDLET = `mutation ($input: CreateCloudletInput!) { result: createCloudlet(input: $input) {
  __typename ... on Cloudlet { id } ... on Error { message } } }`
const CONNECT = `mutation ($input: ConnectCrmInput!) { result: connectCrm(input: $input) {
  __typename ... on CrmSession { epoch } ... on Error { message } } }`
const TOKEN = `mutation ($input: CreateTokenInput!) { result: createToken(input: $input) {
  __typename ... on CreatedToken { secret } ... on Error { message } } }`

async function call<T>(token: string, document: string, input: object): Promise<T & Answer> {
  await using client = createClient({ url: `${origin}/graphql`, token })
  const { result } = await client.query<{ result: T & Answer }>(document, { input })
  if (result.message !== undefined) throw new Error(`${result.__typename}: ${result.message}`)
  return result
}

/** Does something, and prints the way of the transaction in which it was written, or of the bytes that it led to. */
async function show<T>(title: string, work: () => Promise<T>, end: End = 'COMMIT'): Promise<T> {
  ways = []
  hook.enable()
  const result = await work().finally(() => hook.disable())
  const found = ways.filter((one) => one.end === end)
  if (found.length === 0) throw new Error(`${title}: nothing has led to a ${end}`)
  // Later bytes come the same way as the first.
  for (const { way } of end === 'SOCKET' ? found.slice(0, 1) : found) print(title, way, end)
  continuations.clear()
  return result
}

const create = (name: string) =>
  call<{ id: string }>(admin, CREATE, { name, spec: { deployItems: [{ name: 'only', type: TYPE }] } })

/** The fence of an item, asked for until there is one. */
async function claim(): Promise<string> {
  for (;;) {
    ways = []
    const input = { instance: 'frames-1', types: [TYPE], max: 1 }
    const [item] = (await call<{ items: { fence: string }[] }>(agent, CLAIM, input)).items
    if (item) return item.fence
    await delay(20)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const address = server.address()
  await new Promise((closed) => server.close(closed))
  return typeof address === 'object' && address ? address.port : 0
}

Error.stackTraceLimit = Number.POSITIVE_INFINITY
watchCommits()
await using cleanup = new AsyncDisposableStack()
const dataDir = cleanup.adopt(await mkdtemp(join(tmpdir(), 'phaseline-frames-')), (folder) =>
  rm(folder, { recursive: true, force: true }),
)
const admin = randomBytes(24).toString('base64url')
const loaded = await loadSettings(
  {
    PORT: String(await freePort()),
    PHASELINE_DATA: dataDir,
    PHASELINE_TOKEN: admin,
    PHASELINE_ROLES: 'gateway,engine',
    PHASELINE_LOG_LEVEL: 'error',
  },
  timeoutsOf(families),
)
if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
const { origin } = cleanup.use(await startApp(loaded.config, { logger: createLogger(loaded.config.logLevel) }))
const maker = { name: 'frames', role: 'AGENT', actor: 'DEPLOYER', types: [TYPE] }
const { secret: agent } = await call<{ secret: string }>(admin, TOKEN, maker)

// Connections are open and everything is loaded by then.
await create('before')
const { id } = await show('create', () => create('shown'))
const fence = await show('claim', claim)
await show('report', () => call(agent, REPORT, { reports: [{ fence, phase: 'SUCCEEDED' }] }))
await show('cancel', () => call(admin, CANCEL, { id }))

await call(admin, PROJECT, { name: 'events', workerTemplate: { runtime: TYPE, command: ['true'] } })
await show('event', () => call(admin, EVENT, { project: 'events', source: 'frames', type: 'push' }))

watchSockets()
const reader = cleanup.use(createClient({ url: `${origin}/graphql`, token: admin }))
const changes = (after: number | null) =>
  reader
    .subscribe(`subscription ($after: Sequence) { phaseChanges(after: $after) { cursor } }`, { after })
    [Symbol.asyncIterator]()
await show('subscribe', () => changes(0).next(), 'SOCKET')
const live = changes(null)
const delivered = live.next()
// It is live once it waits for the log.
await delay(500)
await show('deliver', () => Promise.all([create('delivered'), delivered]), 'SOCKET')

const { id: cloudletId } = await call<{ id: string }>(admin, CLOUDLET, { name: 'frames' })
const { secret: crm } = await call<{ secret: string }>(admin, TOKEN, { name: 'crm', role: 'AGENT', actor: 'CRM' })
await show('connect', () => call(crm, CONNECT, { cloudletId, instance: 'frames-1', version: '1', objects: [] }))
