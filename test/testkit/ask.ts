import type { Client } from '../../src/client/index.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'

/** The members of a mutation's result that are no errors. Its document selects the `message` of errors. */
export type Payload<T> = Exclude<T, { readonly message: string } | null>

/** The payload of a result; throws the message of an error. */
export function payloadOf<T extends { readonly message?: string | undefined }>(result: T | null): Payload<T> {
  if (result === null || result.message !== undefined) throw new Error(result?.message ?? 'There is no result.')
  return result as Payload<T>
}

/** Sends a mutation of one input whose result has the alias `answer`, and returns the payload. */
export async function ask<T extends { readonly message?: string | undefined }, Input>(
  client: Client,
  document: TypedDocument<{ readonly answer: T | null }, { readonly input: Input }>,
  input: NoInfer<Input>,
): Promise<Payload<T>> {
  const { answer } = await client.query(document, { input })
  return payloadOf(answer)
}

/** A value that a test knows to be there; throws when it is not. */
export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('The answer is null.')
  return value
}
