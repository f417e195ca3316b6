import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** What examples that bring their own server have in common. */

const ROOT = join(import.meta.dirname, '../..')
/** In a checkout the source, in an installed package what is built of it. */
const [FOLDER, EXTENSION] = existsSync(join(ROOT, 'src')) ? ['src', 'ts'] : ['dist/src', 'js']
const START_MS = 120_000
const WAIT_MS = 60_000
const startedAt = performance.now()

/** A file of Phaseline by its name, such as `client/index`. */
export const fileOf = (name) => join(ROOT, FOLDER, `${name}.${EXTENSION}`)

const { createClient } = await import(fileOf('client/index'))

export const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(name, () => interrupted.abort(new Error('Interrupted.')))

/** Starts a server without agents; it ends with `end`, an AsyncDisposableStack. */
export async function startServer(data, end) {
  const token = randomBytes(24).toString('base64url')
  const port = await freePort()
  const child = spawn(process.execPath, [fileOf('cli/main'), 'serve', '--no-example'], {
    env: {
      ...process.env,
      ...{ PORT: String(port), PHASELINE_DATA: data, PHASELINE_TOKEN: token, PHASELINE_LOG_LEVEL: 'warn' },
      // Its own agents have no part in this.
      PHASELINE_ROLES: 'gateway,engine',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    // Of its own group: Ctrl-C is for this process, which ends the server last.
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
