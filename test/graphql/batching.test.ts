import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gql } from '../testkit/gql.ts'
import { item } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** No list costs a statement per row. */

let api: Api
beforeAll(async () => {
  api = await createApi()
  const nested = (name: string, count: number, imports: readonly string[] = []) => ({
    name,
    spec: {
      imports: imports.map((i) => ({ name: i })),
      exports: [{ name: `${name}-out`, value: name }],
      deployItems: Array.from({ length: count }, (_, i) => item(`${name}-${i}`, i > 0 ? [`${name}-${i - 1}`] : [])),
    },
  })
  for (let root = 0; root < 25; root += 1) {
    const imports = root % 5 === 4 ? [{ name: `r${root - 1}-data` }] : []
    await api.world.create(`r${root}`, {
      imports,
      exports: [{ name: `r${root}-data`, value: root }],
      installations: [nested('a', 5), nested('b', 5, ['a-out']), nested('c', 5)],
      deployItems: [item('own')],
    })
  }
  for (let i = 0; i < 60; i += 1) {
    const done = await api.world.claim(5)
    if (done.length === 0) break
    for (const one of done) await api.world.report({ fence: one.fence, phase: 'SUCCEEDED' })
    if (i === 30) break
  }
})
afterAll(() => api[Symbol.asyncDispose]())

const LEVELS = gql(`query Levels($first: Int!) {
  objects(filter: { rootsOnly: true }, first: $first) {
    totalCount
    edges { node { ...Object children(first: 5) { totalCount edges { node {
      ...Object children(first: 5) { totalCount edges { node { ...Object } } }
    } } } } }
  }
}
fragment Object on TreeObject {
  __typename id kind name project { name } labels { key value } treeCounts { all finished } parent { id } root { name }
  dependsOn(first: 5) { edges { node { name } } } dependents(first: 5) { totalCount edges { node { name } } }
  phase finished error { code causes { object { id } } rootCause { name } }
  blockedBy { reason message ... on DependencyBlocker { object { name } } }
  deadlines { name expiresAt } allowedTransitions { to } verbs { name allowed why } progress { step }
  history(first: 3) { totalCount edges { node { sequence object { id } } } } logs(first: 3) { totalCount edges { node { text } } }
  ... on Installation { spec ignored mode imports exports execution { id classes { succeeded waiting } } }
  ... on DeployItem { type target config exports attempt agent { name } timeouts { pickup { ms } } }
}`)

describe('batching', () => {
  test('the number of statements does not grow with the number of objects', async () => {
    const few = await api.statements(() => api.query(LEVELS, { first: 1 }))
    const many = await api.statements(() => api.query(LEVELS, { first: 25 }))
    const data = await api.query(LEVELS, { first: 25 })
    const seen = JSON.stringify(data).match(/"__typename"/g)?.length ?? 0
    expect(seen).toBeGreaterThan(150)
    expect(many).toBeLessThanOrEqual(few + 5)
  })
})
