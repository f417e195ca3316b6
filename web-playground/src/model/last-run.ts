import { nodesOf } from 'phaseline/client-model'
import { knownMachine } from './known.ts'
import type { Row } from './object.ts'

/** The last job of a root. */
export interface LastRun {
  readonly cause: string
  readonly startedAt: string
  /** Null: the engine began it, or the log no longer has who did. */
  readonly by: string | null
  /** Null while it runs; undefined: the root has no job. */
  readonly durationMs: number | null | undefined
}

/** Each cause of a run in the API. */
export const CAUSES = {
  CREATED: 'created',
  CHANGED: 'changed',
  REQUESTED: 'asked for',
  ROLLED_BACK: 'rolled back',
  IMPORTS_CHANGED: 'an import changed',
  AUTOMATIC: 'by itself',
  DELETED: 'deleted',
} as const

interface List<Node> {
  readonly edges: readonly { readonly node: Node }[]
}
export interface Begun extends Pick<Row, 'kind' | 'finished' | 'phaseSince' | 'createdAt'> {
  /** The first change that the log has of it. */
  readonly history: List<{ readonly from: string | null; readonly by: string | null }>
  /** Its newest run; only kinds that run again have runs. */
  readonly runs?: List<Omit<LastRun, 'cause'> & { readonly cause: keyof typeof CAUSES }> | undefined
}

export function lastRunOf({ kind, finished, phaseSince, createdAt, history, runs }: Begun): LastRun {
  const [run] = nodesOf(runs ?? null)
  if (run) return { ...run, cause: CAUSES[run.cause] }
  const [first] = nodesOf(history)
  const took = finished ? Date.parse(phaseSince) - Date.parse(createdAt) : null
  return {
    cause: CAUSES.CREATED,
    startedAt: createdAt,
    by: first?.from === null ? first.by : null,
    durationMs: runsOnce(kind) ? took : undefined,
  }
}

/** True if a creation is the only begin of a job: nothing but a deletion leaves its end. */
function runsOnce(kind: string): boolean {
  const { final = [], transitions = [] } = knownMachine(kind) ?? {}
  return final.length > 0 && transitions.every(({ from, to }) => to === 'GONE' || !final.includes(from))
}
