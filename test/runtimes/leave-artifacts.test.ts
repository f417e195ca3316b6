import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ClientError, type WorkItem } from '../../src/client/index.ts'
import { leaveArtifacts } from '../../src/families/pipelines/agents/artifacts/leave-artifacts.ts'

/** How often an upload is tried. */

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function leave(
  error: ClientError,
  more: object,
  { tries = Number.POSITIVE_INFINITY, reads = true, isWithin = true } = {},
) {
  const lines: string[] = []
  const readings: { hasEnded: boolean }[] = []
  let calls = 0
  const artifact = { name: 'dist', path: 'out', when: 'SUCCESS', optional: false, ...more }
  const done = leaveArtifacts({
    ...{ item: { objectId: 'one', fence: 'f', config: { artifacts: [artifact] } } as unknown as WorkItem },
    ...{ hasSucceeded: true, signal: new AbortController().signal },
    runtime: {
      async readLeft(_id, _path, signal) {
        const reading = { hasEnded: false }
        readings.push(reading)
        // Heard as it happens: a signal of several forgets it once the one of them that was aborted is collected.
        signal?.addEventListener('abort', () => {
          reading.hasEnded = true
        })
        if (!isWithin) throw new Error('The node does not answer.')
        return { isFolder: false, body: content() }
      },
    },
    client: {
      async writeArtifact({ body }) {
        calls += 1
        if (reads) for await (const _ of body) break
        if (calls <= tries) throw error
      },
    },
    onLine: (_, text) => lines.push(text),
  })
  let result: Awaited<typeof done> | 'still tries' = 'still tries'
  void done.then((ended) => {
    result = ended
  })
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    return result
  }
  return { after, lines, readings }
}
async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x')
}
const cutOff = new ClientError('network', 'The connection was closed.')

test('an upload that breaks off again and again is given up after some minutes, and says why', async () => {
  const message = expect.stringMatching(
    /^The artifact dist is not kept: its upload has broken off \d+ times: The connection/,
  )
  const must = await leave(cutOff, {})
  expect(await must.after(300_000)).toBe('still tries')
  expect(await must.after(400_000)).toEqual({ code: 'ARTIFACT_REFUSED', message })
  const optional = await leave(cutOff, { optional: true })
  expect(await optional.after(700_000)).toBeNull()
  expect(optional.lines).toEqual([message])
})

test('a server that is away, or asks for a pause, is waited for', async () => {
  const away = await leave(cutOff, {}, { reads: false })
  expect(await away.after(3_600_000)).toBe('still tries')
  const busy = await leave(new ClientError('graphql', 'Later.', { status: 503, retryable: true }), {})
  expect(await busy.after(3_600_000)).toBe('still tries')
  const restarts = await leave(cutOff, {}, { tries: 20 })
  expect(await restarts.after(3_600_000)).toBeNull()
  // Each attempt that failed has ended its reading.
  expect(restarts.readings.map(({ hasEnded }) => hasEnded)).toEqual([...Array(20).fill(true), false])
})

test('a working folder that stays out of reach is given up as well', async () => {
  const away = await leave(cutOff, {}, { isWithin: false })
  expect(await away.after(300_000)).toBe('still tries')
  expect(await away.after(400_000)).toMatchObject({
    code: 'ARTIFACT_REFUSED',
    message: expect.stringMatching(/The node does/),
  })
})
