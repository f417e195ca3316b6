import type { CrmBehaviourInput } from './crm/behaviour.ts'

export interface AgentProcessOptions {
  /** Built-in agents, e.g. `['mock', 'gadget']`; `gadget-job`, `process` and `crm` each need a process of their own. */
  readonly types: readonly string[]
  readonly url: string
  readonly token: string
  readonly gadgetFolders?: readonly string[] | undefined
  /** The state folder, which a process runtime and a CRM need. */
  readonly state?: string | undefined
  readonly crm?: CrmProcessOptions | undefined
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
/** Options of the simulated CRM. */
export interface CrmProcessOptions {
  /** The id or the name of the cloudlet that it serves. */
  readonly cloudlet: string
  /** Version of a new state folder; 1.0.0 by default. */
  readonly version?: string | undefined
  /** By default every operation succeeds at once. */
  readonly behaviour?: CrmBehaviourInput | undefined
}
export type AgentProcessEvent =
  | { readonly type: 'started'; readonly pid: number }
  /** A line of its output. */
  | { readonly type: 'said'; readonly line: string }
  | {
      readonly type: 'ended'
      readonly exitCode: number | null
      readonly signal: NodeJS.Signals | null
      /** Milliseconds; null: it is not restarted, since it was closed. */
      readonly restartInMs: number | null
    }

/**
 * A supervised child process with built-in agents, restarted with a backoff whenever it ends. Gadgets of a killed process
 * are killed; workloads of a process runtime go on, and the next process adopts them. A CRM that an upgrade has started in
 * place of this one goes on too, until the whole AgentProcess is closed; the restarted process stands by.
 */
export interface AgentProcess extends AsyncDisposable {
  /** Pid of the running process; null between two. */
  readonly pid: number | null
  /** Ends it with SIGTERM, later with SIGKILL. */
  close(): Promise<void>
}
