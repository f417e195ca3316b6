import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { constants as system } from 'node:os'
import { join } from 'node:path'
import { closeInherited } from '../../../../process/close-inherited.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { formatProcessId, identityOfChild } from '../../../../process/identity.ts'
import {
  decoder,
  encode,
  FILES,
  type FromSupervisor,
  SOCKET,
  STARTING,
  type StartMessage,
  type ToSupervisor,
} from './supervisor-messages.ts'

/**
 * The parent of a runtime's workloads, which outlives the runtime: a program of its own in the runtime's folder. It starts
 * workloads, holds their pipes open and writes down how they ended. It takes orders from one runtime at a time, the last one
 * that has connected, and ends when there is neither a runtime nor a workload. It closes its output once it listens. Argument: the
 * process id of the runtime that starts it.
 */

interface Held {
  /** Reading and writing ends, so that a pipe outlives its writers and its readers. */
  readonly pipes: number[]
  exitCode: number | null
  isReleased: boolean
}

const OUTPUT = 1
const SIGNALLED = 128
/** The runtime that has started it may be killed before it connects. */
const UNUSED_MS = 10_000
const PRIVATE = 0o077
/** The umask of workloads. */
const USUAL = 0o022

const held = new Map<string, Held>()
let runtime: Socket | null = null

const tell = (message: FromSupervisor): void => void runtime?.write(encode(message))

function start(message: StartMessage): void {
  const { id, folder } = message
  const outputs = [FILES.out, FILES.err].map((name) => join(folder, name))
  const pipes: number[] = []
  const given: number[] = []
  let record: number | null = null
  held.set(id, { pipes, exitCode: null, isReleased: false })
  try {
    for (const path of outputs) {
      renameSync(takePipe(), path)
      pipes.push(openSync(path, constants.O_RDWR))
    }
    if (message.input !== null) given.push(openSync(message.input, constants.O_RDONLY))
    if (message.hasNotes)
      given.push(
        openSync(join(folder, FILES.notes), constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600),
      )
    // Should this process be killed in between, the workload may have run, and does not run again.
    record = openSync(join(folder, FILES.process), 'w', 0o600)
    writeSync(record, STARTING)
    run(message, [...pipes, ...given], record)
  } catch (error) {
    fail(id, error)
  } finally {
    for (const fd of record === null ? given : [...given, record]) closeSync(fd)
  }
}

/** @param record the open file of the process */
function run(
  { id, folder, workingFolder, command, env }: StartMessage,
  outputs: readonly number[],
  record: number,
): void {
  const [file = '', ...args] = command
  process.umask(USUAL)
  let child: ChildProcess
  try {
    // A session and a process group of its own.
    child = spawn(file, args, { cwd: workingFolder, env, detached: true, stdio: ['ignore', ...outputs] })
  } finally {
    process.umask(PRIVATE)
  }
  const { pid } = child
  child.once('error', (error) => {
    if (pid === undefined) fail(id, error)
  })
  if (pid === undefined) return
  child.once('exit', (code, signal) => {
    // Ends processes that remain in its group.
    endGroup(pid)
    exited(id, folder, code ?? SIGNALLED + system.signals[signal ?? 'SIGKILL'])
  })
  try {
    // In one piece, over STARTING, which is shorter.
    writeSync(record, formatProcessId({ pid, identity: identityOfChild(pid) }), 0)
  } catch (error) {
    // For example, the disk is full: no runtime could find the workload.
    endGroup(pid)
    throw error
  }
  tell({ is: 'started', id })
}

function fail(id: string, error: unknown): void {
  close(id)
  tell({ is: 'failed', id, code: codeOf(error) })
}

function exited(id: string, folder: string, code: number): void {
  const one = held.get(id)
  if (one) one.exitCode = code
  try {
    writeFileSync(join(folder, FILES.exit), `${code}\n`, { mode: 0o600 })
  } catch {
    // The folder is gone, or the disk is full: only a connected runtime learns the code.
  }
  tell({ is: 'exited', id, code })
  if (one?.isReleased) close(id)
}

function release(id: string): void {
  const one = held.get(id)
  if (!one) return
  one.isReleased = true
  if (one.exitCode !== null) close(id)
}

function close(id: string): void {
  for (const pipe of held.get(id)?.pipes ?? []) closeSync(pipe)
  held.delete(id)
  endIfIdle()
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}

/** A program that makes pipes is started for many at once. */
const PIPES_AT_ONCE = 64
const POOL = 'pipes'
const pool: string[] = []
let pipesMade = 0
function takePipe(): string {
  if (pool.length === 0) {
    const names = Array.from({ length: PIPES_AT_ONCE }, () => join(POOL, String(pipesMade++)))
    const { status, error } = spawnSync('mkfifo', names, { stdio: 'ignore' })
    if (status !== 0) throw error ?? new Error('mkfifo failed')
    pool.push(...names)
  }
  return pool.pop() ?? ''
}

const server = createServer({ allowHalfOpen: true }, (socket) => {
  // Messages of the previous runtime that are not read yet are dropped.
  runtime?.destroy()
  runtime = socket
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on(
    'data',
    decoder<ToSupervisor>((message) => {
      if (message.do === 'start') start(message)
      else release(message.id)
    }),
  )
  socket.once('end', () => leave(socket))
  socket.once('close', () => leave(socket))
  tell({ is: 'ready', held: [...held.keys()] })
})

function leave(socket: Socket): void {
  if (runtime === socket) runtime = null
  endIfIdle()
  // The socket is already removed by then, so the runtime that waits for this end can start another supervisor.
  socket.end()
}

function endIfIdle(): void {
  if (runtime === null && held.size === 0) server.close()
}

// Workloads have their own ways to end; how they did is still to be written down.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {})
// A runtime that was killed meanwhile has a successor, which has a supervisor of its own.
if (process.ppid !== Number(process.argv[2])) process.exit()
closeInherited()
process.umask(PRIVATE)
rmSync(POOL, { recursive: true, force: true })
mkdirSync(POOL, { mode: 0o700 })
rmSync(SOCKET, { force: true })
writeFileSync('supervisor.pid', formatProcessId({ pid: process.pid, identity: identityOfChild(process.pid) }))
server.listen(SOCKET, () => {
  chmodSync(SOCKET, 0o600)
  writeSync(OUTPUT, 'listening')
  closeSync(OUTPUT)
  setTimeout(endIfIdle, UNUSED_MS).unref()
})
