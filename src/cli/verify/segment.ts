import { closeSync, openSync, readSync } from 'node:fs'
import { hashOfBlock, type Seal } from '../../seal/seal.ts'
import { type Law, type LoggedLine, type Move, NONE, UNMOVED } from './law.ts'
import { phaseIn, UNMOVED_IN_ALL, withPhase } from './phases.ts'

/** Verifies a segment of an export by itself: blocks, order and law. The order of segments, and of objects across them, is checked by who joins them. */

/** The files of an export, as one text. */
export interface Source {
  readonly files: readonly { readonly path: string; readonly size: number }[]
}
/** Places in the bytes of a source. */
export interface Range {
  readonly start: number
  readonly end: number
}
export type Blocks = readonly Pick<Seal, 'log' | 'epoch' | 'base' | 'first' | 'last' | 'leaf'>[]

export interface Found {
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
  readonly found: Found | null
  /** Entries of STANDING words, one for each object. */
  readonly standings: Uint32Array
}

/**
 * The words of an entry: the id, the phases before and after, the revisions of the first and the last change, and the first sequence, after that
 * of the segment. The first byte of the phases before says in which machines the object may have begun there.
 */
export const STANDING = 9

const CHUNK = 1024 * 1024
const LINE_BREAK = 10
/** Segments meet at the beginning of a block, and where nothing is sealed at each of these. */
const UNSEALED_BLOCK = 4_096

/** Reads lines of the source from a position on. */
class Lines {
  readonly #source: Source
  /** The bytes from `#position` on that are read. */
  #chunk = Buffer.alloc(0)
  #position: number
  #opened: { readonly path: string; readonly fd: number } | null = null
  from = 0
  to = -1

  constructor(source: Source, position: number) {
    this.#source = source
    this.#position = position
  }
  get chunk(): Buffer {
    return this.#chunk
  }
  /** The place in the source at which the line begins. */
  get start(): number {
    return this.#position + this.from
  }
  text(): string {
    return this.#chunk.toString('utf8', this.from, this.to)
  }

  /**
   * Moves to the next line; false: there is none.
   * @param leave is called before the bytes of the lines so far are left
   */
  next(leave: () => void): boolean {
    this.from = this.to + 1
    this.to = this.#chunk.indexOf(LINE_BREAK, this.from)
    while (this.to < 0) {
      leave()
      const rest = this.#chunk.subarray(this.from)
      this.#position += this.from
      const read = this.#read(this.#position + rest.length)
      this.#chunk = Buffer.concat([rest, read])
      this.from = 0
      this.to = read.length === 0 ? this.#chunk.length : this.#chunk.indexOf(LINE_BREAK)
      if (read.length === 0) return this.#chunk.length > 0
    }
    return true
  }

  close(): void {
    if (this.#opened) closeSync(this.#opened.fd)
  }

  #read(position: number): Buffer {
    let begin = 0
    for (const { path, size } of this.#source.files) {
      if (position < begin + size) {
        const buffer = Buffer.allocUnsafe(Math.min(CHUNK, begin + size - position))
        return buffer.subarray(0, readSync(this.#open(path), buffer, 0, buffer.length, position - begin))
      }
      begin += size
    }
    return Buffer.alloc(0)
  }
  #open(path: string): number {
    if (this.#opened?.path !== path) {
      this.close()
      this.#opened = { path, fd: openSync(path, 'r') }
    }
    return this.#opened.fd
  }
}

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
  source: Source,
  { start, end }: Range,
  { blocks, law }: { readonly blocks: Blocks; readonly law: Law },
): Segment {
  const lines = new Lines(source, Math.max(0, start - 1))
  try {
    return new SegmentCheck(lines, blocks, law).run(start, end)
  } finally {
    lines.close()
  }
}

class SegmentCheck {
  readonly #lines: Lines
  readonly #blocks: Blocks
  readonly #law: Law
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

  constructor(lines: Lines, blocks: Blocks, law: Law) {
    this.#lines = lines
    this.#blocks = blocks
    this.#law = law
  }

  run(start: number, end: number): Segment {
    const lines = this.#lines
    const leave = () => this.#hashSoFar(lines.from)
    // The line that ends where the segment begins is of the one before.
    if (start > 0 && !lines.next(leave)) return this.#segment(null)
    while (lines.next(leave)) {
      const line = parseLine(lines.text())
      const isBefore = start > 0 && this.#next === 0
      if (isBefore || lines.start >= end) {
        const isStart = line !== null && this.#isStart(line.sequence)
        if (lines.start >= end && (isBefore || isStart)) break
        if (isBefore && !isStart) continue
      }
      const found = line ? this.#check(line) : this.#unreadable()
      if (found) return this.#segment(found)
    }
    return this.#segment(null)
  }

  #unreadable(): Found {
    return { sequence: Math.max(this.#next, 1), problem: 'UNREADABLE', what: 'the line is no change of a log' }
  }

  #isStart(sequence: number): boolean {
    const block = blockWith(this.#blocks, sequence)
    return block < 0 ? sequence % UNSEALED_BLOCK === 1 : this.#blocks[block]?.first === sequence
  }

  #check(line: LoggedLine): Found | null {
    const { sequence } = line
    if (this.#next === 0) this.#first = this.#next = sequence
    if (sequence !== this.#next)
      return { sequence: this.#next, problem: 'MISSING', what: `${sequence} is in the place of ${this.#next}` }
    const changed = this.#inBlock(sequence)
    if (changed) return changed
    this.#next += 1
    const move = this.#law.judge(line)
    const wrong = typeof move === 'string' ? move : move && this.#move(line, move)
    return wrong === null ? null : { sequence, problem: move === wrong ? 'ILLEGAL' : 'INTERRUPTED', what: wrong }
  }

  /** Adds the line to the hash of its block, and compares that at its end. */
  #inBlock(sequence: number): Found | null {
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
    return interruption(this.#law, { phase: phase === UNMOVED ? from : phase, revision: last }, { from, revision })
  }

  #segment(found: Found | null): Segment {
    const standings = new Uint32Array(this.#places.size * STANDING)
    let at = 0
    for (const [id, place] of this.#places) {
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
      for (let word = 0; word < 4; word++) standings[at++] = bytes.readUInt32BE(word * 4)
      for (let word = 0; word < STANDING - 4; word++) standings[at++] = this.#entries[place + word] as number
    }
    const count = this.#next - this.#first
    return {
      range: this.#next === 0 ? null : { first: this.#first, last: this.#next - 1 },
      ...{ count, partial: this.#partial, unsealed: this.#unsealed, found, standings },
    }
  }
}

/** Marks in the phases before: the object may have begun there. */
export const beginningIn = (slot: number): number => 1 << (24 + slot)

/** Null, or why a change cannot follow another one of the same object. */
export function interruption(
  law: Law,
  before: { readonly phase: number; readonly revision: number },
  { from, revision }: { readonly from: number; readonly revision: number },
): string | null {
  if (from !== before.phase)
    return from === NONE
      ? 'the object is created again'
      : `it says that the object was ${law.phase(from)}, and the change before it left it ${law.phase(before.phase)}`
  return revision > before.revision ? null : `revision ${revision} comes after ${before.revision}`
}

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Null: it is none of the log. */
function parseLine(text: string): LoggedLine | null {
  let line: Partial<LoggedLine> | null = null
  try {
    line = JSON.parse(text) as Partial<LoggedLine> | null
  } catch {}
  const isLine =
    Number.isSafeInteger(line?.sequence) && Number.isSafeInteger(line?.revision) && ID.test(line?.objectId ?? '')
  return isLine ? (line as LoggedLine) : null
}
