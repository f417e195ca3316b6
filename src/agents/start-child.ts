import { type ChildProcess, spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { TRACING_VARIABLES } from '../tracing/settings.ts'
import type { AgentProcessOptions } from './agent-process.ts'
import { LIFELINE, LIFELINE_FD } from './lifeline.ts'
import { sendSecrets } from './token.ts'

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
  ...TRACING_VARIABLES,
]

/** The program of agent processes, the same file as source and as built. */
export const agentsMain = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './main.ts' : './main.js', import.meta.url))

export function startChild(options: AgentProcessOptions): ChildProcess {
  const { token, hasSuccessors, onEvent } = options
  const child = spawn(process.execPath, argumentsOf(options), {
    env: childEnv(options),
    // The channel closes when this process is gone, however it ends; the lifeline does so for a successor.
    stdio: ['pipe', 'pipe', 'pipe', 'ipc', ...(hasSuccessors ? (['pipe'] as const) : [])],
    // Ctrl-C in a terminal reaches this process only, which then ends its children in order.
    detached: true,
  })
  sendSecrets(child, token, options.traceHeaders)
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => onEvent?.({ type: 'said', line }))
  }
  if (child.pid !== undefined) onEvent?.({ type: 'started', pid: child.pid })
  return child
}

function argumentsOf(options: AgentProcessOptions): string[] {
  const { types, url, state, graceMs, leaseMs, targets, concurrency } = options
  const optional = {
    targets: targets?.join(','),
    state,
    'grace-ms': graceMs,
    'lease-ms': leaseMs,
    concurrency,
    ...options.options,
  }
  return [
    agentsMain(),
    ...['--types', types.join(','), '--url', url, '--token-file', '-'],
    ...Object.entries(optional).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)])),
  ]
}

function childEnv(options: AgentProcessOptions): Record<string, string> {
  const { env = process.env, gadgetFolders = [], settings, hasSuccessors } = options
  const passed = PASSED_ON.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    PHASELINE_GADGETS: gadgetFolders.join(delimiter),
    ...settings,
    ...(hasSuccessors ? { [LIFELINE]: String(LIFELINE_FD) } : {}),
  }
}
