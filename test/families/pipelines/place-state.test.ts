import { describe, expect, test } from 'vitest'
import { type PlaceFacts, placeState } from '../../../src/families/pipelines/placement/rules/place-state.ts'
import {
  type CandidatePlace,
  placementProblem,
} from '../../../src/families/pipelines/placement/rules/placement-problem.ts'

const NOW = new Date('2026-11-24T12:00:00Z')
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000)

describe('the state of a place', () => {
  const state = (facts: Partial<PlaceFacts>) =>
    placeState(
      {
        ...{ capacity: 2, running: {}, drainedAt: null, seenAt: ago(1), leaseUntil: null },
        ...{ startingSince: null, waitingSince: null, ...facts },
      },
      NOW,
    )

  test.each<[string, Partial<PlaceFacts>]>([
    ['ACTIVE', {}],
    ['ACTIVE', { startingSince: ago(20), waitingSince: ago(20), running: { WORKER: 1, JOB: 1 }, leaseUntil: ago(-10) }],
    ['FULL', { running: { JOB: 2 }, leaseUntil: ago(-10) }],
    ['FULL', { running: { JOB: 2 }, leaseUntil: ago(-10), waitingSince: ago(90) }],
    ['ACTIVE', { running: { JOB: 200 }, capacity: null, leaseUntil: ago(-10) }],
    ['SLOW', { startingSince: ago(31), running: { JOB: 1 }, leaseUntil: ago(-10) }],
    ['SLOW', { waitingSince: ago(31) }],
    // It is heard of after the end of its leases, so it lives and does not renew.
    ['SLOW', { running: { JOB: 1 }, leaseUntil: ago(10), seenAt: ago(5) }],
    ['LOST', { running: { JOB: 1 }, leaseUntil: ago(10), seenAt: ago(25) }],
    ['LOST', { seenAt: ago(61) }],
    ['LOST', { seenAt: null }],
    ['DRAINED', { drainedAt: ago(5), waitingSince: ago(90) }],
    // A drained host may be switched off, but not while something runs there.
    ['DRAINED', { drainedAt: ago(90), seenAt: ago(80) }],
    ['LOST', { drainedAt: ago(90), seenAt: ago(80), running: { WORKER: 1 }, leaseUntil: ago(70) }],
  ])('is %s with %j', (expected, facts) => {
    expect(state(facts)).toBe(expected)
  })
})

describe('why no place takes a workload', () => {
  const at = (name: string, more: Partial<CandidatePlace> = {}): CandidatePlace => ({
    ...{ name, type: 'process', labels: {}, capacity: null, running: {}, isDrained: false, isLost: false },
    projectIds: null,
    ...more,
  })
  const waiting = {
    pool: 'JOB',
    projectId: 'shop',
    type: 'process',
    target: null,
    targetLabels: { zone: 'eu' },
  } as const
  const eu = { labels: { zone: 'eu' } }
  const full = { ...eu, capacity: 1, running: { JOB: 1 } }

  test.each([
    ['nothing is known of places', [at('c', { type: 'container' })], undefined],
    ['one takes it', [at('a', { ...eu, isDrained: true }), at('b', full), at('c', eu)], undefined],
    [
      'all belong to other projects',
      [at('a', { ...full, projectIds: ['other'] }), at('b', { projectIds: [] })],
      undefined,
    ],
    ['one works for its project', [at('a', { ...full, projectIds: ['other', 'shop'] })], 'FULL'],
    ['its workers do not count', [at('a', { ...eu, capacity: 1, running: { WORKER: 1 } })], undefined],
    ['none has the labels', [at('a'), at('b', { labels: { zone: 'us' } })], 'LABELS'],
    ['all are lost', [at('a', { ...eu, isLost: true, isDrained: true })], 'LOST'],
    ['all are drained', [at('a', { ...eu, isDrained: true }), at('b', { ...eu, isLost: true })], 'DRAINED'],
    ['all are full', [at('a', full), at('b', { ...full, isDrained: true })], 'FULL'],
  ] as const)('%s', (_, places, problem) => {
    expect(placementProblem(waiting, places)?.problem).toBe(problem)
  })

  test('a guest of a workspace needs that one place, drained or not', () => {
    const guest = { ...waiting, target: 'a' }
    expect(placementProblem(guest, [at('a', { isDrained: true }), at('b')])).toBeNull()
    expect(placementProblem(guest, [at('a', { capacity: 1, running: { JOB: 1 } }), at('b')])).toEqual({
      ...{ problem: 'FULL', places: ['a'], message: 'The place a runs all the jobs that it may.' },
    })
  })

  test('is said in a sentence', () => {
    expect(placementProblem(waiting, [at('a')])?.message).toBe('No place of type process has the labels zone=eu.')
    const drained = ['a', 'b'].map((name) => at(name, { ...eu, isDrained: true }))
    expect(placementProblem(waiting, drained)?.message).toBe('The places that could take it are drained: a, b.')
  })
})
