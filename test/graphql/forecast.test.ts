import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { item } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** When a run is expected to end, from the log of earlier runs. */

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const FORECAST = gql(`query ($id: ID!) { object(id: $id) { forecast {
  p50 p90 runs endedRuns criticalPath { path }
} } }`)

async function forecastOf(id: string, viewer?: Viewer) {
  const { object } = await api.query(FORECAST, { id }, viewer)
  const { forecast } = object ?? {}
  if (!forecast) return null
  const now = api.world.clock.now().getTime()
  const seconds = (at: string | null) => (at === null ? null : Math.round((Date.parse(at) - now) / 1_000))
  const { p50, p90, criticalPath, ...rest } = forecast
  return { ...rest, p50: seconds(p50), p90: seconds(p90), path: criticalPath.map(({ path }) => path.split('/').at(-1)) }
}

const PAUSE = gql('mutation ($input: PauseInput!) { answer: pause(input: $input) { __typename } }')
const RESUME = gql('mutation ($input: ResumeInput!) { answer: resume(input: $input) { __typename } }')

/** Ends what is offered, each item after its seconds. */
async function work(seconds: Readonly<Record<string, number>>): Promise<void> {
  const claim = () => api.world.claim(1, undefined, ['mock', 'rare'])
  for (let [one] = await claim(); one; [one] = await claim()) {
    api.world.clock.advance((seconds[one.name] ?? 0) * 1_000)
    await api.world.report({ fence: one.fence, phase: one.action === 'DELETE' ? 'GONE' : 'SUCCEEDED' })
  }
}
const CHAIN = [item('a'), item('b', ['a'])]

test('a tree that ran five times has a forecast of its sixth run; the first run, and whoever may not read it, have none', async () => {
  const { world } = api
  const id = await world.create('often', { deployItems: CHAIN })
  expect(await forecastOf(id)).toBeNull()
  await work({ a: 10, b: 20 })
  // It does not run.
  expect(await forecastOf(id)).toBeNull()
  await world.reconcile(id)
  expect(await forecastOf(id)).toEqual({ runs: 1, endedRuns: 0, p50: 30, p90: null, path: ['a', 'b'] })
  await work({ a: 11, b: 22 })
  for (const n of [9, 10, 11]) {
    await world.reconcile(id)
    await work({ a: n, b: 2 * n })
  }
  await world.reconcile(id)
  const expected = await forecastOf(id)
  expect(expected).toMatchObject({ runs: 5, endedRuns: 0, path: ['a', 'b'] })
  expect(expected?.p50).toBeGreaterThanOrEqual(29)
  expect(expected?.p50).toBeLessThanOrEqual(33)
  expect(expected?.p90).toBeGreaterThan(expected?.p50 ?? 0)
  expect(expected?.p90).toBeLessThan(45)
  expect(await forecastOf(id, viewerOf('READER', { projects: [v7()] }))).toBeNull()

  const [a] = await world.claim(1)
  world.clock.advance(10_000)
  const { id: b } = await world.see('often', 'deploy-items', 'b')
  const waiting = await forecastOf(b)
  expect(waiting?.p50).toBeGreaterThan(18)
  await world.report({ fence: a?.fence ?? '', phase: 'SUCCEEDED' })
  const rest = await forecastOf(id)
  expect(rest).toMatchObject({ path: ['b'] })
  expect(rest?.p50).toBeGreaterThanOrEqual(18)
  expect(rest?.p50).toBeLessThanOrEqual(22)
  // No run has ever taken this long.
  world.clock.advance(3_600_000)
  expect(await forecastOf(id)).toMatchObject({ runs: 5, endedRuns: 5, p50: null, p90: null })
})

