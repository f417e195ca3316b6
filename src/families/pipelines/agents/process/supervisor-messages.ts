/** Messages between a process runtime and its supervisor: lines of JSON on a Unix socket. */

/** The command to execute. */
export interface Invocation {
  /** Begins with an absolute path. */
  readonly command: readonly string[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  /** A file that the command reads as its file descriptor 3; null: there is none. */
  readonly input: string | null
  /** It gets a file descriptor for its notes, after that of `input`; absent: it takes none. */
  readonly hasNotes?: boolean
}
export interface StartMessage extends Invocation {
  readonly do: 'start'
  readonly id: string
  /** The workload's folder, for its files. */
  readonly folder: string
  readonly workingFolder: string
}
/** The pipes of an ended workload are open elsewhere, or not needed. */
export interface ReleaseMessage {
  readonly do: 'release'
  readonly id: string
}
export type ToSupervisor = StartMessage | ReleaseMessage

export type FromSupervisor =
  /** The first line. Workloads whose pipes the supervisor holds, ended ones included. */
  | { readonly is: 'ready'; readonly held: readonly string[] }
  | { readonly is: 'started'; readonly id: string }
  /** It never ran. `code` is that of the system's error. */
  | { readonly is: 'failed'; readonly id: string; readonly code: string }
  /** `code` is as a shell has it: 128 and its number for a signal. */
  | { readonly is: 'exited'; readonly id: string; readonly code: number }

/** In the folder of a runtime, where its supervisor works. */
export const SOCKET = 'supervisor.sock'
/** In the folder of a workload. */
export const FILES = { out: 'out', err: 'err', process: 'pid', exit: 'exit', notes: 'notes' } as const
/** Stands in FILES.process from just before the start until the process is known. */
export const STARTING = 'starting\n'

export const encode = (message: ToSupervisor | FromSupervisor): string => `${JSON.stringify(message)}\n`

/** Calls `take` for each whole line that has come. */
export function decoder<Message>(take: (message: Message) => void): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(JSON.parse(line) as Message)
  }
}
