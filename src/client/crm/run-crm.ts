import { type AgentApi, agentApi, type ReportAnswer } from '../agent/agent-api.ts'
import { type Instant, instant } from '../agent/instant.ts'
import { Leases } from '../agent/leases.ts'
import { type OpenOutbox, openOutbox } from '../agent/outbox.ts'
import { printProblems } from '../agent/print-problems.ts'
import { asError } from '../as-error.ts'
import { ClientError } from '../client-error.ts'
import { pause, retryDelay } from '../pause.ts'
import type { Report } from './active-request.ts'
import { type CrmContext, type CrmEnd, type CrmError, type CrmOptions, CrmProblem, type CrmRequest } from './crm.ts'
import { type CrmSession, connectCrm, subscribeRequests } from './crm-api.ts'
import { Latch } from './latch.ts'
import { RequestTable } from './request-table.ts'

interface Connection {
  readonly session: CrmSession
  /** Ends the connection, so that a new one is opened. */
  end(): void
}

const LEASE_MS = 30_000
/** A connection that lasted so long did not fail at its start: the backoff begins anew. */
const STABLE_MS = 5_000
const STOP_MS = 10_000
/** Requests that may arrive at once. */
const BUFFER = 10_000

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
  readonly #leaseMs: number
  readonly #api: AgentApi
  readonly #outbox: OpenOutbox
  readonly #onProblem: (problem: CrmError) => void
  readonly #requests: RequestTable
  /** Its reason is the CrmEnd, or the fatal error. */
  readonly #ending = new AbortController()
  readonly #stopping: AbortSignal
  readonly #connection = new Latch<Connection>()
  /** Resolves when this CRM serves the cloudlet. */
  readonly #serving = Promise.withResolvers<void>()
  #role: NonNullable<CrmOptions['role']>
  /** Calls of connectCrm. */
  #calls = 0

  constructor(options: CrmOptions) {
    this.#options = options
    this.#onProblem = options.onProblem ?? printProblems(`CRM ${options.instance}`)
    this.#leaseMs = options.leaseMs ?? LEASE_MS
    this.#role = options.role ?? 'CRM'
    this.#api = agentApi(options.client)
    this.#stopping = AbortSignal.any([options.signal, this.#ending.signal])
    const outbox = openOutbox(this.#api, (what, error) => this.#problem({ what, error }))
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
      onThrown: ({ objectId }, error) => this.#problem({ what: 'work', error: asError(error), objectId }),
    })
  }

  async run(): Promise<CrmEnd> {
    const takingOver = this.#role === 'CRM_V2' ? this.#takeOver() : this.#serving.resolve()
    try {
      await this.#stayConnected()
    } finally {
      this.#ending.abort('STOPPED')
      this.#connection.end()
      const stopped = new AbortController()
      const stopping = Promise.all([takingOver, this.#requests.close('SHUTDOWN')]).then(() => stopped.abort())
      await Promise.race([stopping, pause(STOP_MS, stopped.signal)])
      this.#outbox.close()
    }
    const reason: unknown = this.#ending.signal.reason
    if (reason === 'STOPPED' || reason === 'SUPERSEDED') return reason
    throw reason
  }

  async #stayConnected(): Promise<void> {
    for (let failures = 0; !this.#stopping.aborted; failures += 1) {
      const since = performance.now()
      const sentAt = instant()
      const session = await this.#connect()
      if (session) await this.#listen(session, sentAt)
      if (performance.now() - since > STABLE_MS) failures = 0
      await pause(retryDelay(failures), this.#stopping)
    }
  }

  async #connect(): Promise<CrmSession | null> {
    const { client, driver, cloudletId, instance, version } = this.#options
    this.#calls += 1
    const session = { cloudletId, instance, version, role: this.#role, leaseMs: this.#leaseMs, call: this.#calls }
    let what: CrmError['what'] = 'list'
    try {
      const listed = await driver.list()
      what = 'connect'
      return await connectCrm(client, { ...session, objects: this.#requests.objects(listed) }, this.#stopping)
    } catch (error) {
      if (this.#stopping.aborted) return null
      if (error instanceof ClientError && error.code === 'STALE_REPORT') this.#ending.abort('SUPERSEDED')
      else this.#problem({ what, error: asError(error) })
      // The server refuses this CRM for good.
      if (error instanceof ClientError && error.kind === 'graphql' && !error.retryable) this.#ending.abort(error)
      return null
    }
  }

  async #listen(session: CrmSession, sentAt: Instant): Promise<void> {
    const { client, cloudletId } = this.#options
    const over = new AbortController()
    const leases = new Leases({
      api: this.#api,
      leaseMs: this.#leaseMs,
      renewMs: this.#leaseMs / 3,
      expire: true,
      onState: (_, state) => {
        if (state === 'LOST') over.abort()
      },
      onProblem: (error) => this.#problem({ what: 'renew', error }),
    })
    leases.add(session.fence, sentAt)
    this.#connection.open({ session, end: () => over.abort() })
    for (const request of session.requests) this.#requests.take(request)
    const signal = AbortSignal.any([over.signal, this.#stopping])
    const variables = forOneAttempt({ cloudletId, epoch: session.epoch })
    try {
      const requests = subscribeRequests(client, variables, { signal, buffer: BUFFER })
      for await (const request of requests) this.#requests.take(request)
    } catch (error) {
      this.#problem({ what: 'listen', error: asError(error) })
    } finally {
      leases.close()
      this.#connection.close()
    }
  }

  /** Waits for a connection: without one the server would refuse every report. */
  async #report(fence: string, report: Report, onSend?: () => void): Promise<ReportAnswer | null> {
    for (let failures = 0; ; failures += 1) {
      const connection = await this.#connection.wait()
      if (!connection) return null
      onSend?.()
      const answer = await this.#outbox.report(fence, report)
      if (answer === null || answer.accepted || answer.type !== 'StaleReportError') return answer
      if (await this.#isHeld(connection)) return answer
      await pause(retryDelay(failures), this.#stopping)
    }
  }

  /** Whether the request is stale, and not the whole connection. */
  async #isHeld(connection: Connection): Promise<boolean> {
    if (this.#connection.value !== connection) return false
    try {
      const [state] = await this.#api.renew([connection.session.fence], this.#leaseMs)
      if (state === 'LOST') connection.end()
      return state !== 'LOST' && this.#connection.value === connection
    } catch {
      return false
    }
  }

  #work(request: CrmRequest, context: CrmContext): Promise<unknown> {
    const { driver } = this.#options
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
      if (!(await this.#heldConnection())) return
      await onTakeOver?.(this.#stopping)
    } catch (error) {
      return this.#ending.abort(asError(error))
    }
    const connection = await this.#connection.wait()
    if (!connection) return
    const answer = await this.#report(connection.session.fence, { phase: 'READY' })
    if (answer?.accepted) this.#role = 'CRM'
    else {
      this.#problem({ what: 'upgrade', error: new Error(`Refused to take over: ${answer?.message ?? 'no answer'}`) })
      // The next connection shows whether it may serve all the same.
      connection.end()
    }
    this.#serving.resolve()
  }

  /** A CRM that was superseded itself must not end the old one. */
  async #heldConnection(): Promise<Connection | null> {
    for (let failures = 0; ; failures += 1) {
      const connection = await this.#connection.wait()
      if (!connection || (await this.#isHeld(connection))) return connection
      await pause(retryDelay(failures), this.#stopping)
    }
  }

  #problem(problem: CrmError): void {
    const { error } = problem
    if (this.#stopping.aborted) return
    if (error instanceof ClientError && error.kind === 'unauthorized') this.#ending.abort(error)
    this.#onProblem(problem)
  }
}

/** Variables for one attempt: a lost connection must be opened anew by connectCrm, not by the subscription alone. */
function forOneAttempt<V>(variables: V): () => V {
  let used = false
  return () => {
    if (used) throw new ClientError('network', 'The connection was lost.', { retryable: false })
    used = true
    return variables
  }
}
