import { hashOfBlock, type Seal } from '../../seal/seal.ts'
import { LineReader, LineTooLong, type LogFiles } from './lines.ts'
import { phaseIn, UNMOVED_IN_ALL, withPhase } from './phases.ts'
import { isWord, type LoggedLine, type Move, NONE, type PublishedGuard, UNMOVED } from './published-guard.ts'

/** Verifies a segment of an export by itself: blocks, order and guard. The order of segments, and of objects across them, is checked by who joins them. */

/** Places in the bytes of a source. */
export interface Range {
  readonly start: number
  readonly end: number
}
export type Blocks = readonly Pick<Seal, 'log' | 'epoch' | 'base' | 'first' | 'last' | 'leaf'>[]

export interface LogProblem {
  readonly sequence: number
  readonly problem: 'UNREADABLE' | 'MISSING' | 'CHANGED' | 'ILLEGAL' | 'INTERRUPTED'
  /** The problem in words. */
  readonly what: string
}

export interface Segment {
  /** Sequences; null: no block begins in it. */
  readonly range: { readonly first: number; readonly last: number } | null
  readonly count: number
  /** Changes at the beginning whose block begins before the export, and changes that are in no block. */
  readonly partial: number
  readonly unsealed: number
  readonly found: LogProblem | null
  /** Entries of OBJECT_WORDS words, one for each object. */
  readonly objects: Uint32Array
}

/**
 * The words of an entry: the id, the phases before and after, the revisions of the first and the last change, and the first sequence, after that
 * of the segment. The first byte of the phases before says in which machines the object may have begun there.
 */
export const OBJECT_WORDS = 9

/** Segments meet at the beginning of a block, and where nothing is sealed at each of these. */
const UNSEALED_BLOCK = 4_096

/** The block with the sequence, by its place; or, negative, none. */
function blockWith(blocks: Blocks, sequence: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((blocks[middle] as Seal).last < sequence) low = middle + 1
    else high = middle
  }
  const block = blocks[low]
  return block && block.first <= sequence ? low : -1
}

/** Verifies the blocks that begin in a range of the bytes, to the end of the last one. The first segment begins with its first line. */
export function verifySegment(
  source: LogFiles,
  { start, end }: Range,
  { blocks, guard }: { readonly blocks: Blocks; readonly guard: PublishedGuard },
): Segment {
  using lines = new LineReader(source, Math.max(0, start - 1))
  return new SegmentCheck(lines, blocks, guard).run(start, end)
}

class SegmentCheck {
  readonly #lines: LineReader
  readonly #blocks: Blocks
  readonly #guard: PublishedGuard
  /** The place of the block that is hashed, and the first of its bytes that are not hashed yet. */
  #block = -1
  #hash: ReturnType<typeof hashOfBlock> | null = null
  #unhashed = 0
  #first = 0
  #next = 0
  #partial = 0
  #unsealed = 0
  /** By object: the places of entries. */
  readonly #places = new Map<string, number>()
  readonly #entries: number[] = []

  constructor(lines: LineReader, blocks: Blocks, guard: PublishedGuard) {
    this.#lines = lines
    this.#blocks = blocks
    this.#guard = guard
  }

  run(start: number, end: number): Segment {
    try {
      return this.#segment(this.#problemIn(start, end))
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error
      return this.#segment(this.#unreadable(error.message))
    }
  }

