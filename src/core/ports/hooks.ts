import type { Counts } from '../counts.ts'
import type { DeliveryOutcome } from '../hook.ts'

/** Names in lower case; of several with one name, all values with `, ` between them. */
export type HookHeaders = Readonly<Record<string, string>>

/** A hook as the gateway sees it. */
export interface OpenHook {
  readonly id: string
  /** Each may cost another hash of the body. */
  readonly secrets: number
  /** Judges a request by its headers and its body, byte for byte. */
  authenticate(headers: HookHeaders, body: Buffer): HookVerdict
  /** Resolves when all that the answer says is durable. Only for requests that are authentic. */
  receive(request: ReceivedRequest): Promise<HookAnswer>
}
export type HookVerdict =
  /** `secretName`: the secret by which it is authentic. `lacksKey`: this server can open none of any hook. */
  { readonly ok: true; readonly secretName: string } | { readonly ok: false; readonly lacksKey: boolean }

export interface ReceivedRequest {
  readonly headers: HookHeaders
  readonly body: Buffer
  readonly secretName: string
}

export interface HookAnswer {
  /** A status of HTTP: 202 if an event was created, 200 if none had to be, and an error otherwise. */
  readonly status: number
  readonly deliveries: readonly AnsweredDelivery[]
}

/** The outcome of one delivery; a batch has several. */
export interface AnsweredDelivery {
  readonly id: string
  /** As the sender names it; null: it does not. */
  readonly deliveryId: string | null
  readonly outcome: DeliveryOutcome
  readonly reason: string | null
  /** The event that it has created, or that the delivery it repeats has; null: none. */
  readonly eventId: string | null
}

/** The hooks of this server, for its gateway. */
export interface HookPort {
  /** If there is none of this name: one by which no request is authentic, after as much work. */
  find(project: string, name: string): Promise<OpenHook>
  /** By outcome; UNAUTHENTIC is counted here and nowhere else. */
  readonly counts: Counts<'outcome'>
}
