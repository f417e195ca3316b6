import { randomUUID } from 'node:crypto'
import { openRawSocket } from './subscribers-frames.ts'
import {
  type Answer,
  type Command,
  INDEX_DIGITS,
  monotonicMs,
  NAME_PREFIX,
  type Opening,
} from './subscribers-protocol.ts'

/** Many subscribers in one process: they count messages and note their times. See `subscribers.ts`. */

const PROGRESS_MS = 10
/** Connections that are being made at a time: fewer than a server's backlog. */
const AT_ONCE = 100
const MAX_SAMPLES = 4_000_000

const counts = { delivered: 0, reached: 0, outOfOrder: 0, bytes: 0 }
let oneIn = 0
let sampled = 0
const indexes = new Uint32Array(MAX_SAMPLES)
const arrivedAt = new Float64Array(MAX_SAMPLES)

const send = (answer: Answer): void => void process.send?.(answer)
const MARK = Buffer.from(`"${NAME_PREFIX}`)

function indexIn(buffer: Buffer, start: number, end: number): number {
  const at = buffer.indexOf(MARK, start) + MARK.length
  if (at < MARK.length || at + INDEX_DIGITS > end) return -1
  let index = 0
  for (let i = at; i < at + INDEX_DIGITS; i++) index = index * 10 + (buffer[i] as number) - 48
  return index
}

/** @param isDense each message's index is one more than that of the message before it */
async function subscribe(opening: Opening, number: number, isDense: boolean): Promise<void> {
  const { port, path, token, query, variables } = opening
  const acknowledged = Promise.withResolvers<void>()
  let isOpen = false
  let last = -1
  const socket = await openRawSocket(port, path, {
    onText(buffer, start, end) {
      const index = isOpen ? indexIn(buffer, start, end) : -1
      if (index < 0) return void other(buffer.toString('utf8', start, end))
      if (last < 0) counts.reached += 1
      else if (isDense ? index !== last + 1 : index <= last) counts.outOfOrder += 1
      last = index
      counts.delivered += 1
      counts.bytes += end - start
      if (oneIn === 0 || number % oneIn !== 0 || sampled === MAX_SAMPLES) return
      indexes[sampled] = index
      arrivedAt[sampled] = monotonicMs()
      sampled += 1
    },
    onEnd: (code) => fail(`subscriber ${number} was disconnected (${code})`),
  })
  const other = (text: string): void => {
    const { type } = JSON.parse(text) as { type: string }
    if (type === 'connection_ack') acknowledged.resolve()
    else if (type === 'ping') socket.send('{"type":"pong"}')
    else fail(`subscriber ${number} got ${text.slice(0, 500)}`)
  }
  socket.send(
    JSON.stringify({ type: 'connection_init', ...(token ? { payload: { authorization: `Bearer ${token}` } } : {}) }),
  )
  await acknowledged.promise
  isOpen = true
  // An id of its own, as clients make them: what a server sends to two subscribers is not the same bytes.
  socket.send(JSON.stringify({ id: randomUUID(), type: 'subscribe', payload: { query, variables: variables[number] } }))
}

function fail(message: string): void {
  send({ type: 'failed', message })
}

async function open(opening: Opening): Promise<void> {
  const isDense = new Set(opening.variables.map((variables) => JSON.stringify(variables))).size === 1
  let next = 0
  const work = async (): Promise<void> => {
    while (next < opening.variables.length) await subscribe(opening, next++, isDense)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  send({ type: 'opened' })
}

process.on('message', (command: Command) => {
  if (command.type === 'open') open(command.opening).catch((error: unknown) => fail(String(error)))
  else if (command.type === 'sample') {
    if (command.oneIn > 0) sampled = 0
    oneIn = command.oneIn
  } else {
    send({ type: 'samples', indexes: indexes.slice(0, sampled), arrivedAt: arrivedAt.slice(0, sampled) })
  }
})
process.on('disconnect', () => process.exit())

let reported = -1
setInterval(() => {
  if (counts.delivered === reported) return
  reported = counts.delivered
  const { user, system } = process.cpuUsage()
  send({ type: 'progress', ...counts, cpuMs: (user + system) / 1_000, at: monotonicMs() })
}, PROGRESS_MS)
