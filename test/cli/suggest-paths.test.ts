import { expect, test } from 'vitest'
import { suggestPaths } from '../../src/cli/objects/suggest-paths.ts'

/** A server that is still looking. */
const client = {
  query: (_: unknown, __: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
} as unknown as Parameters<typeof suggestPaths>[0]['client']

test('nobody waits long for a suggestion, and who interrupts is not told that there is none', async () => {
  const stop = new AbortController()
  const session = { client, io: { signal: stop.signal } }
  expect(await suggestPaths(session, ['shp'], undefined, 1)).toEqual([])
  const asked = suggestPaths(session, ['shp'], undefined, 60_000)
  stop.abort(new Error('interrupted'))
  await expect(asked).rejects.toThrow('interrupted')
})
