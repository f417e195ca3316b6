import { type ChildProcess, spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pause } from '../client/pause.ts'
import type { CrmBehaviourInput } from './crm/behaviour.ts'
import { LIFELINE, LIFELINE_FD } from './crm/successor.ts'
import { handToken } from './hand-token.ts'

export interface AgentProcessOptions {
  /** Of the built-in agents, e.g. `['mock', 'gadget']`; `gadget-job`, `process` and `crm` in processes of their own. */
  readonly types: readonly string[]
  readonly url: string
  readonly token: string
  readonly gadgetFolders?: readonly string[] | undefined
  /** The folder of the process runtime or of the CRM, which need it. */
  readonly state?: string | undefined
  readonly crm?: CrmProcessOptions | undefined
  /** Of its workloads, from SIGTERM to SIGKILL, in milliseconds; 10,000 by default. */
  readonly graceMs?: number | undefined
  /** After so long without a word of it another one takes over what it had, in milliseconds; 15,000 by default. */
  readonly leaseMs?: number | undefined
  readonly targets?: readonly string[] | undefined
  /** Items at the same time, of each type. */
  readonly concurrency?: number | undefined
  /** The environment of which the process sees an allow-listed part; this process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly onEvent?: ((event: AgentProcessEvent) => void) | undefined
}
/** Of the simulated CRM. */
export interface CrmProcessOptions {
  /** The id or the name of the cloudlet that it serves. */
  readonly cloudlet: string
  /** Of a new state folder; 1.0.0 by default. */
  readonly version?: string | undefined
  /** It does well what it is asked to do, at once, by default. */
  readonly behaviour?: CrmBehaviourInput | undefined
}
export type AgentProcessEvent =
  | { readonly type: 'started'; readonly pid: number }
  /** A line that it wrote. */
  | { readonly type: 'said'; readonly line: string }
  | {
      readonly type: 'ended'
      readonly exitCode: number | null
      readonly signal: NodeJS.Signals | null
      /** Milliseconds; null: it is not started again, since it was closed. */
      readonly restartInMs: number | null
    }

/**
 * A supervised child process that runs built-in agents: started again, with a backoff, whenever it ends. Gadgets that a
 * killed one leaves are ended; workloads of a process runtime go on, and the next one adopts them. A CRM that an upgrade
 * has put in the place of this one goes on too, until all is closed; the next one stands by.
 */
export interface AgentProcess extends AsyncDisposable {
  /** Of the process that runs now; null between two. */
  readonly pid: number | null
  /** Ends it politely, then by force. */
  close(): Promise<void>
}

const PASSED_ON = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'PHASELINE_STATE',
  'NODE_EXTRA_CA_CERTS',
  'NODE_COMPILE_CACHE',
]
const FIRST_RESTART_MS = 100
const LAST_RESTART_MS = 30_000
/** One that ran so long did not fail at its start: the next one is started soon again. */
const STABLE_MS = 10_000
const KILL_MS = 20_000

export function startAgentProcess(options: AgentProcessOptions): AgentProcess {
  const closing = new AbortController()
  let child: ChildProcess | null = null
  const supervised = supervise(options, closing.signal, (current) => {
    child = current
  })
  const agents: AgentProcess = {
    get pid() {
      return child?.pid ?? null
    },
    async close() {
      closing.abort()
      await supervised
    },
    [Symbol.asyncDispose]: () => agents.close(),
  }
  return agents
}

async function supervise(
  options: AgentProcessOptions,
  closing: AbortSignal,
  onChild: (child: ChildProcess | null) => void,
): Promise<void> {
  let delay = FIRST_RESTART_MS
  const lifelines = new Set<Lifeline>()
  while (!closing.aborted) {
    const startedAt = performance.now()
    const child = start(options)
    const groups = watchGroups(child)
    if (options.crm) holdLifeline(child, lifelines)
    onChild(child)
    const ended = await untilEnd(child, closing)
    groups.endAll()
    onChild(null)
    if (performance.now() - startedAt > STABLE_MS) delay = FIRST_RESTART_MS
    options.onEvent?.({ type: 'ended', ...ended, restartInMs: closing.aborted ? null : delay })
    await pause(delay, closing)
    delay = Math.min(LAST_RESTART_MS, delay * 2)
  }
  await Promise.all([...lifelines].map((lifeline) => lifeline.cut()))
}

