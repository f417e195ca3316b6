/** What is stored of projects, events, workers and jobs, with every default filled in. */

/** What runs: of a project's workers, of one worker, of one job. */
export interface WorkloadSpec {
  /** Which runtime starts it, e.g. `process`. */
  readonly runtime: string
  /** For runtimes that have images. */
  readonly image: string | null
  /** What is run, followed by `args`. */
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Written into its working folder before it starts. */
  readonly files: readonly FileSpec[]
  /** From its pickup; null: it may take as long as it likes. */
  readonly timeoutMs: number | null
  /** A worker: it has a workspace, for its jobs too. A job: it works in that of its worker. */
  readonly workspace: boolean
}
export interface FileSpec {
  /** Relative, with `/` between its parts. */
  readonly path: string
  readonly content: string
}

/** Which events a project has workers for. */
export interface Subscription {
  readonly source: string
  /** `*` stands for every type. */
  readonly types: readonly string[]
  /** Exactly those of the event, both ways. */
  readonly qualifiers: Readonly<Record<string, string>>
  /** All of them among the event's. */
  readonly labels: Readonly<Record<string, string>>
  /** Jobs of a task that is created instead of a worker; null: a worker is. */
  readonly task: readonly TaskJob[] | null
}

/** As a task's jobs are asked for; whoever runs tasks knows what they mean. */
export interface TaskJob {
  readonly name: string
  readonly gadget: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly when?: string | null
  readonly dependsOn?: readonly string[] | null
}

/** What becomes of events that wait: each has its turn, or only the latest of one source and type. */
export type Strategy = 'QUEUE' | 'LATEST_ONLY'

/** How much of a project may be started at the same time; null: as much as there is. */
export interface Limits {
  readonly maxWorkers: number | null
  readonly maxJobs: number | null
  readonly strategy: Strategy
}

/** What a project starts and takes up. Secrets are not among it: they can be written and not read. */
export interface ProjectSpec {
  /** Null: it has no workers. */
  readonly workerTemplate: WorkloadSpec | null
  readonly subscriptions: readonly Subscription[]
  readonly limits: Limits
}