test('a new item counts like others of its type; of another type, or paused, there is nothing to say', async () => {
  const { world } = api
  const id = await world.create('grows', { deployItems: CHAIN })
  await work({ a: 10, b: 20 })
  const grown = (name: string, type = 'mock') => ({ deployItems: [...CHAIN, { ...item(name, ['b']), type }] })
  await world.update(id, grown('c'))
  // As long as the mean of logarithms of a and b.
  expect(await forecastOf(id)).toMatchObject({ runs: 1, p50: 44, path: ['a', 'b', 'c'] })
  await work({ a: 10, b: 20, c: 30 })
  await world.update(id, grown('d', 'rare'))
  // c is still being deleted.
  expect(await forecastOf(id)).toBeNull()
  const [c] = await world.claim(1)
  await world.report({ fence: c?.fence ?? '', phase: 'GONE' })
  expect(await forecastOf(id)).toBeNull()
  expect(await forecastOf((await world.see('grows', 'deploy-items', 'a')).id)).toBeNull()
  await world.cancel(id)
  await work({})

  await world.update(id, grown('c'))
  await work({ a: 10, b: 20, c: 30 })
  await world.reconcile(id)
  expect(await forecastOf(id)).toMatchObject({ runs: 3 })
  const paused = await api.query(PAUSE, { input: { id } })
  expect(paused.answer).toMatchObject({ __typename: 'PausedTree' })
  expect(await forecastOf(id)).toBeNull()
  await api.query(RESUME, { input: { id } })
  expect(await forecastOf(id)).toMatchObject({ runs: 3 })
})

test('a run that is cancelled, or in which something has failed, does not end well', async () => {
  const { world } = api
  const id = await world.create('fails', { deployItems: [item('a'), item('b')] })
  await work({ a: 10, b: 10 })
  await world.reconcile(id)
  await world.claim(2)
  await world.cancel(id)
  expect((await world.see('fails')).phase).toBe('PROGRESSING')
  expect(await forecastOf(id)).toBeNull()

  world.clock.advance(3_600_000)
  await world.settle()
  await world.reconcile(id)
  const [a] = await world.claim(2)
  expect(await forecastOf(id)).toMatchObject({ runs: 1 })
  const error = { code: 'BROKEN', message: 'It is broken.', retryable: false }
  await world.report({ fence: a?.fence ?? '', phase: 'FAILED', error })
  // The other one still runs.
  expect((await world.see('fails')).phase).toBe('PROGRESSING')
  expect(await forecastOf(id)).toBeNull()
})

const PLAN = gql(`query ($input: PlanInstallationInput!) { planInstallation(input: $input) { ... on InstallationPlan {
  forecast { p50 p90 runs criticalPath { path } }
} } }`)

test('a plan says how long its run is expected to take, as far as items like its own show', async () => {
  const { world } = api
  const id = await world.create('planned', { deployItems: CHAIN })
  await work({ a: 10, b: 20 })
  const planned = async (...deployItems: ReturnType<typeof item>[]) => {
    const { planInstallation: plan } = await api.query(PLAN, { input: { update: { id, spec: { deployItems } } } })
    const { p50, criticalPath = [] } = plan?.forecast ?? {}
    const path = criticalPath.map(({ path }) => path.split('/').at(-1))
    return p50 ? [(Date.parse(p50) - world.clock.now().getTime()) / 1_000, ...path] : null
  }
  expect(await planned(...CHAIN)).toEqual([30, 'a', 'b'])
  expect(await planned(item('a'), item('b'))).toEqual([20, 'b'])
  // The new one has no object yet.
  expect((await planned(...CHAIN, item('c', ['b'])))?.slice(1)).toEqual(['a', 'b'])
  expect(await planned(...CHAIN, { ...item('c'), type: 'rare' })).toBeNull()
  // b is deleted first.
  expect(await planned(item('a'))).toBeNull()
})

test('what was kept unchanged takes no part, and what was deleted and created again is the same', async () => {
  const { world } = api
  const both = (seconds: number) => ({
    deployItems: [item('x'), { ...item('y', ['x'], { seconds }), type: 'rare' }],
  })
  const id = await world.create('kept', both(1))
  await work({ x: 10, y: 60 })
  await world.update(id, { deployItems: [item('x')] })
  await work({ x: 10 })
  await world.update(id, both(2))
  // Nothing else of its type shows how long y takes.
  expect(await forecastOf(id)).toMatchObject({ runs: 2, path: ['x', 'y'] })
  await work({ x: 10, y: 60 })
  await world.update(id, both(3), false)
  await world.reconcile(id, 'IF_CHANGED')
  expect(await forecastOf(id)).toMatchObject({ path: ['y'] })
})
