#!/usr/bin/env node
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import process from 'node:process'

/**
 * The first version with type stripping and `URL.parse`. An older one would fail with an obscure error, so nothing is
 * imported before this check, and the check uses nothing that an older version does not have.
 */
const OLDEST = [22, 18] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(`phaseline needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}.\n`)
  process.exit(2)
}

// Code is compiled once, not at each start: compiling takes half of the time until the first line. The cache is in a
// folder of the user's own, so that no other user can write to it. Processes of agents read it, too.
const { HOME, XDG_CACHE_HOME = HOME && join(HOME, '.cache') } = process.env
if (XDG_CACHE_HOME) process.env.NODE_COMPILE_CACHE ??= join(XDG_CACHE_HOME, 'phaseline')
if (process.env.NODE_COMPILE_CACHE) nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE)

const { runProcess } = await import('./run-process.ts')
await runProcess()
