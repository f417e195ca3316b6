import { expect, test } from 'vitest'
import { gql } from '../testkit/gql.ts'
import { createApi } from './api.ts'

test('JSON of users may have any keys, also one that looks like a promise', async () => {
  await using api = await createApi()
  const value = JSON.parse('{ "then": 1, "deep": [{ "then": "x" }], "catch": null }') as unknown
  const set = gql(
    `mutation ($input: SetDataObjectInput!) { setDataObject(input: $input) { ... on DataObject { value } } }`,
  )
  const { setDataObject } = await api.query(set, { input: { name: 'odd', value } })
  expect(JSON.parse(JSON.stringify(setDataObject?.value))).toEqual(value)
  await using server = await api.serve()
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await api.token()}` },
    body: JSON.stringify({
      query: '{ project(name: "default") { dataObjects(first: 5) { edges { node { value } } } } }',
    }),
  })
  expect(await response.json()).toEqual({ data: { project: { dataObjects: { edges: [{ node: { value } }] } } } })
})
