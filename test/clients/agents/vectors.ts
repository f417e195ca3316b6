import { readFileSync } from 'node:fs'

/** clients/agent-vectors.json: what agents send and servers answer, for those who write one. */

type Field = 'claimWork' | 'renewLeases' | 'reportPhases' | 'appendLogs'
/** With `soon` the answer comes after some repetitions. */
type Step =
  | {
      readonly send: { readonly mutation: Field; readonly input: object }
      readonly answer: object
      readonly soon?: true
    }
  | { readonly do: 'cancel' | 'delete' }
export interface Failure {
  readonly title: string
  /** 0: the connection is cut. */
  readonly status: number
  readonly location?: string
  readonly body: unknown
  /** An agent whose first claim is answered so. */
  readonly agent: 'repeats' | 'ends'
  /** For one that ends: why. */
  readonly code?: string
  /** For one that repeats: not before. */
  readonly afterMs?: number
}
interface Vectors {
  readonly documents: Readonly<Record<Field, string>>
  readonly exchanges: readonly { readonly title: string; readonly steps: readonly Step[] }[]
  readonly failures: readonly Failure[]
}

const FILE = new URL('../../../clients/agent-vectors.json', import.meta.url)
export const VECTORS = JSON.parse(readFileSync(FILE, 'utf8')) as Vectors
