import { expect, test } from 'vitest'
import type { HealthCheckName } from '../../src/core/health.ts'
import { HEALTH_CAUSES, type HealthCauseName, type HealthSubject, type Verdict } from '../../src/core/health-causes.ts'
import { type CauseFacts, judgeCauses, type ServerFacts, type WaitFact } from '../../src/core/judge-causes.ts'

const NOW = new Date('2026-06-01T12:00:00Z')
const [S, M, H, D] = [1_000, 60_000, 3_600_000, 86_400_000]
const ago = (ms: number) => new Date(NOW.getTime() - ms)
const ahead = (ms: number) => ago(-ms)

const SERVER: ServerFacts = { checks: [], figures: {}, clockOffsetMs: 0, certificateEnd: null, disk: null }
const QUIET: CauseFacts = {
  isComplete: true,
  ...{ waits: [], failures: [], deadlines: [], holds: [], schedules: [], hooks: [], rules: [], tokens: [] },
  server: SERVER,
}
const judge = (facts: Partial<CauseFacts>) => judgeCauses({ ...QUIET, ...facts }, NOW)

const at = (name = 'shop', id = name): HealthSubject => ({ project: 'web', name, object: { id, rootId: 'root' } })
const record: HealthSubject = { project: 'web', name: 'nightly', object: null }
const wait = (reason: WaitFact['reason'], since: Date, more: Partial<WaitFact> = {}): WaitFact => ({
  ...{ subject: at(), reason, since, message: `It waits for ${reason}.`, isOwn: true, isOffered: false },
  ...more,
})
const agent = (since: Date, connected: boolean, more: Partial<WaitFact> = {}) =>
  wait('AGENT', since, { types: ['mock'], connected, isOffered: true, ...more })
const failure = (since: Date, isOver: boolean) => ({ subject: at(), message: 'It broke.', since, isOver })
const server = (facts: Partial<ServerFacts>) => ({ server: { ...SERVER, ...facts } })
const failed = (name: HealthCheckName) => server({ checks: [{ name, ok: false, reason: 'of a reason' }] })
const schedule = { subject: at(), overdue: null, refused: null }
const hook = { subject: record, refused: null, check: null }
const rule = { subject: record, isBehind: false, failing: null, lost: null }
const token = (createdAt: Date, expiresAt: Date) => ({
  tokens: [{ subject: { ...record, project: null }, createdAt, expiresAt }],
})
const trouble = (since: Date) => ({ since, message: 'No.' })

