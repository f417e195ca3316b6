import type { Socket } from 'node:net'
import type { Server } from 'graphql-ws'
import type { WebSocket } from 'ws'
import type { InFlight } from '../../core/in-flight.ts'
import type { System } from '../../core/ports/system.ts'
import type { CallerTrace, RequestOrigin, Viewer } from '../../core/ports/viewer.ts'
import type { Logger } from '../../logger.ts'
import type { TokenParts } from '../auth/check-token.ts'
import { authorizationIn, bearerOf } from '../auth/credentials.ts'
import { tokenBehind } from '../auth/sign-in-cookie.ts'
import type { TextProblem } from '../json/request-text.ts'
import type { Account } from '../limits/accounts.ts'
import type { Bounds } from '../limits/bounds.ts'
import type { Caller, Reservation } from '../limits/callers.ts'
import type { Connections, EndReason } from '../limits/connections.ts'
import { LATE_MS } from '../limits/late-refusals.ts'
import type { ClientSink } from '../streams/client-sink.ts'
import { ArrivingBytes } from './arriving-bytes.ts'
import { CLOSE } from './close-codes.ts'
import { dismiss } from './dismiss.ts'
import { IncomingMessages } from './incoming-messages.ts'
import { MessageReservations } from './message-reservations.ts'
import { lifeOf, renewToken } from './renew-token.ts'
import { socketSink } from './socket-sink.ts'
import type { UnauthenticatedSocket } from './unauthenticated-sockets.ts'

/** Interval of pings; a client that does not answer before the next one is disconnected. */
const KEEP_ALIVE_MS = 15_000

export interface SessionParts extends Bounds, TokenParts {
  readonly connections: Connections
  /** Takes the operations, which may outlive their sockets. */
  readonly inFlight: InFlight
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
}

/** Messages that may wait on a socket whose caller has sent too many, or is not known yet. */
const MAX_WAITING = 64
/** Characters of an answer to a ping that cost as much as one more request. */
const PONG_OF_A_REQUEST = 1_024

type Handle = (text: string) => Promise<void>

/** A socket whose handshake is done. */
export interface OpenedSocket {
  readonly socket: WebSocket
  readonly stream: Socket
  readonly newcomer: UnauthenticatedSocket
  readonly origin: RequestOrigin
  /** The secret of its token, in the headers of the upgrade. Pages cannot send any. */
  readonly secret: string | null
  /** Tokens in the cookies of the upgrade, which the page key of a page opens. */
  readonly sealed: readonly string[]
}

/** The credentials that opened a socket, or replaced these since. */
interface Credentials {
  secret: string
  viewer: Viewer
}

/** One socket, as the protocol of its operations sees it. */
export class SocketSession {
  readonly sink: ClientSink
  /** The trace of its connection_init; each operation may have its own. */
  trace: { readonly trace?: CallerTrace } = {}
  readonly #socket: WebSocket
  readonly #opened: OpenedSocket
  readonly #parts: SessionParts
  readonly #incoming: IncomingMessages
  /** Null before a token is accepted. */
  #credentials: Credentials | null = null
  #caller: Caller | null = null
  #arriving: ArrivingBytes | null = null
  #message = new MessageReservations(null, null)
  /** Ids of operations with a single result that run. */
  readonly #answering = new Set<string>()
  /** The data of the last ping that is not answered; one answer is for all before it. */
  #ping: Buffer | null = null
  #answered: PromiseWithResolvers<void> | null = null
  #isLeaving = false

