import type { KubeConfig, V1Status } from '@kubernetes/client-node'
import WebSocket, { createWebSocketStream } from 'ws'
import { asError } from '../../client/as-error.ts'
import { errorOf } from './api.ts'

/** Commands in containers that run. The client's own `Exec` neither waits for a slow reader nor tells of a connection that ends early. */

export interface ExecCommand {
  readonly container: string
  readonly command: readonly string[]
  /** Older API servers cannot tell the command that its input ends. */
  readonly input?: AsyncIterable<Uint8Array>
}

/** The command has ended with another exit code than 0, or could not begin. */
export class ExecError extends Error {
  override name = 'ExecError'
  /** Null: it has not begun. */
  readonly exitCode: number | null
  constructor(exitCode: number | null, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The first of them that the server speaks. They differ in how an input ends. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const STDIN = Buffer.from([0])
const CHANNELS = { stdout: 1, stderr: 2, status: 3 } as const
const HANDSHAKE_MS = 30_000
const PING_MS = 15_000
/** A connection that says nothing for so long is broken, although nobody has closed it. */
const SILENT_MS = 60_000
/** The last words of a command on its standard error. */
const MAX_ERROR = 4_096
const MAX_REFUSAL = 65_536

/**
 * Runs a command, and returns its standard output as it is read. One attempt: the command may run although this fails.
 * @param path that of the pod @throws ApiError, ExecError, or the error of its input
 */
export async function* execute(
  config: KubeConfig,
  path: string,
  { container, command, input }: ExecCommand,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const query = new URLSearchParams({ container, stdout: 'true', stderr: 'true', ...(input ? { stdin: 'true' } : {}) })
  for (const word of command) query.append('command', word)
  const options: WebSocket.ClientOptions = { handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false }
  await config.applyToHTTPSOptions(options)
  signal.throwIfAborted()
  const server = config.getCurrentCluster()?.server.replace(/^http/, 'ws')
  const socket = new WebSocket(`${server}${path}/exec?${query}`, PROTOCOLS, options)
  let failure: Error | null = null
  const fail = (error: unknown): void => {
    failure ??= asError(error)
    socket.terminate()
  }
  const abort = (): void => fail(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  socket.on('unexpected-response', (_, response) => void refusalOf(response).then(fail, fail))
  using _ = watchSilence(socket, fail)
  const stream = createWebSocketStream(socket, { readableObjectMode: true })
  // A handshake that is refused begins no input, which nobody would end.
  if (input) socket.once('open', () => void send(stream, input).catch(fail))
  let said = ''
  try {
    for await (const message of stream as AsyncIterable<Buffer>) {
      const body = message.subarray(1)
      if (message[0] === CHANNELS.stdout && body.length > 0) yield body
      else if (message[0] === CHANNELS.stderr) said = `${said}${body}`.slice(-MAX_ERROR)
      else if (message[0] === CHANNELS.status) return judge(JSON.parse(body.toString()) as V1Status, said)
    }
    throw new Error('The connection to the container has ended before its command.')
  } catch (error) {
    throw failure ?? error
  } finally {
    signal.removeEventListener('abort', abort)
    socket.terminate()
  }
}

/** Runs a command for its effect. */
export async function run(...command: Parameters<typeof execute>): Promise<void> {
  for await (const _ of execute(...command));
}

async function send(stream: NodeJS.WritableStream, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of input)
    await new Promise<void>((resolve, reject) =>
      stream.write(Buffer.concat([STDIN, piece]), (error) => (error ? reject(error) : resolve())),
    )
}

async function refusalOf(response: AsyncIterable<Buffer> & { readonly statusCode?: number | undefined }) {
  let text = ''
  for await (const chunk of response) {
    text += chunk
    if (text.length > MAX_REFUSAL) break
  }
  return errorOf(response.statusCode ?? 0, text)
}

/** @throws ExecError */
function judge({ status, reason, message = '', details }: V1Status, said: string): void {
  if (status === 'Success') return
  const exitCode = details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message
  if (reason === 'NonZeroExitCode' && exitCode !== undefined)
    throw new ExecError(Number(exitCode), lastLine(said) || message)
  throw new ExecError(null, message)
}

const lastLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/\p{Cc}/gu, ' ') ?? ''

function watchSilence(socket: WebSocket, fail: (error: Error) => void): Disposable {
  let heardAt = performance.now()
  const hear = (): void => {
    heardAt = performance.now()
  }
  for (const event of ['open', 'message', 'pong'] as const) socket.on(event, hear)
  const timer = setInterval(() => {
    // Nothing is heard while the reader is busy.
    if (socket.isPaused) hear()
    if (performance.now() - heardAt > SILENT_MS) fail(new Error('The connection to the container is silent.'))
    else if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, PING_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
