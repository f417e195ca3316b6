import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { OWN_DOCUMENTS } from '../../../src/documents/own-documents.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { ask } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { create } from '../../testkit/mutations.ts'
import { PATIENCE_MS } from '../../testkit/wait.ts'
import { VECTORS } from './vectors.ts'

let server: TestApp
beforeAll(async () => {
  server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
})
afterAll(() => server[Symbol.asyncDispose]())

test('the documents are those of our own agents', () => {
  const hashes = Object.values(VECTORS.documents).map((text) => createHash('sha256').update(text).digest('hex'))
  expect(hashes.filter((hash) => !OWN_DOCUMENTS.includes(hash))).toEqual([])
})

/** Values of names such as `$fence`: each is that of the first answer that has it. */
type Names = Map<string, unknown>
const isName = (value: unknown): value is string => typeof value === 'string' && value.startsWith('$')

function filled(value: unknown, names: Names): unknown {
  if (isName(value)) return names.get(value)
  if (Array.isArray(value)) return value.map((one) => filled(one, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, names)]))
}

/** The expected answer with the actual values of new names, and of `*`, which stands for any. */
function learned(expected: unknown, actual: unknown, names: Names): unknown {
  if (expected === '*') return actual
  if (isName(expected)) {
    if (!names.has(expected)) names.set(expected, actual)
    return names.get(expected)
  }
  if (Array.isArray(expected) && Array.isArray(actual)) return expected.map((one, i) => learned(one, actual[i], names))
  if (typeof expected !== 'object' || expected === null) return expected
  const given = (actual ?? {}) as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(expected).map(([key, one]) => [key, learned(one, given[key], names)]))
}

test.each(VECTORS.exchanges.map((exchange, i) => [exchange.title, exchange.steps, `vector-${i}`] as const))(
  '%s',
  async (_, steps, type) => {
    const { client, url } = server
    const token = { name: type, role: 'AGENT', actor: 'DEPLOYER', types: [type] } as const
    const { secret } = await ask(client, MUTATIONS.createToken, token)
    await using agent = createClient({ url, token: secret })
    const id = await create(client, type, { deployItems: [{ name: 'one', type, config: { size: 3 } }] })
    const names: Names = new Map<string, unknown>([['$type', type]])
    for (const step of steps) {
      if ('do' in step) {
        await ask(client, step.do === 'cancel' ? MUTATIONS.cancelInstallation : MUTATIONS.deleteInstallation, { id })
        continue
      }
      const { mutation, input } = step.send
      const play = async () => {
        const variables = { input: filled(input, names) }
        const data = await agent.query<Record<string, unknown>>(VECTORS.documents[mutation], variables)
        expect(data[mutation]).toEqual(learned(step.answer, data[mutation], names))
      }
      if (step.soon) await vi.waitFor(play, PATIENCE_MS)
      else await play()
    }
    // Two claims have two fences.
    if (names.has('$next')) expect(names.get('$next')).not.toBe(names.get('$fence'))
  },
)
