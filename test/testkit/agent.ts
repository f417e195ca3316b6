import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClockOptions, shiftClock } from './shifted-clock.ts'

const MAIN = join(import.meta.dirname, '../../src/agents/main.ts')

/** A process of built-in agents that is not restarted, with a clock of its own on request. */
export interface TestAgent extends AsyncDisposable {
  /** Its output so far. */
  output(): string
  kill(): Promise<void>
  /** Suspends the process. Returns a function that resumes it. */
  freeze(): () => void
  /** Only for a process with a clock of its own. */
  setClock(offset: string): void
}
export interface TestAgentOptions {
  readonly types: readonly string[]
  readonly url: string
  readonly token: string
  readonly gadgetFolder?: string
  readonly leaseMs?: number
  readonly clock?: ClockOptions
}

export async function startAgent(options: TestAgentOptions): Promise<TestAgent> {
  const { types, url, token, gadgetFolder = '', leaseMs, clock } = options
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-agent-'))
  const shifted = clock && shiftClock(join(folder, 'clock'), clock)
  const args = ['--types', types.join(), '--url', url]
  if (leaseMs !== undefined) args.push('--lease-ms', String(leaseMs))
  const child = fork(MAIN, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PHASELINE_TOKEN: token,
      PHASELINE_GADGETS: gadgetFolder,
      ...shifted?.env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
  return {
    output: () => output,
    kill: () => end('SIGKILL'),
    freeze() {
      child.kill('SIGSTOP')
      return () => void child.kill('SIGCONT')
    },
    setClock(offset) {
      if (!shifted) throw new Error('this agent has the clock of its machine')
      shifted.set(offset)
    },
    async [Symbol.asyncDispose]() {
      await end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
