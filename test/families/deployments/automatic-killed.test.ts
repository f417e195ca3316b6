import { expect, test } from 'vitest'
import { gql } from '../../testkit/gql.ts'
import { startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'

const CREATE = gql(`mutation { answer: createInstallation(input: {
  name: "shop", spec: { automaticReconcile: { afterSuccess: { intervalMs: 1000 } } }
}) { ... on Installation { id } } }`)
const READ = gql(`query ($id: ID!) {
  object(id: $id) { ... on Installation {
    automaticReconcile { nextAt editor problem }
    runs(first: 100) { edges { node { number cause by startedAt endedAt phase } } }
  } }
}`)

test('whatever is killed, one job begins an interval after the end of the last one', async () => {
  await using server = await startServer()
  const id = (await server.client.query(CREATE)).answer?.id ?? ''
  const runs = async () => {
    const { object } = await server.client.query(READ, { id })
    return (object?.runs?.edges ?? []).map(({ node }) => node).filter(({ endedAt }) => endedAt !== null)
  }
  for (let round = 0; round < soak(3, 30); round += 1) {
    const [last] = await runs()
    await until(async () => ((await runs())[0]?.number ?? 0) > (last?.number ?? 0) + 1, { what: 'it begins jobs' })
    await server.kill()
    await server.start()
  }
  const ended = (await runs()).toReversed()
  expect(ended.map(({ number }) => number)).toEqual(ended.map((_, i) => (ended[0]?.number ?? 0) + i))
  for (const [i, { cause, by, phase, startedAt }] of ended.entries()) {
    const before = ended[i - 1]
    if (!before) continue
    expect({ cause, by, phase }).toEqual({ cause: 'AUTOMATIC', by: null, phase: 'SUCCEEDED' })
    expect(Date.parse(startedAt) - Date.parse(before.endedAt ?? '')).toBeGreaterThanOrEqual(1_000)
  }
  const { object } = await server.client.query(READ, { id })
  expect(object?.automaticReconcile).toMatchObject({ editor: 'admin', problem: null })
})
