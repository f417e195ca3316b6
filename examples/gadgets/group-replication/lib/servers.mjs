import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runningPid, startService, stopService } from '../../lib/processes.mjs'
import { readJson, statePath, writeJson } from '../../lib/state.mjs'

/** The simulated servers of this machine. Each has a folder in the state folder. */

const MAIN = fileURLToPath(new URL('../server.mjs', import.meta.url))
const ROOT = statePath('servers')
const READY_MS = 10_000

const folderOf = (name) => statePath('servers', name)
const serviceOf = (name) => ({
  name,
  command: [process.execPath, MAIN, folderOf(name)],
  pidFile: statePath('servers', name, 'pid'),
})

/** The first argument: a server that there is. */
export async function serverOf({ args }) {
  const [name = ''] = args
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) throw new Error('The first argument must be the name of a server.')
  if ((await configOf(name)) === null) throw new Error(`There is no server ${name}.`)
  return name
}

export async function createServer(name, { binaryLog = false } = {}) {
  if ((await configOf(name)) !== null) return
  await writeJson(statePath('servers', name, 'data.json'), { users: [], grants: [] })
  await writeJson(configPath(name), { 'log-bin': binaryLog ? 'on' : 'off' })
}

const configPath = (name) => statePath('servers', name, 'config.json')
export const configOf = (name) => readJson(configPath(name))
export const configure = (name, config) => writeJson(configPath(name), config)

export const isRunning = async (name) => (await runningPid(serviceOf(name))) !== null
export const stop = (name) => stopService(serviceOf(name))

/** Started, and ready to answer. */
export async function start(name) {
  await startService(serviceOf(name))
  for (const end = performance.now() + READY_MS; performance.now() < end; await sleep(25)) {
    if (await ask(name).catch(() => null)) return
  }
  throw new Error(`The server ${name} does not answer.`)
}

/** Its status, after an action if one is given. */
export async function ask(name, action = '', input = undefined) {
  const address = await readJson(statePath('servers', name, 'address.json'))
  if (address === null || address.pid !== (await runningPid(serviceOf(name)))) throw new Error(`${name} is stopped.`)
  const response = await fetch(`http://127.0.0.1:${address.port}/${action}`, {
    method: input ? 'POST' : 'GET',
    body: input ? JSON.stringify(input) : null,
    signal: AbortSignal.timeout(5_000),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${name}: ${answer.message}`)
  return answer
}

export const serverNames = () => readdir(ROOT).catch(() => [])

/** How many others are on-line in the group. */
export async function peersOnline(name) {
  const others = (await serverNames()).filter((other) => other !== name)
  const answers = await Promise.all(others.map((other) => ask(other).catch(() => null)))
  return answers.filter((answer) => answer?.member === 'ONLINE').length
}
