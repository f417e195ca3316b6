import { expect, test } from 'vitest'
import { startTestServer } from '../../src/testing/index.ts'
import { until } from '../testkit/wait.ts'

const NIGHTLY = `
name: backup
spec: { deployItems: [{ name: dump, type: dump }] }
---
kind: Schedule
name: nightly
when: { cron: "30 2 * * *" }
run: { reconcileInstallation: { name: backup, mode: FORCE } }
`
const nightsAfter = (day: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => minuteOf(new Date(Date.parse(`${day}T02:30Z`) + (i + 1) * 86_400_000)))
/** The time of a test runs on by itself. */
const minuteOf = (time: Date): string => time.toISOString().slice(0, 16)

test('a schedule of thirty nights fires thirty times, in order, each at its time', async () => {
  await using server = await startTestServer({ at: '2026-03-01T12:00:00Z', manifests: NIGHTLY })
  const nights: string[] = []
  await server.play('dump', () => void nights.push(minuteOf(server.now())))
  await server.until('backup', 'SUCCEEDED')
  nights.length = 0
  await server.advance('30d')
  expect(nights).toEqual(nightsAfter('2026-03-01', 30))
  expect(server.now().getTime() - Date.parse('2026-03-31T12:00:00Z')).toBeLessThan(60_000)
})

test('an attempt that fails is followed by another one an hour later, and not before', async () => {
  await using server = await startTestServer()
  const web = await server.play('web', ({ attempt }) =>
    attempt === 1 ? { phase: 'FAILED', error: { code: 'AWAY', message: 'The registry is away.' } } : undefined,
  )
  await server.apply(`
name: shop
spec:
  deployItems:
    - name: web
      type: web
      timeouts: { progressing: { ms: 86400000 } }
      retry: { attempts: 2, backoff: { initialMs: 3600000, jitter: 0 } }
`)
  await until(() => web.items.length === 1, { what: 'the first attempt' })
  await server.advance('59m')
  expect(web.items.length).toBe(1)
  await server.advance('2m')
  expect(web.items.map(({ attempt }) => attempt)).toEqual([1, 2])
  await server.until('shop', 'SUCCEEDED')
})

test('work that no agent takes times out', async () => {
  const settings = { PHASELINE_PICKUP_TIMEOUT_MS: '7200000' }
  await using server = await startTestServer({ settings })
  await server.apply('{ name: shop, spec: { deployItems: [{ name: web, type: web }] } }')
  await server.until('shop/deploy-items/web', 'INIT')
  await server.advance('119m')
  await expect(server.until('shop', 'FAILED', { timeoutMs: 50 })).rejects.toThrow(
    /^shop has not become FAILED in 50 ms: it is \w+\. Does it wait for a time\? advance\(\) moves it\.$/,
  )
  await server.advance('1m')
  expect(await server.until('shop/deploy-items/web', 'FAILED')).toMatchObject({ kind: 'DEPLOY_ITEM' })
  await server.until('shop', 'FAILED')
})

test('work that an agent has when the time moves has lost its lease, and is offered again', async () => {
  await using server = await startTestServer()
  const { promise: hangs, resolve: end } = Promise.withResolvers<undefined>()
  const web = await server.play('web', ({ attempt }) => (attempt === 1 ? hangs : undefined))
  await server.apply('{ name: shop, spec: { deployItems: [{ name: web, type: web }] } }')
  await until(() => web.items.length === 1, { what: 'it has begun' })
  await server.advance('1m')
  await server.until('shop', 'SUCCEEDED')
  expect(web.items.map(({ attempt }) => attempt)).toEqual([1, 2])
  end(undefined)
})

test('an agent that waits while months pass gets the next work at once', async () => {
  await using server = await startTestServer()
  await server.play('web')
  await server.advance('90d')
  await server.apply('{ name: shop, spec: { deployItems: [{ name: web, type: web }] } }')
  await server.until('shop', 'SUCCEEDED')
})

test('two servers of one process have times and objects of their own', async () => {
  await using past = await startTestServer({ at: '2020-02-28T12:00:00Z', manifests: NIGHTLY })
  await using future = await startTestServer({ at: '2030-02-28T12:00:00Z', manifests: NIGHTLY })
  const all = await Promise.all(
    [past, future].map(async (server) => {
      const nights: string[] = []
      await server.play('dump', () => void nights.push(minuteOf(server.now())))
      await server.until('backup', 'SUCCEEDED')
      nights.length = 0
      await server.advance('3d')
      return nights
    }),
  )
  expect(all).toEqual([nightsAfter('2020-02-28', 3), nightsAfter('2030-02-28', 3)])
})

test('what cannot be is refused in words', async () => {
  await expect(startTestServer({ at: 'tomorrow' })).rejects.toThrow('tomorrow is no time')
  await expect(startTestServer({ settings: { PORT: 'http' } })).rejects.toThrow('PORT')
  await using server = await startTestServer()
  await expect(server.advance('a while')).rejects.toThrow('a while is no duration')
  await expect(server.apply('{ name: shop, spec: { deployItems: [{ name: web }] } }')).rejects.toThrow('type')
})
