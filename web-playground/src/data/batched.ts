import type { Client } from 'phaseline/client'
import type { Row } from '../model/object.ts'
import { ROWS_BY_ID } from './documents.ts'

/** The API takes more, but an answer should arrive soon. */
const BATCH = 200
const GATHER_MS = 60

/** Fetches rows by id. `missing` are ids that no longer exist. */
export const rowFetcher = (
  client: Client,
  signal: AbortSignal,
  took: (rows: readonly Row[], missing: readonly string[]) => void,
): ((ids: readonly string[]) => void) =>
  batchFetcher(
    signal,
    async (ids) => (await client.query(ROWS_BY_ID, { ids }, { signal })).nodes,
    (nodes, missing) =>
      took(
        nodes.flatMap((node) => (node.id === undefined ? [] : [node])),
        missing,
      ),
  )

/** Requests within a moment share a query, whose answer has an entry for each id, or null. */
export function batchFetcher<T>(
  signal: AbortSignal,
  read: (ids: readonly string[]) => Promise<readonly (T | null)[]>,
  took: (found: readonly T[], missing: readonly string[]) => void,
): (ids: readonly string[]) => void {
  const wanted = new Set<string>()
  let running = false

  const run = async (): Promise<void> => {
    running = true
    while (wanted.size > 0 && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
      const ids = [...wanted].slice(0, BATCH)
      for (const id of ids) wanted.delete(id)
      try {
        const nodes = await read(ids)
        const missing = ids.filter((_, i) => !nodes[i])
        took(
          nodes.filter((node) => node !== null),
          missing,
        )
      } catch {
        // Failed ids are queried again with the next ones, until an answer arrives. The connection badge shows the
        // problem.
        for (const id of ids) wanted.add(id)
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
    running = false
  }
  return (ids) => {
    for (const id of ids) wanted.add(id)
    if (!running && wanted.size > 0) void run()
  }
}
const AGAIN_MS = 1_000
