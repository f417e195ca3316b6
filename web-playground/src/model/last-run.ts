import { nodesOf } from 'phaseline/client-model'
import { knownMachine } from './known.ts'

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
export interface Begun {
  readonly kind: string
  readonly finished: boolean
  readonly phaseSince: string
  readonly createdAt: string
  /** The first change that the log has of it. */
  readonly history: List<{ readonly from: string | null; readonly by: string | null }>
  /** Its newest run; only kinds that run again have runs. */
  readonly runs?: List<Omit<LastRun, 'cause'> & { readonly cause: keyof typeof CAUSES }> | undefined
}

export function lastRunOf({ kind, finished, phaseSince, createdAt, history, runs }: Begun): LastRun {
  const [run] = nodesOf(runs ?? null)
  if (run) return { ...run, cause: CAUSES[run.cause] }
  const took = finished ? Date.parse(phaseSince) - Date.parse(createdAt) : null
  return {
    cause: CAUSES.CREATED,
    startedAt: createdAt,
    by: creatorOf({ history }),
    durationMs: runsOnce(kind) ? took : undefined,
  }
}

/** The creator of the object; null: the engine, or the log no longer has it. */
export function creatorOf({ history }: Pick<Begun, 'history'>): string | null {
  const [first] = nodesOf(history)
  return first?.from === null ? first.by : null
}

/** True if a creation is the only begin of a job: nothing but a deletion leaves its end. */
function runsOnce(kind: string): boolean {
  const { final = [], transitions = [] } = knownMachine(kind) ?? {}
  return final.length > 0 && transitions.every(({ from, to }) => to === 'GONE' || !final.includes(from))
}
