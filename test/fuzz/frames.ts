import { operation } from './operations.ts'
import type { Tape } from './tape.ts'
import { json, text } from './values.ts'

/** A client's message over a WebSocket; they are sent in order. */
export type Frame =
  | { readonly text: string; readonly compress?: boolean }
  | { readonly fragments: readonly string[] }
  /** In base64. */
  | { readonly binary: string }
  | { readonly ping: string }
  | { readonly pong: string }
  /** Bytes that are no frame, in base64. */
  | { readonly raw: string }
  | { readonly close: number }
  /** Sends nothing, and waits until something has been received. */
  | { readonly wait: true }

const base64 = (content: string): string => Buffer.from(content).toString('base64')

export const frames = (tape: Tape): readonly Frame[] => [
  ...(tape.once(4) ? [] : initialised(tape)),
  ...tape.list(8, () => frame(tape)),
]

const initialised = (tape: Tape): readonly Frame[] => [
  { text: message({ type: 'connection_init', payload: { authorization: '@bearer' } }) },
  ...(tape.once(3) ? [] : [{ wait: true as const }]),
]

const message = (content: unknown): string => JSON.stringify(content) ?? 'null'

function frame(tape: Tape): Frame {
  const sent = protocolMessage(tape)
  switch (tape.int(14)) {
    case 7:
      return { fragments: [sent.slice(0, 5), '', sent.slice(5)] }
    case 8:
      return { binary: base64(tape.pick([sent, text(tape)])) }
    case 9:
      return { ping: text(tape).slice(0, 30) }
    case 10:
      return { pong: text(tape).slice(0, 30) }
    case 11:
      return {
        raw: base64(
          tape.pick([
            '\x81',
            '\x81\x85\0\0\0\0hello',
            '\x8f\x80',
            '\xff\xff\xff',
            '\x01\x7f\xff\xff\xff\xff\xff\xff\xff\xff',
            'GET / HTTP/1.1\r\n\r\n',
          ]),
        ),
      }
    case 12:
      return { close: tape.pick([1000, 1001, 3000, 4400, 4999]) }
    case 13:
      return {
        text: tape.pick([
          text(tape),
          sent.slice(0, -2),
          `${sent}${sent}`,
          '['.repeat(300),
          '{"type":"subscribe","id":"a"',
          message(json(tape)),
        ]),
      }
    default:
      return { text: sent, compress: tape.once(3) }
  }
}

function protocolMessage(tape: Tape): string {
  const id = tape.pick(['1', '1', '2', '', '__proto__', 'x'.repeat(300)])
  return message(
    tape.pick<() => unknown>([
      () => ({ id, type: 'subscribe', payload: operation(tape) }),
      () => ({ id, type: 'subscribe', payload: operation(tape, ['subscription']) }),
      () => ({ id, type: 'complete' }),
      () => ({ type: 'ping', payload: json(tape) }),
      () => ({ type: 'pong' }),
      () => ({ type: 'connection_init', payload: json(tape) }),
      () => ({
        type: 'connection_init',
        payload: { authorization: tape.pick<unknown>(['@bearer', 'Bearer x', {}, 1, text(tape)]) },
      }),
      () => ({ type: 'connection_ack' }),
      () => ({ id, type: tape.pick(['next', 'error', 'start', '__proto__', '', 'subscribe']), payload: json(tape) }),
      () => ({ id: json(tape), type: json(tape) }),
    ])(),
  )
}
