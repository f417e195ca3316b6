import type { Secret } from '../core/secret.ts'

export interface AgentProcessOptions {
  /** Built-in agents, e.g. `['mock', 'gadget']`; those of different actors each need a process of their own. */
  readonly types: readonly string[]
  readonly url: string
  readonly token: Secret
  /** For the collector of traces. */
  readonly traceHeaders?: Secret | null | undefined
  readonly gadgetFolders?: readonly string[] | undefined
  /** The state folder of a program that has one. */
  readonly state?: string | undefined
  /** Options that only its program has, by name. */
  readonly options?: Readonly<Record<string, string | undefined>> | undefined
  /** Variables of its environment that only its program reads. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** It may start processes that take its place. They end with the AgentProcess, not with the process that started them. */
  readonly hasSuccessors?: boolean | undefined
  /** Milliseconds that workloads get from SIGTERM to SIGKILL; 10,000 by default. */
  readonly graceMs?: number | undefined
  /** Milliseconds after which another agent takes over the work of one that died; 15,000 by default. */
  readonly leaseMs?: number | undefined
  readonly targets?: readonly string[] | undefined
  /** Items at the same time, of each type. */
  readonly concurrency?: number | undefined
  /** The environment of which the process gets an allow-listed part; this process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly onEvent?: ((event: AgentProcessEvent) => void) | undefined
}
export type AgentProcessEvent =
  | { readonly type: 'started'; readonly pid: number }
  /** A line of its output. */
  | { readonly type: 'said'; readonly line: string }
  /** It was asked to end, and finishes or hands back its work. */
  | { readonly type: 'ending' }
  | {
      readonly type: 'ended'
      readonly exitCode: number | null
      readonly signal: NodeJS.Signals | null
      /** Milliseconds; null: it is not restarted, since it was closed. */
      readonly restartInMs: number | null
    }

/**
 * A supervised child process with built-in agents, restarted with a backoff whenever it ends. Gadgets of a killed
 * process are killed; workloads of a process runtime keep running, and the next process adopts them. A successor, such
 * as the CRM that an upgrade starts, also keeps running until the whole AgentProcess is closed; the restarted process
 * stands by.
 */
export interface AgentProcess extends AsyncDisposable {
  /** Pid of the running process; null between two. */
  readonly pid: number | null
  /** Ends it with SIGTERM, later with SIGKILL. */
  close(): Promise<void>
}
