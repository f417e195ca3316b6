import type { Labels } from '../../../core/place.ts'

/** Stored specs of projects, events, workers and jobs, with all defaults. */

/** The process of a project's workers, of one worker, or of one job. */
export interface WorkloadSpec {
  /** The runtime that starts it, e.g. `process`. */
  readonly runtime: string
  /** For runtimes with images. */
  readonly image: string | null
  /** The command, followed by `args`. */
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Files that are written into its working folder before the start. */
  readonly files: readonly FileSpec[]
  /** From its pickup; null: no timeout. */
  readonly timeoutMs: number | null
  /** A worker: it has a workspace, which its jobs may use. A job: it uses the workspace of its worker. */
  readonly workspace: boolean
  /** Labels that its place must have; absent: any place. */
  readonly targetLabels?: Labels
}
export interface FileSpec {
  /** Relative, with `/` between its parts. */
  readonly path: string
  readonly content: string
}

/** A subscription: the events for which a project has workers or tasks. */
export interface Subscription {
  readonly source: string
  /** `*` matches every type. */
  readonly types: readonly string[]
  /** Equal to the qualifiers of the event. */
  readonly qualifiers: Readonly<Record<string, string>>
  /** A subset of the labels of the event. */
  readonly labels: Readonly<Record<string, string>>
  /** Jobs of a task that is created instead of a worker; null: a worker is created. */
  readonly task: readonly TaskJob[] | null
}

/** Jobs as in the input of a task; the family that runs tasks interprets them. */
export interface TaskJob {
  readonly name: string
  readonly gadget: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly when?: string | null
  readonly dependsOn?: readonly string[] | null
}

/** Policy for waiting events: all run, or only the latest of each source and type. */
export type Strategy = 'QUEUE' | 'LATEST_ONLY'

/** Most workers and jobs of a project at a time; null: no limit. */
export interface Limits {
  readonly maxWorkers: number | null
  readonly maxJobs: number | null
  readonly strategy: Strategy
}

/** Worker and subscriptions of a project. Secrets are not included, since they are never read. */
export interface ProjectSpec {
  /** Null: the project has no workers. */
  readonly workerTemplate: WorkloadSpec | null
  readonly subscriptions: readonly Subscription[]
  readonly limits: Limits
}
