#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'

/** The first version with type stripping and `URL.parse`; an older one would fail with a riddle. */
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
if (process.env.NODE_COMPILE_CACHE) enableCompileCache(process.env.NODE_COMPILE_CACHE)

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // The first asks politely; whoever asks again does not want to wait.
    if (interrupted.signal.aborted) process.exit(130)
    interrupted.abort(new Error(`Ended by ${signal}.`))
  })
}
// `phaseline log | head`: the reader has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const { run } = await import('./run.ts')
const { stdout, stderr, stdin, env } = process
process.exitCode = await run(process.argv.slice(2), { stdout, stderr, stdin, env, signal: interrupted.signal })
