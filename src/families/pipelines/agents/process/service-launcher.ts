import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { LaunchedService, LaunchNote, LaunchPlan } from './launch-plan.ts'

/**
 * The first process of a workload with services. It starts them one after the other, then the workload, and ends with it. They are in its
 * group and in its sandbox, so what ends those ends them. It stands alone, since a sandbox holds this file and none besides it. Arguments:
 * the file of its plan, and the descriptor of its notes, which its children do not get.
 */

const POLL_MS = 50
/** A program that listens and takes no connection leaves others waiting for minutes. */
const ACCEPT_MS = 1_000
const TAIL_BYTES = 8_192
const TAIL_LINES = 20
const SIGNALLED = 128
const NOT_STARTED = 125
const STOPPED = SIGNALLED + constants.signals.SIGTERM
const LOOPBACK = '127.0.0.1'

const [file = '', notes = ''] = process.argv.slice(2)
const plan = JSON.parse(readFileSync(file, 'utf8')) as LaunchPlan
let isReady = false

// The workload decides when it ends. Before it runs, there is nothing to wait for.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
  process.on(signal, () => {
    if (!isReady) process.exit(STOPPED)
  })

function tell(note: LaunchNote): void {
  try {
    writeSync(Number(notes), `${JSON.stringify(note)}\n`)
  } catch (error) {
    // The workload that runs loses no more than a line about a service.
    if (isReady) return
    console.error(
      `The launcher of services cannot write its notes: ${codeOf(error)}. Its supervisor may be an older one.`,
    )
    process.exit(NOT_STARTED)
  }
}
function giveUp(note: LaunchNote): never {
  tell(note)
  process.exit(NOT_STARTED)
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? SIGNALLED + constants.signals[signal ?? 'SIGKILL']

async function startService(service: LaunchedService): Promise<void> {
  const { name, command, env, ports, readiness } = service
  const { port, timeoutMs } = readiness
  for (const one of new Set([...ports, ...(port === null ? [] : [port])]))
    if (await accepts(one)) giveUp({ is: 'taken', service: name, port: one })
  let tail = ''
  const [path = '', ...args] = command
  const child = begin(name, () => spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }))
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding('utf8').on('data', (text: string) => {
      tail = `${tail}${text}`.slice(-TAIL_BYTES)
    })
  const lines = (): readonly string[] =>
    tail
      .split('\n')
      .filter((line) => line !== '')
      .slice(-TAIL_LINES)
  // `close` comes once all output is read, and a child of it may keep that open.
  child.once('exit', (code, signal) => {
    const ended = (): LaunchNote => ({
      ...{ is: 'ended', service: name },
      ...{ exitCode: exitCodeOf(code, signal), output: lines() },
    })
    setTimeout(() => (isReady ? tell(ended()) : giveUp(ended())), POLL_MS)
  })
  await new Promise((resolve) => child.once('spawn', resolve))
  for (const until = performance.now() + timeoutMs; !(await isServiceReady(service, until)); await pause(POLL_MS))
    if (performance.now() > until) giveUp({ is: 'late', service: name, readiness, output: lines() })
  // The note about one that has ended is about to be written.
  while (child.exitCode !== null || child.signalCode !== null) await pause(POLL_MS)
}

function begin(service: string | null, run: () => ChildProcess): ChildProcess {
  const child = started(service, run)
  child.once('error', (error) => giveUp({ is: 'refused', service, code: codeOf(error) }))
  return child
}

/** Node throws for some codes, such as that of a command that is too long, and tells of others by an event. */
function started(service: string | null, run: () => ChildProcess): ChildProcess {
  try {
    return run()
  } catch (error) {
    return giveUp({ is: 'refused', service, code: codeOf(error) })
  }
}

async function isServiceReady(
  { name, readiness: { port, command }, env }: LaunchedService,
  until: number,
): Promise<boolean> {
  if (command.length === 0) return port === null || (await accepts(port))
  const [path = '', ...args] = command
  const timeout = Math.max(1, Math.ceil(until - performance.now()))
  return await new Promise((resolve) => {
    const probe = started(name, () => spawn(path, args, { env, stdio: 'ignore', timeout, killSignal: 'SIGKILL' }))
    probe.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0))
  })
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port, timeout: ACCEPT_MS })
    const end = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })

for (const service of plan.services) await startService(service)
tell({ is: 'ready' })
isReady = true
const [command = '', ...args] = plan.workload.command
begin(null, () => spawn(command, args, { env: plan.workload.env, stdio: ['ignore', 'inherit', 'inherit'] })).once(
  'exit',
  (code, signal) => process.exit(exitCodeOf(code, signal)),
)
