import { ClientError } from '../../client/index.ts'
import {
  invalid,
  type Outcome,
  outcomeOf,
  type Refusal,
  type ResultMember,
  refused,
  type SuccessMember,
} from '../../client-model/index.ts'
import type { TypedDocument } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'

/** Sends a mutation of one input whose result has the alias `answer`. @throws ClientError */
export async function ask<T extends ResultMember, Input>(
  { client, io }: Session,
  document: TypedDocument<{ readonly answer: T | null }, { readonly input: Input }>,
  input: NoInfer<Input>,
): Promise<Outcome<SuccessMember<T>>> {
  try {
    const { answer } = await client.query(document, { input }, { signal: io.signal })
    return outcomeOf(answer)
  } catch (error) {
    const refusal = error instanceof ClientError ? valueRefusal(error.message) : null
    if (!refusal) throw error
    return refused(refusal)
  }
}

/** GraphQL refuses a value of another type, such as a word that an enum does not have, before any command judges it. */
function valueRefusal(said: string): Refusal | null {
  const [, place, message] = /got an invalid value at "(input\.[^"]*)"; (.*)/s.exec(said) ?? []
  if (place === undefined || message === undefined) return null
  const path = place.replaceAll(/\[(\d+)\]/g, '.$1')
  return invalid(`${path}: ${message}`, [{ path, message }])
}
