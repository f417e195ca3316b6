import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startTestServer } from 'phaseline/testing'
import { TYPE, work } from './agent.ts'

type Item = Parameters<typeof work>[0]
type Context = Parameters<typeof work>[1]

/** An item from the server, with only the fields that the agent reads. */
const item = (action: Item['action'], config: object): Item => ({ action, name: 'world', config }) as unknown as Item

function context() {
  const lines: string[] = []
  const parts = {
    log: (_: string, line: string) => lines.push(line),
    report() {},
    signal: new AbortController().signal,
  }
  return { lines, context: parts as unknown as Context }
}

test('it greets, and exports the greeting', async () => {
  const { lines, context: given } = context()
  assert.deepEqual(await work(item('RECONCILE', { greeting: 'Hello' }), given), {
    phase: 'SUCCEEDED',
    exports: { greeted: 'Hello, world!' },
  })
  assert.deepEqual(lines, ['RECONCILE world'])
})

test('it says what is missing', async () => {
  const result = await work(item('RECONCILE', {}), context().context)
  assert.equal(result.phase, 'FAILED')
})

test('it removes what it is told to', async () => {
  assert.deepEqual(await work(item('DELETE', {}), context().context), { phase: 'GONE' })
})

test('it deploys the manifest on a server', async () => {
  const manifests = await readFile(new URL('greeting.yaml', import.meta.url), 'utf8')
  await using server = await startTestServer({ manifests })
  const { items } = await server.play(TYPE, work)
  await server.until('greeting', 'SUCCEEDED')
  assert.deepEqual(
    items.map(({ name }) => name),
    ['world'],
  )
})
