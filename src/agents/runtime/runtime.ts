/**
 * Where workers and jobs run: a machine, a cluster. A workload is known by the id of its object, and a runtime starts
 * each one at most once, however often it is asked and whoever is killed meanwhile. A workload outlives the process that
 * started it: the next one at the same place finds it, with what was kept of it.
 */
export interface Runtime extends AsyncDisposable {
  /** Names the place, the same for as long as the place exists. */
  readonly instance: string
  /** What is here: started by this process or by an earlier one, and not removed. */
  list(): Promise<readonly KnownWorkload[]>
  /**
   * Starts a workload, and keeps a receipt with it. Resolves when it runs.
   * @throws StartProblem when it cannot be started; nothing of it is left then
   */
  start(workload: Workload, receipt: string): Promise<void>
  /** Replaces the receipt of a workload. False: it is not here. */
  keep(id: string, receipt: string): Promise<boolean>
  /**
   * Follows a workload: hands on its lines, those written before included as far as nobody has had them, then resolves
   * with how it ended, once all lines are handed on. Null: `signal` aborted, and the workload goes on. One watcher at a
   * time; a workload that is not here counts as GONE.
   */
  watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null>
  /** Ends a workload, politely, then by force. Resolves when nothing of it runs any more. Idempotent. */
  stop(id: string): Promise<void>
  /**
   * Stops a workload, then removes what it had: secrets, state, a working folder of its own, and `workspace`, by the id
   * of the worker that it belongs to. Idempotent; what is not here is removed already.
   */
  remove(id: string, workspace: string | null): Promise<void>
}

/** What to run. Holds secrets: never log it. */
export interface Workload {
  /** Of its object. */
  readonly id: string
  readonly eventId: string
  readonly workerId: string
  readonly project: string
  /** Runtimes that have no images refuse it. */
  readonly image: string | null
  readonly command: readonly string[]
  /** Follow the command. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Paths are relative to its working folder. */
  readonly files: readonly { readonly path: string; readonly content: string }[]
  /** By name. */
  readonly secrets: Readonly<Record<string, string>>
  readonly event: Readonly<Record<string, unknown>>
  /** The id of the worker in whose workspace it works; null: it gets a folder of its own. */
  readonly workspace: string | null
  /** With which a worker creates its jobs. */
  readonly token: string | null
}

export interface KnownWorkload {
  readonly id: string
  readonly receipt: string
}

/** Of these, only the first two are the workload's own words. */
export type OutputStream = 'STDOUT' | 'STDERR' | 'SYSTEM'
export interface Watcher {
  onLine(stream: OutputStream, text: string): void
  /** Ends the watching, not the workload. */
  readonly signal: AbortSignal
}

export type WorkloadEnd =
  /** By itself. One of the two is null. */
  | { readonly how: 'EXITED'; readonly exitCode: number | null; readonly signal: string | null }
  /** By `stop` or `remove`. */
  | { readonly how: 'STOPPED' }
  /** By somebody else, and nobody knows its exit code. */
  | { readonly how: 'GONE' }

/** Why a workload cannot be started, for whoever wrote its spec. The message holds no secret. */
export class StartProblem extends Error {
  override name = 'StartProblem'
}
