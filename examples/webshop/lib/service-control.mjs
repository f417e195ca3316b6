import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isRunning, startOf, stopProcess } from './processes.mjs'
import { openState, readJson, remove, statePath, writeJson } from './state.mjs'

/** Services are started and stopped here. `<name>.json` says which process it is, `<name>.port.json` where it listens. */

const START_MS = 10_000
const HEALTH_MS = 2_000
const MAIN = fileURLToPath(new URL('../services/main.mjs', import.meta.url))

const identityPath = (name) => statePath(`${name}.json`)
const portPath = (name) => statePath(`${name}.port.json`)

/** Starts a service, or keeps the one that runs when it is healthy and has the same settings. */
export async function ensureService(name, settings) {
  await openState()
  const hash = await hashOf(name, settings)
  const known = await readJson(identityPath(name))
  if (known?.hash === hash && (await isRunning(known))) {
    const url = await healthyUrl(name, known.instance)
    if (url) return { url, kept: true }
  }
  if (known) await stopProcess(known)
  return { url: await startService(name, settings, hash), kept: false }
}

/** Stops it; nothing to do is fine. Its port is remembered, so that it comes back where it was. */
export async function stopService(name) {
  await openState()
  const known = await readJson(identityPath(name))
  if (known) await stopProcess(known)
  await remove(identityPath(name))
  await remove(statePath(`${name}.log`))
  return known !== null
}

/** Other settings, or another program, make another service. */
async function hashOf(name, settings) {
  const hash = createHash('sha256').update(JSON.stringify([name, Object.entries(settings).sort()]))
  for (const file of [MAIN, fileURLToPath(new URL(`../services/${name}.mjs`, import.meta.url))]) {
    hash.update(await readFile(file))
  }
  return hash.digest('hex')
}

async function startService(name, settings, hash) {
  const instance = randomUUID()
  const port = (await readJson(portPath(name)))?.port ?? 0
  const log = await open(statePath(`${name}.log`), 'w', 0o600)
  const child = spawn(process.execPath, [MAIN, name], {
    // A session of its own: it outlives the gadget and the gadget's parent.
    detached: true,
    cwd: '/',
    stdio: ['ignore', log.fd, log.fd],
    env: {
      PATH: process.env.PATH ?? '',
      SERVICE: JSON.stringify({ instance, port, settings, identity: identityPath(name), portFile: portPath(name) }),
      SERVICE_DATA: statePath(`${name}.data.json`),
    },
  })
  const ended = new AbortController()
  child.once('error', (error) => ended.abort(error))
  child.once('exit', () => ended.abort(new Error(`The service ${name} ended at its start.`)))
  try {
    if (child.pid === undefined) throw new Error(`The service ${name} could not be started.`)
    // The service runs on only if it finds itself here: a forgotten one ends by itself.
    await writeJson(identityPath(name), { instance, hash, pid: child.pid, start: await startOf(child.pid) })
    return await untilHealthy(name, instance, ended.signal)
  } catch (error) {
    const said = await readFile(statePath(`${name}.log`), 'utf8').catch(() => '')
    process.stderr.write(said.slice(-4_000))
    throw error
  } finally {
    await log.close()
    child.unref()
  }
}

async function untilHealthy(name, instance, ended) {
  const end = performance.now() + START_MS
  while (performance.now() < end) {
    ended.throwIfAborted()
    const url = await healthyUrl(name, instance)
    if (url) return url
    await sleep(25)
  }
  throw new Error(`The service ${name} did not get healthy within ${START_MS} ms.`)
}

/** The URL at which this very instance answers that it is healthy; null when it does not. */
async function healthyUrl(name, instance) {
  const place = await readJson(portPath(name))
  if (place?.instance !== instance) return null
  const url = `http://127.0.0.1:${place.port}`
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(HEALTH_MS) })
    const health = await response.json()
    return response.ok && health.instance === instance ? url : null
  } catch {
    return null
  }
}
