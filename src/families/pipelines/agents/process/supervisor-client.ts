import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pause } from '../../../../client/pause.ts'
import { whyNotStarted } from '../../../../core/why-not-started.ts'
import { onLinux } from '../../../../process/identity.ts'
import { StartProblem } from '../runtime/runtime.ts'
import {
  decoder,
  encode,
  type FromSupervisor,
  SOCKET,
  type StartMessage,
  type ToSupervisor,
} from './supervisor-messages.ts'

/** The way to the supervisor of a state folder. Disposing it leaves the supervisor and all workloads running. */
export interface Supervisor extends AsyncDisposable {
  /**
   * Resolves when the workload has started. No other runtime's start is on its way then.
   * @throws StartProblem
   */
  start(request: Omit<StartMessage, 'do'>): Promise<void>
  /** Its pipes can be read. */
  holds(id: string): boolean
  /** Resolves to the exit code once it has ended; null: the supervisor is gone. */
  exited(id: string): Promise<number | null>
  /** Its pipes are open here, or not needed: once it has ended, they are closed there. */
  release(id: string): void
}

/** As source and as built. */
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './supervisor.ts' : './supervisor.js', import.meta.url),
)
const HEAP = '--max-old-space-size=64'
/** A supervisor without workloads is let go, and started again when there is one. */
const IDLE_MS = 60_000
const LEAVE_MS = 1_000

interface Held {
  readonly exit: PromiseWithResolvers<number | null>
}

/** @param folder is locked by this process */
export async function openSupervisor(folder: string): Promise<Supervisor> {
  await using opening = new AsyncDisposableStack()
  const directory = opening.use(await open(folder))
  // The path of a socket has at most 107 bytes: this one is short wherever the folder is.
  const path = onLinux ? `/proc/self/fd/${directory.fd}/${SOCKET}` : join(folder, SOCKET)
  const client = new SupervisorClient(folder, path, opening.move())
  await client.connect()
  return client
}

class SupervisorClient implements Supervisor {
  readonly #folder: string
  readonly #path: string
  readonly #owned: AsyncDisposableStack
  readonly #held = new Map<string, Held>()
  readonly #starting = new Map<string, PromiseWithResolvers<void>>()
  #socket: Promise<Socket | null> = Promise.resolve(null)
  #idle: NodeJS.Timeout | undefined

  constructor(folder: string, path: string, owned: AsyncDisposableStack) {
    this.#folder = folder
    this.#path = path
    this.#owned = owned
  }

  /** Connects to a supervisor that an earlier runtime has left. */
  async connect(): Promise<void> {
    this.#socket = this.#reach()
    if ((await this.#socket) !== null) this.#letGoIfIdle()
  }

  async start(request: Omit<StartMessage, 'do'>): Promise<void> {
    const { id } = request
    const socket = await this.#ensure()
    const started = Promise.withResolvers<void>()
    this.#starting.set(id, started)
    this.#held.set(id, { exit: Promise.withResolvers() })
    socket.write(encode({ do: 'start', ...request } satisfies ToSupervisor))
    await started.promise
  }

  holds(id: string): boolean {
    return this.#held.has(id)
  }

  exited(id: string): Promise<number | null> {
    return this.#held.get(id)?.exit.promise ?? Promise.resolve(null)
  }

  release(id: string): void {
    if (!this.#held.delete(id)) return
    void this.#socket.then((socket) => socket?.write(encode({ do: 'release', id })))
    this.#letGoIfIdle()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle)
    await this.#leave()
    await this.#owned.disposeAsync()
  }

  /** One start of a supervisor at a time. */
  #ensure(): Promise<Socket> {
    clearTimeout(this.#idle)
    const socket = this.#socket.then(async (current) => {
      if (current && !current.destroyed) return current
      return (await this.#reach()) ?? (await this.#launch())
    })
    this.#socket = socket.catch(() => null)
    return socket
  }

  async #launch(): Promise<Socket> {
    await using log = await open(join(this.#folder, 'supervisor.log'), 'w', 0o600)
    const child = spawn(process.execPath, [HEAP, PROGRAM, String(process.pid)], {
      cwd: this.#folder,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', log.fd],
      detached: true,
    })
    child.unref()
    await new Promise((resolve) => {
      child.once('error', resolve)
      child.stdout?.once('data', resolve).once('close', resolve)
    })
    child.stdout?.destroy()
    const socket = await this.#reach()
    if (!socket) throw new StartProblem('Its supervisor could not be started.')
    return socket
  }

  /** Null: there is no supervisor. */
  async #reach(): Promise<Socket | null> {
    const socket = connect({ path: this.#path, allowHalfOpen: false })
    socket.setEncoding('utf8')
    const ready = Promise.withResolvers<Socket | null>()
    // `close` follows every error.
    socket.on('error', () => {})
    socket.once('close', () => {
      ready.resolve(null)
      this.#lose()
    })
    socket.on(
      'data',
      decoder<FromSupervisor>((message) => {
        if (message.is !== 'ready') return this.#take(message)
        for (const id of message.held) this.#held.set(id, { exit: Promise.withResolvers() })
        ready.resolve(socket)
      }),
    )
    return await ready.promise
  }

  #take(message: Exclude<FromSupervisor, { is: 'ready' }>): void {
    const { id } = message
    switch (message.is) {
      case 'started':
        this.#starting.get(id)?.resolve()
        this.#starting.delete(id)
        break
      case 'failed':
        this.#starting.get(id)?.reject(new StartProblem(`It could not be started: ${whyNotStarted(message.code)}.`))
        this.#starting.delete(id)
        this.#held.delete(id)
        this.#letGoIfIdle()
        break
      case 'exited':
        this.#held.get(id)?.exit.resolve(message.code)
        break
      default:
        message satisfies never
    }
  }

  /** The supervisor has ended: its workloads have lost their parent. */
  #lose(): void {
    for (const { exit } of this.#held.values()) exit.resolve(null)
    this.#held.clear()
    for (const started of this.#starting.values()) started.reject(new StartProblem('Its supervisor has ended.'))
    this.#starting.clear()
  }

  #letGoIfIdle(): void {
    clearTimeout(this.#idle)
    if (this.#held.size > 0) return
    this.#idle = setTimeout(() => {
      this.#socket = this.#leave().then(() => null)
    }, IDLE_MS)
    this.#idle.unref()
  }

  /** Resolves when the supervisor has received it. */
  async #leave(): Promise<void> {
    const socket = await this.#socket
    if (!socket || socket.destroyed) return
    const closed = once(socket, 'close')
    socket.end()
    await Promise.race([closed, pause(LEAVE_MS)])
    socket.destroy()
  }
}
