import { type Client, ClientError, type QueryOptions, type TypedDocument } from 'phaseline/client'
import { type Outcome, outcomeOf, type ResultMember, refused, type SuccessMember } from 'phaseline/client-model'
import { messageOf } from './live-read.ts'

/**
 * Sends a mutation, and also returns a lost connection as a refusal. Forms build their inputs from text: the server
 * validates them.
 */
export async function ask<T extends ResultMember, Input>(
  client: Client,
  document: TypedDocument<{ readonly answer: T | null }, { readonly input: Input }>,
  input: object,
  options?: QueryOptions,
): Promise<Outcome<SuccessMember<T>>> {
  try {
    const { answer } = await client.query(document, { input: input as Input }, options)
    return outcomeOf(answer)
  } catch (error) {
    options?.signal?.throwIfAborted()
    const isLost = error instanceof ClientError && (error.kind === 'network' || error.kind === 'http')
    return refused({ code: isLost ? 'NO_ANSWER' : 'REFUSED', message: messageOf(error) })
  }
}
