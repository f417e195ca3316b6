import type { Client } from '../client.ts'
import type { DryRun, Work, WorkItem } from './work.ts'

/** It has a type or labels, or both. */
export interface TargetSelector {
  readonly type?: string | undefined
  readonly labels?: readonly { readonly key: string; readonly value: string }[] | undefined
}

export interface AgentOptions {
  readonly client: Client
  /** Names this process among those that use the same token. */
  readonly instance: string
  /** Work types to claim. */
  readonly types: readonly string[]
  /** Targets to claim for; by default all that the token allows. */
  readonly targets?: readonly string[] | undefined
  /** Targets to claim for by type and labels; those that `targets` leaves out are none then. */
  readonly targetSelector?: TargetSelector | undefined
  /** Asks for the credentials of targets with each item; they are in `WorkItem.targetCredentials`. */
  readonly targetCredentials?: boolean | undefined
  /** Items worked on at the same time; 100 by default. */
  readonly concurrency?: number | undefined
  /** 30,000 by default, at most 600,000. */
  readonly leaseMs?: number | undefined
  /** Interval in which leases are renewed and abort requests noticed; a third of `leaseMs` by default and at most. */
  readonly renewMs?: number | undefined
  /** Time that work gets to finish after `signal` aborts, before it is stopped; 10,000 by default. */
  readonly drainMs?: number | undefined
  /**
   * The work is offered to this instance only and runs without it, e.g. in a process of its own: when a renewal is late,
   * the lease is lost only once the server says so, not by the clock.
   */
  readonly pinned?: boolean | undefined
  /** Items that an earlier process of this instance held: resumed before anything is claimed. */
  readonly resumed?: readonly WorkItem[] | undefined
  readonly work: Work
  /** Present: the agent does dry runs of its types as well, which the server has to know (0.3 or later). */
  readonly dryRun?: DryRun | undefined
  /** Ends the agent: it claims nothing more, and finishes its items or stops them and gives them back. */
  readonly signal: AbortSignal
  /** Receives every problem. By default they are printed to standard error, repeated ones once a minute. */
  readonly onProblem?: ((problem: AgentProblem) => void) | undefined
}

/** A failure that the agent survives. */
export interface AgentProblem {
  readonly what: 'listen' | 'resume' | 'claim' | 'renew' | 'report' | 'log' | 'work'
  readonly error: Error
  readonly objectId?: string
}
