import { setTimeout as delay } from 'node:timers/promises'
import { openSubscribers, type Subscribers } from '../subscribers.ts'
import type { Progress } from '../subscribers-protocol.ts'
import {
  type Contestant,
  type Gateway,
  type Places,
  startGateway,
  startWriter,
  type Writer,
} from './fan-out-contestants.ts'
import { newRoots } from './fan-out-publisher.ts'

export interface Scenario {
  readonly name: string
  readonly subscribers: number
  /** Each subscriber wants another tree, so that each change is for one of them. */
  readonly isFiltered: boolean
}
export interface Result {
  readonly contestant: Contestant
  readonly scenario: string
  /** To all subscribers together, a second, while the writer never waits for anything but them. */
  readonly messagesPerSecond: number
  readonly atHalf: Latency
  /** At a rate that is easy for every contestant. */
  readonly atEase: Latency
  /** Microseconds of the server's CPU for one message to one subscriber, at the full rate. */
  readonly cpuPerMessage: number
  /** How busy server and subscribers were at the full rate: 1 is one core. */
  readonly serverBusy: number
  readonly subscribersBusy: number
  /** Bytes: before the first subscriber, and after everything. */
  readonly rssBefore: number
  readonly rss: number
  /** Bytes of one message. */
  readonly bytes: number
  /** Messages that were missing or came twice or late. */
  readonly wrong: number
}

const WARM_MS = 1_500
const MEASURED_MS = 3_000
/**
 * Messages in flight, to all subscribers together: as many as were delivered in so long, so that no subscriber ever waits
 * for the writer; at least so many, and at most so many for each subscriber, so that all start and none has to
 * drop any.
 */
const AHEAD = { ms: 250, least: { shared: 30_000, filtered: 6_000 }, most: 400 }
const SAMPLED = 500
/** How long the last message may take. */
const PATIENCE_MS = 10_000
/** Messages a second, to all subscribers together. */
export const EASY = 10_000
const PATH = '/graphql'
const FIELDS = 'sequence objectId kind name from to at'
const SHARED = `subscription { phaseChanges { ${FIELDS} } }`
const FILTERED = `subscription ($filter: PhaseChangeFilter) { phaseChanges(filter: $filter) { ${FIELDS} } }`

/** Milliseconds from commit to client, of so many messages a second to all subscribers together. */
export interface Latency {
  readonly messagesPerSecond: number
  readonly p50: number
  readonly p99: number
  /** How busy server and subscribers were meanwhile. */
  readonly serverBusy: number
  readonly subscribersBusy: number
}

interface Run {
  readonly gateway: Gateway
  readonly writer: Writer
  readonly subscribers: Subscribers
  /** Deliveries of one message. */
  readonly width: number
  /** Delivered, and published, when the last subscriber was there. */
  readonly delivered: number
  readonly published: number
}

/** One contestant in one scenario, with processes of its own. */
export async function measure(contestant: Contestant, scenario: Scenario, places: Places): Promise<Result> {
  const { subscribers: n, isFiltered } = scenario
  const roots = newRoots(isFiltered ? n : 1)
  await using gateway = await startGateway(contestant, places)
  await using writer = await startWriter(contestant, places, roots)
  const { rss: rssBefore } = await gateway.read()
  await using subscribers = await openSubscribers({
    port: gateway.port,
    path: PATH,
    token: gateway.token,
    query: isFiltered ? FILTERED : SHARED,
    variables: Array.from({ length: n }, (_, i) => (isFiltered ? { filter: { rootId: roots[i] } } : {})),
  })
  await untilAllAreReached(subscribers, writer, n, isFiltered)
  const start = { delivered: subscribers.progress.delivered, published: writer.published }
  const run: Run = { gateway, writer, subscribers, width: isFiltered ? 1 : n, ...start }
  const full = await saturate(run, scenario)
  await untilDelivered(run)
  const atHalf = await timeAt(full.messagesPerSecond / 2, run, n)
  await untilDelivered(run)
  const atEase = await timeAt(EASY, run, n)
  await untilDelivered(run)
  const { progress } = subscribers
  const { rss } = await gateway.read()
  return {
    contestant,
    scenario: scenario.name,
    ...full,
    atHalf,
    atEase,
    rssBefore,
    rss,
    bytes: progress.bytes / progress.delivered,
    wrong: progress.outOfOrder,
  }
}

