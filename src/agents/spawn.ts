import type { ChildProcess } from 'node:child_process'
import { pause } from '../client/pause.ts'
import type { AgentProcess, AgentProcessOptions } from './agent-process.ts'
import { type Lifeline, openLifeline } from './lifeline.ts'
import { trackGroups } from './process-groups.ts'
import { startChild } from './start-child.ts'

const FIRST_RESTART_MS = 100
const LAST_RESTART_MS = 30_000
/** A process that ran so long did not fail at its start: the backoff begins anew. */
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
      if (!closing.signal.aborted) options.onEvent?.({ type: 'ending' })
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
    const child = startChild(options)
    const groups = trackGroups(child)
    if (options.hasSuccessors) openLifeline(child, lifelines)
    onChild(child)
    const ended = await untilEnd(child, closing)
    groups.killAll()
    onChild(null)
    if (performance.now() - startedAt > STABLE_MS) delay = FIRST_RESTART_MS
    options.onEvent?.({ type: 'ended', ...ended, restartInMs: closing.aborted ? null : delay })
    await pause(delay, closing)
    delay = Math.min(LAST_RESTART_MS, delay * 2)
  }
  await Promise.all([...lifelines].map((lifeline) => lifeline.cut(KILL_MS)))
}

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
