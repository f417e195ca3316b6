import { expect, test } from 'vitest'
import { gql } from '../testkit/gql.ts'
import { createApi } from './api.ts'

const ABSENT = gql(`mutation Absent {
  secret: deleteSecret(input: { project: "ci", name: "KEY" }) { ... on Error { message } }
  target: deleteTarget(input: { project: "ci", name: "spare" }) { ... on Error { message } }
  place: drainPlace(input: { name: "nowhere" }) { ... on Error { message } }
  cache: deleteCache(input: { project: "ci", key: "npm" }) { ... on Error { message } }
  hold: releaseAutomation(input: { project: "ci" }) { ... on Error { message } }
  holdOfAll: releaseAutomation(input: {}) { ... on Error { message } }
}`)

test('what is not there is named as it was looked for', async () => {
  await using api = await createApi()
  await api.query(gql('mutation { createProject(input: { name: "ci" }) { __typename } }'))
  const answers = await api.query(ABSENT)
  const messages = Object.values(answers).map((answer) => answer && 'message' in answer && answer.message)
  expect(messages).toEqual([
    'There is no secret KEY that you may read.',
    'There is no target spare that you may read.',
    'There is no place nowhere that you may read.',
    'There is no cache npm that you may read.',
    'There is no hold of the project ci that you may read.',
    'There is no hold of all projects that you may read.',
  ])
})
