import { isDue } from './deadline.ts'

/** Shorter leases end between two renewals. Longer ones keep work from other agents after their holder died. */
export const LEASE_MS = { least: 1_000, most: 600_000 } as const

/** The requested length of a lease, within the bounds. */
export const clampLeaseMs = (ms: number): number => Math.min(LEASE_MS.most, Math.max(LEASE_MS.least, ms))

/** The end of a lease that is taken or renewed now. */
export const leaseFrom = (now: Date, ms: number): Date => new Date(now.getTime() + clampLeaseMs(ms))

/** A lease is expired at exactly its end. A missing lease counts as expired. */
export const isExpired = (leaseUntil: Date | null, now: Date): boolean => leaseUntil === null || isDue(leaseUntil, now)
