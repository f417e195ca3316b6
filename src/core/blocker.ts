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

export interface LimitBlocker {
  readonly reason: 'LIMIT'
  readonly message: string
  /** Name of the limit. */
  readonly limit: string
  readonly key: string
  /** From 1, among those of its kind that wait with this key. */
  readonly position: number
  /** The first few that hold what it waits for. */
  readonly holderIds: readonly string[]
}

/** A ticket that waits, and what is before it. */
export interface HeldUpTicket {
  readonly limit: string
  readonly key: string
  /** Null: none. */
  readonly max: number | null
  readonly maxPerKey: number | null
  /** Tickets that hold the limit, with whatever key, and with this one. */
  readonly held: number
  readonly heldOfKey: number
  /** From 1, among those of its kind that wait with this key. */
  readonly position: number
  /** The first few, those of the same key first. */
  readonly holders: readonly { readonly objectId: string; readonly key: string }[]
}

/** The limits that are used up for an object with these tickets. */
export const limitBlockers = (tickets: readonly HeldUpTicket[]): readonly LimitBlocker[] =>
  tickets.flatMap((ticket) => {
    const { limit, key, position, max, maxPerKey, held, heldOfKey, holders } = ticket
    const isOfKey = maxPerKey !== null && heldOfKey + position > maxPerKey
    if (!isOfKey && (max === null || held + position <= max)) return []
    const all = isOfKey ? `${heldOfKey} of ${maxPerKey} with the key ${key === '' ? '""' : key}` : `${held} of ${max}`
    const before = position === 1 ? 'It is the next one of its key.' : `${position - 1} of its key come before it.`
    const holderIds = holders.filter((one) => !isOfKey || one.key === key).map(({ objectId }) => objectId)
    return [
      { reason: 'LIMIT', message: `The limit ${limit} is used by ${all}. ${before}`, limit, key, position, holderIds },
    ]
  })
