import type { Client } from '../store/client.ts'
import { isLockTimeout } from '../store/lock-timeout.ts'
import type { EngineContext } from './context.ts'
import { type Attempted, Lane, type Queued } from './lane.ts'
import { transaction } from './transaction.ts'
import type { RequestTrace } from './transaction-trace.ts'

type RecordWrite = (client: Client) => Promise<unknown>

/** Runs the writes of this process on one subject that is no tree and no project, each in a transaction of its own. */
export class RecordLane extends Lane<RecordWrite, unknown> {
  readonly #context: EngineContext
  protected override readonly subject: string

  constructor(context: EngineContext, subject: string, onIdle: () => void) {
    super(onIdle, context.laneWaitMs)
    this.#context = context
    this.subject = subject
  }

  protected override takeBatch(queue: Queued<RecordWrite, unknown>[]): readonly Queued<RecordWrite, unknown>[] {
    return queue.splice(0, 1)
  }
  protected override whenLocked(): null {
    return null
  }

  protected override async runBatch(
    writes: readonly RecordWrite[],
    _isAlone: boolean,
    asked: readonly RequestTrace[],
  ): Promise<readonly Attempted<unknown>[]> {
    const outcomes: Attempted<unknown>[] = []
    for (const write of writes) {
      try {
        outcomes.push({ value: await transaction(this.#context, ({ client }) => write(client), asked) })
      } catch (error) {
        outcomes.push(isLockTimeout(error) ? 'locked' : { error })
      }
    }
    return outcomes
  }
}
