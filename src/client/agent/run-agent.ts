import type { Client } from '../client.ts'
import { ClientError } from '../client-error.ts'
import { pause, retryDelay } from '../pause.ts'
import { ActiveWork } from './active-work.ts'
import { type AgentApi, agentApi, type ClaimRequest, type LeaseState } from './agent-api.ts'
import { AutoResetEvent } from './auto-reset-event.ts'
import { type Instant, instant, later } from './instant.ts'
import { Leases } from './leases.ts'
import { type OpenOutbox, openOutbox } from './outbox.ts'
import { printProblems } from './print-problems.ts'
import type { StopReason, Work, WorkItem } from './work.ts'

export interface AgentOptions {
  readonly client: Client
  /** Names this process among those that use the same token. */
  readonly instance: string
  /** What it claims. */
  readonly types: readonly string[]
  /** Left out: whatever the token allows. */
  readonly targets?: readonly string[] | undefined
  /** How many items are worked on at the same time; 100 by default. */
  readonly concurrency?: number | undefined
  /** 30,000 by default. */
  readonly leaseMs?: number | undefined
  /** How often leases are renewed and abort requests heard of; a third of `leaseMs` by default and at most. */
  readonly renewMs?: number | undefined
  /** How long work may go on after `signal` aborts, before it is asked to stop; 10,000 by default. */
  readonly drainMs?: number | undefined
  /**
   * The work is offered to this instance only, and goes on without it, e.g. as a process of its own: a lease that could
   * not be renewed in time is lost when the server says so, not by the clock.
   */
  readonly pinned?: boolean | undefined
  /** What an earlier process of this instance had in hand: taken up again before anything is claimed. */
  readonly resumed?: readonly WorkItem[] | undefined
  readonly work: Work
  /** Ends the agent: nothing more is claimed, what is in hand is finished, or stopped and given back. */
  readonly signal: AbortSignal
  /** Told of every problem. Left out: they are printed to standard error, and what repeats itself once a minute. */
  readonly onProblem?: ((problem: AgentProblem) => void) | undefined
}
/** Something went wrong that the agent goes on after. */
export interface AgentProblem {
  readonly what: 'listen' | 'resume' | 'claim' | 'renew' | 'report' | 'log' | 'work'
  readonly error: Error
  readonly objectId?: string
}

const OFFERS = `subscription Offers($types: [String!]!, $targets: [String!]) {
  workOffered(types: $types, targets: $targets) { type waiting }
}`
const MAX_CLAIM = 500
/** Who works on much at a time has several claims open: while the answer to one travels, what comes up goes to another. */
const MAX_CLAIMS = 8
/** Work that is done but not yet reported may be so much before claiming pauses. */
const MAX_UNREPORTED = 2_000
/** A claim stays open at the server for so long, and gets what comes up. */
const WAIT_MS = 15_000
/** Where a claim does not wait, offers wake the agent up; now and then it looks for itself. */
const POLL_MS = 5_000
const POLL_UNHEARD_MS = 1_000
const TOO_LATE = 'Its lease was over when the answer came: it is not begun.'
/** How long work that was asked to stop, and its report, may take when the agent ends. */
const STOP_MS = 5_000

/**
 * Claims work, does it, renews its leases and reports how it ended, until the signal aborts.
 * @throws ClientError when the server refuses this agent altogether: unauthorized, or these types are not its to claim
 */
export function runAgent(options: AgentOptions): Promise<void> {
  return new Agent(options).run()
}

class Agent {
  readonly #options: AgentOptions
  readonly #concurrency: number
  readonly #leaseMs: number
  readonly #api: AgentApi
  readonly #outbox: OpenOutbox
  readonly #onProblem: (problem: AgentProblem) => void
  readonly #leases: Leases
  /** One for each claim that is open at a time. */
  readonly #bells: readonly AutoResetEvent[]
  readonly #active = new Map<string, ActiveWork>()
  /** Aborts when the agent shall end, or cannot go on. */
  readonly #stopping: AbortSignal
  readonly #fatal = new AbortController()
  readonly #idle = new AutoResetEvent()
  #working = 0
  /** Items that open claims may bring. */
  #asked = 0
  #hearing = false
  /** Whether offers are to be listened to, once that is known. */
  readonly #mustListen = Promise.withResolvers<boolean>()
  /** Claims that wait for room, not for offers. */
  readonly #full = new Set<AutoResetEvent>()

