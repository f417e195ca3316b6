import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '../../testkit/wait.ts'

/** The package for Python. */
export const CLIENT = join(import.meta.dirname, '../../../clients/python')
/** The one that `.ci/debian` provides, with aiohttp. */
export const PYTHON = process.env.PHASELINE_TEST_PYTHON ?? '/usr/bin/python3'
/** Built by go.test.ts. */
export const GO_AGENT = join(tmpdir(), `phaseline-agent-in-go-${process.pid}`)
const PROGRAMS = {
  TypeScript: [process.execPath, join(import.meta.dirname, 'agent.ts')],
  Python: [PYTHON, join(import.meta.dirname, 'agent.py')],
  Go: [GO_AGENT],
} as const
export type Language = keyof typeof PROGRAMS

export interface AgentEvent {
  readonly event: 'begin' | 'stopped' | 'stopping' | 'end' | 'problem' | 'over' | 'change' | 'expired'
  readonly name?: string
  readonly [field: string]: unknown
}
export interface AgentProcess extends AsyncDisposable {
  readonly events: readonly AgentEvent[]
  /** Resolves to the first event that has these fields. */
  says(wanted: Partial<AgentEvent>): Promise<AgentEvent>
  /** Work with this name need not hold any more. */
  go(name: string): void
  signal(signal: NodeJS.Signals): void
}
export interface AgentProcessOptions {
  readonly url: string
  /** Several: a function that returns the next one whenever it is called, and the last one again. */
  readonly token: string | readonly string[]
  readonly types: readonly string[]
  readonly instance?: string
  readonly concurrency?: number
  readonly leaseMs?: number
  readonly renewMs?: number
  readonly drainMs?: number
  /** A cursor: it follows the log instead. */
  readonly follow?: string
  /** A file of authorities that it trusts besides. */
  readonly caFile?: string
  /** The largest answer that it reads; the one in TypeScript has no such option. */
  readonly maxBytes?: number
}

/** The program that PROGRAMS has for the language. */
export function startAgentProcess(language: Language, { caFile, ...options }: AgentProcessOptions): AgentProcess {
  const [command, ...args] = PROGRAMS[language]
  const given = { instance: 'first', concurrency: 20, leaseMs: 20_000, renewMs: 200, drainMs: 10_000, ...options }
  const child = spawn(command, [...args, JSON.stringify(given)], {
    stdio: 'pipe',
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: CLIENT,
      PYTHONDONTWRITEBYTECODE: 'yes',
      ...(caFile !== undefined && { NODE_EXTRA_CA_CERTS: caFile, SSL_CERT_FILE: caFile }),
    },
  })
  const events: AgentEvent[] = []
  let errors = ''
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line) as AgentEvent))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  // A process that was killed reads no more.
  child.stdin.on('error', () => {})
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    events,
    async says(wanted) {
      const fits = (event: AgentEvent): boolean =>
        Object.entries(wanted).every(([field, value]) => event[field] === value)
      const find = (): AgentEvent | undefined => {
        const found = events.find(fits)
        if (!found && child.exitCode !== null) throw new Error(`it has ended: ${errors}${JSON.stringify(events)}`)
        return found
      }
      return await until(find, { what: `it says ${JSON.stringify(wanted)}`, instead: () => [errors, ...events] })
    },
    go: (name) => void child.stdin.write(`${name}\n`),
    signal: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