  #problemIn(start: number, end: number): LogProblem | null {
    const lines = this.#lines
    const leave = () => this.#hashSoFar(lines.from)
    // The line that ends where the segment begins is of the one before.
    if (start > 0 && !lines.next(leave)) return null
    while (lines.next(leave)) {
      const line = parseLine(lines.text())
      const isBefore = start > 0 && this.#next === 0
      if (isBefore || lines.start >= end) {
        const isStart = line !== null && this.#isStart(line.sequence)
        if (lines.start >= end && (isBefore || isStart)) break
        if (isBefore && !isStart) continue
      }
      const found = line ? this.#check(line) : this.#unreadable('the line is no change of a log')
      if (found) return found
    }
    return null
  }

  #unreadable(what: string): LogProblem {
    return { sequence: Math.max(this.#next, 1), problem: 'UNREADABLE', what }
  }

  #isStart(sequence: number): boolean {
    const block = blockWith(this.#blocks, sequence)
    return block < 0 ? sequence % UNSEALED_BLOCK === 1 : this.#blocks[block]?.first === sequence
  }

  #check(line: LoggedLine): LogProblem | null {
    const { sequence } = line
    if (this.#next === 0) this.#first = this.#next = sequence
    if (sequence !== this.#next)
      return { sequence: this.#next, problem: 'MISSING', what: `${sequence} is in the place of ${this.#next}` }
    const changed = this.#inBlock(sequence)
    if (changed) return changed
    this.#next += 1
    const move = this.#guard.judge(line)
    const wrong = typeof move === 'string' ? move : move && this.#move(line, move)
    return wrong === null ? null : { sequence, problem: move === wrong ? 'ILLEGAL' : 'INTERRUPTED', what: wrong }
  }

  /** Adds the line to the hash of its block, and compares that at its end. */
  #inBlock(sequence: number): LogProblem | null {
    const { from, to } = this.#lines
    if (sequence > (this.#blocks[this.#block]?.last ?? 0)) {
      this.#block = blockWith(this.#blocks, sequence)
      const block = this.#blocks[this.#block]
      this.#hash = block?.first === sequence ? hashOfBlock(block) : null
      this.#unhashed = from
    }
    const block = this.#blocks[this.#block]
    if (!block) this.#unsealed += 1
    else if (!this.#hash) this.#partial += 1
    else if (sequence === block.last) {
      this.#hashSoFar(to + 1)
      const leaf = this.#hash.digest('hex')
      this.#hash = null
      if (leaf !== block.leaf) {
        const what = `the changes ${block.first} to ${block.last} are not those that were sealed`
        return { sequence: block.first, problem: 'CHANGED', what }
      }
    }
    return null
  }
  #hashSoFar(to: number): void {
    this.#hash?.update(this.#lines.chunk.subarray(this.#unhashed, to))
    this.#unhashed = 0
  }

  /** Null, or why it does not follow from the last change of the object. */
  #move({ objectId, sequence, revision }: LoggedLine, { slot, from, to, isBeginning }: Move): string | null {
    const entries = this.#entries
    let at = this.#places.get(objectId)
    if (at === undefined) {
      at = entries.length
      this.#places.set(objectId, at)
      entries.push(UNMOVED_IN_ALL, UNMOVED_IN_ALL, revision, 0, sequence - this.#first)
    }
    const [before = 0, after = 0, , last = 0] = entries.slice(at, at + 4)
    const phase = phaseIn(after, slot)
    if (phase === UNMOVED) entries[at] = withPhase(before, slot, from) | (isBeginning ? beginningIn(slot) : 0)
    entries[at + 1] = withPhase(after, slot, to)
    entries[at + 3] = revision
    return interruption(this.#guard, { phase: phase === UNMOVED ? from : phase, revision: last }, { from, revision })
  }

  #segment(found: LogProblem | null): Segment {
    const objects = new Uint32Array(this.#places.size * OBJECT_WORDS)
    let at = 0
    for (const [id, place] of this.#places) {
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
      for (let word = 0; word < 4; word++) objects[at++] = bytes.readUInt32BE(word * 4)
      for (let word = 0; word < OBJECT_WORDS - 4; word++) objects[at++] = this.#entries[place + word] as number
    }
    const count = this.#next - this.#first
    return {
      range: this.#next === 0 ? null : { first: this.#first, last: this.#next - 1 },
      ...{ count, partial: this.#partial, unsealed: this.#unsealed, found, objects },
    }
  }
}

/** Marks in the phases before: the object may have begun there. */
export const beginningIn = (slot: number): number => 1 << (24 + slot)

/** Null, or why a change cannot follow another one of the same object. */
export function interruption(
  guard: PublishedGuard,
  before: { readonly phase: number; readonly revision: number },
  { from, revision }: { readonly from: number; readonly revision: number },
): string | null {
  if (from !== before.phase)
    return from === NONE
      ? 'the object is created again'
      : `it says that the object was ${guard.phase(from)}, and the change before it left it ${guard.phase(before.phase)}`
  return revision > before.revision ? null : `revision ${revision} comes after ${before.revision}`
}

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const MOST_REVISIONS = 2 ** 31 - 1
const isCount = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most

/** Null: it is none of the log. */
function parseLine(text: string): LoggedLine | null {
  let line: Partial<LoggedLine> | null = null
  try {
    line = JSON.parse(text) as Partial<LoggedLine> | null
  } catch {}
  if (typeof line !== 'object' || line === null) return null
  const { sequence, revision, objectId, kind, machine, from, to, actor, rejected, requested } = line
  const isLine =
    isCount(sequence, 1, Number.MAX_SAFE_INTEGER) &&
    isCount(revision, 0, MOST_REVISIONS) &&
    typeof objectId === 'string' &&
    ID.test(objectId) &&
    [kind, machine, to, actor].every(isWord) &&
    (from === null || isWord(from)) &&
    typeof rejected === 'boolean' &&
    typeof requested === 'boolean'
  return isLine ? (line as LoggedLine) : null
}
