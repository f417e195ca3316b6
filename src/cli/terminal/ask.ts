import { type Answer, type Outcome, outcomeOf } from '../objects/refusal.ts'
import type { Session } from '../session.ts'

/** Sends a mutation of one input whose result has the alias `answer`. @throws ClientError */
export async function ask<T extends object>(
  { client, io }: Session,
  document: string,
  input: object,
): Promise<Outcome<T>> {
  const { answer } = await client.query<{ answer: Answer<T> | null }>(document, { input }, { signal: io.signal })
  return outcomeOf(answer)
}
