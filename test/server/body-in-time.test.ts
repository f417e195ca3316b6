import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type BodyInTime, bodyInTime } from '../../src/server/http/body-in-time.ts'

/** Sends this part of a body, and returns the result of the read. */
async function sent(length: number, part: string, { ends = false } = {}): Promise<BodyInTime<'REFUSED'>> {
  const read = Promise.withResolvers<BodyInTime<'REFUSED'>>()
  const server = createServer((request, response) => {
    const refuse = (_: number, size: number) => (size > 6 ? 'REFUSED' : null)
    const body = bodyInTime(request, { withinMs: 200, maxBytes: 8, refuse })
    body.then(read.resolve, read.reject).finally(() => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  socket.on('error', () => {})
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${part}`)
  if (ends) socket.end()
  return read.promise
}

test('a small body is whole, late, too large, refused, or left by its client', async () => {
  expect(String(await sent(5, 'whole'))).toBe('whole')
  expect(await sent(5, 'whol')).toBe('LATE')
  expect(await sent(9, 'too large')).toBe('TOO_LARGE')
  expect(await sent(7, 'refused')).toBe('REFUSED')
  expect(await sent(5, 'gone', { ends: true })).toBeNull()
})
