import { expect, test } from 'vitest'
import type { PhaseChangeRecord } from '../../../src/core/ports/phase-change.ts'
import { matchesRule } from '../../../src/families/notifications/rules/match.ts'
import type { RuleFilter } from '../../../src/families/notifications/rules/spec.ts'

const CHANGE: PhaseChangeRecord = {
  ...{ sequence: 2, batchId: '1', idx: 0, objectId: 'o', rootId: 'r', parentId: 'r', parentPath: 'shop' },
  ...{ projectId: 'p', projectName: 'web', kind: 'DEPLOY_ITEM', name: 'a', machine: 'deployItem', from: 'INIT' },
  ...{ to: 'PROGRESSING', actor: 'DEPLOYER', by: 'one', byId: 'b', reason: 'claimed', message: null, jobId: 'j' },
  ...{ revision: 3, rejected: false, at: new Date(0) },
}
/** Another agent has taken the work over. */
const TAKEOVER = { ...CHANGE, from: 'PROGRESSING', reason: 'taken over by two', revision: null } as const
const ANY: RuleFilter = { kinds: null, to: null, classes: null, rootsOnly: false, labels: {} }
const matches = (changes: Partial<RuleFilter>, change: PhaseChangeRecord): boolean =>
  matchesRule({ projectId: 'p', afterSequence: 1, changes: { ...ANY, ...changes } }, change, 'ACTIVE')

test.each<[Partial<RuleFilter>, change: boolean, takeover: boolean]>([
  [{}, true, true],
  [{ kinds: ['DEPLOY_ITEM'] }, true, true],
  [{ to: ['PROGRESSING'] }, true, false],
  [{ classes: ['ACTIVE'] }, true, false],
  [{ reasons: ['taken over by two'] }, false, true],
  [{ to: ['FAILED'] }, false, false],
])('a rule with %j tells a change: %s, and a record that leaves the phase as it is: %s', (rule, change, takeover) => {
  expect([matches(rule, CHANGE), matches(rule, TAKEOVER)]).toEqual([change, takeover])
})

test('a second machine of an object, whose changes make no revision, leads to its phases', () => {
  const upgrade = {
    ...CHANGE,
    machine: 'cloudletUpgrade',
    from: 'UPDATE_REQUESTED',
    to: 'UPDATING',
    revision: null,
  } as const
  expect(matches({ to: ['UPDATING'] }, upgrade)).toBe(true)
})
