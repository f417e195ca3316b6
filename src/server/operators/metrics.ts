import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Counts } from '../../core/counts.ts'
import type { HealthCause } from '../../core/judge-causes.ts'
import type { AgentPort } from '../../core/ports/agents.ts'
import type { ArtifactPort } from '../../core/ports/artifacts.ts'
import type { HookPort } from '../../core/ports/hooks.ts'
import type { Log } from '../../core/ports/log.ts'
import type { OpenStreams } from '../../graphql/log/open-streams.ts'
import type { Bounds } from '../limits/bounds.ts'
import type { ExecutedOperation } from '../operation/count-operations.ts'
import type { GraphQLSocket } from '../socket/graphql-socket.ts'
import type { FanOut } from '../streams/fan-out.ts'
import { measureProcess } from './measure-process.ts'
import { type MeasuredWork, measureReads, measureWork } from './measure-work.ts'

export interface Metrics {
  readonly contentType: string
  answered(route: string, status: number, seconds: number): void
  executed(operation: ExecutedOperation): void
  text(): Promise<string>
}

export interface Measured extends Pick<Bounds, 'refusals'> {
  readonly log: Pick<Log, 'stats'>
  readonly agents: Pick<AgentPort, 'waitingClaims'>
  readonly clock: MeasuredClock | undefined
  /** Undefined: a server on its own. */
  readonly work: MeasuredWork | undefined
  /** Reads of replicas; undefined: there are none. */
  readonly reads?: Pick<Counts<'outcome'>, 'entries'> | undefined
  /** Null: the process is none. */
  readonly gateway: MeasuredGateway | null
}
interface MeasuredGateway extends Pick<Bounds, 'unread'> {
  readonly sockets: readonly Pick<GraphQLSocket, 'size' | 'bufferedBytes'>[]
  readonly fanOut: FanOut
  readonly open: OpenStreams
  readonly artifacts: Pick<ArtifactPort, 'counts'>
  /** Never rejects, and is bounded in time; null: nobody knows. */
  readonly health: () => Promise<readonly Pick<HealthCause, 'cause' | 'severity'>[] | null>
  /** Null: there are none. */
  readonly hooks: Pick<HookPort, 'counts'> | null
}
export interface MeasuredClock {
  /** Milliseconds by which the wall clock of this process is ahead of the database's. */
  readonly wallOffsetMs: number
}

/** Metrics for Prometheus: the process, requests and operations, what the engine does, the database, and streams. */
export function createMetrics(measured: Measured, registry = new Registry()): Metrics {
  measureProcess(registry)
  const requests = new Histogram({
    name: 'phaseline_http_request_seconds',
    help: 'Time to answer a request; a stream of events counts until it ends.',
    labelNames: ['route', 'status'],
    registers: [registry],
  })
  const executions = new Histogram({
    name: 'phaseline_operation_seconds',
    help: 'Time to execute a query or mutation, by its first field, and by outcome: ok, or the code of its first error, also of those answered with 200.',
    labelNames: ['type', 'field', 'outcome'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers: [registry],
  })
  measureRefusals(registry, measured)
  if (measured.work) measureWork(registry, measured.work)
  if (measured.reads) measureReads(registry, measured.reads)
  const meters = metersOf(registry)
  measureLog(meters, measured)
  if (measured.gateway) measureStreams(registry, meters, measured.gateway)
  return {
    contentType: registry.contentType,
    answered: (route, status, seconds) => requests.observe({ route, status }, seconds),
    executed: ({ seconds, ...labels }) => executions.observe(labels, seconds),
    text: () => registry.metrics(),
  }
}

function measureRefusals(registry: Registry, { refusals }: Measured): void {
  new Counter({
    name: 'phaseline_refusals_total',
    help: 'Requests and connections that were refused or cut off, by reason, and by whose share was used up.',
    labelNames: ['reason', 'share'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, counts] of refusals.counts)
        for (const [share, count] of counts) this.inc({ reason, share }, count)
    },
  })
}

type Measure = (name: string, help: string, read: () => number) => void
interface Meters {
  readonly gauge: Measure
  readonly counter: Measure
}

