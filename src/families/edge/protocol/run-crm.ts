import { agentApi, type ReportAnswer } from '../../../client/agent/agent-api.ts'
import { type OpenOutbox, openOutbox } from '../../../client/agent/outbox.ts'
import { problemHandler } from '../../../client/agent/print-problems.ts'
import { ownStrays, watchStrays } from '../../../client/agent/strays.ts'
import { asError } from '../../../client/as-error.ts'
import { ClientError } from '../../../client/client-error.ts'
import { pause, retryDelay } from '../../../client/pause.ts'
import type { Report } from './active-request.ts'
import { type CrmContext, type CrmEnd, type CrmError, type CrmOptions, CrmProblem, type CrmRequest } from './crm.ts'
import { RequestTable } from './request-table.ts'
import { Sessions } from './sessions.ts'

const LEASE_MS = 30_000
const STOP_MS = 10_000
/**
 * The client of an edge agent: connects for one cloudlet with the driver's objects, works on requests and reports them,
 * until the signal aborts or a newer CRM connects. It reconnects whenever the connection is lost, and its requests
 * continue meanwhile.
 * @throws ClientError when the server refuses this CRM: unauthorized, not allowed, no such cloudlet
 * @throws what `onTakeOver` throws
 */
export function runCrm(options: CrmOptions): Promise<CrmEnd> {
  return new Crm(options).run()
}

class Crm {
  readonly #options: CrmOptions
  readonly #outbox: OpenOutbox
  readonly #onProblem: (problem: CrmError) => void
  readonly #requests: RequestTable
  readonly #sessions: Sessions
  /** Its reason is the CrmEnd, or the fatal error. */
  readonly #ending = new AbortController()
  readonly #stopping: AbortSignal
  /** Resolves when this CRM serves the cloudlet. */
  readonly #serving = Promise.withResolvers<void>()

  constructor(options: CrmOptions) {
    this.#options = options
    this.#onProblem = problemHandler(`CRM ${options.instance}`, options.onProblem)
    this.#stopping = AbortSignal.any([options.signal, this.#ending.signal])
    const api = agentApi(options.client)
    const outbox = openOutbox(api, (what, error) => this.#problem({ what, error }))
    this.#outbox = outbox
    this.#requests = new RequestTable({
      outbox: {
        report: (fence, report, onSend) => this.#report(fence, report, onSend),
        log: (fence, stream, text) => outbox.log(fence, stream, text),
        get hasRoom() {
          return outbox.hasRoom
        },
      },
      ready: this.#serving.promise,
      work: (request, context) => this.#work(request, context),
      onEnded: (request, phase) => this.#sessions.ended(request, phase),
      onThrown: ({ objectId }, error) => this.#problem({ what: 'work', error: asError(error), objectId }),
    })
    this.#sessions = new Sessions({
      api,
      crm: options,
      leaseMs: options.leaseMs ?? LEASE_MS,
      requests: this.#requests,
      stopping: this.#stopping,
      onProblem: (problem) => this.#problem(problem),
      onEnd: (reason) => this.#ending.abort(reason),
    })
  }

  async run(): Promise<CrmEnd> {
    const unwatch = watchStrays()
    const takingOver = this.#options.role === 'CRM_V2' ? this.#takeOver() : this.#serving.resolve()
    try {
      await this.#sessions.run()
    } finally {
      this.#ending.abort('STOPPED')
      this.#sessions.close()
      const stopped = new AbortController()
      const stopping = Promise.all([takingOver, this.#requests.close('SHUTDOWN')]).then(() => stopped.abort())
      await Promise.race([stopping, pause(STOP_MS, stopped.signal)])
      this.#outbox.close()
      unwatch()
    }
    const reason: unknown = this.#ending.signal.reason
    if (reason === 'STOPPED' || reason === 'SUPERSEDED') return reason
    throw reason
  }

  /** Waits for a connection: without one the server would refuse every report. */
  async #report(fence: string, report: Report, onSend?: () => void): Promise<ReportAnswer | null> {
    for (let failures = 0; ; failures += 1) {
      const connection = await this.#sessions.connection()
      if (!connection) return null
      onSend?.()
      const answer = await this.#outbox.report(fence, report)
      if (answer === null || answer.accepted || answer.type !== 'StaleReportError') return answer
      if (await this.#sessions.isCurrent(connection)) return answer
      await pause(retryDelay(failures), this.#stopping)
    }
  }

  #work(request: CrmRequest, context: CrmContext): Promise<unknown> {
    const { driver } = this.#options
    this.#sessions.began(request)
    if (request.kind === 'CLOUDLET') return this.#upgrade(request, context)
    if (request.action === 'CREATE') return driver.create(request, context)
    return request.action === 'UPDATE' ? driver.update(request, context) : driver.delete(request, context)
  }

  async #upgrade(request: CrmRequest, context: CrmContext): Promise<void> {
    const { onUpgrade } = this.#options
    if (!onUpgrade) throw new CrmProblem('This CRM cannot be upgraded.', 'UPGRADE_FAILED')
    const upgrade = await onUpgrade(request, context)
    const fail = (error: unknown): void => {
      this.#problem({ what: 'upgrade', error: asError(error), objectId: request.objectId })
      this.#requests.fail(request, error)
    }
    upgrade?.failed.then(fail, fail)
  }

  async #takeOver(): Promise<void> {
    const { onTakeOver } = this.#options
    try {
      // A CRM that was superseded itself must not end the old one.
      if (!(await this.#sessions.currentConnection())) return
      const strays = { take: (error: unknown) => this.#problem({ what: 'upgrade', error: asError(error) }) }
      await ownStrays(strays, () => onTakeOver?.(this.#stopping))
    } catch (error) {
      return this.#ending.abort(asError(error))
    }
    const connection = await this.#sessions.connection()
    if (!connection) return
    const answer = await this.#report(connection.session.fence, { phase: 'READY' })
    if (answer?.accepted) this.#sessions.role = 'CRM'
    else {
      this.#problem({ what: 'upgrade', error: new Error(`Refused to take over: ${answer?.message ?? 'no answer'}`) })
      // The next connection shows whether it may serve all the same.
      connection.end()
    }
    this.#serving.resolve()
  }

  #problem(problem: CrmError): void {
    const { error } = problem
    if (this.#stopping.aborted) return
    // An error that ends the CRM is thrown.
    if (error instanceof ClientError && error.kind === 'unauthorized') this.#ending.abort(error)
    else this.#onProblem(problem)
  }
}
