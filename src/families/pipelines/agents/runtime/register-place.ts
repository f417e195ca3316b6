import { callAgents } from '../../../../client/agent/agent-api.ts'
import { asError } from '../../../../client/as-error.ts'
import { type Client, ClientError } from '../../../../client/index.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { gql } from '../../../../documents/gql.ts'

const REGISTER = gql(`mutation RegisterPlace($input: RegisterPlaceInput!) {
  registerPlace(input: $input) { __typename ... on Error { message code } }
}`)

/** Labels and capacity of a runtime's place. */
export interface PlaceOptions {
  readonly labels?: readonly { readonly key: string; readonly value: string }[] | undefined
  /** Maximum number of workers, and of jobs, that run at the same time; no limit by default. */
  readonly capacity?: number | undefined
}

/**
 * Registers the place until it succeeds or the signal aborts: a claim before that could start what the place is not for.
 * @throws ClientError when the server refuses it
 */
export async function registerPlace(
  client: Client,
  { name, type, labels = [], capacity }: PlaceOptions & { readonly name: string; readonly type: string },
  { signal, onProblem }: { readonly signal: AbortSignal; onProblem(error: Error): void },
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const input = { name, type, labels: [...labels], capacity: capacity ?? null }
      await callAgents(client, 'registerPlace', REGISTER, input, signal)
      return
    } catch (error) {
      if (signal.aborted) return
      // A server of an earlier version has no places.
      const isPlain = labels.length === 0 && capacity === undefined
      if (isPlain && error instanceof ClientError && error.code === 'GRAPHQL_VALIDATION_FAILED') return
      if (isRefusal(error)) throw error
      onProblem(asError(error))
      await pause(retryDelay(failures, error), signal)
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ClientError && (error.kind === 'unauthorized' || (error.code !== null && !error.retryable))
