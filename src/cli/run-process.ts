import process from 'node:process'
import type { FamilyDefinition } from '../families/define-family.ts'

/** How often a command that npx has started looks for npx. */
const LOOK_MS = 1_000

/** Runs the command line of this process, with signals and lost outputs, and sets its exit code. */
export async function runProcess(families?: readonly FamilyDefinition[]): Promise<void> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // The first signal aborts the command; the second one ends the process at once.
      if (interrupted.signal.aborted) process.exit(130)
      interrupted.abort(new Error(`Ended by ${signal}.`))
    })
  }
  // npx hands SIGTERM to the shell between the two alone: all that is seen of it here is that the shell ends.
  const { ppid } = process
  if (process.env.npm_lifecycle_event === 'npx')
    setInterval(() => process.ppid === ppid || interrupted.abort(new Error('npx has ended.')), LOOK_MS).unref()
  // Without its output a command has nothing left to do. It ends in order: a server has to stop its processes.
  let lostOutput: NodeJS.ErrnoException | null = null
  process.stdout.on('error', (error) => {
    if (interrupted.signal.aborted) return
    lostOutput = error
    interrupted.abort(error)
  })
  // A command continues when nobody reads its messages.
  process.stderr.on('error', () => {})

  const { run } = await import('./run.ts')
  const { stdout, stderr, stdin, env } = process
  const io = { stdout, stderr, stdin, env, signal: interrupted.signal }
  const code = await run(process.argv.slice(2), io, families)
  process.exitCode = lostOutput === null ? code : afterLostOutput(lostOutput)
}

/**
 * `phaseline log | head`: the reader needs no more, which ends the command like an interrupt. A full disk is an error.
 */
function afterLostOutput({ code }: NodeJS.ErrnoException): number {
  if (code === 'EPIPE') return 0
  process.stderr.write(`Cannot write to standard output: ${code}\n`)
  return 1
}
