import { anything, assert, constantFrom, dictionary, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { StartGateConfig } from '../../src/core/deployers/gate.ts'
import { Problems } from '../../src/core/problems.ts'
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
const gate = oneof(
  ...[
    anything(),
    record({ freeze: oneof(part, freeze), message: part, timeout: part }, { requiredKeys: ['freeze'] }),
    record({ approval: oneof(part, approval), message: part, timeout: part }, { requiredKeys: ['approval'] }),
    dictionary(constantFrom('signal', 'until', 'message', 'timeout', 'approval', 'freeze'), part),
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
