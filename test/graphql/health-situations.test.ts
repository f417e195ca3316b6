import { afterAll, beforeAll, expect, test } from 'vitest'
import { HEALTH_CAUSES } from '../../src/core/health-causes.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { type Api, createApi } from './api.ts'
import { playSituations, SITUATIONS } from './situations.ts'

let api: Api
let places: Awaited<ReturnType<typeof playSituations>>
beforeAll(async () => {
  api = await createApi()
  places = await playSituations(api, SITUATIONS)
})
afterAll(() => api[Symbol.asyncDispose]())

const HEALTH = gql('query ($project: String!) { health(project: $project) { verdict causes { cause } } }')
test.each(Object.entries(SITUATIONS))('%s', async (name, { cause }) => {
  const { health } = await api.query(HEALTH, { project: present(places.get(name)).project })
  const verdict = cause === null ? 'HEALTHY' : HEALTH_CAUSES[cause].severity
  expect(health).toEqual({ verdict, causes: cause === null ? [] : [{ cause }] })
})
