#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * node examples/ci/run.mjs [FOLDER [PAYLOAD]]: applies the project in the folder, which is this one or a copy of it, sends an
 * event, and shows what comes of it. With a third argument it pushes the payload as GitHub does, to the hook of that file. Starts a server if none runs, for as long as it takes. Exit code 0 when the event
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
  const payload = process.argv[3] ?? '{}'

  const applied = await phaseline(['project', 'apply', '-f', join(folder, 'project.yaml')])
  if (applied.code !== 0) return applied.code
  const set = await phaseline(['secret', 'set', 'ci', 'PUBLISH_TOKEN'], { input: token, shown: ' < token.txt' })
  if (set.code !== 0) return set.code
  const hook = process.argv[4]
  if (hook) return await push(join(folder, hook), payload)
  const { code, output } = await phaseline(['event', 'create', ...PUSH.split(' ')], {
    ...{ input: payload, shown: ' < push.json' },
  })
  const [, event] = /^(ci\/event-\d+) created/m.exec(output) ?? []
  if (!event) return code || 1
  if (interrupted) await phaseline(['event', 'cancel', event, '--wait'])
  await phaseline(['tree', event, '--kind', 'event'])
  return code === 0 ? await download(event) : code
}

/** Posts what GitHub posts for a push, signed as GitHub signs it. */
async function push(hook, body) {
  env.GITHUB_SECRET ||= randomBytes(24).toString('base64url')
  const applied = await phaseline(['hook', 'apply', '-f', hook])
  if (applied.code !== 0) return applied.code
  const [, address = ''] = /deliveries go to (\S+)/.exec(applied.output) ?? []
  const signature = createHmac('sha256', env.GITHUB_SECRET).update(body).digest('hex')
  const headers = {
    ...{ 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': randomUUID() },
    'x-hub-signature-256': `sha256=${signature}`,
  }
  console.log(`\nGitHub pushes to ${address}`)
  const response = await fetch(address, { method: 'POST', headers, body })
  const answer = await response.json()
  console.log(`it gets ${response.status} ${JSON.stringify(answer)}`)
  const event = answer.deliveries?.[0]?.eventId
  if (!event) return 1
  await phaseline(['event', 'logs', event, '--follow'])
  if (interrupted) await phaseline(['event', 'cancel', event, '--wait'])
  const { code } = await phaseline(['watch', event])
  await phaseline(['tree', event])
  await phaseline(['hook', 'get', 'ci/github'])
  return code === 0 ? await download(event) : code
}

/** The artifact that `pack` has left: the package and its signature. */
async function download(event) {
  const folder = resolve(env.PHASELINE_DATA || '.phaseline', 'ci')
  mkdirSync(folder, { recursive: true })
  const listed = await phaseline(['artifact', 'list', event])
  if (listed.code !== 0) return listed.code
  const to = ['--output', join(folder, 'dist.tar.gz'), '--force']
  return (await phaseline(['artifact', 'get', event, 'dist', ...to])).code
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

/** Starts a server on an embedded Postgres in the usual data folder, so that its data is there for the next run too. */
async function startServer() {
  console.log(`No server at ${ORIGIN}: starting one …`)
  const child = spawn(process.execPath, [CLI, 'serve', '--no-example'], {
    // The pipeline is this example's own, so it is trusted.
    env: { PHASELINE_LOG_LEVEL: 'warn', PHASELINE_PROCESS_RUNTIME: 'trusted', ...env },
    // The server prints its token at the start.
    stdio: ['ignore', 'ignore', 'inherit'],
    // The server has its own process group: Ctrl-C reaches only this command, which ends the server last.
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
