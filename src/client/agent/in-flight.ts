import { asError } from '../as-error.ts'
import { ActiveWork, type Outbox, type WorkEnd } from './active-work.ts'
import type { AgentProblem } from './agent.ts'
import { AutoResetEvent } from './auto-reset-event.ts'
import type { StopReason, Work, WorkItem } from './work.ts'

export interface InFlightOptions {
  readonly work: Work
  readonly outbox: Outbox
  /** The work is done; its report may still be on its way. */
  onDone(): void
  /** The report is answered, or given up. */
  onEnd(item: WorkItem, end: WorkEnd): void
  onProblem(problem: AgentProblem): void
  /** Milliseconds for which work that has lost its lease is waited for. */
  readonly lostMs: number
}

/** How long stopped work, and its report, may take when the agent ends. */
const STOP_MS = 5_000

/** All items that this agent works on or still reports. */
export class InFlight {
  readonly #options: InFlightOptions
  readonly #active = new Map<string, ActiveWork>()
  readonly #idle = new AutoResetEvent()
  #working = 0

  constructor(options: InFlightOptions) {
    this.#options = options
  }

  get working(): number {
    return this.#working
  }
  get unreported(): number {
    return this.#active.size - this.#working
  }

  /** Never rejects. */
  async start(item: WorkItem, stopped: StopReason | null = null): Promise<void> {
    const { work, outbox, onDone, onEnd, onProblem, lostMs } = this.#options
    const active = new ActiveWork(item, {
      outbox,
      onRefused: (error) => onProblem({ what: 'report', error, objectId: item.objectId }),
      onStray: (error) => onProblem({ what: 'work', error: asError(error), objectId: item.objectId }),
      lostMs,
    })
    if (stopped) active.stop(stopped)
    this.#active.set(item.fence, active)
    this.#working += 1
    const end = await active.run(work, (thrown) => {
      this.#working -= 1
      onDone()
      if (thrown) onProblem({ what: 'work', error: asError(thrown.error), objectId: item.objectId })
    })
    this.#active.delete(item.fence)
    onEnd(item, end)
    if (this.#active.size === 0) this.#idle.set()
  }

  stop(fence: string, reason: StopReason): void {
    this.#active.get(fence)?.stop(reason)
  }

  /** Lets the work finish for `drainMs`, then stops it. With `fatal`, whose reports the server would refuse, at once. */
  async drain(drainMs: number, fatal: AbortSignal): Promise<void> {
    if (!fatal.aborted) await this.#untilIdle(drainMs, fatal)
    this.#stopAll(fatal.aborted ? 'LOST' : 'SHUTDOWN')
    await this.#untilIdle(STOP_MS, fatal)
    this.#stopAll('LOST')
  }

  async #untilIdle(ms: number, fatal: AbortSignal): Promise<void> {
    const until = performance.now() + ms
    while (this.#active.size > 0 && performance.now() < until) {
      await this.#idle.wait(until - performance.now(), fatal)
      if (fatal.aborted) return
    }
  }

  #stopAll(reason: StopReason): void {
    for (const active of this.#active.values()) active.stop(reason)
  }
}
