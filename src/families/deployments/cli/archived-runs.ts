import { type ArchivedStream, isLost, type StreamLine } from '../../../cli/archive/stream.ts'
import { readChanges } from '../../../cli/archive/streams.ts'
import { readEnd } from '../../../cli/objects/log-read.ts'
import { readAgain } from '../../../cli/objects/read-again.ts'
import type { Session } from '../../../cli/session.ts'
import { gql } from '../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../documents/typed-document.ts'
import { installation } from '../machines.ts'

const RUNS = gql(`query ArchivedRuns($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Installation { id runs(first: 101) { edges { node {
    number jobId mode cause by generation startedAt endedAt durationMs phase error { code message }
  } } } } }
}`)
type Installation = Extract<ResultOf<typeof RUNS>['nodes'][number], { readonly runs: unknown }>
/** By object and job. */
type Runs = ReadonlyMap<string, NodeOf<Installation['runs']>>
/** As many as a request may ask for. */
const ROOTS = 5

/**
 * Runs that have ended, in the order of their ends: a line each, with the sequence and the cursor of the phase change that has ended it. The
 * server keeps the last hundred of an installation for as long as that exists; of others the line has what the log says.
 */
export const runStream: ArchivedStream = {
  name: 'runs',
  columns: {
    ...({ sequence: 'INT64', cursor: 'STRING', objectId: 'STRING', projectName: 'STRING', name: 'STRING' } as const),
    ...({ jobId: 'STRING', phase: 'STRING', at: 'TIMESTAMP', number: 'INT32', mode: 'STRING' } as const),
    ...({ cause: 'STRING', by: 'STRING', generation: 'INT32', startedAt: 'TIMESTAMP' } as const),
    ...({ durationMs: 'DOUBLE', errorCode: 'STRING', errorMessage: 'STRING' } as const),
  },
  end: async (session) => (await readEnd(session)).head,
  async read(session, after) {
    const page = await readChanges(session, after, ENDS)
    if (isLost(page)) return page
    const ends = page.lines.filter(({ fields }) => isEndOfRun(fields as unknown as Change))
    const runs = await readRuns(session, [...new Set(ends.map(({ fields }) => String(fields.objectId)))])
    return { lines: ends.map((line) => runLine(line, runs)), next: page.next }
  },
}

const ENDS = { kinds: 'INSTALLATION', to: [...installation.final, 'GONE'].join(',') }

interface Change {
  readonly objectId: string
  readonly rootId: string
  readonly projectName: string
  readonly name: string
  readonly to: string
  readonly jobId: string | null
  readonly requested: boolean
}
/** Nested installations run with their root. */
const isEndOfRun = ({ objectId, rootId, jobId, requested }: Change): boolean =>
  objectId === rootId && jobId !== null && !requested

async function readRuns({ client, io: { signal } }: Session, ids: readonly string[]): Promise<Runs> {
  const found = new Map<string, NodeOf<Installation['runs']>>()
  for (let i = 0; i < ids.length; i += ROOTS) {
    const variables = { ids: ids.slice(i, i + ROOTS) }
    const { nodes } = await readAgain(signal, () => client.query(RUNS, variables, { signal }))
    for (const node of nodes) {
      if (!node?.runs) continue
      for (const { node: run } of node.runs.edges) found.set(`${node.id} ${run.jobId}`, run)
    }
  }
  return found
}

function runLine({ fields, sequence, cursor, at }: StreamLine, runs: Runs): StreamLine {
  const { objectId, projectName, name, jobId, to: phase } = fields as unknown as Change
  const run = runs.get(`${objectId} ${jobId}`)
  const line = {
    ...{ sequence, cursor, objectId, projectName, name, jobId, phase, at },
    ...{ number: run?.number, mode: run?.mode, cause: run?.cause, by: run?.by, generation: run?.generation },
    ...{ startedAt: run?.startedAt, durationMs: run?.durationMs },
    ...{ errorCode: run?.error?.code, errorMessage: run?.error?.message },
  }
  return { text: JSON.stringify(line, (_, value: unknown) => value ?? null), fields: line, sequence, cursor, at }
}
