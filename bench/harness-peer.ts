import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { THIS_CHECKOUT } from './checkout.ts'
import { disconnect, forkModule } from './processes.ts'

const REST_MS = 5

/**
 * A peer runs in a process of its own, producer and worker together, and keeps the time itself: nothing of this harness
 * is between the two.
 */
export interface Peer extends AsyncDisposable {
  /**
   * So many trees at once, each of a root and so many children that do nothing; resolves when the last root has run. A peer of `events` has
   * trees without children, and gets the number of those at the same time instead: the next is made when one has ended.
   */
  runTrees(trees: number, items: number): Promise<void>
  /** Makes one item; calls back when its worker has it. Resolves when it is made. */
  createItem(started: () => void): Promise<void>
}
/** Peers have settings for throughput and settings for latency. */
const USES = ['tree', 'tree-batched', 'latency'] as const
export type Use = (typeof USES)[number]

export interface PeerOptions {
  readonly use: Use
  /** URL of the peer's Postgres or Redis. */
  readonly url: string
}
export interface PeerLaunch extends PeerOptions {
  /** The folder of the checkout whose peer it is; absent: this one. */
  readonly checkout?: string
}
export interface PeerProcess extends AsyncDisposable {
  /** Resolves to milliseconds, from before the first tree is made. */
  runTrees(trees: number, items: number): Promise<number>
  /** One after the other: milliseconds from before each is made until its worker has it. */
  measureStarts(count: number): Promise<readonly number[]>
}

type Command =
  | { readonly type: 'trees'; readonly trees: number; readonly items: number }
  | { readonly type: 'starts'; readonly count: number }
type Answer =
  | { readonly type: 'ready' }
  | { readonly type: 'took'; readonly ms: readonly number[] }
  | { readonly type: 'failed'; readonly message: string }

/** Resolves when the peer is ready. Disposing ends it. */
export async function startPeer(
  name: string,
  { checkout = THIS_CHECKOUT, use, url }: PeerLaunch,
): Promise<PeerProcess> {
  const launched = forkModule(join(checkout, 'bench/peers', `${name}.ts`), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', PEER_URL: url, PEER_USE: use },
    // Warnings about a peer's own dependencies are not ours.
    execArgv: ['--disable-warning=DeprecationWarning'],
  })
  const { child, ended } = launched
  const answered = async (): Promise<readonly number[]> => {
    const gone = ended.then((code): Answer => ({ type: 'failed', message: `it ended with ${code}` }))
    const heard = once(child, 'message').then(([message]) => message as Answer)
    const answer = await Promise.race([heard, gone])
    if (answer.type === 'failed') throw new Error(`${name}: ${answer.message}`)
    return answer.type === 'took' ? answer.ms : []
  }
  const ask = (command: Command): Promise<readonly number[]> => {
    const answer = answered()
    child.send(command)
    return answer
  }
  await answered()
  return {
    runTrees: async (trees, items) => (await ask({ type: 'trees', trees, items }))[0] ?? Number.NaN,
    measureStarts: (count) => ask({ type: 'starts', count }),
    [Symbol.asyncDispose]: () => disconnect(launched),
  }
}

/** The whole of a peer's process. */
export async function servePeer(open: (options: PeerOptions) => Promise<Peer>): Promise<void> {
  const { PEER_URL: url, PEER_USE } = process.env
  const use = USES.find((known) => known === PEER_USE)
  if (url === undefined || !use) throw new Error('PEER_URL and PEER_USE are not set')
  const peer = await open({ use, url })
  const send = (answer: Answer): void => void process.send?.(answer)
  process.on('message', (command: Command) => {
    run(peer, command).then(
      (ms) => send({ type: 'took', ms }),
      (error: unknown) =>
        send({ type: 'failed', message: error instanceof Error ? (error.stack ?? '') : String(error) }),
    )
  })
  process.on('disconnect', async () => {
    await peer[Symbol.asyncDispose]()
    process.exit()
  })
  send({ type: 'ready' })
}

async function run(peer: Peer, command: Command): Promise<readonly number[]> {
  if (command.type === 'trees') {
    const since = performance.now()
    await peer.runTrees(command.trees, command.items)
    return [performance.now() - since]
  }
  return await measureStarts(peer, command.count)
}

/** One after the other, with some rest between them. */
export async function measureStarts(creator: Pick<Peer, 'createItem'>, count: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    times.push(await timeStart(creator))
    await delay(REST_MS)
  }
  return times
}

async function timeStart(creator: Pick<Peer, 'createItem'>): Promise<number> {
  const started = Promise.withResolvers<number>()
  const since = performance.now()
  const made = creator.createItem(() => started.resolve(performance.now() - since))
  const [took] = await Promise.all([started.promise, made])
  return took
}

/** Waits for so many roots: each is reported once. */
export class Roots {
  readonly #done = Promise.withResolvers<void>()
  #open: number

  constructor(count: number) {
    this.#open = count
  }
  ended(): void {
    this.#open -= 1
    if (this.#open === 0) this.#done.resolve()
  }
  get allEnded(): Promise<void> {
    return this.#done.promise
  }
}
