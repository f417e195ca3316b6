import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../redis.ts'
import type { Reading } from './fan-out-peer.ts'
import type { WriterAnswer, WriterCommand } from './fan-out-writer.ts'

export const CONTESTANTS = ['phaseline', 'mercurius', 'yoga', 'bare-ws'] as const
export type Contestant = (typeof CONTESTANTS)[number]

export interface Places {
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
  return await launch(join('../peers', `${contestant}.ts`), environment(places), null)
}

/** @param wanted the port of the gateway that it follows */
export async function startPhaseline(places: Places, wanted?: number): Promise<Gateway> {
  const port = wanted ?? (await freePort())
  const env = environment(places)
  const { databaseUrl } = places
  const own = {
    DATABASE_URL: databaseUrl,
    PHASELINE_TOKEN: TOKEN,
    PHASELINE_ROLES: 'gateway',
    PHASELINE_LOG_LEVEL: 'error',
  }
  const gateway = await launch('fan-out-gateway.ts', { ...env, ...own, PORT: String(port) }, TOKEN)
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
  const child = fork(join(import.meta.dirname, file), { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [{ port }] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`))),
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
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

export interface Writer extends AsyncDisposable {
  /** As fast as it can up to this index, exclusive. */
  allow(upTo: number): void
  /** Resolves when it has published so many more. */
  rate(perSecond: number, count: number): Promise<void>
  /** Of what was published so far, which is all that was allowed. */
  committedAt(): Promise<Float64Array>
  /** Everything up to here was published when it last rested. */
  readonly published: number
}

export async function startWriter(
  contestant: Contestant,
  { databaseUrl, redisUrl }: Places,
  roots: readonly string[],
): Promise<Writer> {
  const child = fork(join(import.meta.dirname, 'fan-out-writer.ts'), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const send = (command: WriterCommand): void => void child.send(command)
  let published = 0
  let waiting = Promise.withResolvers<WriterAnswer>()
  const onPublished: (() => void)[] = []
  child.on('message', (answer: WriterAnswer) => {
    if (answer.type !== 'published') return waiting.resolve(answer)
    published = answer.through
    for (const handler of onPublished) handler()
  })
  child.once('exit', (code) => waiting.reject(new Error(`the writer ended with ${code}`)))
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
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.removeAllListeners('exit')
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
