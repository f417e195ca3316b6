/**
 * Runs workers and jobs, e.g. on a machine or a cluster. A workload is named by the id of its object, and a runtime starts
 * each one at most once, however often it is called and whichever process is killed meanwhile. A workload outlives the
 * process that started it: the next process of the same runtime finds it, with its receipt.
 */
export interface Runtime extends AsyncDisposable {
  /** Names the runtime, the same across its processes. */
  readonly instance: string
  /** Workloads that this process or an earlier one has started and none has removed. */
  list(): Promise<readonly KnownWorkload[]>
  /**
   * Starts a workload, and stores a receipt with it. Resolves when the next process of the runtime would find it;
   * `watch` reports if it runs. An aborted `signal` interrupts long steps, such as the transfer of an image.
   * @throws StartProblem when it cannot be started; no process or file of it is left then
   */
  start(workload: Workload, receipt: string, signal?: AbortSignal): Promise<void>
  /** Replaces the receipt of a workload. False: there is no such workload. */
  updateReceipt(id: string, receipt: string): Promise<boolean>
  /**
   * Follows a workload: passes on its lines, including earlier ones that no watcher has read, then resolves to its end.
   * Null: `signal` aborted, and the workload keeps running. One watcher at a time; an unknown workload counts as GONE.
   */
  watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null>
  /** Ends a workload with SIGTERM, later with SIGKILL. Resolves when no process of it runs any more. Idempotent. */
  stop(id: string): Promise<void>
  /**
   * Stops a workload, then removes its secrets, its state, its own working folder, and the workspace of the worker
   * `workspace`. Idempotent; an unknown workload counts as removed.
   */
  remove(id: string, workspace: string | null): Promise<void>
}

/** One process to run. Holds secrets: never log it. */
export interface Workload {
  /** Id of its object. */
  readonly id: string
  readonly eventId: string
  readonly workerId: string
  readonly project: string
  /** Runtimes without images refuse it. */
  readonly image: string | null
  readonly command: readonly string[]
  /** Appended to the command. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Paths are relative to its working folder. */
  readonly files: readonly { readonly path: string; readonly content: string }[]
  /** By name. */
  readonly secrets: Readonly<Record<string, string>>
  readonly event: Readonly<Record<string, unknown>>
  /** The id of the worker whose workspace it uses; null: it gets a folder of its own. */
  readonly workspace: string | null
  /** The token with which a worker creates its jobs. */
  readonly token: string | null
  /** The place of its work in a trace; null or absent: no sampled one. */
  readonly traceparent?: string | null
}

export interface KnownWorkload {
  readonly id: string
  readonly receipt: string
}

/** STDOUT and STDERR are the workload's own output, SYSTEM is the runtime's. */
export type OutputStream = 'STDOUT' | 'STDERR' | 'SYSTEM'
export interface Watcher {
  /** Called once the workload runs, also if it was running before; not if it has ended by then. */
  onRunning(): void
  onLine(stream: OutputStream, text: string): void
  /** Ends the watching, not the workload. */
  readonly signal: AbortSignal
}

export type WorkloadEnd =
  /** It exited by itself. One of the first two is null. */
  | {
      readonly how: 'EXITED'
      readonly exitCode: number | null
      readonly signal: string | null
      /** The system ended it because it used more memory than it may. */
      readonly outOfMemory?: boolean
    }
  /** `stop` or `remove` ended it. */
  | { readonly how: 'STOPPED' }
  /** It was ended from outside, with an unknown exit code. `message` is a sentence that says how. */
  | { readonly how: 'GONE'; readonly reason: GoneReason; readonly message: string }
  /** It never ran, and never will. `message` says why, for the author of its spec. */
  | { readonly how: 'NOT_STARTED'; readonly message: string }

export type GoneReason = 'DELETED' | 'EVICTED' | 'NODE_LOST'

/** Why a workload cannot be started, for the author of its spec. The message holds no secret. */
export class StartProblem extends Error {
  override name = 'StartProblem'
}
