import type { PhaseChange } from 'phaseline/client'
import type { Machines } from 'phaseline/client-model'
import { classOf } from './known.ts'

/** The time of an object in a phase. Milliseconds since 1970. */
export interface Segment {
  readonly phase: string
  /** -Infinity: before the first known change. */
  readonly from: number
  /** null: the object is still in it. */
  readonly to: number | null
  /** The change into the phase; null when it is unknown. */
  readonly change: PhaseChange | null
}
/** One object's path through its phases. */
export interface Lane {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly segments: readonly Segment[]
  readonly refused: readonly PhaseChange[]
  readonly gone: PhaseChange | null
}
interface Growing extends Lane {
  readonly segments: Segment[]
  readonly refused: PhaseChange[]
  gone: PhaseChange | null
}

/** The log of one tree, folded into the phases of each object, deleted ones too. */
export class Timeline {
  readonly rootId: string
  readonly #machines: Machines
  readonly #lanes = new Map<string, Growing>()
  #changes: PhaseChange[] = []
  #structure = 0

  constructor(rootId: string, machines: Machines) {
    this.rootId = rootId
    this.#machines = machines
  }

  /** All known changes, refused ones too, oldest first. */
  get changes(): readonly PhaseChange[] {
    return this.#changes
  }
  get lanes(): ReadonlyMap<string, Lane> {
    return this.#lanes
  }
  /** Grows with each new object. */
  get structure(): number {
    return this.#structure
  }
  get last(): PhaseChange | undefined {
    return this.#changes.at(-1)
  }
  /** True if the changes reach back to the tree's creation. */
  get hasBeginning(): boolean {
    return this.#lanes.get(this.rootId)?.segments[0]?.change?.from === null
  }

  replace(changes: readonly PhaseChange[]): void {
    this.#changes = []
    this.#lanes.clear()
    this.#structure += 1
    this.append(changes)
  }

  prepend(older: readonly PhaseChange[]): void {
    const first = this.#changes[0]?.sequence ?? Number.POSITIVE_INFINITY
    this.replace([...older.filter(({ sequence }) => sequence < first), ...this.#changes])
  }

  /** Adds changes without known ones and those of other trees. Returns the new ones. */
  append(newer: readonly PhaseChange[]): readonly PhaseChange[] {
    const last = this.last?.sequence ?? 0
    const news = newer.filter(({ rootId, sequence }) => rootId === this.rootId && sequence > last)
    for (const change of news) this.#take(change)
    return news
  }

  /** Index of the last change that is not after the sequence; -1: all are. */
  indexAt(sequence: number): number {
    let [low, high] = [0, this.#changes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#changes[middle]?.sequence ?? 0) <= sequence) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The phase of each object at the sequence, by id. */
  at(sequence: number): ReadonlyMap<string, Segment> {
    const found = new Map<string, Segment>()
    for (const lane of this.#lanes.values()) {
      const segment = segmentAt(lane, sequence)
      if (segment) found.set(lane.id, segment)
    }
    return found
  }

  #take(change: PhaseChange): void {
    this.#changes.push(change)
    const lane = this.#laneOf(change)
    if (change.rejected) lane.refused.push(change)
    else if (this.#machines.moves(change)) move(lane, change)
  }

  #laneOf({ objectId: id, kind, name }: PhaseChange): Growing {
    const known = this.#lanes.get(id)
    if (known) return known
    const lane: Growing = { id, kind, name, segments: [], refused: [], gone: null }
    this.#lanes.set(id, lane)
    this.#structure += 1
    return lane
  }
}

function move(lane: Growing, change: PhaseChange): void {
  const at = Date.parse(change.at)
  const before = lane.segments.at(-1)
  if (before) lane.segments[lane.segments.length - 1] = { ...before, to: Math.max(before.from, at) }
  // The object's creation is not among the known changes.
  else if (change.from !== null) {
    lane.segments.push({ phase: change.from, from: Number.NEGATIVE_INFINITY, to: at, change: null })
  }
  if (change.to === 'GONE') lane.gone = change
  // Clocks of servers may differ: a segment never ends before it begins.
  else lane.segments.push({ phase: change.to, from: Math.max(before?.from ?? at, at), to: null, change })
}

/** Undefined: the object did not exist, or nothing is known of it. */
export function segmentAt({ segments, gone }: Lane, sequence: number): Segment | undefined {
  if (gone && gone.sequence <= sequence) return
  return segments.findLast(({ change }) => change === null || change.sequence <= sequence)
}

/** The last sequence before the deletion of a deleted tree; null: it is not among the known changes. */
export function lastWhole({ rootId, lanes }: Timeline): number | null {
  const lane = lanes.get(rootId)
  const kept = lane?.segments.findLastIndex(({ phase }) => classOf(phase) !== 'REMOVING') ?? -1
  const next = lane?.segments[kept + 1]?.change ?? lane?.gone
  return lane && kept >= 0 && next ? next.sequence - 1 : null
}

/** The creation of a tree that did not exist yet at a sequence; undefined: it did, or its creation is not among the known changes. */
export function creationAfter({ rootId, lanes }: Timeline, sequence: number): PhaseChange | undefined {
  const first = lanes.get(rootId)?.segments[0]?.change
  return first?.from === null && first.sequence > sequence ? first : undefined
}