  constructor(opened: OpenedSocket, parts: SessionParts) {
    this.sink = socketSink(opened.socket, opened.stream, { ...parts, account: () => this.account })
    this.#socket = opened.socket
    this.#opened = opened
    this.#parts = parts
    this.#incoming = new IncomingMessages(opened.socket, {
      maxValues: parts.limits.jsonValues,
      turn: () => this.turn(),
    })
  }

  /** Its token; null before one is accepted. */
  get secret(): string | null {
    return this.#credentials?.secret ?? null
  }

  /** The secret of a connection_init; without one in it, that of the upgrade. */
  secretIn(payload: unknown): string | null {
    const authorization = authorizationIn(payload)
    const { secret, sealed } = this.#opened
    return authorization ? tokenBehind(bearerOf(authorization), () => sealed) : secret
  }

  get origin(): RequestOrigin {
    return this.#opened.origin
  }

  /** The message handled in this very turn of the event loop. */
  get message(): MessageReservations {
    return this.#message
  }

  /** Runs the protocol until the socket closes. */
  run(protocol: Server<SocketSession>): void {
    const socket = this.#socket
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => this.#send(text),
        close: (code, reason = '') => socket.close(code, fittingReason(reason)),
        onPing: (payload) => this.#answerPing(payload),
        onMessage: (handle) => {
          socket.on('message', (data) => this.#receive(data as Buffer, handle))
        },
      },
      this,
    )
    socket.on('ping', (data) => this.#receivePing(data))
    socket.on('pong', () => void this.#count(null))
    // `ws` has closed the socket, with the code of the error.
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.#parts.refusals.count('TOO_LARGE')
    })
    socket.once('close', (code, reason) => {
      closed(code, String(reason)).catch((error: unknown) => this.#logError(error))
    })
    keepAlive(socket, () => this.#incoming.isPaused)
  }

  /** A server that shuts down still answers an operation with a single result. */
  begun(id: string): void {
    this.#answering.add(id)
  }
  ended(id: string): void {
    // graphql-ws calls this right before it says so to the client.
    setImmediate(() => {
      this.#answering.delete(id)
      if (this.#answering.size === 0) this.#answered?.resolve()
    })
  }

  /** Closes the socket once its operations have ended, but for subscriptions; or after a time. */
  async leave(withinMs: number): Promise<void> {
    // Later operations do not begin: the close code directs the client to another gateway.
    this.#isLeaving = true
    const socket = this.#socket
    const closed = new Promise((resolve) => socket.once('close', resolve))
    if (this.#answering.size > 0) {
      this.#answered = Promise.withResolvers()
      const late = setTimeout(() => this.#answered?.resolve(), withinMs)
      await Promise.race([this.#answered.promise, closed])
      clearTimeout(late)
    }
    this.#close('SERVICE_RESTART')
    await closed
  }

  initialised(): void {
    this.#opened.newcomer.initialised()
  }

  /**
   * The payload of connection_ack, or true for none. False: the socket was closed while its token was checked, or the
   * caller has too many.
   */
  accept(secret: string, viewer: Viewer): boolean | Record<string, unknown> {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return false
    const { newcomer, origin, stream } = this.#opened
    const caller = this.#parts.callers.as(viewer, origin.address)
    const held = caller.reserve('openSockets')
    const excess = held.take()
    if (excess) {
      this.#parts.refusals.count('TOO_MANY_SOCKETS', excess.share)
      this.#close('TOO_MANY_SOCKETS')
      return false
    }
    socket.once('close', () => held.end())
    const credentials = { secret, viewer, isStream: false }
    this.#credentials = credentials
    this.#caller = caller
    newcomer.accepted()
    this.#arriving = new ArrivingBytes({ socket, stream, caller, refusals: this.#parts.refusals })
    const end = (why: EndReason | 'CLOSING') => this.#close(why === 'CHANGED' ? 'RIGHTS_CHANGED' : 'FORBIDDEN')
    socket.once('close', this.#parts.connections.opened(Object.assign(credentials, { end })))
    return lifeOf(viewer, this.#parts.system.now()) ?? true
  }

  /** A ping may carry a fresh token, so that the socket outlives the one that opened it. */
  async #answerPing(payload: unknown): Promise<void> {
    const credentials = this.#credentials
    const authorization = authorizationIn(payload)
    if (!credentials || authorization === undefined) return await this.#pong(payload)
    const secret = this.secretIn(payload)
    const renewal = await renewToken(secret, { before: credentials, origin: this.origin, parts: this.#parts })
    if (renewal.kind === 'refused') return this.#close(renewal.why)
    if (renewal.kind === 'renewed') {
      credentials.secret = renewal.secret
      credentials.viewer = renewal.viewer
    }
    await this.#pong(lifeOf(credentials.viewer, this.#parts.system.now()) ?? undefined)
  }

  #pong(payload: unknown): Promise<void> {
    const text = JSON.stringify({ type: 'pong', payload })
    // A ping does nothing, so one that is large costs more than an operation of the same size.
    this.#caller?.charge(Math.floor(text.length / PONG_OF_A_REQUEST))
    return this.#send(text)
  }

  /** There is no token, or a wrong one. */
  unauthenticated(secret: string | null): void {
    this.#parts.refusals.count('UNAUTHENTICATED')
    this.#close(secret === null ? 'TOKEN_MISSING' : 'FORBIDDEN')
  }

  /** The token could not be checked. */
  unavailable(error: unknown): void {
    this.#logError(error)
    this.#close('UNAVAILABLE')
  }

  #receive(data: Buffer, handle: Handle): void {
    if (this.#isLeaving || !this.#isOpen) return
    const message = this.#count(this.#arriving?.arrived() ?? null)
    this.#caller?.meter()(data.length)
    this.#incoming.read(data, (read) => {
      // Nobody would end what it begins.
      if (this.#socket.readyState === this.#socket.CLOSED) return message.end()
      this.#message = message
      // Declared for texts, it takes what is parsed, too.
      const handled = read.ok ? handle(read.message as string) : this.#refuse(data, read.problem)
      this.#parts.inFlight
        .track(handled)
        .catch((error: unknown) => this.#failed(error))
        .finally(() => message.end())
    })
  }

  /** A ping of the transport. */
  #receivePing(data: Buffer): void {
    if (!this.#isOpen) return
    this.#count(null)
    const isFirst = this.#ping === null
    this.#ping = data
    if (isFirst) this.#incoming.inTurn(() => this.#answerTransport())
  }

  #answerTransport(): void {
    const data = this.#ping
    this.#ping = null
    // Nothing is kept for a client that does not read.
    if (data === null || !this.#isOpen || !this.sink.isReady) return
    this.#socket.pong(data)
    this.sink.written()
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** The socket of a caller that has sent too many messages lately is not read for a while. */
  #count(bytes: Reservation | null): MessageReservations {
    const message = new MessageReservations(this.#caller, bytes)
    const { excess } = message
    // One piece may hold thousands of messages, and those that may not come any more would fill the memory.
    if (this.#incoming.waiting >= MAX_WAITING && (excess || !this.#caller)) {
      this.#parts.refusals.count('TOO_MANY', 'socket')
      dismiss(this.#socket, this.#opened.stream, CLOSE.TOO_MANY_MESSAGES)
    } else if (excess) {
      this.#parts.refusals.count(excess.code, excess.share)
      this.#incoming.pauseFor(LATE_MS)
    }
    return message
  }

  /** The caller's; before its token is known, that of its address. */
  get account(): Account {
    return this.#caller?.principal ?? this.#parts.callers.strangersAt(this.origin.address)
  }
  turn(): Promise<void> | undefined {
    return this.#parts.turns.next(this.account)
  }

  /** Fails the operation, if the message is the beginning of one. */
  async #refuse(data: Buffer, problem: TextProblem | 'INVALID'): Promise<void> {
    if (problem === 'INVALID') return this.#close('INVALID_MESSAGE')
    const { code, message } = problem
    this.#parts.refusals.count(code)
    const [, id] = SUBSCRIBE.exec(data.toString('utf8', 0, HEAD)) ?? []
    if (this.secret === null || id === undefined) return this.#close('INVALID_MESSAGE')
    const payload = [{ message, extensions: { code } }]
    await this.#send(JSON.stringify({ id, type: 'error', payload }))
  }

  #send(text: string): Promise<void> {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return Promise.resolve()
    return new Promise((resolve, reject) => {
      socket.send(text, (error) => (error ? reject(error) : resolve()))
      this.sink.written()
    })
  }

  #failed(error: unknown): void {
    const socket = this.#socket
    // The client has gone.
    if (socket.readyState !== socket.OPEN) return
    if (this.secret === null || isUnexpected(error)) return this.#close('INVALID_MESSAGE')
    this.#logError(error)
    this.#close('INTERNAL')
  }

  #close(why: keyof typeof CLOSE): void {
    this.#socket.close(CLOSE[why].code, CLOSE[why].reason)
  }

  #logError(error: unknown): void {
    this.#parts.logger.error({ err: error }, 'a WebSocket failed')
  }
}

/** A close frame has no room for more, and reasons of graphql-ws quote the ids of clients. */
const MAX_REASON_BYTES = 123
function fittingReason(reason: string): string {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES))
  return reason.slice(0, read)
}

/** As clients write it: a message that is refused for its text is not parsed. */
const HEAD = 1_024
const SUBSCRIBE = /^\{"id":"([^"\\]{1,255})","type":"subscribe"/

/** graphql-ws throws for a message that only servers send. */
const isUnexpected = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Unexpected message of type')

/** A socket that is not read at the moment is not to blame for a missing answer. */
function keepAlive(socket: WebSocket, isPaused: () => boolean): void {
  let hasAnswered = true
  socket.on('pong', () => {
    hasAnswered = true
  })
  const timer = setInterval(() => {
    if (!hasAnswered && !isPaused()) return socket.terminate()
    hasAnswered = false
    socket.ping()
  }, KEEP_ALIVE_MS)
  socket.once('close', () => clearInterval(timer))
}
