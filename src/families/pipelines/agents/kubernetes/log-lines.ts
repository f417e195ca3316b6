/**
 * A place in the output of a pod: the time of the line passed on last, and how many lines of that time were passed on. Times
 * do not only grow: a container's two outputs are written side by side, and a line may be stamped before the one above it.
 */
export interface LogPosition {
  /** Seconds since 1970 with nine decimals, of a fixed length. */
  readonly time: string
  readonly lines: number
  /** Bytes of the following line that were passed on. */
  readonly bytes: number
  /** The latest time so far. */
  readonly latest: string
}
export const LOG_START: LogPosition = { time: '', lines: 0, bytes: 0, latest: '' }

const LINE_END = 0x0a
const SPACE = 0x20
/** No timestamp is longer. */
const MAX_TIMESTAMP = 40
const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/**
 * Removes the timestamps from the lines of a pod's output, and skips lines that were passed on before. A cluster only
 * returns lines from a whole second on.
 */
export class LogLines {
  readonly #onText: (text: Buffer) => void
  #position: LogPosition
  /** Lines up to the position are still to come. */
  #isBehind: boolean
  /** Lines of the position's time that were met on the way there. */
  #met = 0
  /** The beginning of a line, without its whole timestamp. Null: within a line. */
  #stamp: Buffer | null = Buffer.alloc(0)
  /** Bytes of the present line to skip. */
  #skip = 0
  #isForeign = false

  constructor(position: LogPosition, onText: (text: Buffer) => void) {
    this.#position = position
    this.#isBehind = position.time !== ''
    this.#onText = onText
  }

  /** A line has no timestamp: it is not the pod's, but an error of its node, which is passed over. */
  get isForeign(): boolean {
    return this.#isForeign
  }

  get position(): LogPosition {
    return this.#position
  }

  write(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) rest = this.#stamp ? this.#readStamp(this.#stamp, rest) : this.#readLine(rest)
  }

  #readStamp(stamp: Buffer, chunk: Buffer): Buffer {
    const text = Buffer.concat([stamp, chunk.subarray(0, MAX_TIMESTAMP)])
    const end = text.indexOf(SPACE)
    if (end < 0 && text.length < MAX_TIMESTAMP && stamp.length + chunk.length < MAX_TIMESTAMP) {
      this.#stamp = text
      return Buffer.alloc(0)
    }
    const time = end < 0 ? null : timeOf(text.subarray(0, end).toString('latin1'))
    this.#stamp = null
    this.#begin(time)
    return time === null ? Buffer.concat([stamp, chunk]) : chunk.subarray(end + 1 - stamp.length)
  }

  #begin(time: string | null): void {
    if (time === null) {
      this.#isForeign = true
      this.#skip = Number.POSITIVE_INFINITY
      return
    }
    this.#skip = this.#isBehind ? this.#catchUp(time) : 0
    if (this.#skip > 0) return
    const { time: last, lines, bytes, latest } = this.#position
    const same = time === last ? { lines, bytes } : { lines: 0, bytes: 0 }
    this.#position = { time, ...same, latest: time > latest ? time : latest }
  }

  /** Returns how many bytes of a line of this time were passed on before. */
  #catchUp(time: string): number {
    const { time: last, lines, bytes, latest } = this.#position
    // A line later than all: the node does not have the position's line any more.
    if (time > latest) this.#isBehind = false
    else if (time !== last) return Number.POSITIVE_INFINITY
    else if (this.#met < lines) {
      this.#met += 1
      this.#isBehind = this.#met < lines || bytes > 0
      return Number.POSITIVE_INFINITY
    } else {
      this.#isBehind = false
      return bytes
    }
    return 0
  }

  #readLine(chunk: Buffer): Buffer {
    const end = chunk.indexOf(LINE_END)
    const line = end < 0 ? chunk : chunk.subarray(0, end + 1)
    const skipped = Math.min(this.#skip, line.length)
    const isPassed = this.#skip === Number.POSITIVE_INFINITY
    this.#skip -= skipped
    if (skipped < line.length) this.#onText(line.subarray(skipped))
    if (!isPassed) this.#advance(line.length - skipped, end >= 0)
    if (end >= 0) this.#stamp = Buffer.alloc(0)
    return chunk.subarray(line.length)
  }

  #advance(bytes: number, isWhole: boolean): void {
    const { lines, bytes: before } = this.#position
    const read = isWhole ? { lines: lines + 1, bytes: 0 } : { lines, bytes: before + bytes }
    this.#position = { ...this.#position, ...read }
  }
}

function timeOf(text: string): string | null {
  const [, seconds, fraction = '', zone] = TIMESTAMP.exec(text) ?? []
  if (!seconds) return null
  return `${Date.parse(`${seconds}${zone}`) / 1_000}.${fraction.padEnd(9, '0')}`
}

/** A line is stamped at most so much before the one above it. */
const DISORDER_S = 1

/** The whole second from which a cluster returns lines; undefined: from the first one. */
export const secondOf = ({ time }: LogPosition): string | undefined =>
  time === '' ? undefined : new Date((Math.floor(Number(time)) - DISORDER_S) * 1_000).toISOString()

/** Without the part of a line: what was passed on of it is gone with the process. */
export const writePosition = ({ time, lines, latest }: LogPosition): string => `${time} ${lines} ${latest}`
export function readPosition(text: string | undefined): LogPosition {
  const [, time = '', lines = '0', latest = time] = /^(\d+\.\d{9}) (\d{1,9})(?: (\d+\.\d{9}))?$/.exec(text ?? '') ?? []
  return { time, lines: Number(lines), bytes: 0, latest }
}
