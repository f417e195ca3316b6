import type { ReportAnswer } from './agent-api.ts'
import { AGENT_ERROR, failureOf, finalReport, outcomeOfThrown } from './final-report.ts'
import { interimReportOf, outcomeOf, requireLogArguments } from './judge-work.ts'
import { ownStrays, type StrayHandler } from './strays.ts'
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
  /** An error that the work left behind came after its end, or the work runs on without a lease. */
  onStray(error: unknown): void
  /** Milliseconds for which work that has lost its lease is waited for. */
  readonly lostMs: number
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
  /** The last one that the work has reported. */
  #progress: InterimReport['progress'] | undefined
  /** Runs while interim reports are being sent. */
  #delivery: Promise<void> | null = null
  #lastLine: Promise<unknown> | null = null
  #droppedLines = 0
  #ended = false
  /** Rejects with the first error that the work leaves behind before its end. */
  readonly #stray = Promise.withResolvers<never>()
  readonly #strays: StrayHandler = {
    take: (error) => (this.#ended ? this.#options.onStray(error) : this.#stray.reject(error)),
  }

  constructor(item: WorkItem, options: ActiveWorkOptions) {
    this.item = item
    this.#trace = traceWork(item)
    this.#options = options
  }

  stop(reason: StopReason): void {
    // Listeners of the signals are code of the work.
    const isLost = reason === 'LOST' && !this.#lost.signal.aborted
    ownStrays(this.#strays, () => {
      if (!this.#stop.signal.aborted) this.#stop.abort(reason)
      if (isLost) this.#lost.abort(reason)
    })
    if (isLost) AbortSignal.timeout(this.#options.lostMs).addEventListener('abort', () => this.#abandon())
  }

  /** Work may never end. Nobody takes its outcome any more, so it must not keep others from being done. */
  #abandon(): void {
    if (this.#ended) return
    const error = new Error(
      `Its work continues, ${this.#options.lostMs} ms after it had to stop: it is not waited for any more.`,
    )
    this.#options.onStray(error)
    this.#stray.reject(error)
  }

  #report(report: InterimReport): void {
    if (this.#ended || this.#lost.signal.aborted || this.item.action === 'DRY_RUN') return
    this.#next = { ...this.#next, ...report }
    this.#progress = report.progress ?? this.#progress
    this.#delivery ??= this.#deliver()
  }

  #log(stream: LogStream, text: string): void {
    const { outbox } = this.#options
    // Lines that come after the lease is lost are sent, too: the server knows whether the work is another agent's.
    if (this.#ended || this.item.action === 'DRY_RUN') return
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
  async run(work: Work, onDone: (thrown: Thrown | null) => void): Promise<WorkEnd> {
    let outcome: WorkOutcome
    let thrown: Thrown | null = null
    try {
      outcome = outcomeOf(await this.#work(work))
    } catch (error) {
      if (!this.#stop.signal.aborted) thrown = { error }
      outcome = outcomeOfThrown(this.item, error, this.#stopped)
    }
    const stopped = this.#stopped
    this.#ended = true
    // Work that failed by an error that it left behind may still run.
    if (thrown) ownStrays(this.#strays, () => this.#stop.abort('LOST'))
    this.#trace.end(outcome, thrown !== null)
    onDone(thrown)
    const report = this.#withProgress(finalReport(this.item, outcome, stopped), stopped)
    const isLost = this.#lost.signal.aborted
    // The server accepts no lines of an object that is gone, and work that moves to another agent must miss none.
    if (this.#lastLine) await this.#lastLine
    if (isLost) return 'dropped'
    return await this.#sendFinal(report)
  }

  /** Work that was stopped says how far it had come. */
  #withProgress(end: NonNullable<WorkOutcome> | null, stopped: StopReason | null): NonNullable<WorkOutcome> | null {
    const isStopped = stopped === 'ABORT_REQUESTED' && end !== null && 'phase' in end
    return isStopped && this.#progress ? { progress: this.#progress, ...end } : end
  }

  /** Returns the outcome of the work, or the error that it leaves behind before. */
  #work(work: Work): Promise<unknown> {
    // It may change what it gets.
    const item = { ...this.item }
    const working = ownStrays(this.#strays, async () => await this.#trace.run(() => work(item, this.#context())))
    return Promise.race([working, this.#stray.promise])
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
    if (answer === null) return 'dropped'
    return answer.accepted || (await this.#failInstead(end, answer)) ? 'accepted' : 'refused'
  }

  /** Work whose outcome the server does not take has failed. True: the server takes that. */
  async #failInstead(end: NonNullable<WorkOutcome>, refused: Refused): Promise<boolean> {
    const returned = 'phase' in end ? end.phase : 'done'
    const message = `work() returned ${returned}, which the server refused (${refused.type}): ${refused.message}`
    const failure = failureOf(this.item, { code: AGENT_ERROR, message })
    if (!failure || !(refused.allowed?.includes(failure.phase) ?? refused.type === 'InvalidInputError')) return false
    return (await this.#send(failure))?.accepted ?? false
  }

  /** Its functions are not bound to it: work may destructure it. */
  #context(): WorkContext {
    return {
      signal: this.#stop.signal,
      lost: this.#lost.signal,
      report: (report) => this.#report(interimReportOf(report)),
      log: (stream, text) => {
        requireLogArguments(stream, text)
        this.#log(stream, text)
      },
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
      if (!answer || answer.accepted) continue
      if (answer.type === 'InvalidInputError')
        this.#stray.reject(new TypeError(`report() was refused: ${answer.message}`))
      // The work was ended or deleted, or another agent has claimed it.
      else this.stop('LOST')
    }
    this.#delivery = null
  }

  #take(): InterimReport | null {
    const next = this.#next
    this.#next = null
    return next
  }
}

/** In an object, since anything can be thrown, undefined too. */
export interface Thrown {
  readonly error: unknown
}
type Refused = Extract<ReportAnswer, { readonly accepted: false }>
function refusalOf(report: InterimReport | NonNullable<WorkOutcome>, { type, message }: Refused): Error {
  const subject = 'phase' in report && report.phase ? report.phase : 'A report'
  return new Error(`${subject} was refused (${type}): ${message}`)
}
