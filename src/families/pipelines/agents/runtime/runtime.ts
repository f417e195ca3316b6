import type { GitSource } from '../../../../agents/git/clone.ts'
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
   * Reads a file or a folder of the working folder of a workload that has exited. Null: there is no such path.
   * @param signal aborts when nobody reads the body any more @throws ArtifactProblem, also while the body is read
   */
  readLeft(id: string, path: string, signal?: AbortSignal): Promise<Left | null>
  /** The end of a workload is reported, so a runtime ends what it kept running to read the files from. Idempotent. */
  closeLeft?(id: string): Promise<void>
  /**
   * Stops a workload, then removes its secrets, its state, its own working folder, and the workspace of the worker
   * `workspace`. Idempotent; an unknown workload counts as removed.
   */
  remove(id: string, workspace: string | null): Promise<void>
}

/** Options of all runtimes. */
export interface RuntimeOptions {
  /** Milliseconds from SIGTERM to SIGKILL. Engines and clusters count whole seconds. */
  readonly graceMs?: number | undefined
  readonly output?: OutputLimits | undefined
}
export const GRACE_MS = 10_000

export interface OutputLimits {
  /** Sustained lines per second; five times as many in a burst. */
  readonly lines: number
  /** Sustained bytes per second, likewise. */
  readonly bytes: number
  /** Total of one workload, as far as one process of the runtime reads it. */
  readonly totalBytes: number
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
  readonly files: readonly WorkloadFile[]
  /** Artifacts that are in its working folder when it starts. */
  readonly takes?: readonly Taken[]
  /** It leaves artifacts: its working folder must be readable when it has exited. */
  readonly leaves?: boolean
  /** By name. */
  readonly secrets: Readonly<Record<string, string>>
  readonly event: Readonly<Record<string, unknown>>
  /** The id of the worker whose workspace it uses; null: it gets a folder of its own. */
  readonly workspace: string | null
  /** The token with which a worker creates its jobs. */
  readonly token: string | null
  /** The place of its work in a trace; null or absent: no sampled one. */
  readonly traceparent?: string | null
  /** It is cloned into the working folder before the start; null or absent: there is none. */
  readonly clone?: Repository | null
  /** They are ready before it starts, one after the other, and end with it. */
  readonly services?: readonly Service[]
}

/** A program that runs beside a workload. */
export interface Service {
  /** Its name as a host. */
  readonly name: string
  /** Runtimes without images refuse it. */
  readonly image: string | null
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Names of secrets of the workload that it gets. */
  readonly secrets: readonly string[]
  readonly ports: readonly number[]
  /** In its container; null: that of the image. */
  readonly user: number | null
  /** Without a port and a command: as soon as it runs. */
  readonly readiness: {
    readonly port: number | null
    readonly command: readonly string[]
    readonly timeoutMs: number
  }
}

export interface WorkloadFile {
  readonly path: string
  readonly content: string
  /** The name of the secret that is its content. */
  readonly secret?: string | undefined
}

/** A Git repository to clone. Holds a secret: never log it. */
export interface Repository extends GitSource {
  /** Relative to the working folder; null: the working folder. */
  readonly path: string | null
  /** Why the server knows that it cannot be cloned. */
  readonly problem: string | null
}

/** An artifact that a workload leaves. */
export interface Left {
  /** The body is a compressed archive. */
  readonly isFolder: boolean
  readonly body: AsyncIterable<Uint8Array>
}
/** An artifact that a workload takes. */
export interface Taken extends Left {
  readonly artifact: string
  /** Relative to its working folder. */
  readonly path: string
  /** Bytes of its body. */
  readonly size: number
}

export interface KnownWorkload {
  readonly id: string
  readonly receipt: string
}

/** STDOUT and STDERR are the workload's own output, SYSTEM is the runtime's. */
export type OutputStream = 'STDOUT' | 'STDERR' | 'SYSTEM'
export interface Watcher {
  /**
   * Called once the workload runs, also if it was running before; not if it has ended by then.
   * @param commit the commit that was cloned for it
   */
  onRunning(commit?: string | null): void
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
      /** The commit that was cloned for it. */
      readonly commit?: string | null
    }
  /** `stop` or `remove` ended it. */
  | { readonly how: 'STOPPED' }
  /** It was ended from outside, with an unknown exit code. `message` is a sentence that says how. */
  | { readonly how: 'GONE'; readonly reason: GoneReason; readonly message: string }
  /** It never ran, and never will. `message` says why, for the author of its spec. */
  | { readonly how: 'NOT_STARTED'; readonly message: string; readonly code?: StartProblemCode | undefined }

export type GoneReason = 'DELETED' | 'EVICTED' | 'NODE_LOST'

/** Why a workload cannot be started, for the author of its spec. The message holds no secret. */
export class StartProblem extends Error {
  override name = 'StartProblem'
  readonly code: StartProblemCode
  /** Lines of output that show why. */
  readonly output: readonly string[]
  constructor(message: string, code: StartProblemCode = 'START_FAILED', output: readonly string[] = []) {
    super(message)
    this.code = code
    this.output = output
  }
}
export type StartProblemCode = 'START_FAILED' | 'CLONE_FAILED' | 'SERVICE_FAILED' | 'SERVICES_REFUSED'
