import { LEASE_MS as BOUNDS } from '../../core/lease.ts'
import { asError } from '../as-error.ts'
import { ClientError } from '../client-error.ts'
import { pause, retryDelay } from '../pause.ts'
import type { AgentOptions, AgentProblem } from './agent.ts'
import { type AgentApi, agentApi, type LeaseState } from './agent-api.ts'
import { Claimer, MAX_CLAIM } from './claimer.ts'
import { withDryRuns } from './dry-run-work.ts'
import { InFlight } from './in-flight.ts'
import { type Instant, instant } from './instant.ts'
import { Leases } from './leases.ts'
import { listenForOffers } from './offers.ts'
import { type OpenOutbox, openOutbox } from './outbox.ts'
import { problemHandler } from './print-problems.ts'
import { watchStrays } from './strays.ts'
import type { WorkItem } from './work.ts'

const CONCURRENCY = 100
const LEASE_MS = 30_000
const DRAIN_MS = 10_000

/**
 * Claims work, does it, renews its leases and reports its outcome, until the signal aborts.
 * @throws ClientError when the server refuses this agent: its token is invalid, or does not allow these types
 */
export function runAgent(options: AgentOptions): Promise<void> {
  return new Agent(options).run()
}

class Agent {
  readonly #options: AgentOptions
  readonly #leaseMs: number
  readonly #api: AgentApi
  readonly #outbox: OpenOutbox
  readonly #leases: Leases
  readonly #inFlight: InFlight
  readonly #claimer: Claimer
  readonly #onProblem: (problem: AgentProblem) => void
  /** Aborts when the server refuses the agent; its reason is the error. */
  readonly #fatal = new AbortController()
  readonly #stopping: AbortSignal

  constructor(options: AgentOptions) {
    this.#options = options
    // The server gives no longer one, whatever is asked.
    this.#leaseMs = Math.min(BOUNDS.most, options.leaseMs ?? LEASE_MS)
    this.#onProblem = problemHandler(`Agent ${options.instance}`, options.onProblem)
    this.#stopping = AbortSignal.any([options.signal, this.#fatal.signal])
    this.#api = agentApi(options.client, options)
    this.#outbox = openOutbox(this.#api, (what, error) => this.#problem({ what, error }))
    this.#leases = this.#openLeases()
    this.#inFlight = this.#openInFlight()
    this.#claimer = this.#openClaimer()
  }

  async run(): Promise<void> {
    const { resumed = [], drainMs = DRAIN_MS } = this.#options
    const unwatch = watchStrays()
    try {
      await this.#resume(resumed)
      const listening = this.#claimer.needsOffers.then((needed) => (needed ? this.#listen() : undefined))
      await Promise.all([this.#claimer.run(), listening])
      await this.#inFlight.drain(drainMs, this.#fatal.signal)
    } finally {
      this.#leases.close()
      this.#outbox.close()
      unwatch()
    }
    if (this.#fatal.signal.aborted) throw this.#fatal.signal.reason
  }

  #openLeases(): Leases {
    const { renewMs = Number.POSITIVE_INFINITY, pinned = false } = this.#options
    return new Leases({
      api: this.#api,
      leaseMs: this.#leaseMs,
      renewMs: Math.min(this.#leaseMs / 3, renewMs),
      expire: !pinned,
      onState: (fence, state) => this.#inFlight.stop(fence, state),
      onProblem: (error) => this.#problem({ what: 'renew', error }),
    })
  }

  #openInFlight(): InFlight {
    return new InFlight({
      work: withDryRuns(this.#options.work, this.#options.dryRun),
      outbox: this.#outbox,
      onDone: () => this.#claimer.wakeForRoom(),
      onEnd: ({ fence }, end) => {
        this.#leases.remove(fence)
        this.#claimer.wakeForRoom()
        // Work that depended on this item may be ready now.
        if (end === 'accepted') this.#claimer.wakeAll()
      },
      onProblem: (problem) => this.#problem(problem),
      lostMs: this.#leaseMs,
    })
  }

  #openClaimer(): Claimer {
    const {
      instance,
      types,
      targets,
      targetSelector,
      dryRun,
      concurrency = CONCURRENCY,
      pinned = false,
    } = this.#options
    return new Claimer({
      api: this.#api,
      leases: this.#leases,
      inFlight: this.#inFlight,
      request: { instance, types, targets, targetSelector, leaseMs: this.#leaseMs, ...(dryRun && { dryRuns: true }) },
      concurrency,
      pinned,
      signal: this.#stopping,
      onProblem: (error, objectId) => this.#claimProblem(error, objectId),
    })
  }

  /** Renews the leases of an earlier process. An expired lease is renewed as well while nobody else has the work. */
  async #resume(items: readonly WorkItem[]): Promise<void> {
    for (let start = 0, failures = 0; start < items.length && !this.#stopping.aborted; ) {
      const batch = items.slice(start, start + MAX_CLAIM)
      const sentAt = instant()
      try {
        const fences = batch.map(({ fence }) => fence)
        const states = await this.#api.renew(fences, this.#leaseMs)
        for (const [i, item] of batch.entries()) this.#resumeItem(item, states[i] ?? 'LOST', sentAt)
        start += batch.length
      } catch (error) {
        this.#problem({ what: 'resume', error: asError(error) })
        await pause(retryDelay(failures, error), this.#stopping)
        failures += 1
      }
    }
  }

  #resumeItem(item: WorkItem, state: LeaseState, renewedAt: Instant): void {
    const current = state === 'LOST' || this.#leases.add(item.fence, renewedAt) ? state : 'LOST'
    void this.#inFlight.start(item, current === 'HELD' ? null : current)
  }

  #listen(): Promise<void> {
    const { client, types, targets, targetSelector } = this.#options
    return listenForOffers({
      client,
      types,
      // With a selector, of all that its token allows: the claim that follows selects.
      targets: targetSelector ? undefined : targets,
      signal: this.#stopping,
      onListening: (isListening) => {
        this.#claimer.isListening = isListening
      },
      onOffer: () => this.#claimer.wakeAll(),
      onProblem: (error) => this.#problem({ what: 'listen', error }),
    })
  }

  #claimProblem(error: Error, objectId?: string): void {
    // The server refuses this claim for good.
    if (error instanceof ClientError && error.code !== null && !error.retryable) this.#fail(error)
    else this.#problem({ what: 'claim', error, ...(objectId === undefined ? {} : { objectId }) })
  }

  /** An error that ends the agent is thrown, and told nowhere else. */
  #problem(problem: AgentProblem): void {
    const { error } = problem
    if (error instanceof ClientError && error.kind === 'unauthorized') this.#fail(error)
    else this.#onProblem(problem)
  }

  #fail(error: ClientError): void {
    if (!this.#fatal.signal.aborted) this.#fatal.abort(error)
  }
}
