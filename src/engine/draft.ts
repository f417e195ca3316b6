import type { ObjectFailure } from '../core/errors.ts'
import { NO_TALLY, type Node, type ObjectRow, type Tally, type Work } from '../core/tree.ts'
import type { Phase } from '../core/vocabulary.ts'
import type { LoadedNode } from '../store/load-nodes.ts'

/** One object in memory: as it is now, and what of it the store does not know yet. */
export class Draft implements Node {
  row: ObjectRow
  tally: Tally
  work: Work | null
  error: ObjectFailure | null
  progress: unknown = undefined
  hasProgress: boolean
  facts: unknown
  gone = false

  /** The store has it. */
  stored: boolean
  /** What the store has, or will have once it has what was sent to it: what the next write is compared with. */
  storedRow: ObjectRow
  storedWork: Work | null
  /** Phases gone through since the last write, in order: the store is told each hop. */
  hops: { phase: Phase; at: Date; revision: number }[] = []
  spec: unknown = undefined
  labels: Readonly<Record<string, string>> = {}
  dependencies: readonly Draft[] | null = null
  readonly dirty = new Set<Part>()
  /** Work that is new to agents gets a new place in their queue. */
  offered = false

  constructor(loaded: LoadedNode, stored: boolean) {
    this.row = loaded.row
    this.tally = loaded.tally
    this.work = loaded.work
    this.error = loaded.error
    this.hasProgress = loaded.hasProgress
    this.facts = loaded.facts
    this.stored = stored
    this.storedRow = loaded.row
    this.storedWork = loaded.work
  }

  static fresh(row: ObjectRow): Draft {
    return new Draft({ row, tally: NO_TALLY, work: null, error: null, hasProgress: false, facts: null }, false)
  }
}

/** The parts of an object that are written by statements of their own. */
export type Part = 'row' | 'tally' | 'work' | 'status' | 'facts' | 'spec' | 'edges'
