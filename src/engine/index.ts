import type { AgentPort } from '../core/ports/agents.ts'
import type { WrittenBatch } from '../core/ports/phase-change.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Trees } from '../families/family.ts'
import type { Logger } from '../logger.ts'
import { agentPort } from './agents/index.ts'
import { Waiting } from './agents/waiting.ts'
import { Engine, WAKE_CHANNEL } from './engine.ts'
import type { Evaluate } from './evaluate.ts'
import { Handing } from './handing.ts'
import { KeptItems } from './kept-items.ts'
import { listen } from './listen.ts'
import { TreeRunner } from './runner.ts'
import { type Aftermath, type EngineParts, transaction } from './transaction.ts'
import { treesOf } from './trees.ts'

const WORK_CHANNEL = 'phaseline:work'

/** What a process needs to write trees, whether or not it also drives them. */
export interface EngineHost extends AsyncDisposable {
  readonly runner: TreeRunner
  readonly trees: Trees
  readonly agents: AgentPort
  /** Starts driving whatever tree is due. */
  startEngine(): void
}

export interface EngineHostOptions {
  readonly parts: EngineParts
  readonly evaluate: Evaluate
  readonly signal: Signal
  /** These batches of the log are about to be committed. */
  readonly appended?: (batches: readonly WrittenBatch[]) => void
  /** Something was committed that the log must number. */
  readonly committed: () => void
  readonly logger: Logger
}

export function createEngineHost({
  parts: given,
  evaluate,
  signal,
  appended,
  committed,
  logger,
}: EngineHostOptions): EngineHost {
  const parts: EngineParts = appended ? { ...given, appended } : given
  const handlers = new Set<(types: readonly string[]) => void>()
  let engine: Engine | null = null
  const tell = (types: readonly string[]) => {
    for (const handler of handlers) handler(types)
  }
  const announce = ({ changed, woken, types }: Aftermath) => {
    if (changed) committed()
    if (woken.size > 0) {
      engine?.hear()
      signal.publish(WAKE_CHANNEL, '')
    }
    if (types.size > 0) {
      tell([...types])
      signal.publish(WORK_CHANNEL, JSON.stringify([...types]))
    }
  }
  const subscription = listen(signal, WORK_CHANNEL, (message) => tell(JSON.parse(message) as string[]), logger)
  const waiting = new Waiting(parts)
  const writing = { parts, announce, handing: new Handing(parts.pool, waiting), kept: new KeptItems(), logger }
  const runner = new TreeRunner({ ...writing, evaluate })
  // Behind it may be a copy that was failed over to.
  parts.pool.on('connect', () => runner.forget())
  const onWork = (handler: (types: readonly string[]) => void) => {
    handlers.add(handler)
    return () => void handlers.delete(handler)
  }
  return {
    runner,
    trees: treesOf(writing),
    agents: agentPort(parts, runner, onWork, waiting),
    startEngine() {
      const { pool, system } = parts
      engine = new Engine({ pool, runner, signal, system, logger, recoverStalled: () => recoverStalled(parts) })
      engine.start()
    },
    async [Symbol.asyncDispose]() {
      await engine?.[Symbol.asyncDispose]()
      await runner.idle()
      await subscription.close()
    },
  }
}

/** Each family leaves word for what waits without need: the engine that tends looks for it next. */
export async function recoverStalled({ pool, kinds }: EngineParts): Promise<void> {
  for (const { recoverStalled: leaveWord } of kinds.families) {
    if (leaveWord) await transaction(pool, ({ client }) => leaveWord(client))
  }
}
