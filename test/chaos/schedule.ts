import { mulberry32 } from '../testkit/mulberry32.ts'

/** Chooses the faults of a run, their times and lengths: the same for the same seed. */

export interface PlannedFault {
  readonly kind: FaultKind
  /** Index among the possible targets of the fault. */
  readonly target: number
  readonly atMs: number
  readonly forMs: number
}
interface FaultRow {
  /** The kind of target. */
  readonly of: 'server' | 'agent' | 'gateways' | 'postgres' | 'redis'
  /** Its frequency relative to the others; 0: never at random. */
  readonly weight: number
  /** The shortest and the longest time, in milliseconds. */
  readonly forMs: readonly [number, number]
}
export const FAULTS = {
  /** kill -9 of a server. */
  'kill-server': { of: 'server', weight: 4, forMs: [0, 2_000] },
  /** SIGTERM, and a start, with the previous version in turns if there is one. */
  upgrade: { of: 'server', weight: 2, forMs: [0, 1_000] },
  /** A server is frozen, and thawed later. */
  'freeze-server': { of: 'server', weight: 3, forMs: [500, 15_000] },
  /** kill -9 of an agent. */
  'kill-agent': { of: 'agent', weight: 4, forMs: [0, 500] },
  'freeze-agent': { of: 'agent', weight: 2, forMs: [500, 12_000] },
  /** Connections between clients and gateways are cut, and none can be made. */
  'cut-gateways': { of: 'gateways', weight: 3, forMs: [100, 3_000] },
  /** Bytes between a server and Postgres are swallowed, both ways. */
  'swallow-postgres': { of: 'server', weight: 3, forMs: [1_000, 12_000] },
  'refuse-postgres': { of: 'server', weight: 2, forMs: [500, 8_000] },
  'kill-postgres': { of: 'postgres', weight: 2, forMs: [0, 0] },
  'kill-redis': { of: 'redis', weight: 2, forMs: [0, 4_000] },
  /** The wall clock of a server is set. */
  'set-clock': { of: 'server', weight: 2, forMs: [2_000, 20_000] },
  /** Somebody else has all connections of Postgres. */
  'take-connections': { of: 'postgres', weight: 1, forMs: [1_000, 8_000] },
  /** The disk of Postgres is full. */
  'fill-disk': { of: 'postgres', weight: 1, forMs: [1_000, 6_000] },
  /** A copy of Postgres from a moment ago takes its place. */
  failover: { of: 'postgres', weight: 0, forMs: [1_000, 1_000] },
} as const satisfies Readonly<Record<string, FaultRow>>
export type FaultKind = keyof typeof FAULTS

export interface Plan {
  readonly seed: number
  readonly totalMs: number
  /** Between the begins of two faults, on average. */
  readonly everyMs: number
  /** Targets of each kind; none: it cannot be had here. */
  readonly targets: Readonly<Record<FaultKind, number>>
  readonly longestMs: number
}

/** Two faults never have the same target at a time. One failover is near the end, since it makes the past uncertain. */
export function planFaults({ seed, totalMs, everyMs, targets, longestMs }: Plan): readonly PlannedFault[] {
  const random = mulberry32(seed)
  const planned: PlannedFault[] = []
  const busyUntil = new Map<string, number>()
  for (let atMs = everyMs * random(); atMs < totalMs; atMs += everyMs * (0.5 + random())) {
    const kind = choose(random, targets)
    const target = Math.floor(random() * targets[kind])
    const [least, most] = FAULTS[kind].forMs
    const forMs = Math.min(longestMs, least + random() * (most - least))
    const thing = thingOf(kind, target)
    if ((busyUntil.get(thing) ?? 0) > atMs) continue
    busyUntil.set(thing, atMs + forMs + SETTLE_MS)
    planned.push({ kind, target, atMs: Math.round(atMs), forMs: Math.round(forMs) })
  }
  if (targets.failover === 0) return planned
  // While the database is copied and replaced, nobody else takes it away.
  const failover: PlannedFault = { kind: 'failover', target: 0, atMs: Math.round(totalMs * 0.8), forMs: 1_000 }
  return [...planned.filter((fault) => !clashes(fault, failover)), failover].toSorted((a, b) => a.atMs - b.atMs)
}

/** For a start after the fault, before the same thing has the next one. */
const SETTLE_MS = 4_000
const isOfPostgres = (kind: FaultKind): boolean => FAULTS[kind].of === 'postgres'
/** There are several servers and agents, and one of the others. */
export const thingOf = (kind: FaultKind, target: number): string => `${FAULTS[kind].of} ${target}`
/** A full disk is only that of the first database. */
const clashes = ({ kind, atMs, forMs }: PlannedFault, { atMs: failsOverAt }: PlannedFault): boolean =>
  isOfPostgres(kind) &&
  atMs + forMs + SETTLE_MS > failsOverAt - SETTLE_MS &&
  (kind === 'fill-disk' || atMs < failsOverAt + 2 * SETTLE_MS)

function choose(random: () => number, targets: Plan['targets']): FaultKind {
  const kinds = (Object.keys(FAULTS) as FaultKind[]).filter((kind) => targets[kind] > 0)
  const total = kinds.reduce((sum, kind) => sum + FAULTS[kind].weight, 0)
  let at = random() * total
  for (const kind of kinds) {
    at -= FAULTS[kind].weight
    if (at < 0) return kind
  }
  throw new Error('there is no fault to choose')
}
