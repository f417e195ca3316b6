import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

/**
 * The client's half of a WebSocket, and no more of it than a measurement needs: a measurement on the same
 * two cores must cost less than the server does. It checks no UTF-8, takes no fragments, and reads all sockets of the
 * process into one buffer.
 */
export interface RawSocket {
  /** Text, as one masked frame. */
  send(text: string): void
  /** As a broken network would: no close frame. */
  cut(): void
  /** Stops reading; what the server sends stays in the kernel, and then with the server. */
  pause(): void
}
export interface RawHandlers {
  /** One text frame; the bytes are only there during the call. */
  readonly onText: (buffer: Buffer, start: number, end: number) => void
  /** The code of the close frame; null when the connection just ended. */
  readonly onEnd: (code: number | null) => void
}

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10
const READ_BYTES = 256 * 1024
const shared = Buffer.allocUnsafe(READ_BYTES)

/** Resolves once the server has agreed to speak graphql-transport-ws. */
export function openRawSocket(port: number, path: string, handlers: RawHandlers): Promise<RawSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<RawSocket>()
  let rest: Buffer | null = null
  let isUpgraded = false
  let code: number | null = null
  const raw: RawSocket = {
    send: (text) => void socket.write(frame(TEXT, Buffer.from(text))),
    cut: () => void socket.destroy(),
    pause: () => void socket.pause(),
  }
  const read = (buffer: Buffer, start: number, end: number): number =>
    readFrames(buffer, start, end, (opcode, from, to) => {
      if (opcode === TEXT) handlers.onText(buffer, from, to)
      else if (opcode === PING) socket.write(frame(PONG, Buffer.from(buffer.subarray(from, to))))
      else if (opcode === CLOSE) {
        code = to - from >= 2 ? buffer.readUInt16BE(from) : null
        socket.end(frame(CLOSE, Buffer.from(buffer.subarray(from, Math.min(to, from + 2)))))
      }
    })
  const take = (chunk: Buffer): void => {
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk
    let start = 0
    if (!isUpgraded) {
      start = bytes.indexOf('\r\n\r\n') + 4
      if (start < 4) {
        rest = Buffer.from(bytes)
        return
      }
      const status = bytes.toString('latin1', 0, bytes.indexOf('\r\n'))
      if (!status.includes(' 101 ')) return void socket.destroy(new Error(`no upgrade: ${status}`))
      isUpgraded = true
      resolve(raw)
    }
    const end = read(bytes, start, bytes.length)
    rest = end === bytes.length ? null : Buffer.from(bytes.subarray(end))
  }
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    // One buffer for all: each read is taken in before the next one begins.
    onread: {
      buffer: shared,
      callback(length) {
        take(shared.subarray(0, length))
        return true
      },
    },
  })
  socket.on('connect', () => socket.write(upgrade(port, path)))
  socket.on('error', reject)
  socket.on('close', () => {
    reject(new Error('the connection ended before its upgrade'))
    handlers.onEnd(code)
  })
  return promise
}

const upgrade = (port: number, path: string): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Protocol: graphql-transport-ws',
    '\r\n',
  ].join('\r\n')

/** Delivers whole frames; returns the offset of the first incomplete one. */
function readFrames(
  buffer: Buffer,
  start: number,
  end: number,
  onFrame: (opcode: number, from: number, to: number) => void,
): number {
  let at = start
  while (at + 2 <= end) {
    const opcode = (buffer[at] as number) & 0x0f
    let length = (buffer[at + 1] as number) & 0x7f
    let from = at + 2
    if (length === 126) {
      if (at + 4 > end) break
      length = buffer.readUInt16BE(at + 2)
      from = at + 4
    } else if (length === 127) {
      if (at + 10 > end) break
      length = Number(buffer.readBigUInt64BE(at + 2))
      from = at + 10
    }
    if (from + length > end) break
    onFrame(opcode, from, from + length)
    at = from + length
  }
  return at
}

/** Up to 64 kB, with a mask of zeros, which is a mask: the bytes stay as they are. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 6 : 8)
  head[0] = 0x80 | opcode
  head[1] = 0x80 | Math.min(length, 126)
  if (length >= 126) head.writeUInt16BE(length, 2)
  return Buffer.concat([head, payload])
}