interface Lifeline {
  /** Resolves when all who held it have ended. */
  cut(): Promise<void>
}
function holdLifeline(child: ChildProcess, held: Set<Lifeline>): void {
  // They have the same output, which ends with the last of them.
  const ended = new Promise<void>((resolve) => child.stdout?.once('close', resolve))
  const lifeline: Lifeline = {
    async cut() {
      child.stdio[LIFELINE_FD]?.destroy()
      const late = new AbortController()
      await Promise.race([ended, pause(KILL_MS, late.signal)])
      late.abort()
    },
  }
  held.add(lifeline)
  void ended.then(() => held.delete(lifeline))
}

function start(options: AgentProcessOptions) {
  const { types, url, token, gadgetFolders, state, graceMs, leaseMs, crm, targets, concurrency, env, onEvent } = options
  // The same file as source and as built.
  const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './main.ts' : './main.js', import.meta.url))
  const args = [main, '--types', types.join(','), '--url', url, '--token-file', '-']
  if (targets) args.push('--targets', targets.join(','))
  if (state !== undefined) args.push('--state', state)
  if (graceMs !== undefined) args.push('--grace-ms', String(graceMs))
  if (leaseMs !== undefined) args.push('--lease-ms', String(leaseMs))
  if (crm) args.push('--cloudlet', crm.cloudlet)
  if (crm?.version !== undefined) args.push('--crm-version', crm.version)
  if (concurrency !== undefined) args.push('--concurrency', String(concurrency))
  const child = spawn(process.execPath, args, {
    env: { ...childEnv(env ?? process.env, gadgetFolders ?? []), ...(crm ? crmEnv(crm) : {}) },
    // The channel tells the child when this process is gone, however it ends; the lifeline tells who comes after it.
    stdio: ['pipe', 'pipe', 'pipe', 'ipc', ...(crm ? (['pipe'] as const) : [])],
    // Ctrl-C in a terminal reaches this process only, which then ends its children in order.
    detached: true,
  })
  handToken(child, token)
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => onEvent?.({ type: 'said', line }))
  }
  if (child.pid !== undefined) onEvent?.({ type: 'started', pid: child.pid })
  return child
}

/** A process that is killed leaves its gadgets running: nobody else may start them again beside those. */
function watchGroups(child: ChildProcess) {
  const groups = new Set<number>()
  let over = false
  child.on('message', (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('group' in message) || !('state' in message)) return
    const { group, state } = message
    // 0 and 1 would be this process's own group, and everybody's.
    if (typeof group !== 'number' || !Number.isInteger(group) || group < 2) return
    if (state !== 'started') groups.delete(group)
    // What it said last may be heard after its end.
    else if (over) endGroup(group)
    else groups.add(group)
  })
  return {
    endAll(): void {
      over = true
      for (const group of groups) endGroup(group)
    },
  }
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

function childEnv(
  env: Readonly<Record<string, string | undefined>>,
  gadgetFolders: readonly string[],
): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    PHASELINE_GADGETS: gadgetFolders.join(delimiter),
  }
}

const crmEnv = ({ behaviour = {} }: CrmProcessOptions): Record<string, string> => ({
  PHASELINE_CRM: JSON.stringify(behaviour),
  [LIFELINE]: String(LIFELINE_FD),
})

interface Ended {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

async function untilEnd(child: ChildProcess, closing: AbortSignal): Promise<Ended> {
  const ended = new Promise<Ended>((resolve) => {
    child.once('error', () => {
      if (child.pid === undefined) resolve({ exitCode: null, signal: null })
    })
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  let kill: NodeJS.Timeout | undefined
  const end = (): void => {
    child.kill('SIGTERM')
    kill = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
  }
  if (closing.aborted) end()
  closing.addEventListener('abort', end, { once: true })
  const result = await ended
  clearTimeout(kill)
  closing.removeEventListener('abort', end)
  return result
}