type Situation = readonly [situation: string, facts: Partial<CauseFacts>, first: HealthCauseName | null]
const SITUATIONS: readonly Situation[] = [
  ['nothing at all', {}, null],
  ['a caller who may not see the server', { server: null }, null],
  // Waits.
  ['work that an agent has a minute to take', { waits: [agent(ago(59 * S), false)] }, null],
  ['work that no agent takes', { waits: [agent(ago(61 * S), false)] }, 'NO_AGENT'],
  [
    'work of this moment in an old tree',
    { waits: [agent(NOW, false), agent(ago(D), false, { subject: at('root'), isOwn: false })] },
    null,
  ],
  ['work of a connected agent for four minutes', { waits: [agent(ago(4 * M), true)] }, null],
  ['work of a connected agent for six minutes', { waits: [agent(ago(6 * M), true)] }, 'WORK_WAITS'],
  ['work that a connected agent has had for an hour', { waits: [agent(ago(H), true, { isOffered: false })] }, null],
  ['work whose agent has left', { waits: [agent(ago(H), false, { isOffered: false })] }, 'NO_AGENT'],
  ['a decision of this moment', { waits: [wait('DECISION', NOW)] }, 'DECISION'],
  ['a pause of this moment', { waits: [wait('PAUSED', NOW)] }, 'PAUSED'],
  ['an import that comes in a moment', { waits: [wait('IMPORT', ago(30 * S))] }, null],
  ['an import that nobody provides', { waits: [wait('IMPORT', ago(2 * M))] }, 'MISSING_IMPORT'],
  ['a place that no runtime has', { waits: [wait('PLACE', ago(2 * M))] }, 'NO_PLACE'],
  ['a cloudlet that is away', { waits: [wait('CLOUDLET', ago(2 * M))] }, 'CLOUDLET_OFFLINE'],
  ['a short queue for slots', { waits: [wait('CAPACITY', ago(2 * M))] }, null],
  ['a long queue for slots', { waits: [wait('CAPACITY', ago(6 * M))] }, 'SLOTS_FULL'],
  ['a gate that opens by itself', { waits: [wait('GATE', ago(D))] }, null],
  ['a retry that is to come', { waits: [wait('BACKOFF', ago(H))] }, null],
  ['a tree that is ignored', { waits: [wait('IGNORED', ago(D))] }, null],
  ['siblings that wait for each other', { waits: [wait('DEPENDENCY', ago(H)), wait('LOCK', ago(H))] }, null],
  // Failures and deadlines.
  ['a run that failed an hour ago', { failures: [failure(ago(H), true)] }, 'FAILED'],
  ['a run that failed last week', { failures: [failure(ago(7 * D), true)] }, null],
  ['a tree that failed last week, and may run again', { failures: [failure(ago(7 * D), false)] }, 'FAILED'],
  [
    'a failed deletion, which a person decides about',
    { waits: [wait('DECISION', ago(H))], failures: [failure(ago(H), false)] },
    'DECISION',
  ],
  ['half of a timeout', { deadlines: [{ ...trouble(ago(5 * M)), subject: at(), expiresAt: ahead(5 * M) }] }, null],
  [
    'nine tenths of a timeout',
    { deadlines: [{ ...trouble(ago(9 * M)), subject: at(), expiresAt: ahead(M) }] },
    'DEADLINE_NEAR',
  ],
  ['a timeout of seconds', { deadlines: [{ ...trouble(ago(9 * S)), subject: at(), expiresAt: ahead(S) }] }, null],
  // Automation.
  ['automation that is held', { holds: [{ ...trouble(ago(M)), subject: record }] }, 'AUTOMATION_HELD'],
  ['a schedule without success', { schedules: [{ ...schedule, overdue: trouble(ago(D)) }] }, 'SCHEDULE_OVERDUE'],
  ['a schedule without the right', { schedules: [{ ...schedule, refused: trouble(ago(D)) }] }, 'SCHEDULE_REFUSED'],
  ['a hook that refuses', { hooks: [{ ...hook, refused: trouble(ago(H)) }] }, 'HOOK_REFUSES'],
  ['a hook that refused last week', { hooks: [{ ...hook, refused: trouble(ago(7 * D)) }] }, null],
  ['a hook that cannot ask', { hooks: [{ ...hook, check: trouble(ago(7 * D)) }] }, 'HOOK_REFUSES'],
  ['a receiver that hiccups', { rules: [{ ...rule, failing: trouble(ago(M)) }] }, null],
  ['a receiver that is away', { rules: [{ ...rule, failing: trouble(ago(H)) }] }, 'NOTIFICATIONS_LATE'],
  ['a rule that is behind', { rules: [{ ...rule, isBehind: true }] }, 'NOTIFICATIONS_LATE'],
  ['messages that were given up', { rules: [{ ...rule, lost: trouble(ago(H)) }] }, 'NOTIFICATIONS_LATE'],
  ['messages that were given up last week', { rules: [{ ...rule, lost: trouble(ago(7 * D)) }] }, null],
  // Tokens and certificates.
  ['a token with a month left', token(ago(60 * D), ahead(30 * D)), null],
  ['a token with five days left', token(ago(60 * D), ahead(5 * D)), 'TOKEN_EXPIRES'],
  ['a token that ended an hour ago', token(ago(60 * D), ago(H)), 'TOKEN_EXPIRES'],
  ['a token that ended last week', token(ago(60 * D), ago(7 * D)), null],
  ['a token of an hour', token(ago(M), ahead(59 * M)), null],
  ['a certificate of a month', server({ certificateEnd: ahead(30 * D) }), null],
  ['a certificate of a week', server({ certificateEnd: ahead(7 * D) }), 'CERTIFICATE_EXPIRES'],
  ['a certificate that has expired', server({ certificateEnd: ago(M) }), 'CERTIFICATE_EXPIRED'],
  // The server.
  ['a full disk', failed('writable'), 'NOT_WRITABLE'],
  ['a log that stands', failed('numberer'), 'LOG_NOT_NUMBERED'],
  ['an engine that stands', failed('engine'), 'ENGINE_LATE'],
  ['a pool that is exhausted', failed('pool'), 'SERVER_NOT_READY'],
  ['trees that are due since a second', server({ figures: { trees_oldest_due_seconds: [{ value: 1 }] } }), null],
  ['trees without an engine', server({ figures: { trees_oldest_due_seconds: [{ value: 90 }] } }), 'ENGINE_LATE'],
  ['a tree that no rule can decide', server({ figures: { trees_failing: [{ value: 1 }] } }), 'TREES_FAILING'],
  ['a clock that is a second slow', server({ clockOffsetMs: -1_000 }), null],
  ['a clock that is six seconds slow', server({ clockOffsetMs: -6_000 }), 'CLOCK_OFF'],
  ['a small disk with room', server({ disk: { freeBytes: 2 ** 29, bytes: 2 ** 30 } }), null],
  ['a large disk at its end', server({ disk: { freeBytes: 2 ** 29, bytes: 2 ** 40 } }), 'DISK_LOW'],
]

test.each(SITUATIONS)('%s', (_, facts, first) => {
  const { verdict, causes } = judge(facts)
  const wanted: Verdict = first === null ? 'HEALTHY' : HEALTH_CAUSES[first].severity
  expect([verdict, causes.map(({ cause }) => cause)]).toEqual([wanted, first === null ? [] : [first]])
})

test('each cause is the first one of a situation', () => {
  const met = new Set(SITUATIONS.map(([, , first]) => first))
  expect(Object.keys(HEALTH_CAUSES).filter((cause) => !met.has(cause as HealthCauseName))).toEqual([])
})

test('the worst comes first, then what holds up most; all that wait for the same are one cause, by the one that waits itself', () => {
  const items = [1, 2, 3].map((n) => agent(ago(n * 2 * M), false, { subject: at(`shop/i${n}`), isOwn: n === 2 }))
  const { verdict, causes } = judge({
    waits: [...items, wait('IMPORT', ago(H)), agent(ago(D), false, { types: ['helm'], subject: at('other') })],
    failures: ['a', 'b'].map((name) => ({ ...failure(ago(H), false), subject: at(name) })),
  })
  expect(verdict).toBe('UNHEALTHY')
  expect(causes.map(({ cause, subject, count }) => [cause, subject.name, count])).toEqual([
    ['NO_AGENT', 'mock', 3],
    ['NO_AGENT', 'helm', 1],
    ['FAILED', 'a', 2],
    ['MISSING_IMPORT', 'shop', 1],
  ])
  const [first] = causes
  expect([first?.since, first?.subject.object?.id, first?.page]).toEqual([ago(4 * M), 'shop/i2', '/agents'])
  expect(causes[2]).toMatchObject({ command: 'phaseline get a --project web', page: '/tree/root?object=a' })
})
