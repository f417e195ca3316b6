import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { type Binding, judgeBinding } from '../../src/start/check-binding.ts'
import { startServer, startSharedServer } from '../testkit/server.ts'

/** A server that others may reach. */

const ANYWHERE = { HOST: '0.0.0.0' }
const TOKEN = { PHASELINE_TOKEN: 'a-token-of-a-test' }
const TLS = { PHASELINE_TLS_CERT: 'a.crt', PHASELINE_TLS_KEY: 'a.key' }

test.each<[Binding['kind'], Readonly<Record<string, string>>]>([
  ['safe', {}],
  ['safe', { HOST: '::1' }],
  ['unconfigured', ANYWHERE],
  ['unconfigured', { ...ANYWHERE, ...TLS }],
  ['readable', { ...ANYWHERE, ...TOKEN }],
  ['readable', { ...ANYWHERE, PHASELINE_ACCESS_POLICY: 'access.yaml' }],
  ['readable', { ...ANYWHERE, DATABASE_URL: 'postgres://db' }],
  ['readable', { HOST: 'phaseline.example.org', ...TOKEN }],
  ['safe', { ...ANYWHERE, ...TOKEN, ...TLS }],
  ['safe', { ...ANYWHERE, ...TOKEN, PHASELINE_TRUSTED_PROXIES: '10.0.0.0/8' }],
  ['safe', { ...ANYWHERE, PHASELINE_ROLES: 'engine' }],
])('is %s with %o', (kind, env) => {
  const loaded = loadConfig(env)
  expect(loaded.ok && judgeBinding(loaded.config).kind).toBe(kind)
})

test('a server with nothing but a generated token does not listen where others may reach it', async () => {
  await expect(startServer({ env: ANYWHERE, tokenIn: 'data folder' })).rejects.toThrow(
    /ended with 2:\nHOST is 0\.0\.0\.0, which others may reach.*set PHASELINE_TOKEN or PHASELINE_ACCESS_POLICY, or HOST=127/,
  )
})

test('one with access and without encryption warns', async () => {
  await using server = await startSharedServer({ env: { ...ANYWHERE, PHASELINE_ROLES: 'gateway' } })
  expect(server.output()).toContain('tokens can be read on the network: set PHASELINE_TLS_CERT')
})
