import type { ExpressionsOf } from './references.ts'

/** Messages between parent and worker. JSON is sent as text: cheap, and nothing but data. */

export type Job =
  | { readonly type: 'analyze'; readonly source: string; readonly of: ExpressionsOf }
  /** `scope` and `schema` are indices into the chunk's `shared`, since thousands of jobs may have the same one. */
  | { readonly type: 'resolve'; readonly template: string; readonly scope: number }
  | { readonly type: 'validate'; readonly schema: number; readonly value: string }
  /** Texts are of JSON, and that of `manifest` is what an entry of `manifests` is: a YAML text or an object. */
  | { readonly type: 'schema' | 'manifest'; readonly text: string }
  | { readonly type: 'config'; readonly itemType: string; readonly text: string }

export interface Chunk {
  readonly jobs: readonly Job[]
  readonly shared: readonly string[]
}

/** `json` is the references, the resolved value, the problems that were found, or `true`. */
export type JobResult = { readonly ok: true; readonly json: string } | JobFailure
export interface JobFailure {
  readonly ok: false
  readonly message: string
  /** The machine may have been the reason: another attempt may succeed. */
  readonly isTransient?: true
}

/** Results of the jobs from `first` on; the chunk is done when all have arrived. */
export interface Progress {
  readonly first: number
  readonly results: readonly JobResult[]
  /** The time of the chunk is over: the jobs after these have not begun, and wait for another turn. */
  readonly isCut: boolean
}

/**
 * The worker writes one byte to this file descriptor when a job begins, before the job can block: so the parent knows which
 * job is running, and since when.
 */
export const CLOCK_FD = 4
