import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { openRawSocket, type RawSocket } from '../subscribers-frames.ts'

/**
 * Subscribers that are cut off again and again and resume after the last sequence that they have seen, on any
 * gateway that they reach. Controlled over IPC; see `storm.ts`.
 */
export interface StormOpening {
  readonly ports: readonly number[]
  readonly token: string
  readonly subscribers: number
  /** The last sequence: a subscriber that has it is done. */
  readonly through: number
  /** About how often each is cut off, and within how much time. */
  readonly cuts: number
  readonly withinMs: number
}
export type StormCommand = { readonly type: 'open'; readonly opening: StormOpening } | { readonly type: 'cut' }
export interface StormCounts {
  readonly connected: number
  readonly done: number
  readonly received: number
  readonly gaps: number
  readonly duplicates: number
  readonly cuts: number
  /** Connections beyond the first of each. */
  readonly reconnections: number
  /** Attempts that failed. */
  readonly refused: number
  /** The first violations. */
  readonly problems: readonly string[]
}

const FIELDS = 'sequence objectId kind name from to at'
const LOG = `subscription ($after: Sequence!) { phaseLog(after: $after) { through changes { ${FIELDS} } } }`
const CHANGES = `subscription ($after: Sequence!) { phaseChanges(after: $after) { ${FIELDS} } }`
/** One in so many follows change by change, the others in batches. */
const ONE_BY_ONE = 5
const MARK = Buffer.from('"sequence":')
const counts = { connected: 0, done: 0, received: 0, gaps: 0, duplicates: 0, cuts: 0, reconnections: 0, refused: 0 }
const problems: string[] = []
const sockets = new Map<number, RawSocket>()

function problem(text: string): void {
  if (problems.length < 20) problems.push(text)
}

class Follower {
  readonly #number: number
  readonly #opening: StormOpening
  #last = 0
  #attempts = 0

  constructor(number: number, opening: StormOpening) {
    this.#number = number
    this.#opening = opening
  }

  get isDone(): boolean {
    return this.#last >= this.#opening.through
  }

  /** Until it has seen everything. */
  async follow(): Promise<void> {
    while (!this.isDone) {
      if (this.#attempts++ > 0) await delay(20 + Math.random() * 200)
      const ended = Promise.withResolvers<void>()
      const { ports } = this.#opening
      const port = ports[Math.floor(Math.random() * ports.length)] as number
      try {
        const socket = await openRawSocket(port, '/graphql', {
          onText: (buffer, start, end) => this.#take(buffer, start, end),
          onEnd: () => ended.resolve(),
        })
        sockets.set(this.#number, socket)
        if (this.#attempts > 1) counts.reconnections += 1
        socket.send(
          JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${this.#opening.token}` } }),
        )
        await ended.promise
      } catch {
        counts.refused += 1
      }
      sockets.delete(this.#number)
    }
    counts.done += 1
  }

  #take(buffer: Buffer, start: number, end: number): void {
    const head = buffer.toString('latin1', start, Math.min(end, start + 100))
    if (head.includes('"connection_ack"')) this.#subscribe()
    else if (head.includes('"next"')) this.#read(buffer, start, end)
    else if (!head.includes('"ping"') && !head.includes('"complete"')) problem(buffer.toString('utf8', start, end))
    if (this.isDone) sockets.get(this.#number)?.cut()
  }

  #subscribe(): void {
    const query = this.#number % ONE_BY_ONE === 0 ? CHANGES : LOG
    const payload = { query, variables: { after: this.#last } }
    sockets.get(this.#number)?.send(JSON.stringify({ id: randomUUID(), type: 'subscribe', payload }))
    if (this.#attempts === 1) counts.connected += 1
  }

  #read(buffer: Buffer, start: number, end: number): void {
    if (buffer.subarray(start, end).includes('"errors":')) problem(buffer.toString('utf8', start, end))
    for (let at = buffer.indexOf(MARK, start); at >= 0 && at < end; at = buffer.indexOf(MARK, at)) {
      at += MARK.length
      let sequence = 0
      for (let digit = buffer[at] ?? 0; digit >= 48 && digit <= 57; digit = buffer[++at] ?? 0) {
        sequence = sequence * 10 + digit - 48
      }
      if (sequence <= this.#last) counts.duplicates += 1
      else if (sequence !== this.#last + 1) counts.gaps += 1
      this.#last = Math.max(this.#last, sequence)
      counts.received += 1
    }
  }
}

function cutNow(followers: readonly Follower[], opening: StormOpening): void {
  const { subscribers, cuts, withinMs } = opening
  for (let i = 0; i < subscribers; i++) {
    for (let cut = 0; cut < cuts; cut++) {
      setTimeout(() => {
        const socket = sockets.get(i)
        if (!socket || followers[i]?.isDone) return
        counts.cuts += 1
        socket.cut()
      }, Math.random() * withinMs)
    }
  }
}

let followers: readonly Follower[] = []
let opening: StormOpening | null = null
process.on('message', (command: StormCommand) => {
  if (command.type === 'cut' && opening) cutNow(followers, opening)
  else if (command.type === 'open') {
    const given = command.opening
    opening = given
    followers = Array.from({ length: given.subscribers }, (_, i) => new Follower(i, given))
    for (const follower of followers) {
      follower.follow().catch((error: unknown) => problem(String(error)))
    }
  }
})
setInterval(() => process.send?.({ ...counts, problems } satisfies StormCounts), 100)
process.on('disconnect', () => process.exit())
