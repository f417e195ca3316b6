import { randomUUID } from 'node:crypto'
import { monotonicMs, nameOf } from '../subscribers-protocol.ts'
import type { Message, Publisher } from './fan-out-peer.ts'

/** The one writer, in a process of its own: up to an index, or so many a second. Controlled over IPC. */

export type WriterCommand =
  | { readonly type: 'start'; readonly contestant: string; readonly roots: readonly string[] }
  /** As fast as it can, but never further than this index. */
  | { readonly type: 'allow'; readonly upTo: number }
  | { readonly type: 'rate'; readonly perSecond: number; readonly count: number }
  | { readonly type: 'collect' }
export type WriterAnswer =
  | { readonly type: 'started' }
  | { readonly type: 'published'; readonly through: number }
  /** By index: when it was committed, on the clock of `monotonicMs`. */
  | { readonly type: 'committed'; readonly at: Float64Array }

/** Changes of one tree that come together. */
const RUN = 20
const MAX_MESSAGES = 2_000_000
const TICK_MS = 2

const committedAt = new Float64Array(MAX_MESSAGES)
const objectIds = Array.from({ length: 1_000 }, () => randomUUID())
const send = (answer: WriterAnswer): void => void process.send?.(answer)

let roots: readonly string[] = []
let publisher: Publisher | null = null
let next = 0
let allowed = 0
let isPublishing = false

function messageOf(index: number): Message {
  const isStart = index % 2 === 0
  return {
    index,
    rootId: roots[Math.floor(index / RUN) % roots.length] as string,
    objectId: objectIds[index % objectIds.length] as string,
    kind: 'DEPLOY_ITEM',
    name: nameOf(index),
    from: isStart ? 'INIT' : 'PROGRESSING',
    to: isStart ? 'PROGRESSING' : 'SUCCEEDED',
    at: new Date(),
  }
}

const committed = (messages: readonly Message[]): void => {
  const now = monotonicMs()
  for (const { index } of messages) committedAt[index] = now
}

async function publishAllowed(): Promise<void> {
  if (isPublishing || !publisher) return
  isPublishing = true
  while (next < allowed) {
    const end = Math.min(allowed, next + publisher.maxBatch)
    const messages = Array.from({ length: end - next }, (_, i) => messageOf(next + i))
    next = end
    await publisher.publish(messages, committed)
  }
  isPublishing = false
  send({ type: 'published', through: next })
}

/** Evenly, by the clock, so that a server which is late does not slow the writer down. */
function publishAtRate(perSecond: number, count: number): void {
  const first = next
  const since = performance.now()
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - since) / 1_000) * perSecond) + 1
    allowed = first + Math.min(count, due)
    if (allowed === first + count) clearInterval(timer)
    run()
  }, TICK_MS)
}

function run(): void {
  publishAllowed().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(1)
  })
}

const MODULES: Readonly<Record<string, (isFiltered: boolean) => Promise<Publisher>>> = {
  mercurius: async (isFiltered) => (await import('../peers/mercurius-publisher.ts')).createPublisher(isFiltered),
  yoga: async (isFiltered) => (await import('../peers/yoga-publisher.ts')).createPublisher(isFiltered),
  'bare-ws': async (isFiltered) => (await import('../peers/bare-ws-publisher.ts')).createPublisher(isFiltered),
  phaseline: async () => (await import('./fan-out-publisher.ts')).createPublisher(roots),
}

process.on('message', async (command: WriterCommand) => {
  if (command.type === 'start') {
    roots = command.roots
    publisher = (await MODULES[command.contestant]?.(roots.length > 1)) ?? null
    send({ type: 'started' })
  } else if (command.type === 'allow') {
    allowed = Math.max(allowed, command.upTo)
    run()
  } else if (command.type === 'rate') publishAtRate(command.perSecond, command.count)
  else send({ type: 'committed', at: committedAt.slice(0, next) })
})
process.on('disconnect', () => process.exit())
