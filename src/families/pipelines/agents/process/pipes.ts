import { chmodSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { pause } from '../../../../client/pause.ts'
import { FILES } from './supervisor-messages.ts'

export interface PipesOptions {
  /** Path of a pipe of the workload; its supervisor holds the pipes open. */
  path(name: 'out' | 'err'): string
  /** False: output exceeds its limits, so reading slows down. */
  onOutput(stream: 'STDOUT' | 'STDERR', chunk: Buffer): boolean
}

/** The reading ends of a workload's pipes. Unread output stays in them; when they are full, the workload waits. */
export interface Pipes {
  /** Resolves when all output has been read, or soon if a process still holds the pipes open. */
  drain(): Promise<void>
  /** Stops reading. */
  close(): void
}

/** Pause of reading when output exceeds its limits: at most 6.5 MB a second are then read of one pipe. */
const SLOW_MS = 10
/** A process that cannot be ended may hold the pipes. */
const DRAIN_MS = 500

export function openPipes({ path, onOutput }: PipesOptions): Pipes {
  const [out, err] = [openPipe(path(FILES.out)), openPipe(path(FILES.err))]
  const timers = new Set<NodeJS.Timeout>()
  const read = (socket: Socket, stream: 'STDOUT' | 'STDERR'): void => {
    socket.on('data', (chunk: Buffer) => {
      if (onOutput(stream, chunk)) return
      socket.pause()
      const timer = setTimeout(() => {
        timers.delete(timer)
        socket.resume()
      }, SLOW_MS)
      timers.add(timer)
    })
  }
  const drained = Promise.all([closed(out), closed(err)])
  read(out, 'STDOUT')
  read(err, 'STDERR')
  return {
    async drain() {
      await Promise.race([drained, pause(DRAIN_MS)])
    },
    close() {
      for (const timer of timers) clearTimeout(timer)
      for (const socket of [out, err]) socket.destroy()
    },
  }
}

function openPipe(path: string): Socket {
  // The workload has it open, and may have changed what its mode permits.
  chmodSync(path, 0o600)
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: true, writable: false })
  // `close` follows every error.
  socket.on('error', () => {})
  return socket
}

const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()))
