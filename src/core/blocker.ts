import { writeDuration } from './parse-duration.ts'
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
  /** Number of those that hold what it waits for. */
  readonly holderCount: number
  /** The first few of them. */
  readonly holderIds: readonly string[]
  /** It starts no earlier, because of a rate or an override; null: only ends of others decide. */
  readonly expectedAt: Date | null
}

/** A ticket that waits, and what is before it. */
export interface HeldUpTicket {
  readonly limit: string
  readonly key: string
  readonly isPaused: boolean
  /** It waits for newer ones of its key. */
  readonly isDebounced: boolean
  /** Null: none. */
  readonly max: number | null
  /** That of its override, if the key has one. */
  readonly maxPerKey: number | null
  readonly rateCount: number | null
  readonly rateMs: number | null
  /** Tickets that hold the limit, with whatever key, and with this one. */
  readonly held: number
  readonly heldOfKey: number
  /** From 1, among those of its kind that wait with this key. */
  readonly position: number
  readonly expectedAt: Date | null
  /** The first few, those of the same key first. */
  readonly holders: readonly { readonly objectId: string; readonly key: string }[]
}

/** The limits that keep an object with these tickets waiting. */
export const limitBlockers = (tickets: readonly HeldUpTicket[], now: Date): readonly LimitBlocker[] =>
  tickets.flatMap((ticket) => {
    const { limit, key, position, max, maxPerKey, held, heldOfKey, holders, expectedAt, isPaused, isDebounced } = ticket
    const isOfKey = maxPerKey !== null && heldOfKey + position > maxPerKey
    const isUsed = isOfKey || (max !== null && held + position > max)
    if (!isUsed && !expectedAt && !isPaused) return []
    const before = position === 1 ? 'It is the next one of its key.' : `${position - 1} of its key come before it.`
    const free = isDebounced ? `waits for newer ones with the key ${quoted(key)}` : `lets ${rate(ticket)}`
    const why = isPaused ? 'is paused' : isUsed ? `is used by ${usage(ticket, isOfKey)}` : free
    const when = expectedAt && !isPaused ? ` It starts at ${timeOf(expectedAt, now)} at the earliest.` : ''
    return [
      {
        ...{
          reason: 'LIMIT',
          message: `The limit ${limit} ${why}. ${before}${when}`,
          limit,
          key,
          position,
          expectedAt,
        },
        holderCount: isOfKey ? heldOfKey : held,
        holderIds: holders.filter((one) => !isOfKey || one.key === key).map(({ objectId }) => objectId),
      },
    ]
  })

const quoted = (key: string): string => (key === '' ? '""' : key)
const usage = ({ heldOfKey, maxPerKey, held, max, key }: HeldUpTicket, isOfKey: boolean): string =>
  isOfKey ? `${heldOfKey} of ${maxPerKey} with the key ${quoted(key)}` : `${held} of ${max}`
const rate = ({ rateCount, rateMs, key }: HeldUpTicket): string =>
  `${rateCount} start in ${writeDuration(rateMs ?? 0)} with the key ${quoted(key)}`
/** In UTC, with the day if it is another one. */
const timeOf = (at: Date, now: Date): string => {
  const [day, time = ''] = at.toISOString().split('T')
  return `${now.toISOString().startsWith(`${day}T`) ? '' : `${day} `}${time.slice(0, 8)} UTC`
}
