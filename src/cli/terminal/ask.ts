import { ClientError } from '../../client/client-error.ts'
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
  return await judged(async () => outcomeOf((await client.query(document, { input }, { signal: io.signal })).answer))
}

/** Input that the server cannot even read is refused like that which its commands judge. @throws ClientError */
export async function judged<T>(call: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await call()
  } catch (error) {
    const refusal = requestRefusal(error)
    if (!refusal) throw error
    return refused(refusal)
  }
}

/** Requests that are wrong whatever the data: sent again, they are refused again. */
const WRONG: ReadonlySet<unknown> = new Set(['BAD_USER_INPUT', 'TOO_LARGE', 'TOO_COMPLEX'])

/** Null: the server could not answer for a reason that is neither in the request nor in the rights of the caller. */
export function requestRefusal(error: unknown): Refusal | null {
  if (!(error instanceof ClientError)) return null
  if (error.code === 'FORBIDDEN') return { code: error.code, message: error.message }
  if (!WRONG.has(error.code)) return null
  return valueRefusal(error.message) ?? invalid(error.message)
}

/** Codes of answers that any request gets for a while. */
const FOR_A_WHILE: ReadonlySet<unknown> = new Set(['RATE_LIMITED', 'OVERLOADED', 'SERVICE_UNAVAILABLE'])

/** The refusal of a query: for what it asks, such as without a right to it, and not for the state of the server. Null: another error. */
export const answerRefusal = (error: unknown): Refusal | null =>
  error instanceof ClientError && error.kind === 'graphql' && !FOR_A_WHILE.has(error.code)
    ? { code: error.code ?? 'FAILED', message: error.message }
    : null

/** GraphQL refuses a value of another type, such as a word that an enum does not have, before any command judges it. */
function valueRefusal(said: string): Refusal | null {
  const [, place, message] = /got an invalid value at "(input\.[^"]*)"; (.*)/s.exec(said) ?? []
  if (place === undefined || message === undefined) return null
  const path = place.replaceAll(/\[(\d+)\]/g, '.$1')
  return invalid(`${path}: ${message}`, [{ path, message }])
}
