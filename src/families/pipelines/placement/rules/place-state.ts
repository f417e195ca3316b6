import { isFull } from '../../../../core/place.ts'
import type { ObjectKind } from '../../../../core/vocabulary.ts'
import { POOLS } from '../../rules/details.ts'

/** The state of a place, derived from its facts. */

export const PLACE_STATES = ['ACTIVE', 'FULL', 'SLOW', 'DRAINED', 'LOST'] as const
export type PlaceState = (typeof PLACE_STATES)[number]

export interface PlaceFacts {
  readonly capacity: number | null
  readonly running: Readonly<Partial<Record<ObjectKind, number>>>
  readonly drainedAt: Date | null
  /** Time of its agent's last call; null: none for as long as agents are kept. */
  readonly seenAt: Date | null
  /** The latest end of the leases of what runs there; null: nothing runs. */
  readonly leaseUntil: Date | null
  /** Since when the oldest workload that it has claimed has been starting. */
  readonly startingSince: Date | null
  /** Since when the oldest workload that it could claim has been waiting. */
  readonly waitingSince: Date | null
}

/** An idle agent calls more often. */
export const SILENT_MS = 60_000
/** A start or a claim that takes longer is slow. */
export const SLOW_MS = 30_000

export function placeState(facts: PlaceFacts, now: Date): PlaceState {
  const { capacity, running, drainedAt } = facts
  const isIdle = POOLS.every((pool) => !running[pool])
  if (isLost(facts, now) && !(drainedAt && isIdle)) return 'LOST'
  if (drainedAt) return 'DRAINED'
  const isAtCapacity = POOLS.some((pool) => isFull({ capacity, running }, pool))
  if (isSlow(facts, isAtCapacity, now)) return 'SLOW'
  return isAtCapacity ? 'FULL' : 'ACTIVE'
}

const isOlder = (at: Date | null, ms: number, now: Date): boolean => at !== null && now.getTime() - at.getTime() > ms

/** Expired leases show it sooner than silence, if its agent has not called since. */
export function isLost({ seenAt, leaseUntil }: PlaceFacts, now: Date): boolean {
  if (seenAt === null || isOlder(seenAt, SILENT_MS, now)) return true
  return leaseUntil !== null && leaseUntil <= now && seenAt <= leaseUntil
}

function isSlow({ startingSince, waitingSince, leaseUntil }: PlaceFacts, isAtCapacity: boolean, now: Date): boolean {
  const isUnrenewed = leaseUntil !== null && leaseUntil <= now
  return isUnrenewed || isOlder(startingSince, SLOW_MS, now) || (!isAtCapacity && isOlder(waitingSince, SLOW_MS, now))
}
