/** The API takes more, but an answer should arrive soon. */
const BATCH = 200
const GATHER_MS = 60

/** Nodes by id; of another type than an object's they have none of its fields. */
interface Answer<R> {
  readonly nodes: readonly (R | { readonly id?: undefined } | null)[]
}

/** Fetches rows by id. `missing` are ids that no longer exist. */
export const rowFetcher = <R extends { readonly id: string }>(
  signal: AbortSignal,
  read: (ids: readonly string[]) => Promise<Answer<R>>,
  took: (rows: readonly R[], missing: readonly string[]) => void,
): ((ids: readonly string[]) => void) =>
  batchFetcher(
    signal,
    async (ids) => (await read(ids)).nodes,
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
