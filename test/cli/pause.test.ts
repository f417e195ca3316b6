import { expect, it } from 'vitest'
import { createClient, runAgent } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { commandLine } from './command.ts'

const BLOCKERS =
  gql(`query ($kind: ObjectKind!, $path: [String!]!) { objectByPath(project: "default", kind: $kind, path: $path) {
  id pause { by reason } verbs { name allowed } blockedBy { reason message ... on PausedBlocker { pause { reason } } } } }`)

it('a tree is paused and resumed by name, with the reason, who and since when, and what is asked meanwhile', async () => {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const name = 'agent'
  const { secret } = await ask(server.client, MUTATIONS.createToken, { name, role: 'AGENT', actor: 'DEPLOYER' })
  const worked: string[] = []
  const ends = new AbortController()
  const agent = (instance: string, types: readonly string[]) =>
    runAgent({
      client: stack.use(createClient({ url: server.url, token: secret })),
      signal: ends.signal,
      types,
      instance,
      work(item) {
        worked.push(`${item.type} ${item.action}`)
        return { phase: item.action === 'DELETE' ? 'GONE' : 'SUCCEEDED' }
      },
    })
  const manifest = (type: string) => JSON.stringify({ name: type, spec: { deployItems: [{ name: 'db', type }] } })
  for (const type of ['shop', 'other'])
    expect(await phaseline('apply -f -', { stdin: manifest(type) })).toMatchObject({ code: 0 })

  const paused = await phaseline('pause shop --reason freeze')
  expect(paused).toMatchObject({ code: 0, out: expect.stringContaining('shop is paused') })
  expect(await phaseline('pause shop/deploy-items/db')).toMatchObject({ err: expect.stringContaining('pause shop') })
  const running = [agent('box-1', ['shop', 'other']), agent('box-2', ['shop'])]
  stack.defer(async () => {
    ends.abort()
    await Promise.all(running)
  })
  await until(() => worked.includes('other RECONCILE'), { what: 'the other tree is worked on' })
  expect((await phaseline('get shop')).out).toMatch(/paused +by .+freeze/)
  const root = { kind: 'INSTALLATION', path: ['shop'] } as const
  for (const at of [root, { kind: 'DEPLOY_ITEM', path: ['shop', 'deploy-items', 'db'] } as const]) {
    const { objectByPath } = await server.client.query(BLOCKERS, at)
    expect(objectByPath?.blockedBy[0]).toMatchObject({
      reason: 'PAUSED',
      message: expect.stringContaining('freeze'),
      pause: { reason: 'freeze' },
    })
    expect(objectByPath?.pause?.reason).toBe('freeze')
  }
  expect(await phaseline('reconcile shop')).toMatchObject({ code: 0 })
  expect(await phaseline('delete shop --yes')).toMatchObject({ code: 0 })
  expect((await phaseline('get shop')).out).toMatch(/pending +delete/)
  expect(worked).toEqual(['other RECONCILE'])

  expect(await phaseline('resume shop')).toMatchObject({ code: 0, out: expect.stringContaining('shop is resumed') })
  expect(await phaseline('resume shop')).toMatchObject({ code: 0 })
  await until(async () => (await server.client.query(BLOCKERS, root)).objectByPath === null, {
    what: 'shop is deployed, and deleted',
  })
  expect(worked).toEqual(['other RECONCILE', 'shop RECONCILE', 'shop DELETE'])
  const log = await phaseline('log --search freeze')
  expect(log.out).toContain('freeze')
})
