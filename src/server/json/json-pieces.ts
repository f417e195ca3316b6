import { jsonLength } from '../../core/json.ts'
import type { NextTurn } from './parse-json.ts'
import { PIECE } from './request-text.ts'

/** The JSON of a value, made piece by piece with turns of others in between. */
export async function jsonPieces(value: unknown, turn: NextTurn, piece = PIECE): Promise<readonly Buffer[]> {
  const writer = new PiecewiseWriter(turn, piece)
  await writer.write(value)
  return await writer.end()
}

class PiecewiseWriter {
  readonly #turn: NextTurn
  readonly #piece: number
  readonly #pieces: Buffer[] = []
  #text = ''

  constructor(turn: NextTurn, piece: number) {
    this.#turn = turn
    this.#piece = piece
  }

  async write(value: unknown): Promise<void> {
    if (typeof value === 'string') await this.#writeText(value)
    else if (jsonLength(value, this.#piece) <= this.#piece || hasToJSON(value))
      await this.#add(JSON.stringify(value) ?? 'null')
    else if (Array.isArray(value)) await this.#writeList(value)
    else await this.#writeObject(value as object)
  }

  async end(): Promise<readonly Buffer[]> {
    await this.#flush()
    return this.#pieces
  }

  async #writeText(text: string): Promise<void> {
    if (text.length <= this.#piece) return await this.#add(JSON.stringify(text))
    await this.#add('"')
    for (let start = 0; start < text.length; ) {
      const end = endOfPiece(text, start + this.#piece)
      await this.#add(escaped(text.slice(start, end)))
      start = end
    }
    await this.#add('"')
  }

  async #writeList(list: readonly unknown[]): Promise<void> {
    let before = '['
    for (const value of list) {
      this.#text += before
      await this.write(value)
      before = ','
    }
    await this.#add(']')
  }

  async #writeObject(object: object): Promise<void> {
    let before = '{'
    for (const [key, value] of Object.entries(object)) {
      if (value === undefined) continue
      this.#text += `${before}${JSON.stringify(key)}:`
      await this.write(value)
      before = ','
    }
    await this.#add(before === '{' ? '{}' : '}')
  }

  #add(text: string): Promise<void> | undefined {
    this.#text += text
    return this.#text.length >= this.#piece ? this.#flush() : undefined
  }

  async #flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    await this.#turn()
    this.#pieces.push(Buffer.from(text))
  }
}

const hasToJSON = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'

/** The two halves of a character stay together. */
function endOfPiece(text: string, end: number): number {
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last < 0xdc00 ? end + 1 : end
}

/** Most long texts need no escapes, and testing for them costs a tenth of writing them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them
const SPECIAL = /["\\\u0000-\u001f\ud800-\udfff]/
const escaped = (text: string): string => (SPECIAL.test(text) ? JSON.stringify(text).slice(1, -1) : text)
