import { anything, assert, constantFrom, dictionary, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { StartGateConfig } from '../../src/core/deployers/gate.ts'
import { Problems } from '../../src/core/problems.ts'
import { headersOf } from '../../src/families/http-gate.ts'
import { newStartGate, startGateOf } from '../../src/families/start-gate.ts'

/** The gate in a spec comes as JSON from outside. */

const part = oneof(
  anything(),
  constantFrom('16:00', 'FRIDAY', ['FRIDAY'], 'Europe/Berlin', '2026-01-31T08:00:00Z', 1, '2h', 'go'),
)
const ranges = oneof(
  part,
  record({ from: part, to: part, days: part }, { requiredKeys: [] }).map((one) => [one]),
)
const freeze = record({ ranges, timeZone: part }, { requiredKeys: ['ranges'] })
const approval = record({ count: part, role: part, authorMay: part }, { requiredKeys: [] })
const http = record({ url: part, until: part, every: part, headers: part, secret: part }, { requiredKeys: [] })
const gate = oneof(
  ...[
    anything(),
    record({ freeze: oneof(part, freeze), message: part, timeout: part }, { requiredKeys: ['freeze'] }),
    record({ approval: oneof(part, approval), message: part, timeout: part }, { requiredKeys: ['approval'] }),
    record({ http: oneof(part, http), message: part, timeout: part }, { requiredKeys: ['http'] }),
    dictionary(constantFrom('http', 'signal', 'until', 'message', 'timeout', 'approval', 'freeze'), part),
  ],
)

test('whatever it is, it is refused in words, or can be waited at', () =>
  assert(
    property(gate, (config) => {
      const problems = new Problems()
      startGateOf(config, 'gate', problems)
      if (problems.found.length > 0) expect(problems.found[0]?.message).toMatch(/./)
      else expect(newStartGate(config as StartGateConfig, new Date(0), null).isOpen).toBeUndefined()
    }),
    { numRuns: 5_000 },
  ))

test.each([
  { ranges: [{ from: '16:00', to: '17:00', days: 'FRIDAY' }] },
  { ranges: [{ from: '16:00', to: '17:00' }], timeZone: 5 },
  { ranges: Array.from({ length: 100 }, () => ({ from: '16:00', to: '17:00' })) },
  { ranges: [{ from: '25:00', to: '17:00' }] },
])('the freeze %j is refused', (config) => {
  const problems = new Problems()
  startGateOf({ freeze: config }, 'gate', problems)
  expect(problems.found).toHaveLength(1)
})

const HTTP = { url: 'https://ci.example/builds', until: 'status == 200' }
test.each([
  [{ ...HTTP, url: 'ftp://ci.example/' }, 'gate.http.url'],
  [{ ...HTTP, url: 'https://ann:word@ci.example/' }, 'gate.http.url'],
  [{ ...HTTP, until: 'status == 200}${' }, 'gate.http.until'],
  [{ ...HTTP, until: '' }, 'gate.http.until'],
  [{ ...HTTP, every: '100ms' }, 'gate.http.every'],
  [{ ...HTTP, every: '2d' }, 'gate.http.every'],
  [{ ...HTTP, headers: { Authorization: 'Bearer x' } }, 'gate.http.headers.Authorization'],
  [{ ...HTTP, headers: { host: 'db.internal' } }, 'gate.http.headers.host'],
  [{ ...HTTP, headers: { 'x-a': 'one\r\nx-b: two' } }, 'gate.http.headers.x-a'],
  [{ ...HTTP, method: 'POST' }, 'gate.http.method'],
])('the address %j is refused', (config, path) => {
  const problems = new Problems()
  startGateOf({ http: config }, 'gate', problems)
  expect(problems.found.map((found) => found.path)).toEqual([path])
})

const CI = 'https://ci.example/api\nAuthorization: Bearer hush\nx-team: a\n'
test.each(['https://ci.example/api', 'https://ci.example/api/builds/1?token=2', 'https://ci.example:443/api/'])(
  'the headers of a secret go to %s',
  (url) => expect(headersOf('CI', CI, new URL(url))).toEqual({ Authorization: 'Bearer hush', 'x-team': 'a' }),
)
test.each([
  ...[
    'https://ci.example/',
    'https://ci.example/apis',
    'https://ci.example/api/../x',
    'https://ci.example/api/%2e%2e/x',
  ],
  ...[
    'http://ci.example/api',
    'https://ci.example:8443/api',
    'https://ci.example.org/api',
    'https://eve@ci.example.org/api',
  ],
])('and not to %s', (url) => expect(headersOf('CI', CI, new URL(url))).toBe('The secret CI is for another address.'))
test.each(['hush', '', 'https://ci.example/api', 'https://ci.example/api\nhush', 'https://ci.example/api\nhost: db\n'])(
  'the secret %j is none for an address',
  (secret) => expect(headersOf('CI', secret, new URL(HTTP.url))).toMatch(/^The secret CI must have/),
)
