import { type Member, type Outcome, outcomeOf, type Payload } from '../../client-model/index.ts'
import type { TypedDocument } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'

/** Sends a mutation of one input whose result has the alias `answer`. @throws ClientError */
export async function ask<T extends Member, Input>(
  { client, io }: Session,
  document: TypedDocument<{ readonly answer: T | null }, { readonly input: Input }>,
  input: NoInfer<Input>,
): Promise<Outcome<Payload<T>>> {
  const { answer } = await client.query(document, { input }, { signal: io.signal })
  return outcomeOf(answer)
}
