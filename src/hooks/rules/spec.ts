/** The spec of a hook, as it is stored. */
export interface HookSpec {
  /** An expression of CEL over `headers` and `body`; null: every delivery becomes an event. */
  readonly filter: string | null
  readonly event: EventTemplate
  /** Names of projects, one of which `event.project` chooses; absent: events are of the hook's own. Only administrators have such hooks. */
  readonly projects?: readonly string[]
  /** A template for the id of a delivery; null: the format's own, or none. */
  readonly deliveryId: string | null
  /** Null: the format's own, or a bearer token. */
  readonly signature: Signature | null
  /** Absent or null: its sender is not asked again for what it could not deliver. */
  readonly redelivery?: Redelivery | null
}

export interface Redelivery {
  /** The webhook in the API of GitHub, e.g. https://api.github.com/repos/acme/shop/hooks/1. */
  readonly address: string
}

/** Texts that may hold expressions over `headers` and `body`; null: the format's own. */
export interface EventTemplate {
  /** The project that gets the event; absent: the hook's own. */
  readonly project?: string
  readonly source: string | null
  readonly type: string | null
  readonly qualifiers: readonly Pair[] | null
  readonly labels: readonly Pair[] | null
  /** Null: the body. */
  readonly payload: string | null
}
interface Pair {
  readonly key: string
  readonly value: string
}

export const SIGNATURE_ALGORITHMS = ['SHA256', 'SHA512', 'SHA1'] as const
export const SIGNATURE_ENCODINGS = ['HEX', 'BASE64'] as const

/** An HMAC of the body in a header. */
export interface Signature {
  /** In lower case. */
  readonly header: string
  readonly algorithm: (typeof SIGNATURE_ALGORITHMS)[number]
  readonly encoding: (typeof SIGNATURE_ENCODINGS)[number]
  /** Stands before the digest, such as `sha256=`. */
  readonly prefix: string
}
