import { expect, test } from 'vitest'
import { createApi } from '../graphql/api.ts'
import { item } from '../testkit/world.ts'
import { commandLine } from './command.ts'

test('get, status and tree say when a tree that ran before is expected to end', async () => {
  await using api = await createApi()
  const { world } = api
  const { url } = await api.serve()
  const phaseline = commandLine({ PHASELINE_URL: url, PHASELINE_TOKEN: await api.token() })
  const id = await world.create('shop', { deployItems: [item('web')] })
  const lines = async () => {
    const [one, status, tree] = [await phaseline('get shop'), await phaseline('status'), await phaseline('tree shop')]
    return `${one.out}${status.out}${tree.out}`.split('\n').filter((line) => /left|critical/.test(line))
  }
  expect(await lines()).toEqual([])
  for (let run = 0; run < 5; run++) {
    const [web] = await world.claim()
    world.clock.advance(3_600_000)
    await world.report({ fence: web?.fence ?? '', phase: 'SUCCEEDED' })
    await world.reconcile(id)
  }
  expect(await lines()).toEqual([
    expect.stringMatching(/^expected +about .* left, at most .* in 9 of 10 runs$/),
    expect.stringMatching(/^critical path +shop\/deploy-items\/web$/),
    expect.stringMatching(/^ +default\/shop: about .* left, at most .* in 9 of 10 runs$/),
    expect.stringMatching(/^3 objects: .*; about .* left, at most .* in 9 of 10 runs$/),
  ])
})
