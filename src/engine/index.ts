import type { EngineFacts } from '../core/health.ts'
import { InFlight } from '../core/in-flight.ts'
import type { AgentPort } from '../core/ports/agents.ts'
import type { Log } from '../core/ports/log.ts'
import type { EngineCounts } from '../core/ports/measured.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Trees } from '../families/family.ts'
import { listen } from '../log/signal/listen.ts'
import type { Logger } from '../logger.ts'
import { isLockTimeout } from '../store/lock-timeout.ts'
import { queueStoppedClocks } from '../store/queue.ts'
import type { SweepOptions } from '../store/sweep.ts'
import type { Writes } from '../store/write-watch.ts'
import { Dispatcher } from './agents/dispatcher.ts'
import { agentPort } from './agents/index.ts'
import { SpecCache } from './cache/spec-cache.ts'
import { WorkCache } from './cache/work-cache.ts'
import type { EngineContext } from './context.ts'
import { Engine, WAKE_CHANNEL } from './engine.ts'
import { TreeCounts } from './engine-counts.ts'
import { wakeMessage } from './engine-turns.ts'
import type { Evaluate } from './evaluate.ts'
import { LockWaits } from './lock-waits.ts'
import type { EngineParts } from './parts.ts'
import { TreeRunner } from './runner.ts'
import { type CommitEvents, transaction } from './transaction.ts'
import { treesOf } from './trees.ts'

const WORK_CHANNEL = 'phaseline:work'

/** The engine of one process. It writes trees for commands and agents, and reconciles due trees once it is started. */
export interface EngineHost extends AsyncDisposable {
  readonly runner: TreeRunner
  readonly trees: Trees
  readonly agents: AgentPort
  readonly counts: EngineCounts
  /** Starts to reconcile every tree that is due, and to remove what has outlived its use. */
  startEngine(options: Pick<SweepOptions, 'agentRetentionMs'>): void
  /** Null: it is not started. */
  readonly engineFacts: EngineFacts | null
}

export interface EngineHostOptions {
  readonly parts: EngineParts
  readonly evaluate: Evaluate
  readonly signal: Signal
  /** Receives batches before their commit, and learns of each commit. */
  readonly log: Pick<Log, 'appended' | 'committed'>
  readonly logger: Logger
  readonly writes?: Writes
}

export function createEngineHost(options: EngineHostOptions): EngineHost {
  const { parts, signal, log, logger, writes } = options
  const workHandlers = new Set<(types: readonly string[]) => void>()
  const notifyWork = (types: readonly string[]) => {
    for (const handler of workHandlers) handler(types)
  }
  let engine: Engine | null = null
  const publish = ({ hasChanges, rootsToWake, workTypes }: CommitEvents) => {
    if (hasChanges) log.committed()
    if (rootsToWake.size > 0) {
      const rootIds = [...rootsToWake]
      signal.publish(WAKE_CHANNEL, engine?.woke(rootIds) ?? wakeMessage(rootIds))
    }
    if (workTypes.size > 0) {
      notifyWork([...workTypes])
      signal.publish(WORK_CHANNEL, JSON.stringify([...workTypes]))
    }
  }
  const subscription = listen(signal, WORK_CHANNEL, (message) => notifyWork(JSON.parse(message) as string[]), logger)
  const dispatcher = new Dispatcher(parts)
  writes?.onWrite((isJump) => {
    if (isJump) dispatcher.timeMoved()
  })
  const context: EngineContext = {
    ...parts,
    log,
    dispatcher,
    work: new WorkCache(),
    specs: new SpecCache(),
    publish,
    logger,
    counts: new TreeCounts(),
    lockWaits: new LockWaits(parts.pool.options.max),
    inFlight: new InFlight(),
  }
  const runner = new TreeRunner(context, options.evaluate)
  // A new connection may lead to another copy of the database, after a failover.
  const forget = () => runner.forget()
  parts.pool.on('connect', forget)
  const onWork = (handler: (types: readonly string[]) => void) => {
    workHandlers.add(handler)
    return () => void workHandlers.delete(handler)
  }
  return {
    runner,
    counts: context.counts,
    trees: treesOf(context, runner),
    agents: agentPort(context, runner, onWork, writes),
    startEngine({ agentRetentionMs }) {
      const { pool, system, kinds } = parts
      const { loneKinds } = kinds
      const sweeping = { outlivingActions: context.kinds.outlivingActions, agentRetentionMs }
      const recover = () => recoverStalled(context)
      const { counts } = context
      const recovering = { sweeping, recoverStalled: recover }
      engine = new Engine({ pool, runner, signal, system, loneKinds, logger, ...recovering, counts, writes })
      engine.start()
    },
    get engineFacts() {
      return engine?.facts ?? null
    },
    async [Symbol.asyncDispose]() {
      const ended = engine?.[Symbol.asyncDispose]()
      // Nobody waits any more for what is left in the lanes.
      await context.inFlight.close()
      await ended
      await subscription.close()
      parts.pool.off('connect', forget)
    },
  }
}

/** Queues trees with stopped clocks, and lets each family enqueue wake requests for objects that wait without a reason. */
export async function recoverStalled({
  pool,
  kinds,
  system,
  inFlight,
  logger,
  lockWaits,
}: Pick<EngineContext, 'pool' | 'kinds' | 'system' | 'inFlight' | 'logger'> &
  Partial<Pick<EngineContext, 'lockWaits'>>): Promise<void> {
  for (const recover of [queueStoppedClocks, ...kinds.families.flatMap((family) => family.recoverStalled ?? [])]) {
    // Publishes nothing, since the engine searches for due trees right after this.
    const recovering = transaction(
      { pool, publish: () => {}, inFlight, logger, ...(lockWaits && { lockWaits }) },
      ({ client }) => recover(client, system.fixedTime),
    )
    // The lock's holder does the same work. The search is repeated soon, and due trees do not wait for it.
    await recovering.catch((error: unknown) => {
      if (!isLockTimeout(error)) throw error
    })
  }
}
