import { ClientError, logRangeOf } from '../../client/index.ts'
import { escapeHidden } from '../../core/hidden-text.ts'
import { eventPageAfter } from '../audit/read-events.ts'
import { readEnds } from '../audit/verify.ts'
import { readEnd } from '../objects/log-read.ts'
import { readAgain } from '../objects/read-again.ts'
import type { Session } from '../session.ts'
import { type ArchivedStream, type LostPlace, lineOf, type StreamPage } from './stream.ts'

/** The log: lines of `GET /log` byte for byte, with rejected requests, so that no sequence is missing. */
export const logStream: ArchivedStream = {
  name: 'log',
  columns: {
    ...({ id: 'STRING', sequence: 'INT64', cursor: 'STRING', objectId: 'STRING', kind: 'STRING' } as const),
    ...({ name: 'STRING', path: 'STRING', rootId: 'STRING', projectName: 'STRING', machine: 'STRING' } as const),
    ...({ from: 'STRING', to: 'STRING', actor: 'STRING', by: 'STRING', byId: 'STRING', reason: 'STRING' } as const),
    ...({ message: 'STRING', jobId: 'STRING', revision: 'INT32', rejected: 'BOOLEAN' } as const),
    ...({ requested: 'BOOLEAN', at: 'TIMESTAMP' } as const),
  },
  end: async (session) => (await readEnd(session)).head,
  read: (session, after) => readChanges(session, after, { includeRejected: 'true' }),
}

/** Phase changes after a cursor, as `GET /log` has them. The filter is that of its parameters. */
export async function readChanges(
  { client, io: { signal } }: Session,
  after: string | null,
  filter: Readonly<Record<string, string>>,
): Promise<StreamPage | LostPlace> {
  const parameters = { ...filter, limit: '1000', after: after ?? '0' }
  try {
    const { lines, next } = await readAgain(signal, () => client.readLog(parameters, { signal }))
    return { lines: lines.map(lineOf), next }
  } catch (error) {
    const range = logRangeOf(error)
    if (!range) throw error
    return range
  }
}

/** The audit: lines of `phaseline audit export`. */
export const auditStream: ArchivedStream = {
  name: 'audit',
  columns: {
    ...({ sequence: 'INT64', cursor: 'STRING', hash: 'STRING', id: 'STRING', at: 'TIMESTAMP' } as const),
    ...({ principalId: 'STRING', principalName: 'STRING', tokenId: 'STRING', actor: 'STRING' } as const),
    ...({ address: 'STRING', requestId: 'STRING', operation: 'STRING', projectId: 'STRING' } as const),
    ...({ projectName: 'STRING', objectId: 'STRING', objectKind: 'STRING', objectName: 'STRING' } as const),
    ...({ outcome: 'STRING', code: 'STRING', fields: 'STRING', count: 'INT32' } as const),
  },
  // Readers of some projects alone may not read the chain: they would take events of others for a gap.
  end: async (session) => (await readEnds(session))?.head.sequence ?? 0,
  async read(session, after) {
    const from = after ?? '0'
    try {
      const { events } = await readAgain(session.io.signal, () => eventPageAfter(session, from))
      const [oldest] = events
      // A cursor that retention has removed is answered with what is left.
      if (oldest && oldest.sequence > Number.parseInt(from, 10) + 1) return lostBefore(oldest.sequence)
      const lines = events.map((event) => lineOf(escapeHidden(JSON.stringify(event))))
      return { lines, next: lines.at(-1)?.cursor ?? after }
    } catch (error) {
      const isExpired = error instanceof ClientError && error.code === 'CURSOR_EXPIRED'
      if (!isExpired || typeof error.extensions.oldest !== 'number') throw error
      return lostBefore(error.extensions.oldest)
    }
  },
}
const lostBefore = (oldest: number): LostPlace => ({ oldest, startCursor: String(oldest - 1) })
