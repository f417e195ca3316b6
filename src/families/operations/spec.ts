/** What is stored of a task and its jobs, with every default filled in. */

export interface JobSpec {
  readonly name: string
  readonly gadget: string
  /** May hold expressions. */
  readonly args: readonly string[]
  /** Values may hold expressions. */
  readonly env: Readonly<Record<string, string>>
  /** An expression that says whether it runs; null: it does. */
  readonly when: string | null
  /** Names of jobs that come before it. */
  readonly dependsOn: readonly string[]
}

/** What expressions of a job speak of: the other jobs of its task that have ended, by name. */
export interface JobScope {
  readonly jobs: Readonly<Record<string, { readonly phase: string; readonly exports: unknown }>>
}
