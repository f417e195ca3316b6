import process from 'node:process'
import type { FamilyDefinition } from '../families/define-family.ts'

/** Runs the command line of this process, with signals and lost outputs, and sets its exit code. */
export async function runProcess(families?: readonly FamilyDefinition[]): Promise<void> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // The first asks politely; whoever asks again does not want to wait.
      if (interrupted.signal.aborted) process.exit(130)
      interrupted.abort(new Error(`Ended by ${signal}.`))
    })
  }
  // Without its output a command has nothing left to do. It ends in order: a server has to stop what it has started.
  let lostOutput: NodeJS.ErrnoException | null = null
  process.stdout.on('error', (error) => {
    if (interrupted.signal.aborted) return
    lostOutput = error
    interrupted.abort(error)
  })
  // A message that nobody can read is no reason to end what it is about.
  process.stderr.on('error', () => {})

  const { run } = await import('./run.ts')
  const { stdout, stderr, stdin, env } = process
  const io = { stdout, stderr, stdin, env, signal: interrupted.signal }
  const code = await run(process.argv.slice(2), io, families)
  process.exitCode = lostOutput === null ? code : afterLostOutput(lostOutput)
}

/** `phaseline log | head`: the reader has seen enough, which is as good as being told to stop. A full disk is not. */
function afterLostOutput({ code }: NodeJS.ErrnoException): number {
  if (code === 'EPIPE') return 0
  process.stderr.write(`Cannot write to standard output: ${code}\n`)
  return 1
}
