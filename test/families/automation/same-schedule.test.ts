import { expect, test } from 'vitest'
import { sameSchedule } from '../../../src/families/automation/rules/same-schedule.ts'
import type { ScheduleSpec } from '../../../src/families/automation/rules/spec.ts'

const scheduleOf = (trigger: string, input: object) =>
  ({ count: 1, run: { trigger, input } }) as unknown as ScheduleSpec

test('an empty list of an input is as one that is left out, but that of a job’s dependencies', () => {
  const event = { source: 'cron', type: 'night' }
  const ofEvent = (more: object) => scheduleOf('createEvent', { ...event, ...more })
  expect(sameSchedule(ofEvent({}), ofEvent({ labels: [], qualifiers: [], payload: null }))).toBe(true)
  expect(sameSchedule(ofEvent({}), ofEvent({ labels: [{ key: 'a', value: '' }] }))).toBe(false)
  const ofJob = (more: object) => scheduleOf('createTask', { jobs: [{ name: 'a', gadget: 'echo', ...more }] })
  expect(sameSchedule(ofJob({}), ofJob({ args: [], env: [], when: null }))).toBe(true)
  expect(sameSchedule(ofJob({}), ofJob({ dependsOn: [] }))).toBe(false)
  expect(sameSchedule(ofJob({}), { ...ofJob({}), count: 2 })).toBe(false)
})
