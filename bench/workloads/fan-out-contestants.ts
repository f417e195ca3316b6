import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { THIS_CHECKOUT } from '../checkout.ts'
import { disconnect, forkModule } from '../processes.ts'
import { freePort } from '../redis.ts'
import type { Reading } from './fan-out-peer.ts'
import type { WriterAnswer, WriterCommand } from './fan-out-writer.ts'

export const CONTESTANTS = ['phaseline', 'mercurius', 'yoga', 'bare-ws'] as const
export type Contestant = (typeof CONTESTANTS)[number]

export interface Places {
  /** The folder of the checkout whose gateway and writer run; absent: this one. */
  readonly checkout?: string
  readonly databaseUrl: string
  readonly redisUrl: string
}
export interface Gateway extends AsyncDisposable {
  readonly port: number
  readonly token: string | null
  read(): Promise<Reading>
  /** kill -9. */
  kill(): Promise<void>
}

const TOKEN = 'bench-fan-out-administrator'

/** The server of a contestant, in a process of its own. */
export async function startGateway(contestant: Contestant, places: Places): Promise<Gateway> {
  if (contestant === 'phaseline') return await startPhaseline(places)
  return await launch(join(import.meta.dirname, '../peers', `${contestant}.ts`), environment(places), null)
}

/** @param wanted the port of the gateway that it follows */
export async function startPhaseline(places: Places, wanted?: number): Promise<Gateway> {
  const port = wanted ?? (await freePort())
  const env = environment(places)
  const { checkout = THIS_CHECKOUT, databaseUrl } = places
  const own = {
    DATABASE_URL: databaseUrl,
    PHASELINE_TOKEN: TOKEN,
    PHASELINE_ROLES: 'gateway',
    PHASELINE_LOG_LEVEL: 'error',
  }
  const file = join(checkout, 'bench/workloads/fan-out-gateway.ts')
  const gateway = await launch(file, { ...env, ...own, PORT: String(port) }, TOKEN)
  while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok) {
    if (gateway.child.exitCode !== null) throw new Error(`the gateway ended with ${gateway.child.exitCode}`)
    await delay(20)
  }
  return gateway
}

const environment = ({ redisUrl }: Places): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  REDIS_URL: redisUrl,
  NODE_ENV: 'production',
})

async function launch(
  file: string,
  env: NodeJS.ProcessEnv,
  token: string | null,
): Promise<Gateway & { readonly child: ChildProcess }> {
  const launched = forkModule(file, { env })
  const { child, ended } = launched
  const [{ port }] = (await Promise.race([
    once(child, 'message'),
    ended.then((code) => Promise.reject(new Error(`${file} ended with ${code}`))),
  ])) as [{ port: number }]
  return {
    child,
    port,
    token,
    async read() {
      const answer = once(child, 'message')
      child.send('read')
      return (await answer)[0] as Reading
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    [Symbol.asyncDispose]: () => disconnect(launched),
  }
}

export interface Writer extends AsyncDisposable {
  /** Lets the writer publish as fast as it can up to this index, exclusive. */
  allow(upTo: number): void
  /** Publishes at this rate; resolves once that many more are published. */
  rate(perSecond: number, count: number): Promise<void>
  /** Commit times of everything that was published so far, which is everything that was allowed. */
  committedAt(): Promise<Float64Array>
  /** The number of messages published when the writer last rested. */
  readonly published: number
}

export async function startWriter(
  contestant: Contestant,
  { checkout = THIS_CHECKOUT, databaseUrl, redisUrl }: Places,
  roots: readonly string[],
): Promise<Writer> {
  const launched = forkModule(join(checkout, 'bench/workloads/fan-out-writer.ts'), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
    serialization: 'advanced',
  })
  const { child, ended } = launched
  const send = (command: WriterCommand): void => void child.send(command)
  let published = 0
  let waiting = Promise.withResolvers<WriterAnswer>()
  const onPublished: (() => void)[] = []
  child.on('message', (answer: WriterAnswer) => {
    if (answer.type !== 'published') return waiting.resolve(answer)
    published = answer.through
    for (const handler of onPublished) handler()
  })
  void ended.then((code) => waiting.reject(new Error(`the writer ended with ${code}`)))
  send({ type: 'start', contestant, roots })
  await waiting.promise
  return {
    allow: (upTo) => send({ type: 'allow', upTo }),
    async rate(perSecond, count) {
      const end = published + count
      const done = Promise.withResolvers<void>()
      onPublished.push(() => published >= end && done.resolve())
      send({ type: 'rate', perSecond, count })
      await done.promise
    },
    async committedAt() {
      waiting = Promise.withResolvers()
      send({ type: 'collect' })
      const answer = await waiting.promise
      if (answer.type !== 'committed') throw new Error(`the writer answered ${answer.type}`)
      return answer.at
    },
    get published() {
      return published
    },
    [Symbol.asyncDispose]: () => disconnect(launched),
  }
}
