import type { Client } from 'phaseline/client'
import { nodesOf } from 'phaseline/client-model'
import type { Row } from '../model/object.ts'
import { ROWS } from './documents.ts'

/** Objects whose name has the text, the newest first. */
export async function foundObjects(
  client: Client,
  { text, most }: { readonly text: string; readonly most: number },
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const variables = {
    filter: { nameContains: text },
    orderBy: { field: 'CREATED_AT', direction: 'DESC' },
    first: most,
    after: null,
  } as const
  const { objects } = await client.query(ROWS, variables, { signal })
  return nodesOf(objects)
}
