#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * node examples/ci/run.mjs [FOLDER [--no-artifacts]]: applies the project in the folder, which is this one or a copy of it, sends an
 * event, and shows what comes of it. Starts a server if none runs, for as long as it takes. Exit code 0 when the event
 * succeeds. It only calls `phaseline`, and prints each call.
 */

const HERE = import.meta.dirname
/** In a checkout the source, in an installed package what is built of it. */
const CLI = ['../../src/cli/main.ts', '../../dist/src/cli/main.js'].map((path) => join(HERE, path)).find(existsSync)
const { env } = process
const ORIGIN = `http://127.0.0.1:${env.PORT || 4000}`
const PUSH = '--source example.com/word-count --type push --label branch=main --payload-file - --follow'
const START_MS = 120_000

let interrupted = false
let running = null
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => {
    interrupted = true
    running?.kill(name)
  })
}

let server = null
try {
  server = env.PHASELINE_URL || (await isReady()) ? null : await startServer()
  process.exitCode = await main(resolve(process.argv[2] ?? HERE))
} catch (error) {
  console.error(error.message)
  process.exitCode = 4
} finally {
  await server?.stop()
}

async function main(folder) {
  const token = env.PUBLISH_TOKEN || randomBytes(24).toString('base64url')
  const artifacts = resolve(env.PHASELINE_DATA || '.phaseline', 'ci')
  const payload = JSON.stringify(process.argv[3] === '--no-artifacts' ? {} : { artifacts })

  const applied = await phaseline(['project', 'apply', '-f', join(folder, 'project.yaml')])
  if (applied.code !== 0) return applied.code
  const set = await phaseline(['secret', 'set', 'ci', 'PUBLISH_TOKEN'], { input: token, shown: ' < token.txt' })
  if (set.code !== 0) return set.code
  const { code, output } = await phaseline(['event', 'create', ...PUSH.split(' ')], {
    ...{ input: payload, shown: ' < push.json' },
  })
  const [, event] = /^(ci\/event-\d+) created/m.exec(output) ?? []
  if (!event) return code || 1
  if (interrupted) await phaseline(['event', 'cancel', event, '--wait'])
  await phaseline(['tree', event, '--kind', 'event'])
  return code
}

/** Runs one command and shows its output. */
async function phaseline(args, { input = '', shown = '' } = {}) {
  console.log(`\n$ phaseline ${args.join(' ')}${shown}`)
  const colour = process.stdout.isTTY && !env.NO_COLOR ? { FORCE_COLOR: '1' } : {}
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { PHASELINE_URL: `${ORIGIN}/graphql`, ...env, ...colour },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running = child
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
    process.stdout.write(text)
  })
  child.stdin.on('error', () => {}).end(input)
  const code = await new Promise((end) => child.once('close', end))
  running = null
  return { code: code ?? 1, output }
}

async function isReady() {
  const response = await fetch(`${ORIGIN}/readyz`).catch(() => null)
  return response?.ok === true
}

/** A server of our own, on an embedded Postgres in the usual data folder: what it has is there for the next one too. */
async function startServer() {
  console.log(`No server at ${ORIGIN}: starting one …`)
  const child = spawn(process.execPath, [CLI, 'serve', '--no-example'], {
    // Trusted: the pipeline is this example's own, and `pack` writes to the folder of artifacts.
    env: { PHASELINE_LOG_LEVEL: 'warn', PHASELINE_PROCESS_RUNTIME: 'trusted', ...env },
    // What it says first holds its token.
    stdio: ['ignore', 'ignore', 'inherit'],
    // Of its own group: Ctrl-C is for the command that runs, the server is ended after it.
    detached: true,
  })
  const ended = new Promise((end) => child.once('exit', end))
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  const tooLate = performance.now() + START_MS
  while (!(await isReady())) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('The server could not start.')
    if (interrupted || performance.now() > tooLate) {
      await stop()
      throw new Error(interrupted ? 'Interrupted.' : `The server is not ready after ${START_MS / 1_000} s.`)
    }
    await pause(100)
  }
  return { stop }
}
