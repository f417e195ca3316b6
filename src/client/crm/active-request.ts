import type { ReportAnswer } from '../agent/agent-api.ts'
import type { InterimReport, LogStream, WorkOutcome } from '../agent/work.ts'
import type { CrmContext, CrmRequest, CrmStopReason } from './crm.ts'
import { finalPhase, problemOf, transitionalPhase } from './phases.ts'

type Final = Extract<NonNullable<WorkOutcome>, { readonly phase: unknown }>
export type Report = InterimReport | Final

/** Where reports and lines of requests go. */
export interface CrmOutbox {
  /** Null: it was given up. `onSend` is called when it may reach the server from now on. */
  report(fence: string, report: Report, onSend?: () => void): Promise<ReportAnswer | null>
  /** False: lines come faster than they can be sent. */
  readonly hasRoom: boolean
  log(fence: string, stream: LogStream, text: string): Promise<unknown>
}

export interface RequestSteps {
  /** Resolves when the object is free. */
  readonly before: Promise<unknown>
  readonly outbox: CrmOutbox
  work(request: CrmRequest, context: CrmContext): Promise<unknown>
  onThrown(error: unknown): void
  /** The server wants it no more. */
  onRefused(): void
}

/** One request: its work, its signal, and its reports in order. */
export class ActiveRequest {
  readonly request: CrmRequest
  readonly #steps: RequestSteps
  readonly #stop = new AbortController()
  /** Resolves when nothing is done for it any more, nor ever will be. */
  readonly stopped: Promise<void>
  #working = false
  #final: Final | null = null
  #finalSending = false
  #finalSent = false
  #finalKnown = false
  /** Not sent yet. */
  #next: InterimReport | null = null
  /** Until the progress that was told is sent. */
  #delivery: Promise<void> | null = null
  #step: string | null = null
  #lastLine: Promise<unknown> | null = null

  constructor(request: CrmRequest, steps: RequestSteps) {
    this.request = request
    this.#steps = steps
    this.stopped = this.#run()
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }
  /** The driver is at it. */
  get working(): boolean {
    return this.#working
  }
  /**
   * How it ended, until the server is known to have heard of it. An error that it may have heard of, and have undone by
   * now, is not told by the way: what there is says enough.
   */
  get unacknowledged(): Final | null {
    const isUnsure = this.#finalSent && this.#final !== null && 'error' in this.#final
    return this.#finalKnown || isUnsure ? null : this.#final
  }

  stop(reason: CrmStopReason): void {
    if (!this.signal.aborted) this.#stop.abort(reason)
  }

  /** The server asks again: it has not heard how it ended. */
  repeat(): void {
    if (this.#final) void this.#tellFinal()
  }
  /** What this request has begun, and told of, has failed after all. */
  fail(error: unknown): void {
    if (this.signal.aborted) return
    this.#final = problemOf(this.request, error)
    this.#finalKnown = false
    void this.#tellFinal()
  }

  #progress(step: string, value?: number, total?: number): void {
    if (step !== this.#step) this.#log('STEP', step)
    this.#step = step
    if (!this.#open) return
    this.#next = { progress: { step, value: value ?? null, total: total ?? null } }
    this.#delivery ??= this.#deliver()
  }

  #log(stream: LogStream, text: string): void {
    const { outbox } = this.#steps
    if (this.#open && outbox.hasRoom) this.#lastLine = outbox.log(this.request.fence, stream, text)
  }

  /** Its functions are free ones: a driver may take them out of it. */
  #context(): CrmContext {
    return {
      signal: this.signal,
      progress: (step, value, total) => this.#progress(step, value, total),
      log: (stream, text) => this.#log(stream, text),
    }
  }

  get #open(): boolean {
    return this.#working && !this.signal.aborted
  }

  async #run(): Promise<void> {
    await this.#steps.before
    if (this.signal.aborted) return
    const first = transitionalPhase(this.request)
    // The answer is waited for: what is not wanted any more must not be begun.
    if (first && !(await this.#tell({ phase: first }))) return
    if (this.signal.aborted) return
    this.#final = await this.#work()
    void this.#tellFinal()
  }

  async #work(): Promise<Final | null> {
    this.#working = true
    try {
      await this.#steps.work(this.request, this.#context())
      return this.signal.aborted ? null : { phase: finalPhase(this.request) }
    } catch (error) {
      if (this.signal.aborted) return null
      this.#steps.onThrown(error)
      return problemOf(this.request, error)
    } finally {
      this.#working = false
    }
  }

  async #tellFinal(): Promise<void> {
    if (this.#finalSending) return
    this.#finalSending = true
    // Lines of an object that is gone are accepted no more.
    await this.#lastLine
    await this.#delivery
    for (let told: Final | null = null; this.#final !== told && !this.signal.aborted; ) {
      told = this.#final
      const onSend = (): void => {
        this.#finalSent = true
      }
      if (told) this.#finalKnown = await this.#tell(told, onSend)
    }
    this.#finalSending = false
  }

  async #deliver(): Promise<void> {
    for (let report = this.#take(); report && !this.signal.aborted; report = this.#take()) {
      const answer = await this.#steps.outbox.report(this.request.fence, report)
      if (answer && !answer.accepted && this.#open) this.#refused()
    }
    this.#delivery = null
  }

  #take(): InterimReport | null {
    const next = this.#next
    this.#next = null
    return next
  }

  /** Given up, a report counts as refused: as soon as it can, the server asks again. */
  async #tell(report: Report, onSend?: () => void): Promise<boolean> {
    const answer = await this.#steps.outbox.report(this.request.fence, report, onSend)
    if (answer?.accepted) return true
    if (!this.signal.aborted) this.#refused()
    return false
  }

  #refused(): void {
    this.stop('STALE')
    this.#steps.onRefused()
  }
}
