import type { Report } from '../../../src/core/ports/agents.ts'
import type { ObjectRow, Work } from '../../../src/core/tree.ts'
import type { ReconcileMode, WorkAction } from '../../../src/core/vocabulary.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import type { Answer } from './job-model.ts'

/** An object as a history sees it. */
export interface SeenObject
  extends Pick<ObjectRow, 'id' | 'kind' | 'phase' | 'jobId' | 'finishedJobId' | 'waitingFor'> {
  /** Names from the root on. */
  readonly path: string
  readonly work: Pick<Work, 'state' | 'action' | 'offerAfter' | 'leaseUntil' | 'abortRequestedAt' | 'pickedUpAt'> | null
  readonly code: string | null
  /** How often a job had something to do here, besides deleting it. */
  readonly begun: number
}
export interface Reported {
  readonly itemId: string
  readonly answer: Answer
  readonly v: number
}

/** A history is played on one of these: rows in memory, or a database. */
export interface HistoryWorld {
  readonly clock: { now(): Date }
  create(name: string, spec: SpecInput): Promise<string>
  update(id: string, spec: SpecInput, reconcile: boolean): Promise<void>
  /** Brings back a spec, which is that of the generation. */
  rollback(id: string, spec: SpecInput, toGeneration: number): Promise<void>
  reconcile(id: string, mode: ReconcileMode): Promise<void>
  remove(id: string, how: { readonly force: boolean; readonly withoutUninstall: boolean }): Promise<void>
  cancel(id: string): Promise<void>
  ignore(id: string, ignored: boolean, reconcile: boolean): Promise<void>
  setData(name: string, value: unknown): Promise<void>
  deleteData(name: string): Promise<void>
  claimItems(items: readonly SeenObject[], leaseMs: number): Promise<void>
  report(rootId: string, reports: readonly Reported[]): Promise<void>
  pass(ms: number): Promise<void>
  /** Lets the engine decide until nothing is due, or, only in memory, in so many transactions. */
  settle(most?: number): Promise<void>
  objects(): Promise<readonly SeenObject[]>
  /** Only where a dependency that no spec could have can be written: the item waits for itself. */
  tie?(itemId: string): void
  untie?(itemId: string): void
}

const PHASES = {
  RECONCILE: { done: 'SUCCEEDED', failed: 'FAILED', stopped: 'ABORTED', returned: 'PROGRESSING' },
  DELETE: { done: 'GONE', failed: 'DELETE_FAILED', stopped: 'DELETE_FAILED', returned: 'DELETING' },
} as const

export function reportOf(answer: Answer, action: WorkAction, v: number): Omit<Report, 'fence'> {
  const phase = PHASES[action === 'DELETE' ? 'DELETE' : 'RECONCILE'][answer]
  if (answer === 'returned') return { phase, error: { code: 'BUSY', message: 'Not now.', retryable: true } }
  return { phase, ...(answer === 'done' && { exports: { v } }) }
}
