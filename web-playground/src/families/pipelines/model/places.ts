import { duration } from '../../../model/words.ts'

/** A host or a cluster where a runtime starts workers and jobs. */
export interface Place {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly labels: readonly { readonly key: string; readonly value: string }[]
  readonly capacity: number | null
  readonly runningWorkers: number
  readonly runningJobs: number
  readonly state: 'ACTIVE' | 'DRAINED' | 'FULL' | 'LOST' | 'SLOW'
  readonly seenAt: string | null
  readonly startingSince: string | null
  readonly waitingSince: string | null
  readonly drain: { readonly at: string; readonly by: string; readonly reason: string | null } | null
}

/** Why it takes nothing new, or is slow; empty when there is nothing to say. */
export function whyOf({ state, drain, seenAt, startingSince, waitingSince }: Place, now: number): string {
  const since = (at: string): string => duration(now - Date.parse(at))
  if (state === 'DRAINED' && drain)
    return `by ${drain.by} ${since(drain.at)} ago${drain.reason ? `: ${drain.reason}` : ''}`
  if (state === 'FULL') return 'it runs as much as it may'
  if (state === 'LOST') return seenAt ? `seen ${since(seenAt)} ago` : 'not seen for long'
  if (state !== 'SLOW') return ''
  if (startingSince) return `starting for ${since(startingSince)}`
  return waitingSince ? `work waits for ${since(waitingSince)}` : 'leases are not renewed'
}

/** e.g. `3 of 8`; `3` without a limit. */
export const runningOf = (count: number, { capacity }: Pick<Place, 'capacity'>): string =>
  capacity === null ? `${count}` : `${count} of ${capacity}`

/** Sorted by state, lost and slow places first, and then by name. */
export const inOrder = (places: readonly Place[]): readonly Place[] =>
  places.toSorted((a, b) => RANK[a.state] - RANK[b.state] || a.name.localeCompare(b.name))
const RANK: Readonly<Record<Place['state'], number>> = { LOST: 0, SLOW: 1, FULL: 2, DRAINED: 3, ACTIVE: 4 }
