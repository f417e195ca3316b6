import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { ExecError, execute } from '../../src/agents/kubernetes/exec.ts'
import { until } from '../testkit/wait.ts'

/** Commands in containers over connections that a real API server rarely has: a slow reader, a cut, a refusal. */

const [STDIN, STDOUT, STDERR, STATUS] = [0, 1, 2, 3]
const frame = (channel: number, content: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from([channel]), Buffer.from(content)])
const status = (body: object): Buffer => frame(STATUS, JSON.stringify(body))
const SUCCESS = status({ status: 'Success' })

async function apiServer(
  serve: (socket: WebSocket, path: string) => void,
  refusal?: { status: number; message: string },
) {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v4.channel.k8s.io' })
  server.on('upgrade', (request, socket, head) => {
    if (refusal) {
      const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: refusal.message })
      return void socket.end(`HTTP/1.1 ${refusal.status} No\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    }
    sockets.handleUpgrade(request, socket, head, (connected) => serve(connected, request.url ?? ''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const config = new KubeConfig()
  config.loadFromClusterAndUser(
    { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'u', token: 'a token' },
  )
  return {
    run: (command: Partial<Parameters<typeof execute>[2]> = {}, signal = new AbortController().signal) =>
      execute(config, '/pod', { container: 'c', command: ['sh', '-c', 'a b'], ...command }, signal),
    sockets: sockets.clients,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function textOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of output) text += Buffer.from(piece)
  return text
}

test('output is read to its end, and an exit code is told with the last words', async () => {
  const asked: string[] = []
  await using api = await apiServer((socket, path) => {
    asked.push(path)
    for (const part of [frame(STDOUT, ''), frame(STDOUT, 'one '), frame(STDERR, 'why\n'), frame(STDOUT, 'two')])
      socket.send(part)
    const causes = [{ reason: 'ExitCode', message: '44' }]
    socket.send(
      asked.length === 1 ? SUCCESS : status({ status: 'Failure', reason: 'NonZeroExitCode', details: { causes } }),
    )
  })
  expect(await textOf(api.run())).toBe('one two')
  expect(asked).toEqual(['/pod/exec?container=c&stdout=true&stderr=true&command=sh&command=-c&command=a+b'])
  const failed = textOf(api.run())
  await expect(failed).rejects.toBeInstanceOf(ExecError)
  await expect(failed).rejects.toMatchObject({ exitCode: 44, message: 'why' })
})

test('a connection that is cut, and a refusal, are errors that say so', async () => {
  await using cut = await apiServer((socket) => {
    socket.send(frame(STDOUT, 'half'), () => socket.terminate())
  })
  await expect(textOf(cut.run())).rejects.toThrow('has ended before its command')
  await using refusing = await apiServer(() => {}, { status: 403, message: 'pods/exec is forbidden' })
  await expect(textOf(refusing.run())).rejects.toMatchObject({ status: 403, message: 'pods/exec is forbidden' })
})

test('a reader that is slow makes the other end wait, and one that leaves ends the connection', async () => {
  const piece = frame(STDOUT, Buffer.alloc(65_536))
  let sent = 0
  await using api = await apiServer(async (socket) => {
    while (socket.readyState === socket.OPEN && sent < 10_000) {
      await new Promise((resolve) => socket.send(piece, resolve))
      sent += 1
    }
  })
  for await (const _ of api.run()) {
    let before = -1
    await until(
      async () => {
        if (sent === before) return true
        before = sent
        await sleep(200)
        return false
      },
      { what: 'nothing more is sent' },
    )
    break
  }
  // The buffers of both ends hold so many.
  expect(sent).toBeLessThan(1_000)
  await until(() => api.sockets.size === 0, { what: 'the connection has ended' })
})

test('an input is sent as it can be read; its error, or an abort, ends the command', async () => {
  let got = ''
  await using api = await apiServer((socket) => {
    socket.on('message', (message: Buffer) => {
      if (message[0] === STDIN) got += message.subarray(1)
      if (got.endsWith('end')) socket.send(SUCCESS)
    })
  })
  async function* input(last: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from('begin ')
    if (last === '') throw new Error('It cannot be read.')
    yield Buffer.from(last)
  }
  await textOf(api.run({ input: input('end') }))
  expect(got).toBe('begin end')
  await expect(textOf(api.run({ input: input('') }))).rejects.toThrow('It cannot be read.')
  const leaving = new AbortController()
  const aborted = textOf(api.run({}, leaving.signal))
  aborted.catch(() => {})
  await until(() => api.sockets.size > 0, { what: 'it is connected' })
  leaving.abort(new Error('The lease is lost.'))
  await expect(aborted).rejects.toThrow('The lease is lost.')
  await until(() => api.sockets.size === 0, { what: 'the connections have ended' })
})
