import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdir, open, readFile, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

/** Services as processes of this Linux machine, each found by its pid file. */

const STOP_MS = 10_000
const KILL_MS = 5_000
const POLL_MS = 25

/** The command line of a process that runs; null when there is none of that pid, or it has ended. */
async function commandOf(pid) {
  const [stat, line] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
  ])
  const state = stat.slice(stat.lastIndexOf(')') + 2)[0]
  return stat === '' || state === 'Z' || state === 'X' ? null : line.split('\0').slice(0, -1)
}

/** Pids are given again: it counts only when its command line ends like the service's, an interpreter before it allowed. */
async function isService(pid, [file, ...args]) {
  const found = (await commandOf(pid)) ?? []
  const head = found.slice(0, found.length - args.length)
  const tail = found.slice(head.length)
  return isDeepStrictEqual(tail, args) && head.some((word) => basename(word) === basename(file))
}

/** The pid of a service that runs; null when it does not. */
export async function runningPid({ pidFile, command }) {
  const text = await readFile(pidFile, 'utf8').catch(() => '')
  const pid = /^[1-9]\d{0,9}\s*$/.test(text) ? Number(text) : null
  return pid !== null && pid > 1 && (await isService(pid, command)) ? pid : null
}

/** Asks it to end, then makes it end. Not running is fine. */
export async function stopService(service) {
  const pid = await runningPid(service)
  if (pid === null) return false
  for (const [signal, ms] of [
    ['SIGTERM', service.stopMs ?? STOP_MS],
    ['SIGKILL', KILL_MS],
  ]) {
    send(pid, signal)
    if (await within(ms, async () => (await runningPid(service)) === null)) {
      await rm(service.pidFile, { force: true })
      return true
    }
  }
  throw new Error(`The process ${pid} of ${service.name} cannot be ended.`)
}

/** The process itself notes its pid before it becomes the service: even one whose starter was killed is found again. */
const NOTE_PID = 'set -C; echo $$ > "$0" && exec "$@"'

/** Starts it in a session of its own, so that it outlives this gadget; one that runs is kept. */
export async function startService(service) {
  if ((await runningPid(service)) !== null) return false
  const { name, command, cwd = '/', env = {}, pidFile, logFile = `${pidFile}.log` } = service
  await mkdir(dirname(pidFile), { recursive: true, mode: 0o700 })
  await rm(pidFile, { force: true })
  const log = await open(logFile, 'a', 0o600)
  try {
    if (command[0].includes('/')) await access(command[0], constants.X_OK)
    const child = spawn('/bin/sh', ['-c', NOTE_PID, pidFile, ...command], {
      cwd,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, LANG: process.env.LANG, ...env },
    })
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    child.unref()
  } catch (error) {
    throw new Error(`${name} could not be started: ${error.message}`)
  } finally {
    await log.close()
  }
  return true
}

/** Without a health URL it has to be there. */
export async function untilHealthy(service) {
  const { name, healthUrl, startMs = 30_000 } = service
  const isHealthy = async () => (await runningPid(service)) !== null && (!healthUrl || (await answersWell(healthUrl)))
  if (!(await within(startMs, isHealthy))) throw new Error(`${name} did not get healthy within ${startMs / 1000} s.`)
}

async function answersWell(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null)
  await response?.body?.cancel()
  return response?.ok === true
}

async function within(ms, holds) {
  for (const end = performance.now() + ms; ; ) {
    if (await holds()) return true
    if (performance.now() > end) return false
    await sleep(POLL_MS)
  }
}

function send(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
