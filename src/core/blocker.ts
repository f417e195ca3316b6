import { attemptText, type Retry } from './retry.ts'
import type { BlockerReason } from './vocabulary.ts'

/** Blockers that several families have: something that an object waits for. */

/** A blocker of an object, or one of another object at the end of a chain of blockers. */
export type WithSource<Blocker> = Blocker & {
  /** The object that has the blocker itself; left out: the one that was asked about. */
  readonly sourceId?: string
}

export interface ObjectBlocker<Reason extends BlockerReason> {
  readonly reason: Reason
  readonly message: string
  readonly objectId: string
}

export interface ChildrenBlocker {
  readonly reason: 'CHILDREN'
  readonly message: string
  /** Number of children that have not ended. */
  readonly open: number
}

export interface AgentBlocker {
  readonly reason: 'AGENT'
  readonly message: string
  /** Types of work, of which an agent must serve one. */
  readonly types: readonly string[]
  readonly connected: boolean
}

export interface BackoffBlocker {
  readonly reason: 'BACKOFF'
  readonly message: string
  readonly until: Date
}

/** An object that waits for the time of its next attempt. */
export const backoffBlocker = (until: Date, retry: Retry, problem: string | null): BackoffBlocker => {
  const last = problem ? ` Its last try ended with: ${problem}` : ''
  return { reason: 'BACKOFF', until, message: `Attempt ${attemptText(retry)} begins at ${until.toISOString()}.${last}` }
}

export const agentBlocker = (type: string, connected: boolean, message: string): AgentBlocker => ({
  reason: 'AGENT',
  message,
  types: [type],
  connected,
})
