import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { parseManifests } from '../../src/manifest/index.ts'
import type { FuzzCase } from './cases.ts'
import type { Frame } from './frames.ts'
import type { Operation } from './operations.ts'
import type { Answer } from './oracle.ts'
import type { Target } from './target.ts'

/** Sends a case to the target, and returns its answers. */
export async function send(target: Target, one: FuzzCase): Promise<readonly Answer[]> {
  switch (one.kind) {
    case 'operations':
      return await sendOperations(target, one)
    case 'socket':
      return [await sendFrames(target.port, target.resolve(one.frames, one.as))]
    case 'http':
      return [await sendParts(target.port, target.resolve(one.parts, one.as))]
    case 'manifest':
      return [readManifest(one.text)]
  }
}

const ANSWER_MS = 20_000
const agent = new Agent({ keepAlive: true })
/** Lets a test end although connections are idle. */
export const closeConnections = (): void => agent.destroy()

async function sendOperations(
  target: Target,
  { operations, as }: Extract<FuzzCase, { readonly kind: 'operations' }>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (const operation of operations) {
    const answer = await post(target.port, target.token(as), target.resolve(operation, as))
    target.learn(answer.text)
    answers.push(answer)
  }
  return answers
}

export async function post(port: number, token: string, operation: Operation): Promise<Answer> {
  const first = await postOnce(port, token, operation)
  // While this process was busy, the server may have closed the connection for having been idle.
  return first === 'not sent' ? await postAnew(port, token, operation) : first
}

async function postAnew(port: number, token: string, operation: Operation): Promise<Answer> {
  agent.destroy()
  const again = await postOnce(port, token, operation)
  if (again === 'not sent') throw new Error('the server closes the connection')
  return again
}

function postOnce(port: number, token: string, operation: Operation): Promise<Answer | 'not sent'> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer | 'not sent'>()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' }
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/graphql',
    method: 'POST',
    headers,
    agent,
    timeout: ANSWER_MS,
  })
  sent.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
  })
  sent.on('timeout', () => sent.destroy(new Error('no answer')))
  sent.on('error', (error: NodeJS.ErrnoException) => {
    if (sent.reusedSocket && error.code === 'ECONNRESET') resolve('not sent')
    else reject(error)
  })
  sent.end(JSON.stringify(operation))
  return promise
}

/** Sends frames, waits until the server has read them, and ends. */
function sendFrames(port: number, frames: readonly Frame[]): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: { threshold: 0 },
  })
  let text = ''
  const late = setTimeout(() => reject(new Error('no answer')), ANSWER_MS)
  socket.on('message', (data) => {
    text += String(data)
  })
  socket.on('pong', (data) => {
    if (String(data) === 'last') socket.terminate()
  })
  // The server answers broken protocol with bytes that are no frame for `ws`.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED') reject(error)
  })
  socket.on('close', (code) => {
    clearTimeout(late)
    resolve({ status: code, text })
  })
  socket.on('open', () => {
    void sendAll(socket, frames).then(() => {
      if (socket.readyState === socket.OPEN) socket.ping('last')
      else setTimeout(() => socket.terminate(), 50)
    })
  })
  return promise
}

async function sendAll(socket: WebSocket, frames: readonly Frame[]): Promise<void> {
  for (const frame of frames) {
    if (socket.readyState !== socket.OPEN) return
    if ('wait' in frame) await Promise.race([once(socket, 'message'), once(socket, 'close')])
    else sendFrame(socket, frame)
  }
}

function sendFrame(socket: WebSocket, frame: Exclude<Frame, { readonly wait: true }>): void {
  if (socket.readyState !== socket.OPEN) return
  const done = (): void => {}
  if ('text' in frame) socket.send(frame.text, { compress: frame.compress ?? false }, done)
  else if ('fragments' in frame)
    for (const [i, part] of frame.fragments.entries())
      socket.send(part, { fin: i === frame.fragments.length - 1, binary: false }, done)
  else if ('binary' in frame) socket.send(Buffer.from(frame.binary, 'base64'), { binary: true }, done)
  else if ('ping' in frame) socket.ping(frame.ping, undefined, done)
  else if ('pong' in frame) socket.pong(frame.pong, undefined, done)
  else if ('close' in frame) socket.close(frame.close)
  else socketOf(socket).write(Buffer.from(frame.raw, 'base64'), done)
}
/** Below `ws`, which sends nothing that is not a frame. */
const socketOf = (socket: WebSocket): import('node:net').Socket =>
  (socket as unknown as { _socket: import('node:net').Socket })._socket

/** Sends bytes, then its end, and reads until the server ends. */
function sendParts(port: number, parts: readonly string[]): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  const late = setTimeout(() => reject(new Error('no answer')), ANSWER_MS)
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    // A stream of events does not end by itself.
    if (text.includes('text/event-stream')) socket.destroy()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED') reject(error)
  })
  socket.on('close', () => {
    clearTimeout(late)
    resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text })
  })
  socket.on('connect', () => {
    for (const part of parts) socket.write(part)
    socket.end()
  })
  return promise
}

/** Processor time, so that other load of the machine does not count. */
const MANIFEST_MS = 2_000
function readManifest(text: string): Answer {
  const before = process.cpuUsage()
  const read = JSON.stringify(parseManifests(text))
  const { user, system } = process.cpuUsage(before)
  const tookMs = (user + system) / 1_000
  if (tookMs > MANIFEST_MS) throw new Error(`it took ${tookMs} ms`)
  return { text: read }
}
