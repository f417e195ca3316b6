import type { AgentApi } from '../../../client/agent/agent-api.ts'
import { type Instant, instant } from '../../../client/agent/instant.ts'
import { Leases } from '../../../client/agent/leases.ts'
import { ownStrays } from '../../../client/agent/strays.ts'
import { asError } from '../../../client/as-error.ts'
import { ClientError } from '../../../client/client-error.ts'
import { pause, retryDelay } from '../../../client/pause.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { AcknowledgedState } from './acknowledged-state.ts'
import type { CrmEnd, CrmError, CrmObject, CrmOptions, CrmRequest } from './crm.ts'
import { type CrmSession, connectCrm, subscribeRequests } from './crm-api.ts'
import { Latch } from './latch.ts'
import { listedObjects } from './listed-objects.ts'
import type { RequestTable } from './request-table.ts'

/** An open session of this CRM. */
export interface Connection {
  readonly session: CrmSession
  /** Ends the connection, so that a new one is opened. */
  end(): void
}

export interface SessionsOptions {
  readonly api: AgentApi
  readonly crm: CrmOptions
  readonly leaseMs: number
  readonly requests: RequestTable
  /** Aborts when this CRM ends. */
  readonly stopping: AbortSignal
  onProblem(problem: CrmError): void
  /** The server refuses this CRM for good: a newer one has connected, or the error says why. */
  onEnd(reason: CrmEnd | ClientError): void
}

/** A connection that lasted so long did not fail at its start: the backoff begins anew. */
const STABLE_MS = 5_000
/** Requests that may arrive at once. */
const BUFFER = 10_000

/** The sessions of one CRM, one after the other. Each has a lease and a stream of requests, and ends when it loses either. */
export class Sessions {
  /** The role of the next session. */
  role: NonNullable<CrmOptions['role']>
  readonly #options: SessionsOptions
  readonly #connection = new Latch<Connection>()
  /** Calls of connectCrm. */
  #calls = 0
  #acknowledged = new AcknowledgedState([])

  constructor(options: SessionsOptions) {
    this.#options = options
    this.role = options.crm.role ?? 'CRM'
  }

  /** Connects again whenever the connection is lost, until this CRM ends. */
  async run(): Promise<void> {
    const { stopping } = this.#options
    for (let failures = 0; !stopping.aborted; failures += 1) {
      const since = performance.now()
      const sentAt = instant()
      const session = await this.#connect()
      if (session) await this.#listen(session, sentAt)
      if (performance.now() - since > STABLE_MS) failures = 0
      await pause(retryDelay(failures), stopping)
    }
  }

  async #connect(): Promise<CrmSession | null> {
    const { crm, requests, stopping, leaseMs, onProblem, onEnd } = this.#options
    const { client, cloudletId, instance, version } = crm
    this.#calls += 1
    const session = { cloudletId, instance, version, role: this.role, leaseMs, call: this.#calls }
    let what: CrmError['what'] = 'list'
    try {
      const listed = await this.#list()
      what = 'connect'
      const objects = requests.objects(listed)
      // Before the call: reports begin with its answer.
      this.#acknowledged = new AcknowledgedState(objects)
      return await connectCrm(client, { ...session, objects }, stopping)
    } catch (error) {
      if (stopping.aborted) return null
      if (error instanceof ClientError && error.code === 'STALE_REPORT') onEnd('SUPERSEDED')
      // The server refuses this CRM for good.
      else if (error instanceof ClientError && error.kind === 'graphql' && !error.retryable) onEnd(error)
      else onProblem({ what, error: asError(error) })
      return null
    }
  }

  async #listen(session: CrmSession, sentAt: Instant): Promise<void> {
    const { api, crm, requests, stopping, leaseMs, onProblem } = this.#options
    const over = new AbortController()
    const leases = new Leases({
      api,
      leaseMs,
      renewMs: leaseMs / 3,
      expire: true,
      onState: (_, state) => {
        if (state === 'LOST') over.abort()
      },
      onProblem: (error) => onProblem({ what: 'renew', error }),
    })
    leases.add(session.fence, sentAt)
    this.#connection.open({ session, end: () => over.abort() })
    for (const request of session.requests) requests.take(request)
    const signal = AbortSignal.any([over.signal, stopping])
    void this.#look(over, signal)
    const variables = forOneAttempt({ cloudletId: crm.cloudletId, epoch: session.epoch })
    try {
      const stream = subscribeRequests(crm.client, variables, { signal, buffer: BUFFER })
      for await (const request of stream) requests.take(request)
    } catch (error) {
      onProblem({ what: 'listen', error: asError(error) })
    } finally {
      leases.close()
      this.#connection.close()
    }
  }

  async #list(): Promise<readonly CrmObject[]> {
    const { crm, onProblem } = this.#options
    const strays = { take: (error: unknown) => onProblem({ what: 'list', error: asError(error) }) }
    return listedObjects(await ownStrays(strays, () => crm.driver.list()))
  }

  /** Ends the connection when the objects differ from the server's knowledge. */
  async #look(over: AbortController, signal: AbortSignal): Promise<void> {
    const { crm, requests, onProblem } = this.#options
    const { lookMs } = crm
    if (lookMs === undefined) return
    for (;;) {
      await pause(lookMs, signal)
      if (signal.aborted) return
      const since = performance.now()
      try {
        const listed = await this.#list()
        if (this.#acknowledged.differsFrom(requests.objects(listed), since)) return over.abort()
      } catch (error) {
        if (!signal.aborted) onProblem({ what: 'list', error: asError(error) })
      }
    }
  }

  began(request: CrmRequest): void {
    this.#acknowledged.began(request)
  }
  ended(request: CrmRequest, phase: Phase): void {
    this.#acknowledged.ended(request, phase)
  }

  /** The open connection, once there is one; null: this CRM ends. */
  connection(): Promise<Connection | null> {
    return this.#connection.wait()
  }

  /** True if the server still considers this connection the cloudlet's: a report that it refuses is stale by itself. */
  async isCurrent(connection: Connection): Promise<boolean> {
    if (this.#connection.value !== connection) return false
    try {
      const [state] = await this.#options.api.renew([connection.session.fence], this.#options.leaseMs)
      if (state === 'LOST') connection.end()
      return state !== 'LOST' && this.#connection.value === connection
    } catch {
      return false
    }
  }

  /** A connection that the server still takes for the cloudlet's; null: this CRM ends. */
  async currentConnection(): Promise<Connection | null> {
    for (let failures = 0; ; failures += 1) {
      const connection = await this.#connection.wait()
      if (!connection || (await this.isCurrent(connection))) return connection
      await pause(retryDelay(failures), this.#options.stopping)
    }
  }

  /** Releases who waits for a connection. */
  close(): void {
    this.#connection.end()
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