  constructor(options: AgentOptions) {
    this.#options = options
    this.#onProblem = options.onProblem ?? printProblems(`Agent ${options.instance}`)
    this.#concurrency = options.concurrency ?? 100
    this.#leaseMs = options.leaseMs ?? 30_000
    const claims = Math.max(1, Math.min(MAX_CLAIMS, Math.floor(this.#concurrency / MAX_CLAIM)))
    this.#bells = Array.from({ length: claims }, () => new AutoResetEvent())
    this.#api = agentApi(options.client)
    this.#stopping = AbortSignal.any([options.signal, this.#fatal.signal])
    this.#outbox = openOutbox(this.#api, (what, error) => this.#problem({ what, error }))
    this.#leases = new Leases({
      api: this.#api,
      leaseMs: this.#leaseMs,
      renewMs: Math.min(this.#leaseMs / 3, options.renewMs ?? Number.POSITIVE_INFINITY),
      expire: !options.pinned,
      onState: (fence, state) => this.#active.get(fence)?.stop(state),
      onProblem: (error) => this.#problem({ what: 'renew', error }),
    })
  }

  async run(): Promise<void> {
    try {
      await this.#resume(this.#options.resumed ?? [])
      await Promise.all([
        ...this.#bells.map((bell) => this.#claimLoop(bell)),
        this.#mustListen.promise.then((must) => (must ? this.#listen() : undefined)),
      ])
      await this.#drain()
    } finally {
      this.#leases.close()
      this.#outbox.close()
    }
    if (this.#fatal.signal.aborted) throw this.#fatal.signal.reason
  }

  /** A lease that has ended meanwhile is renewed all the same if nobody has got the work since. */
  async #resume(items: readonly WorkItem[]): Promise<void> {
    for (let start = 0, failures = 0; start < items.length && !this.#stopping.aborted; ) {
      const batch = items.slice(start, start + MAX_CLAIM)
      const askedAt = instant()
      try {
        const fences = batch.map(({ fence }) => fence)
        const states = await this.#api.renew(fences, this.#leaseMs)
        for (const [i, item] of batch.entries()) this.#takeUp(item, states[i] ?? 'LOST', askedAt)
        start += batch.length
      } catch (error) {
        this.#problem({ what: 'resume', error: asError(error) })
        await pause(retryDelay(failures), this.#stopping)
        failures += 1
      }
    }
  }

  #takeUp(item: WorkItem, state: LeaseState, askedAt: Instant): void {
    const now = state === 'LOST' || this.#leases.add(item.fence, askedAt) ? state : 'LOST'
    void this.#start(item, now === 'HELD' ? null : now)
  }

  async #listen(): Promise<void> {
    const { client, types, targets } = this.#options
    const onConnected = (): void => {
      this.#hearing = true
      this.#ring()
    }
    for (let retries = 0; !this.#stopping.aborted; retries += 1) {
      try {
        const offers = client.subscribe(OFFERS, { types, targets }, { signal: this.#stopping, onConnected })
        for await (const _ of offers) {
          retries = 0
          this.#ring()
        }
      } catch (error) {
        this.#problem({ what: 'listen', error: asError(error) })
      }
      this.#hearing = false
      await pause(retryDelay(retries), this.#stopping)
    }
  }

  async #claimLoop(bell: AutoResetEvent): Promise<void> {
    for (let failures = 0; !this.#stopping.aborted; ) {
      // What takes no time is done by then, and makes room for a whole claim.
      await nextTurn()
      const max = this.#free()
      if (max <= 0) {
        this.#full.add(bell)
        await bell.wait(POLL_MS, this.#stopping)
        this.#full.delete(bell)
        continue
      }
      // A lease that has ended comes back with a renewal: claimed anew, its work would change hands for nothing.
      if (this.#options.pinned && this.#leases.failing) {
        await pause(retryDelay(0), this.#stopping)
        continue
      }
      const since = performance.now()
      const claimed = await this.#claim(max)
      if (claimed === null) {
        await pause(retryDelay(failures), this.#stopping)
        failures += 1
        continue
      }
      failures = 0
      const hasWaited = claimed > 0 || performance.now() - since > WAIT_MS / 2
      if (hasWaited) continue
      // The server answered at once: it has to be heard of otherwise when there is something.
      this.#mustListen.resolve(true)
      const poll = this.#hearing ? POLL_MS : POLL_UNHEARD_MS
      await bell.wait(poll * (0.75 + Math.random() / 2), this.#stopping)
    }
    this.#mustListen.resolve(false)
  }

  #ring(): void {
    for (const bell of this.#bells) bell.set()
  }
  #ringIfWaiting(): void {
    for (const bell of this.#full) bell.set()
  }

  #free(): number {
    const unreported = this.#active.size - this.#working
    const share = Math.ceil(this.#concurrency / this.#bells.length)
    const room = this.#concurrency - this.#working - this.#asked
    return Math.min(MAX_CLAIM, share, room, MAX_UNREPORTED - unreported)
  }

  async #claim(max: number): Promise<number | null> {
    const { instance, types, targets } = this.#options
    const request: ClaimRequest = { instance, types, targets, max, leaseMs: this.#leaseMs, waitMs: WAIT_MS }
    const askedAt = instant()
    this.#asked += max
    try {
      // Cut short when the agent ends: the server then gives back what it has claimed for it.
      const { items, waitedMs } = await this.#api.claim(request, this.#stopping)
      const leasedAt = later(askedAt, waitedMs)
      for (const item of items) {
        // Somebody else may be at it by now; not even begun is better than stopped soon.
        if (this.#leases.add(item.fence, leasedAt)) void this.#start(item)
        else this.#problem({ what: 'claim', error: new Error(TOO_LATE), objectId: item.objectId })
      }
      return items.length
    } catch (error) {
      if (!this.#stopping.aborted) this.#problem({ what: 'claim', error: asError(error) })
      // There is no use in asking again, whatever else goes on.
      if (error instanceof ClientError && error.code !== null && !error.retryable) this.#fail(error)
      return null
    } finally {
      this.#asked -= max
      this.#ringIfWaiting()
    }
  }

  async #start(item: WorkItem, stopped: StopReason | null = null): Promise<void> {
    const active = new ActiveWork(item, {
      outbox: this.#outbox,
      onRefused: (error) => this.#problem({ what: 'report', error, objectId: item.objectId }),
    })
    if (stopped) active.stop(stopped)
    this.#active.set(item.fence, active)
    this.#working += 1
    const end = await active.run(this.#options.work, (thrown) => {
      this.#working -= 1
      this.#ringIfWaiting()
      if (thrown !== undefined) this.#problem({ what: 'work', error: asError(thrown), objectId: item.objectId })
    })
    this.#leases.remove(item.fence)
    this.#active.delete(item.fence)
    this.#ringIfWaiting()
    // What this item held up may be there to be claimed now.
    if (end === 'accepted') this.#ring()
    if (this.#active.size === 0) this.#idle.set()
  }

  async #drain(): Promise<void> {
    const { drainMs = 10_000 } = this.#options
    if (!this.#fatal.signal.aborted) await this.#untilIdle(drainMs)
    this.#stopAll(this.#fatal.signal.aborted ? 'LOST' : 'SHUTDOWN')
    await this.#untilIdle(STOP_MS)
    this.#stopAll('LOST')
  }

  async #untilIdle(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (this.#active.size > 0 && performance.now() < until) {
      await this.#idle.wait(until - performance.now(), this.#fatal.signal)
      if (this.#fatal.signal.aborted) return
    }
  }

  #stopAll(reason: StopReason): void {
    for (const active of this.#active.values()) active.stop(reason)
  }

  #problem(problem: AgentProblem): void {
    const { error } = problem
    if (error instanceof ClientError && error.kind === 'unauthorized') this.#fail(error)
    this.#onProblem(problem)
  }

  #fail(error: ClientError): void {
    if (!this.#fatal.signal.aborted) this.#fatal.abort(error)
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
