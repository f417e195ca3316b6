import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { LateRefusals } from '../../src/server/limits/late-refusals.ts'

test('clients that have left by the time at which they are refused take no room of others', async () => {
  const responses: ServerResponse[] = []
  const server = createServer((_, response) => void responses.push(response)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  for (let i = 0; i < 2; i++) {
    const request = get({ port, host: '127.0.0.1' }).on('error', () => {})
    onTestFinished(() => void request.destroy())
    await once(server, 'request')
  }
  const [gone, present] = responses as [ServerResponse, ServerResponse]
  gone.destroy()
  await once(gone, 'close')
  const refusals = new LateRefusals()
  for (let i = 0; i < 2_000; i++) refusals.delay(gone, () => {})
  let isAnswered = false
  refusals.delay(present, () => {
    isAnswered = true
  })
  expect(isAnswered).toBe(false)
})
