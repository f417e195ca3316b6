import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** The parts that all examples with their own server share. */

const ROOT = join(import.meta.dirname, '../..')
/** A checkout runs the source, an installed package the build. */
const [FOLDER, EXTENSION] = existsSync(join(ROOT, 'src')) ? ['src', 'ts'] : ['dist/src', 'js']
const START_MS = 120_000
const WAIT_MS = 60_000
const startedAt = performance.now()

/** A file of Phaseline by its name, such as `client/index`. */
export const fileOf = (name) => join(ROOT, FOLDER, `${name}.${EXTENSION}`)

const { createClient } = await import(fileOf('client/index'))
const { startAgentProcess } = await import(fileOf('agents/spawn'))
const { Secret } = await import(fileOf('core/secret'))

const RESOURCES = `{ objects(filter: { project: "ci", kinds: [WORKER, JOB] }, first: 100) { edges { node {
  ... on Worker { resources { removedAt } } ... on Job { resources { removedAt } }
} } } }`
const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`

export const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(name, () => interrupted.abort(new Error('Interrupted.')))

/**
 * Starts a server without agents, which ends with `end`, an AsyncDisposableStack.
 * @param address one of this machine by which others reach it, if they are to: it listens on loopback otherwise
 */
export async function startServer(data, end, address) {
  const token = randomBytes(24).toString('base64url')
  const port = await freePort()
  const child = spawn(process.execPath, [fileOf('cli/main'), 'serve', '--no-example'], {
    env: {
      ...process.env,
      ...(address ? { HOST: '0.0.0.0', PHASELINE_ALLOWED_HOSTS: address } : {}),
      ...{ PORT: String(port), PHASELINE_DATA: data, PHASELINE_TOKEN: token, PHASELINE_LOG_LEVEL: 'warn' },
      // Its own agents have no part in this.
      PHASELINE_ROLES: 'gateway,engine',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    // The server has its own process group: Ctrl-C reaches only this process, which ends the server last.
    detached: true,
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  end.defer(() => {
    child.kill('SIGTERM')
    return ended
  })
  const ready = async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('The server could not start.')
    return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok
  }
  await until('the server is ready', ready, START_MS)
  const url = `http://127.0.0.1:${port}/graphql`
  const client = createClient({ url, token })
  end.use(client)
  return { client, token, url }
}

/** Starts a runtime with a token of its own; it ends with `end`. */
export async function startRuntime(client, end, { type, ...options }) {
  const input = { name: `runtime-${type}`, role: 'AGENT', actor: 'RUNTIME', types: [type] }
  const { answer } = await client.query(CREATE_TOKEN, { input })
  if (!answer.secret) throw new Error(answer.message)
  const onEvent = (event) => event.type === 'said' && say(`runtime: ${event.line}`)
  end.use(startAgentProcess({ types: [type], token: new Secret(answer.secret), ...options, onEvent }))
}

/** Resolves when nothing is left of the workers and jobs of the project `ci`. */
export const untilRemoved = (client) =>
  until('all that runs is removed', async () => {
    const { objects } = await client.query(RESOURCES)
    return objects.edges.flatMap(({ node }) => node.resources ?? []).every(({ removedAt }) => removedAt)
  })

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function until(what, isSo, ms = WAIT_MS) {
  const tooLate = performance.now() + ms
  while (!(await isSo())) {
    interrupted.signal.throwIfAborted()
    if (performance.now() > tooLate) throw new Error(`Waited ${ms / 1_000} s in vain until ${what}.`)
    await pause(50)
  }
}

export function title(text) {
  console.log(`\n${text}`)
}
export function say(text) {
  console.log(`  ${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s  ${text}`)
}
