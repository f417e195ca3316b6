import { gql } from '../../documents/gql.ts'
import { asError } from '../as-error.ts'
import type { Client } from '../client.ts'
import { pause, retryDelay } from '../pause.ts'

export interface OffersOptions {
  readonly client: Client
  readonly types: readonly string[]
  readonly targets: readonly string[] | undefined
  readonly signal: AbortSignal
  /** The subscription is open, so that offers arrive; or it is lost. */
  onListening(isListening: boolean): void
  onOffer(): void
  onProblem(error: Error): void
}

const OFFERS = gql(`subscription Offers($types: [String!]!, $targets: [String!]) {
  workOffered(types: $types, targets: $targets) { type waiting }
}`)

/** Listens for offered work until the signal aborts. */
export async function listenForOffers(options: OffersOptions): Promise<void> {
  const { client, types, targets, signal, onListening, onOffer, onProblem } = options
  const onConnected = (): void => onListening(true)
  for (let retries = 0; !signal.aborted; retries += 1) {
    try {
      for await (const _ of client.subscribe(OFFERS, { types, targets }, { signal, onConnected })) {
        retries = 0
        onOffer()
      }
    } catch (error) {
      onProblem(asError(error))
    }
    onListening(false)
    await pause(retryDelay(retries), signal)
  }
}
