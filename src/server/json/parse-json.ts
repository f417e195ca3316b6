import { isUtf8 } from 'node:buffer'
import { CHAR, HEX_DIGITS, isBlank, isContinuation, PIECE } from './request-text.ts'

/** Waits for the next turn, if others have theirs first. */
export type NextTurn = () => Promise<void> | undefined

/** A character in another encoding would be replaced, and nobody would know. */
export class NotUtf8 extends SyntaxError {}

/**
 * Parses the JSON of a request piece by piece, with turns of others in between.
 * @param large arrays, objects and texts of more than a piece, but for keys: where each begins, and its last byte
 * @throws SyntaxError, NotUtf8
 */
export async function parseJson(
  bytes: Buffer,
  large: ReadonlyMap<number, number>,
  turn: NextTurn,
  piece = PIECE,
): Promise<unknown> {
  return await new PiecewiseParser(bytes, { large, turn, piece }).value({ from: startOf(bytes), to: bytes.length })
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')
/** Some clients begin a text with a byte order mark, which is no part of it. */
const startOf = (bytes: Buffer): number =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
/**
 * The text of these bytes, by default of all.
 * @throws NotUtf8
 */
export function textOf(bytes: Buffer, from = startOf(bytes), to = bytes.length): string {
  if (!isUtf8(bytes.subarray(from, to))) throw new NotUtf8()
  return bytes.toString('utf8', from, to)
}

interface Parsing {
  readonly large: ReadonlyMap<number, number>
  readonly turn: NextTurn
  /** Bytes that are parsed at one go. */
  readonly piece: number
}

interface Range {
  readonly from: number
  /** Index after the last byte. */
  readonly to: number
}
/** A member of an array or an object that holds a large value, or several members that hold none. */
interface Part extends Range {
  /** Index of its large value; null: it has none. */
  readonly large: number | null
}
type Container = unknown[] | Record<string, unknown>

class PiecewiseParser {
  readonly #bytes: Buffer
  readonly #large: ReadonlyMap<number, number>
  readonly #turn: NextTurn
  readonly #piece: number

  constructor(bytes: Buffer, { large, turn, piece }: Parsing) {
    this.#bytes = bytes
    this.#large = large
    this.#turn = turn
    this.#piece = piece
  }

  async value({ from, to }: Range): Promise<unknown> {
    let start = from
    while (start < to && isBlank(this.#bytes[start] as number)) start += 1
    const end = this.#large.get(start)
    if (end === undefined) {
      await this.#turn()
      return JSON.parse(this.#text({ from, to }))
    }
    if (this.#bytes[start] === CHAR.quote) {
      this.#requireBlank({ from: end + 1, to })
      return await this.#largeText(start + 1, end)
    }
    const isList = this.#bytes[start] === CHAR.openArray
    if (this.#bytes[end] !== (isList ? CHAR.closeArray : CHAR.closeObject)) throw new SyntaxError(MISMATCH)
    this.#requireBlank({ from: end + 1, to })
    const container: Container = isList ? [] : {}
    for (const part of this.#parts(start + 1, end)) {
      if (part.large === null) await this.#addAll(container, part)
      else await this.#addLarge(container, part, part.large)
    }
    return container
  }

  /** Parses the text between two quotes. */
  async #largeText(start: number, end: number): Promise<string> {
    const pieces: string[] = []
    for (let from = start; from < end; ) {
      await this.#turn()
      const to = Math.min(this.#endOfPiece(from), end)
      pieces.push(JSON.parse(`"${this.#text({ from, to })}"`) as string)
      from = to
    }
    return pieces.join('')
  }

  /** At least a piece further, where neither an escape nor a character is cut. */
  #endOfPiece(from: number): number {
    const bytes = this.#bytes
    let i = from
    while (i - from < this.#piece) i += bytes[i] !== CHAR.backslash ? 1 : bytes[i + 1] === CHAR.u ? 2 + HEX_DIGITS : 2
    while (isContinuation(bytes[i] as number)) i += 1
    return i
  }

  async #addAll(container: Container, part: Range): Promise<void> {
    await this.#turn()
    const text = this.#text(part)
    if (Array.isArray(container)) for (const value of JSON.parse(`[${text}]`) as unknown[]) container.push(value)
    else for (const [key, value] of Object.entries(JSON.parse(`{${text}}`) as object)) define(container, key, value)
  }

  async #addLarge(container: Container, { from, to }: Range, large: number): Promise<void> {
    if (Array.isArray(container)) {
      container.push(await this.value({ from, to }))
      return
    }
    // The parser says what is wrong with the key.
    const [key = ''] = Object.keys(JSON.parse(`{${this.#text({ from, to: large })}null}`) as object)
    define(container, key, await this.value({ from: large, to }))
  }

  /** The members between the brackets of a container, in order. */
  *#parts(start: number, end: number): Iterable<Part> {
    let from = start
    for (const { to, begin, large } of this.#members(start, end)) {
      const few = large === null ? { from, to } : { from, to: begin - 1 }
      const isWhole = large !== null || to === end || to - from >= this.#piece
      if (isWhole && few.from <= few.to) {
        // A comma has a member on both sides.
        if (few.from > start || few.to < end) this.#requireText(few)
        yield { ...few, large: null }
      }
      if (large !== null) yield { from: begin, to, large }
      if (isWhole) from = to + 1
    }
  }

  /** Each member of a container, up to its comma. */
  *#members(start: number, end: number): Iterable<{ begin: number; to: number; large: number | null }> {
    const bytes = this.#bytes
    let depth = 0
    let begin = start
    let large: number | null = null
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number
      const isText = byte === CHAR.quote
      if (isText || byte === CHAR.openArray || byte === CHAR.openObject) {
        const last = this.#large.get(i)
        if (last !== undefined) {
          large ??= i
          i = last
        } else if (isText) i = endOfText(bytes, i)
        else depth += 1
      } else if (byte === CHAR.closeArray || byte === CHAR.closeObject) depth -= 1
      else if (byte === CHAR.comma && depth === 0) {
        yield { begin, to: i, large }
        begin = i + 1
        large = null
      }
    }
    yield { begin, to: end, large }
  }

  #text({ from, to }: Range): string {
    return textOf(this.#bytes, from, to)
  }

  #requireBlank({ from, to }: Range): void {
    for (let i = from; i < to; i++) if (!isBlank(this.#bytes[i] as number)) throw new SyntaxError(MISMATCH)
  }

  #requireText({ from, to }: Range): void {
    for (let i = from; i < to; i++) if (!isBlank(this.#bytes[i] as number)) return
    throw new SyntaxError(MISMATCH)
  }
}

const MISMATCH = 'The brackets and commas of the JSON do not fit each other.'

/** Index of the closing quote, or after the last byte. */
function endOfText(bytes: Buffer, start: number): number {
  for (let i = start + 1; i < bytes.length; i++) {
    if (bytes[i] === CHAR.backslash) i += 1
    else if (bytes[i] === CHAR.quote) return i
  }
  return bytes.length
}

/** As the parser does: `__proto__` is a key like others. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}
