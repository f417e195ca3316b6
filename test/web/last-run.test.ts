import { expect, test } from 'vitest'
import { type Begun, lastRunOf } from '../../web-playground/src/model/last-run.ts'
import './samples.ts'

const list = <T>(...nodes: readonly T[]) => ({ edges: nodes.map((node) => ({ node })) })
const root = (more: Partial<Begun>): Begun => ({
  kind: 'INSTALLATION',
  finished: true,
  createdAt: '2026-11-21T20:00:00.000Z',
  phaseSince: '2026-11-21T20:01:30.000Z',
  history: list({ from: null, by: 'ann' }),
  ...more,
})

test('the last run of a tree is its newest job, or its creation', () => {
  const startedAt = '2026-11-21T20:01:00.000Z'
  const run = { cause: 'ROLLED_BACK', by: 'bob', startedAt, durationMs: 30_000 } as const
  expect(lastRunOf(root({ runs: list(run) }))).toEqual({ ...run, cause: 'rolled back' })
  const created = { cause: 'created', by: 'ann', startedAt: '2026-11-21T20:00:00.000Z' }
  expect(lastRunOf(root({ kind: 'TASK' }))).toEqual({ ...created, durationMs: 90_000 })
  expect(lastRunOf(root({ kind: 'TASK', finished: false }))).toEqual({ ...created, durationMs: null })
  // It has not run yet; nor has what changes for as long as it is there.
  for (const kind of ['INSTALLATION', 'SCHEDULE', 'CLOUDLET'])
    expect(lastRunOf(root({ kind }))).toEqual({ ...created, durationMs: undefined })
  // The log has lost the creation.
  expect(lastRunOf(root({ kind: 'EVENT', history: list({ from: 'RUNNING', by: 'eve' }) })).by).toBe(null)
})
