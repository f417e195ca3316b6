/** Between a measurement and its process of subscribers. Over IPC with structured clones, so arrays of numbers are cheap. */

export interface Opening {
  readonly port: number
  readonly path: string
  /** Goes into `connection_init`. */
  readonly token: string | null
  readonly query: string
  /** One subscriber, on a socket of its own, for each. */
  readonly variables: readonly Readonly<Record<string, unknown>>[]
}
export type Command =
  | { readonly type: 'open'; readonly opening: Opening }
  /** From now on the moment of arrival is kept, of one subscriber in so many; 0: no more. */
  | { readonly type: 'sample'; readonly oneIn: number }
  | { readonly type: 'collect' }

export interface Progress {
  readonly type: 'progress'
  /** Messages, all subscribers together, since the start. */
  readonly delivered: number
  /** Subscribers that have got anything at all. */
  readonly reached: number
  /** Messages that did not follow the one before them. */
  readonly outOfOrder: number
  /** Bytes of all frames' payloads. */
  readonly bytes: number
  /** Milliseconds of this process, user and system. */
  readonly cpuMs: number
  readonly at: number
}
export interface Samples {
  readonly type: 'samples'
  readonly indexes: Uint32Array
  /** On the clock of `monotonicMs`. */
  readonly arrivedAt: Float64Array
}
export type Answer =
  | { readonly type: 'opened' }
  | { readonly type: 'failed'; readonly message: string }
  | Progress
  | Samples

const OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now()
/** Milliseconds on a clock that all processes of this machine share and that never jumps. */
export const monotonicMs = (): number => performance.now() + OFFSET

/** Every message carries its index within its `name`, so that a subscriber need not parse more. */
export const NAME_PREFIX = 'item-'
export const INDEX_DIGITS = 9
export const nameOf = (index: number): string => NAME_PREFIX + String(index).padStart(INDEX_DIGITS, '0')
