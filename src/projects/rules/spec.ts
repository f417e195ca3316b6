import type { StartGateConfig } from '../../core/deployers/gate.ts'
import type { LimitRequest } from '../../core/limit-request.ts'
import type { Labels } from '../../core/place.ts'
import type { RetryPolicy } from '../../core/retry.ts'
import type { TaskJob } from '../../families/tasks.ts'

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
  /** A job's own; absent: it is not attempted again. */
  readonly retry?: RetryPolicy
  /** A worker: it has a workspace, which its jobs may use. A job: it uses the workspace of its worker. */
  readonly workspace: boolean
  /** Labels that its place must have; absent: any place. */
  readonly targetLabels?: Labels
  /** Limits that it holds while it runs; absent: none. */
  readonly limits?: readonly LimitRequest[]
  /** It starts once that is open; absent: at once. */
  readonly gate?: StartGateConfig
  /** Parts of its working folder that are kept when it ends; absent: none. */
  readonly artifacts?: readonly ArtifactSpec[]
  /** Artifacts of other jobs that it finds in its working folder; absent: none. */
  readonly takes?: readonly TakeSpec[]
  /** The repository that its runtime clones before the start; absent: none. */
  readonly clone?: CloneSpec
  /** Files and folders that are kept for later workloads of the project; absent: none. */
  readonly caches?: readonly CacheSpec[]
  /** Programs that run beside it, and end with it; absent: none. */
  readonly services?: readonly ServiceSpec[]
}
/** A program that a workload finds by its name, such as a database for tests. */
export interface ServiceSpec {
  /** Its name as a host. */
  readonly name: string
  /** For runtimes with images. */
  readonly image: string | null
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Names of the secrets of the project that it gets. */
  readonly secrets: readonly string[]
  readonly ports: readonly number[]
  /** The id of its user in its container; null: the image's own. */
  readonly user: number | null
  readonly readiness: ReadinessSpec
}
/** Without a port and a command, a service is ready as soon as it runs. */
export interface ReadinessSpec {
  /** It is ready once it accepts connections there. */
  readonly port: number | null
  /** It is ready once this command ends with exit code 0; empty: there is none. */
  readonly command: readonly string[]
  readonly timeoutMs: number
}
/** A file or a folder that a workload finds as an earlier one of its project has left it. */
export interface CacheSpec {
  readonly key: string
  /** Prefixes of keys that will do, too. */
  readonly restoreKeys: readonly string[]
  /** Relative to the working folder. */
  readonly path: string
}
/** A file or a folder that a workload leaves. */
export interface ArtifactSpec {
  readonly name: string
  /** Relative to the working folder, with `/` between its parts. */
  readonly path: string
  readonly when: 'SUCCESS' | 'ALWAYS'
  /** It may be missing. */
  readonly optional: boolean
}
/** An artifact of a job of the same event, which a job finds in its working folder. */
export interface TakeSpec {
  readonly artifact: string
  /** The job; null: the one that has left it last. */
  readonly from: string | null
  /** Relative to the working folder: the file, or the folder. */
  readonly path: string
}
export interface FileSpec {
  /** Relative, with `/` between its parts. */
  readonly path: string
  /** Empty if a secret is its content. */
  readonly content: string
  /** Name of the secret of the project that is its content. */
  readonly secret?: string
}
export interface CloneSpec {
  readonly url: string
  /** A branch, tag or commit, or an expression over the event that yields one; null: the default branch. */
  readonly ref: string | null
  /** Commits of history; 0: all. */
  readonly depth: number
  /** The folder within the working folder; null: the working folder. */
  readonly path: string | null
  /** Name of the secret with a token, or with `user:password`; null: it is public. */
  readonly secret: string | null
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
