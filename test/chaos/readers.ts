import { createClient, type PhaseChange } from '../../src/client/index.ts'
import type { LoggedChange, ReaderRecord } from './evidence.ts'

const ALL = { includeRejected: true }

/** One that follows the whole log from its beginning, through whatever gateway there is, and writes down what it gets. */
export interface ChaosReader extends AsyncDisposable {
  readonly record: ReaderRecord
  /** The last sequence that it has. */
  readonly through: number
}

export function startReader(name: string, url: string, token: string): ChaosReader {
  const parts: LoggedChange[][] = [[]]
  const stop = new AbortController()
  const client = createClient({ url, token })
  const onExpired = ({ commonCursor }: { readonly commonCursor: string }): string => {
    parts.push([])
    return commonCursor
  }
  const following = (async () => {
    for await (const { changes } of client.followPhases({ after: 0, filter: ALL, signal: stop.signal, onExpired }))
      parts.at(-1)?.push(...changes.map(logged))
  })()
  // The end of the run reports why it has ended.
  following.catch(() => undefined)
  return {
    record: { name, parts },
    get through() {
      return parts.at(-1)?.at(-1)?.sequence ?? 0
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await following
      await client.close()
    },
  }
}
const logged = ({ sequence, objectId, rootId, kind, name, machine, ...change }: PhaseChange): LoggedChange => {
  const { from, to, actor, rejected, reason, revision, jobId, at, by, message } = change
  return {
    sequence,
    objectId,
    rootId,
    kind,
    name,
    machine,
    from,
    to,
    actor,
    rejected,
    reason,
    // The API says 0 where the store says null: refused, or a request that waits.
    revision: revision === 0 ? null : revision,
    jobId,
    at: new Date(at),
    by,
    message,
  }
}
