import type { ReportAnswer } from './agent-api.ts'
import { finalReport, outcomeOfThrown } from './final-report.ts'
import { traceWork, type WorkTrace } from './trace-work.ts'
import type { InterimReport, LogStream, StopReason, Work, WorkContext, WorkItem, WorkOutcome } from './work.ts'

/** Sends reports and log lines of all work. */
export interface Outbox {
  /** Null: the report was given up. */
  report(fence: string, report: InterimReport | NonNullable<WorkOutcome>): Promise<ReportAnswer | null>
  /** False: lines arrive faster than they can be sent. */
  readonly hasRoom: boolean
  /** Resolves when the line is delivered, or given up. */
  log(fence: string, stream: LogStream, text: string): Promise<unknown>
}

export type WorkEnd = 'accepted' | 'refused' | 'dropped'

export interface ActiveWorkOptions {
  readonly outbox: Outbox
  /** Called once, when the server refuses a report: it accepts no further one either. */
  onRefused(error: Error): void
}

/** One claimed item: its work, its two signals, and its reports in order. */
export class ActiveWork {
  readonly item: WorkItem
  readonly #trace: WorkTrace
  readonly #options: ActiveWorkOptions
  readonly #stop = new AbortController()
  readonly #lost = new AbortController()
  /** The interim report to send next. */
  #next: InterimReport | null = null
  /** Runs while interim reports are being sent. */
  #delivery: Promise<void> | null = null
  #lastLine: Promise<unknown> | null = null
  #droppedLines = 0
  #ended = false

  constructor(item: WorkItem, options: ActiveWorkOptions) {
    this.item = item
    this.#trace = traceWork(item)
    this.#options = options
  }

  stop(reason: StopReason): void {
    if (!this.#stop.signal.aborted) this.#stop.abort(reason)
    if (reason === 'LOST' && !this.#lost.signal.aborted) this.#lost.abort(reason)
  }

  #report(report: InterimReport): void {
    if (this.#ended || this.#lost.signal.aborted) return
    this.#next = { ...this.#next, ...report }
    this.#delivery ??= this.#deliver()
  }

  #log(stream: LogStream, text: string): void {
    const { outbox } = this.#options
    if (this.#ended || this.#lost.signal.aborted) return
    if (!outbox.hasRoom) {
      this.#droppedLines += 1
      return
    }
    const { fence } = this.item
    if (this.#droppedLines > 0) void outbox.log(fence, 'SYSTEM', `${this.#droppedLines} lines were dropped.`)
    this.#droppedLines = 0
    this.#lastLine = outbox.log(fence, stream, text)
  }

  /** Does the work, calls `onDone`, then reports the outcome. Never rejects. */
  async run(work: Work, onDone: (thrown: unknown) => void): Promise<WorkEnd> {
    let outcome: WorkOutcome
    let thrown: unknown
    try {
      outcome = await this.#trace.run(() => work(this.item, this.#context()))
    } catch (error) {
      if (!this.#stop.signal.aborted) thrown = error
      outcome = outcomeOfThrown(error, this.#stopped)
    }
    this.#ended = true
    this.#trace.end(outcome, thrown)
    onDone(thrown)
    const report = finalReport(this.item, outcome, this.#stopped)
    if (this.#lost.signal.aborted) return 'dropped'
    // The server accepts no lines of an object that is gone, and work that moves to another agent must miss none.
    if (this.#lastLine) await this.#lastLine
    return await this.#sendFinal(report)
  }

  /** Sends the last interim report first, most often in the same call. */
  async #sendFinal(end: NonNullable<WorkOutcome> | null): Promise<WorkEnd> {
    const last = this.#take()
    // When the server refuses it, it refuses the final report too, which reports the refusal.
    const delivered = last ? this.#options.outbox.report(this.item.fence, this.#placed(last)) : this.#delivery
    if (!end) {
      await delivered
      return 'dropped'
    }
    const answer = await this.#send(end)
    return answer === null ? 'dropped' : answer.accepted ? 'accepted' : 'refused'
  }

  /** Its functions are not bound to it: work may destructure it. */
  #context(): WorkContext {
    return {
      signal: this.#stop.signal,
      lost: this.#lost.signal,
      report: (report) => this.#report(report),
      log: (stream, text) => this.#log(stream, text),
      traceparent: this.#trace.traceparent,
    }
  }

  async #send(report: InterimReport | NonNullable<WorkOutcome>): Promise<ReportAnswer | null> {
    const answer = await this.#options.outbox.report(this.item.fence, this.#placed(report))
    // A refusal is expected once the lease is lost.
    if (answer && !answer.accepted && !this.#lost.signal.aborted) this.#options.onRefused(refusalOf(report, answer))
    return answer
  }

  /** An older server does not know the field: it is sent only if the work has a place in a trace. */
  #placed<R extends object>(report: R): R & { readonly traceparent?: string } {
    const { traceparent } = this.#trace
    return traceparent === null ? report : { ...report, traceparent }
  }

  get #stopped(): StopReason | null {
    return this.#stop.signal.aborted ? (this.#stop.signal.reason as StopReason) : null
  }

  async #deliver(): Promise<void> {
    for (let report = this.#take(); report; report = this.#take()) {
      const answer = await this.#send(report)
      // Refused: the work was ended or deleted, or another agent has claimed it.
      if (answer && !answer.accepted) this.stop('LOST')
    }
    this.#delivery = null
  }

  #take(): InterimReport | null {
    const next = this.#next
    this.#next = null
    return next
  }
}

type Refused = Extract<ReportAnswer, { readonly accepted: false }>
function refusalOf(report: InterimReport | NonNullable<WorkOutcome>, { type, message }: Refused): Error {
  const subject = 'phase' in report && report.phase ? report.phase : 'A report'
  return new Error(`${subject} was refused (${type}): ${message}`)
}
