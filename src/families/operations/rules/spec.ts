import type { StartGateConfig } from '../../../core/deployers/gate.ts'
import type { RetryPolicy } from '../../../core/retry.ts'

/** Stored specs of a task and its jobs, with all defaults. */

export interface JobSpec {
  readonly name: string
  readonly gadget: string
  /** May contain expressions. */
  readonly args: readonly string[]
  /** Values may contain expressions. */
  readonly env: Readonly<Record<string, string>>
  /** An expression that decides whether the job runs; null: it always does. */
  readonly when: string | null
  /** Names of jobs that end before it. */
  readonly dependsOn: readonly string[]
  /** Absent: a failure is final. */
  readonly retry?: RetryPolicy
  /** It declares its locks once that is open; absent: at its turn. */
  readonly gate?: StartGateConfig
}

/** Scope of a job's expressions: the ended jobs of its task, by name. */
export interface JobScope {
  readonly jobs: Readonly<Record<string, { readonly phase: string; readonly exports: unknown }>>
}
