import fc from 'fast-check'
import { expect, test } from 'vitest'
import { demultiplex } from '../../src/agents/container/demultiplex.ts'

const frame = (stream: 1 | 2, text: string): Buffer => {
  const head = Buffer.alloc(8)
  head[0] = stream
  head.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([head, Buffer.from(text)])
}

test('outputs are told apart, wherever the stream is cut', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1 as const, 2 as const), fc.string({ maxLength: 20 })))
  fc.assert(
    fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 30 })), (sent, sizes) => {
      const heard = { STDOUT: '', STDERR: '' }
      const take = demultiplex((stream, chunk) => {
        heard[stream] += chunk.toString('latin1')
      })
      const all = Buffer.concat(sent.map(([stream, text]) => frame(stream, text)))
      for (let at = 0; at < all.length; ) {
        const size = sizes.next().value as number
        take(all.subarray(at, at + size))
        at += size
      }
      const of = (stream: 1 | 2) =>
        Buffer.concat(sent.filter(([s]) => s === stream).map(([, text]) => Buffer.from(text))).toString('latin1')
      expect(heard).toEqual({ STDOUT: of(1), STDERR: of(2) })
    }),
  )
})
