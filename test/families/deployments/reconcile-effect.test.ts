import { expect, test } from 'vitest'
import { type ReconcileSubject, reconcileEffect } from '../../../src/families/deployments/rules/reconcile-effect.ts'

const row: ReconcileSubject['row'] = {
  parentId: null,
  phase: 'SUCCEEDED',
  jobId: 'job',
  finishedJobId: 'job',
  generation: 2,
  observedGeneration: 2,
}
const requested: ReconcileSubject['requested'] = {
  ignored: false,
  isPaused: false,
  nextMode: null,
  nextDeletion: false,
  nextOrigin: null,
  forceDeletion: false,
  withoutUninstall: false,
  cancelRequestedAt: null,
  cancelBy: null,
}
const root = { row, requested, items: { total: 3, unsuccessful: 1 } }

test('a reconcile says how many items it runs, and with which generation', () => {
  const all = (more: Partial<ReconcileSubject>) => reconcileEffect('STANDARD', { ...root, ...more })
  expect(all({})).toBe('Runs all 3 deploy items again with generation 2.')
  expect(all({ items: { total: 1, unsuccessful: 0 } })).toBe('Runs its deploy item again with generation 2.')
  expect(all({ row: { ...row, observedGeneration: 1 } })).toBe(
    'Runs all deploy items with generation 2: the last job used generation 1.',
  )
  expect(all({ row: { ...row, observedGeneration: 0 } })).toBe(
    'Runs all deploy items of generation 2 for the first time.',
  )
})

test('IF_CHANGED runs what has changed or has not succeeded', () => {
  const changed = (more: Partial<ReconcileSubject>) => reconcileEffect('IF_CHANGED', { ...root, ...more })
  expect(changed({})).toBe(
    'Runs what has changed or has not succeeded, at least 1 of 3 deploy items, with generation 2.',
  )
  expect(changed({ row: { ...row, observedGeneration: 1 }, items: { total: 3, unsuccessful: 0 } })).toBe(
    'Runs what has changed since generation 1 or has not succeeded with generation 2.',
  )
})

test('of a large tree so many items are counted', () => {
  const large = { ...root, items: { total: 1_001, unsuccessful: 7 } }
  expect(reconcileEffect('STANDARD', large)).toBe('Runs all deploy items, more than 1000, again with generation 2.')
  expect(reconcileEffect('IF_CHANGED', large)).toBe(
    'Runs what has changed or has not succeeded, at least 7 deploy items, with generation 2.',
  )
})

test('it says when the job begins if that is not now, and if one is requested', () => {
  const later = (more: Partial<ReconcileSubject['requested']>, job: Partial<ReconcileSubject['row']> = {}) =>
    reconcileEffect('STANDARD', { ...root, row: { ...row, ...job }, requested: { ...requested, ...more } })
  const what = 'Runs all 3 deploy items again with generation 2'
  expect(later({}, { jobId: 'next', phase: 'PROGRESSING' })).toBe(`${what}, once the running job has ended.`)
  const waiting = { jobId: 'next', phase: 'PENDING_DEPENDENCIES' } as const
  expect(later({}, waiting)).toBe(`${what}, in the job that is to begin.`)
  expect(later({ cancelRequestedAt: new Date() }, waiting)).toBe(`${what}, once the running job has ended.`)
  expect(later({ ignored: true })).toBe(`${what}, once \`ignored\` is false.`)
  expect(later({ isPaused: true, nextMode: 'FORCE' })).toBe(`${what}, once it is resumed. It is requested already.`)
})
