import { expect, test } from 'vitest'
import { gql } from '../testkit/gql.ts'
import { create, show, tryCreate } from '../testkit/mutations.ts'
import { startSharedServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** An expression that hangs takes forever; a second is usual, and machines differ. */
const LIMIT_MS = 30_000

const item = (config: unknown) => ({ deployItems: [{ name: 'victim', type: 'mock', config }] })
const ITEM = gql(`query ($path: [String!]!) {
  objectByPath(kind: DEPLOY_ITEM, path: $path) { phase error { code message } history(last: 10) { edges { node { to at } } } }
}`)

test('an expression built to hang or to exhaust memory ends in a typed error, and the server goes on', async () => {
  await using server = await startSharedServer()
  const { client } = server
  const ones = JSON.stringify(Array.from({ length: 200 }, () => 1))
  const hostile = {
    'a regular expression that backtracks': `\${"${'a'.repeat(40)}!".matches("^(a|a)*$")}`,
    'nested macros': `\${${ones}.map(x, ${ones}.map(y, ${JSON.stringify('z'.repeat(200))} + string(x) + string(y)))}`,
    'three nested macros': '${[1].map(x, [2].map(y, [3].map(z, x + y + z)))}',
    'no expression at all': '${imports.}',
    'a very long one': `\${${'1 + '.repeat(20_000)}1}`,
  }
  for (const [name, expression] of Object.entries(hostile)) {
    const since = performance.now()
    const root = name.replaceAll(' ', '-')
    const answer = await tryCreate(client, root, item({ value: expression }))
    if (answer.__typename !== 'Installation') {
      expect(answer, name).toMatchObject({ __typename: 'InvalidInputError', code: 'INVALID_INPUT' })
      expect(performance.now() - since, name).toBeLessThan(LIMIT_MS)
      continue
    }
    await until(async () => (await show(client, answer.id as string))?.finished, { what: `${name} has ended` })
    const { objectByPath: found } = await client.query(ITEM, { path: [root, 'deploy-items', 'victim'] })
    expect(performance.now() - since, name).toBeLessThan(LIMIT_MS)
    // Either it could be evaluated within the limits, or it failed for what it is.
    if (found?.phase !== 'SUCCEEDED')
      expect(found, name).toMatchObject({ phase: 'FAILED', error: { code: 'EXPRESSION' } })
  }
  const honest = await create(client, 'honest', item({ value: '${[1, 2, 3].map(x, x * 2)}' }))
  await until(async () => (await show(client, honest))?.finished, { what: 'an honest tree has ended' })
  expect(await show(client, honest)).toMatchObject({ phase: 'SUCCEEDED' })
})
