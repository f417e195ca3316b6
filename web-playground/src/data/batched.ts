import type { Client } from 'phaseline/client'
import type { Row } from '../model/object.ts'
import { ROWS_BY_ID } from './documents.ts'

/** The API takes more, but an answer should not be long in coming. */
const BATCH = 200
const GATHER_MS = 60

/** Fetches rows by id: what is asked for within a moment goes together. `missing` are those that exist no more. */
export function rowFetcher(
  client: Client,
  signal: AbortSignal,
  took: (rows: readonly Row[], missing: readonly string[]) => void,
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
        const { nodes } = await client.query(ROWS_BY_ID, { ids }, { signal })
        const missing = ids.filter((_, i) => !nodes[i])
        took(
          nodes.flatMap((node) => (node?.id === undefined ? [] : [node])),
          missing,
        )
      } catch {
        // Asked for again with the rest, until it is answered: the connection says what is wrong.
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
