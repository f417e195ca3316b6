import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { run } from '../../src/cli/run.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import type { FamilyDefinition } from '../../src/families/define-family.ts'
import { until } from '../testkit/wait.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}
export interface Running extends AsyncDisposable {
  out(): string
  err(): string
  /** Waits until standard output holds it. */
  shows(text: string): Promise<void>
  kill(signal: NodeJS.Signals): void
  readonly exit: Promise<number | null>
}
export interface RunOptions {
  readonly env?: Io['env']
  readonly stdin?: string
  /** At a terminal, with what the user types. */
  readonly typed?: string
  /** Interrupts it. */
  readonly signal?: AbortSignal
}
export interface CommandLine {
  /** In this process: quick. */
  (args: string, options?: RunOptions): Promise<Ran>
  /** In a process of its own, its output read through pipes. */
  spawn(args: string): Running
  /** Everything that any of them has printed. */
  transcript(): string
}

/**
 * The command line as its user has it, in an environment. Arguments are divided by blanks. With these families in this
 * process, or else the product's own.
 */
export function commandLine(
  env: Readonly<Record<string, string>>,
  families?: readonly FamilyDefinition[],
): CommandLine {
  let transcript = ''
  const sink = () => {
    let text = ''
    const write = (more: string | Uint8Array): void => {
      const read = typeof more === 'string' ? more : Buffer.from(more).toString()
      text += read
      transcript += read
    }
    return { write, text: () => text }
  }
  const call = async (args: string, options: RunOptions = {}): Promise<Ran> => {
    const [out, err] = [sink(), sink()]
    const input = options.typed ?? options.stdin
    const stdin = Object.assign(Readable.from(input === undefined ? [] : [input]), {
      isTTY: options.typed !== undefined,
    })
    const io = { stdin, env: options.env ?? env, signal: options.signal ?? new AbortController().signal }
    const code = await run(args.split(' '), { ...io, stdout: out, stderr: err }, families)
    return { code, out: out.text(), err: err.text() }
  }
  const start = (args: string): Running => {
    const [out, err] = [sink(), sink()]
    const child = spawn(process.execPath, [MAIN, ...args.split(' ')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    })
    child.stdout.setEncoding('utf8').on('data', out.write)
    child.stderr.setEncoding('utf8').on('data', err.write)
    return running(child, out.text, err.text)
  }
  return Object.assign(call, { spawn: start, transcript: () => transcript })
}

function running(child: ChildProcess, out: () => string, err: () => string): Running {
  const exit = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  return {
    out,
    err,
    shows: async (text) => {
      await until(() => out().includes(text) || child.exitCode !== null, { what: `it shows ${text}` })
      if (!out().includes(text))
        throw new Error(`it ended with ${child.exitCode} before it showed ${text}: ${err()} ${out().slice(-300)}`)
    },
    kill: (signal) => void child.kill(signal),
    exit,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** One JSON document per line. A line that is not whole yet, of a command that still runs, is left out. */
export const documents = (text: string): Readonly<Record<string, unknown>>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
