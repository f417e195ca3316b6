import { isDue } from './deadline.ts'

/** Shorter ones would be lost between two renewals, longer ones would keep work from others when their holder died. */
export const LEASE_MS = { least: 1_000, most: 600_000 } as const

/** A lease of the asked length, kept within bounds. */
export const clampLeaseMs = (ms: number): number => Math.min(LEASE_MS.most, Math.max(LEASE_MS.least, ms))

/** Until when a lease taken or renewed now is held. */
export const leaseFrom = (now: Date, ms: number): Date => new Date(now.getTime() + clampLeaseMs(ms))

/** At exactly its end a lease is over. No lease at all counts as one that is over. */
export const isExpired = (leaseUntil: Date | null, now: Date): boolean => leaseUntil === null || isDue(leaseUntil, now)
