/** The launcher of a workload with services reads a plan and writes notes. Types alone, since the launcher imports nothing else. */

/** A command begins with an absolute path, and `env` is the whole environment. */
interface Launched {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}
export interface LaunchedService extends Launched {
  readonly name: string
  readonly ports: readonly number[]
  readonly readiness: {
    readonly port: number | null
    readonly command: readonly string[]
    readonly timeoutMs: number
  }
}
export interface LaunchPlan {
  readonly workload: Launched
  readonly services: readonly LaunchedService[]
}

/** One line of JSON each. */
export type LaunchNote =
  /** All services are ready: the workload is about to start. */
  | { readonly is: 'ready' }
  /** The workload never runs. `code` is that of the system's error, for the command of a service, or of the workload. */
  | { readonly is: 'refused'; readonly service: string | null; readonly code: string }
  /** Another process of the machine has the port of a service. */
  | { readonly is: 'taken'; readonly service: string; readonly port: number }
  | {
      readonly is: 'late'
      readonly service: string
      readonly readiness: LaunchedService['readiness']
      readonly output: readonly string[]
    }
  /** As a shell has the code. Before `ready`, the workload never runs. */
  | { readonly is: 'ended'; readonly service: string; readonly exitCode: number; readonly output: readonly string[] }