function metersOf(registry: Registry): Meters {
  const registers = [registry]
  return {
    gauge: (name, help, read) =>
      void new Gauge({
        name: `phaseline_${name}`,
        help,
        registers,
        collect() {
          this.set(read())
        },
      }),
    counter: (name, help, read) =>
      void new Counter({
        name: `phaseline_${name}_total`,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(read())
        },
      }),
  }
}

function measureLog({ gauge, counter }: Meters, { log, agents, clock }: Measured): void {
  gauge('waiting_claims', 'Claims that wait for work.', () => agents.waitingClaims)
  if (clock)
    gauge(
      'clock_offset_seconds',
      "Seconds by which this process's clock is ahead of the database's, which decides.",
      () => clock.wallOffsetMs / 1_000,
    )
  gauge('log_head', 'The last sequence that this process knows of.', () => log.stats.known)
  gauge('log_lag', 'Sequences that are known and not delivered yet.', () => log.stats.known - log.stats.through)
  counter('log_announcements', 'Received announcements of numbered batches.', () => log.stats.announcements)
  counter('log_duplicates', 'Announcements without a new change.', () => log.stats.stale)
  counter('log_gaps', 'Announcements after a gap.', () => log.stats.gaps)
  counter('log_unverified', 'Announcements that no process on this database has signed.', () => log.stats.unverified)
  gauge(
    'log_epoch',
    'Number of histories of the log: it grows when the database is restored or failed over.',
    () => log.stats.epoch,
  )
  counter('log_filled', 'Changes read from the database to fill gaps.', () => log.stats.filled)
}

function measureStreams(
  registry: Registry,
  { gauge, counter }: Meters,
  { sockets, fanOut, open, unread, artifacts, hooks, health }: MeasuredGateway,
): void {
  const registers = [registry]
  const total = (of: (socket: MeasuredGateway['sockets'][number]) => number) =>
    sockets.reduce((sum, socket) => sum + of(socket), 0)
  gauge('websockets', 'Open WebSocket connections.', () => total(({ size }) => size))
  gauge('websocket_buffered_bytes', 'Bytes that wait for clients to read them.', () =>
    total(({ bufferedBytes }) => bufferedBytes),
  )
  gauge('unread_bytes', 'Bytes that wait for slow clients, over HTTP and WebSockets.', () => unread.total)
  gauge('stream_topics', 'Distinct operations that follow the log.', () => fanOut.stats.topics)
  counter('stream_executions', 'Executions of operations that follow the log.', () => fanOut.stats.executions)
  counter('stream_messages', 'Messages to their subscribers.', () => fanOut.stats.messages)
  counter('stream_bytes', 'Bytes of these messages.', () => fanOut.stats.bytes)
  counter('artifacts_written', 'Artifacts that runtimes have left.', () => artifacts.counts.written)
  counter('artifact_written_bytes', 'Bytes of these artifacts.', () => artifacts.counts.writtenBytes)
  counter('artifacts_read', 'Downloads of artifacts that have begun.', () => artifacts.counts.read)
  counter('artifact_read_bytes', 'Bytes of these downloads.', () => artifacts.counts.readBytes)
  new Gauge({
    name: 'phaseline_subscriptions',
    help: 'Open subscriptions, by field and state.',
    labelNames: ['field', 'state'],
    registers,
    collect() {
      this.reset()
      for (const { field, state } of open.list()) this.inc({ field, state })
    },
  })
  new Counter({
    name: 'phaseline_hook_deliveries_total',
    help: 'Deliveries to hooks, by outcome; UNAUTHENTIC are requests for no hook, or without one of its secrets.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of hooks?.counts.entries ?? []) this.inc(labels, count)
    },
  })
  new Gauge({
    name: 'phaseline_health_causes',
    help: 'Causes for which the health of the instance is not HEALTHY, judged every 15 seconds at most; absent where nobody knows.',
    labelNames: ['cause', 'severity'],
    registers,
    async collect() {
      const causes = await health()
      this.reset()
      for (const { cause, severity } of causes ?? []) this.inc({ cause, severity })
    },
  })
  const delay = new Histogram({
    name: 'phaseline_stream_delay_seconds',
    help: 'Time from a phase change to its write to live subscribers.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  })
  fanOut.onDelay = (seconds) => delay.observe(seconds)
}
