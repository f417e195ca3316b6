import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { ResolvedCursor } from '../../src/core/ports/log.ts'
import { createBounds } from '../../src/server/limits/bounds.ts'
import { ClientSink } from '../../src/server/streams/client-sink.ts'
import { EncodedBatch } from '../../src/server/streams/encoded-batch.ts'
import { framesOf } from '../../src/server/streams/frames.ts'
import { until } from '../testkit/wait.ts'

const at = (sequence: number): ResolvedCursor => ({ lineage: 1, sequence, mark: null })

/** A client and, at the other end of its connection, the way out to it. */
async function connection(): Promise<{ readonly client: Socket; readonly sink: ClientSink; readonly read: Buffer[] }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [stream] = (await accepted) as [Socket]
  onTestFinished(() => {
    client.destroy()
    stream.destroy()
    server.close()
  })
  const read: Buffer[] = []
  client.on('data', (bytes) => read.push(bytes))
  const bounds = createBounds()
  const sink = new ClientSink({
    ...bounds,
    stream,
    encode: framesOf,
    isOpen: () => !stream.destroyed,
    giveUp: () => undefined,
    account: () => bounds.callers.hook('one'),
  })
  return { client, sink, read }
}

test('frames that wait for a slow client are not overwritten by later ones', async () => {
  const [slow, fast] = [await connection(), await connection()]
  slow.client.pause()
  const payloads: Buffer[] = []
  for (let i = 0; slow.sink.waiting < 200_000; i++) {
    const payload = Buffer.from(JSON.stringify({ i, pad: String(i % 10).repeat(12_000) }))
    payloads.push(payload)
    const batch = new EncodedBatch(at(i), at(i + 1), [payload])
    batch.writeTo(slow.sink, 'slow')
    batch.writeTo(fast.sink, 'fast')
    batch.release()
    await turn()
  }
  slow.client.resume()
  for (const [id, { read }] of Object.entries({ slow, fast })) {
    const expected = payloads.map((payload) => framesOf(id, [payload]))
    const size = expected.reduce((sum, { length }) => sum + length, 0)
    await until(() => read.reduce((sum, { length }) => sum + length, 0) >= size, { what: `${id} has all` })
    expect(Buffer.concat(read).equals(Buffer.concat(expected))).toBe(true)
  }
})

test('the same bytes go to all whose operations are numbered alike', async () => {
  const all = [await connection(), await connection(), await connection()]
  const batch = new EncodedBatch(at(0), at(2), [Buffer.from('{"a":1}'), Buffer.from('{"b":2}')])
  const ids = ['1', '1', '2']
  const sizes = all.map(({ sink }, i) => batch.writeTo(sink, ids[i] as string))
  batch.release()
  for (const [i, { read }] of all.entries()) {
    await until(() => Buffer.concat(read).length >= (sizes[i] as number), { what: 'it has come' })
    expect(Buffer.concat(read)).toEqual(framesOf(ids[i] as string, batch.payloads))
  }
})
