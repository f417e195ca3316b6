import type { ReportAnswer } from '../../../client/agent/agent-api.ts'
import { requireLogArguments, requireProgressArguments } from '../../../client/agent/judge-work.ts'
import { ownStrays, type StrayHandler } from '../../../client/agent/strays.ts'
import type { InterimReport, LogStream, WorkOutcome } from '../../../client/agent/work.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { CrmContext, CrmRequest, CrmStopReason } from './crm.ts'
import { finalPhase, problemOf, transitionalPhase } from './phases.ts'

type Final = Extract<NonNullable<WorkOutcome>, { readonly phase: unknown }>
export type Report = InterimReport | Final

/** Sends reports and log lines of all requests. */
export interface CrmOutbox {
  /** Null: the report was given up. Calls `onSend` when the report may reach the server from now on. */
  report(fence: string, report: Report, onSend?: () => void): Promise<ReportAnswer | null>
  /** False: lines arrive faster than they can be sent. */
  readonly hasRoom: boolean
  log(fence: string, stream: LogStream, text: string): Promise<unknown>
}

export interface RequestSteps {
  /** Resolves when no other request works on the object. */
  readonly before: Promise<unknown>
  readonly outbox: CrmOutbox
  work(request: CrmRequest, context: CrmContext): Promise<unknown>
  onThrown(error: unknown): void
  /** The server has acknowledged the outcome. */
  onEnded(phase: Phase): void
  /** The server has refused a report of the request. */
  onRefused(): void
}

/** One request: its work, its signal, and its reports in order. */
export class ActiveRequest {
  readonly request: CrmRequest
  readonly #steps: RequestSteps
  readonly #stop = new AbortController()
  /** Rejects with the first error that the driver leaves behind while it works. */
  readonly #stray = Promise.withResolvers<never>()
  readonly #strays: StrayHandler = {
    take: (error) => (this.#working ? this.#stray.reject(error) : this.#steps.onThrown(error)),
  }
  /** Resolves when no work is done for it any more, nor ever will be. */
  readonly stopped: Promise<void>
  #working = false
  #final: Final | null = null
  #finalSending = false
  #finalSent = false
  #finalAcknowledged = false
  /** The interim report to send next. */
  #next: InterimReport | null = null
  /** Runs while progress is being sent. */
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
  /** The driver is working on it. */
  get working(): boolean {
    return this.#working
  }
  /**
   * The outcome, until the server has acknowledged it. An error that the server may have received, and undone by now, is
   * left out: the list of objects is enough.
   */
  get unacknowledged(): Final | null {
    const isUnsure = this.#finalSent && this.#final !== null && 'error' in this.#final
    return this.#finalAcknowledged || isUnsure ? null : this.#final
  }

  stop(reason: CrmStopReason): void {
    if (this.signal.aborted) return
    // Listeners of the signal are code of the driver.
    ownStrays(this.#strays, () => this.#stop.abort(reason))
  }

  /** The server repeats the request because it has not received the outcome. */
  repeat(): void {
    if (this.#final) void this.#sendFinal()
  }
  /** The upgrade that this request has begun, and reported, has failed after all. */
  fail(error: unknown): void {
    if (this.signal.aborted) return
    this.#final = problemOf(this.request, error)
    this.#finalAcknowledged = false
    void this.#sendFinal()
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

  /** Its functions are not bound to it: a driver may destructure it. */
  #context(): CrmContext {
    return {
      signal: this.signal,
      progress: (step, value, total) => {
        requireProgressArguments(step, value, total)
        this.#progress(step, value, total)
      },
      log: (stream, text) => {
        requireLogArguments(stream, text)
        this.#log(stream, text)
      },
    }
  }

  get #open(): boolean {
    return this.#working && !this.signal.aborted
  }

  async #run(): Promise<void> {
    await this.#steps.before
    if (this.signal.aborted) return
    const first = transitionalPhase(this.request)
    // Waits for the answer: a stale request must not be begun.
    if (first && !(await this.#send({ phase: first }))) return
    if (this.signal.aborted) return
    this.#final = await this.#work()
    void this.#sendFinal()
  }

  async #work(): Promise<Final | null> {
    this.#working = true
    try {
      const { work } = this.#steps
      // The driver may change what it gets.
      const request = { ...this.request, path: [...this.request.path] }
      const working = ownStrays(this.#strays, async () => await work(request, this.#context()))
      await Promise.race([working, this.#stray.promise])
      return this.signal.aborted ? null : { phase: finalPhase(this.request) }
    } catch (error) {
      if (this.signal.aborted) return null
      this.#steps.onThrown(error)
      return problemOf(this.request, error)
    } finally {
      this.#working = false
    }
  }

  async #sendFinal(): Promise<void> {
    if (this.#finalSending) return
    this.#finalSending = true
    // The server accepts no lines of an object that is gone.
    await this.#lastLine
    await this.#delivery
    for (let sent: Final | null = null; this.#final !== sent && !this.signal.aborted; ) {
      sent = this.#final
      const onSend = (): void => {
        this.#finalSent = true
      }
      if (sent) this.#finalAcknowledged = await this.#send(sent, onSend)
      if (sent && this.#finalAcknowledged) this.#steps.onEnded(sent.phase)
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

  /** A report that was given up counts as refused: the server repeats the request as soon as it can. */
  async #send(report: Report, onSend?: () => void): Promise<boolean> {
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