/** No protocol says when a subscription is in force: messages are sent until each subscriber has one. */
async function untilAllAreReached(subscribers: Subscribers, writer: Writer, n: number, isFiltered: boolean) {
  const round = isFiltered ? n * 20 : 1
  for (let upTo = round; subscribers.progress.reached < n; upTo += round) {
    writer.allow(upTo)
    await untilQuiet(subscribers, writer, upTo)
  }
}

async function untilQuiet(subscribers: Subscribers, writer: Writer, upTo: number): Promise<void> {
  for (let seen = -1; writer.published < upTo || seen !== subscribers.progress.delivered; ) {
    seen = subscribers.progress.delivered
    await delay(300)
    subscribers.check()
  }
}

async function saturate(
  { gateway, writer, subscribers, width, delivered, published }: Run,
  { subscribers: n, isFiltered }: Scenario,
) {
  const least = AHEAD.least[isFiltered ? 'filtered' : 'shared']
  const most = AHEAD.most * n
  const recent: Progress[] = []
  let isOn = true
  const allow = () => {
    const now = subscribers.progress
    recent.push(now)
    while (now.at - (recent[0]?.at ?? now.at) > AHEAD.ms) recent.shift()
    const ahead = Math.min(most, Math.max(least, now.delivered - (recent[0]?.delivered ?? 0)))
    if (isOn) writer.allow(published + Math.floor((now.delivered - delivered + ahead) / width))
  }
  subscribers.onProgress(allow)
  allow()
  await delay(WARM_MS)
  subscribers.check()
  const [from, before] = [subscribers.progress, await gateway.read()]
  await delay(MEASURED_MS)
  const [to, after] = [subscribers.progress, await gateway.read()]
  isOn = false
  subscribers.check()
  const [ms, messages, cpuMs] = [to.at - from.at, to.delivered - from.delivered, after.cpuMs - before.cpuMs]
  return {
    messagesPerSecond: (messages / ms) * 1_000,
    cpuPerMessage: (cpuMs * 1_000) / messages,
    serverBusy: cpuMs / ms,
    subscribersBusy: (to.cpuMs - from.cpuMs) / ms,
  }
}

async function timeAt(
  messagesPerSecond: number,
  { gateway, writer, subscribers, width }: Run,
  n: number,
): Promise<Latency> {
  const perSecond = messagesPerSecond / width
  const first = writer.published
  subscribers.sample(Math.ceil(n / SAMPLED))
  const since = performance.now()
  const [before, from] = [await gateway.read(), subscribers.progress.cpuMs]
  await writer.rate(perSecond, Math.max(20, Math.round((perSecond * MEASURED_MS) / 1_000)))
  const ms = performance.now() - since
  const busy = {
    serverBusy: ((await gateway.read()).cpuMs - before.cpuMs) / ms,
    subscribersBusy: (subscribers.progress.cpuMs - from) / ms,
  }
  await untilQuiet(subscribers, writer, writer.published)
  subscribers.sample(0)
  const [{ indexes, arrivedAt }, committedAt] = await Promise.all([subscribers.collect(), writer.committedAt()])
  const times: number[] = []
  for (let i = 0; i < indexes.length; i++) {
    const index = indexes[i] as number
    if (index >= first) times.push((arrivedAt[i] as number) - (committedAt[index] as number))
  }
  times.sort((a, b) => a - b)
  const at = (quantile: number): number => times[Math.floor(times.length * quantile)] ?? Number.NaN
  return { messagesPerSecond, p50: at(0.5), p99: at(0.99), ...busy }
}

/** Throws unless each subscriber gets each message exactly once. */
async function untilDelivered({ writer, subscribers, width, delivered, published }: Run): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    await untilQuiet(subscribers, writer, 0)
    const got = subscribers.progress.delivered - delivered
    const sent = (writer.published - published) * width
    if (got === sent) return
    if (got > sent || performance.now() > end) throw new Error(`${got} of ${sent} messages were delivered`)
  }
}
