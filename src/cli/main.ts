#!/usr/bin/env node
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import process from 'node:process'

/**
 * The first version with type stripping and `URL.parse`; an older one would fail with a riddle. So nothing is imported before
 * this is checked, nor by a name that an older one has not.
 */
const OLDEST = [22, 18] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(`phaseline needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}.\n`)
  process.exit(2)
}

// Compiled once, not at each start: half of the time until the first line. In a folder of the user's own, so that nobody
// else can put anything into it; the processes of agents read it, too.
const { HOME, XDG_CACHE_HOME = HOME && join(HOME, '.cache') } = process.env
if (XDG_CACHE_HOME) process.env.NODE_COMPILE_CACHE ??= join(XDG_CACHE_HOME, 'phaseline')
if (process.env.NODE_COMPILE_CACHE) nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE)

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
const code = await run(process.argv.slice(2), { stdout, stderr, stdin, env, signal: interrupted.signal })
process.exitCode = lostOutput === null ? code : afterLostOutput(lostOutput)

/** `phaseline log | head`: the reader has seen enough, which is as good as being told to stop. A full disk is not. */
function afterLostOutput({ code }: NodeJS.ErrnoException): number {
  if (code === 'EPIPE') return 0
  stderr.write(`Cannot write to standard output: ${code}\n`)
  return 1
}
