import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type DryRun, runAgent } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

/** `phaseline plan --on-target`, with agents of the published client, on a real server. */

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp())
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
})
afterAll(() => stack.disposeAsync())

const manifest = (type: string, names: readonly string[]) =>
  JSON.stringify({
    name: `shop-${type}`,
    spec: { deployItems: names.map((name) => ({ name, type, config: { name } })) },
  })

/** An agent with the permission to claim its type, and nothing else. */
async function start(type: string, instance: string, dryRun: DryRun | undefined): Promise<AsyncDisposable> {
  const token = { name: `${type}-${instance}`, role: 'AGENT', types: [type] } as const
  const { secret } = await ask(server.client, MUTATIONS.createToken, token)
  const client = createClient({ url: server.url, token: secret })
  const stop = new AbortController()
  const running = runAgent({
    ...{
      client,
      instance,
      types: [type],
      leaseMs: 1_000,
      drainMs: 100,
      dryRun,
      signal: stop.signal,
      onProblem: () => {},
    },
    work: () => ({ phase: 'SUCCEEDED' }),
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await client.close()
    },
  }
}

test('it prints what would change, and what cannot be said, item by item', async () => {
  await using _agent = await start('planned', 'one', ({ name, dryRunOf, config }) => {
    expect([dryRunOf, config]).toEqual(['RECONCILE', { name }])
    if (name === 'broken') throw new Error('no such thing')
    if (name === 'unknown') return { skipped: 'It has no dry run.' }
    const fields = [{ path: 'size', before: 1, after: 2 }]
    const changes = [
      { kind: 'Thing', name, action: 'UPDATE' as const, fields, diff: '@@ -1,1 +1,1 @@\n-size: 1\n+size: 2' },
      { kind: 'Thing', name: 'other', action: 'UNCHANGED' as const },
    ]
    return { changes }
  })
  const stdin = manifest('planned', ['good', 'unknown'])
  const first = await until(
    async () => {
      const answer = await phaseline('plan -f - --on-target', { stdin })
      return answer.out.includes('No connected agent') ? null : answer
    },
    { what: 'the agent is known' },
  )
  expect(first.code).toBe(0)
  expect(first.out).toContain('create  deploy item')
  expect(first.out).toContain(
    '~ shop-planned/deploy-items/good (planned)\n  update Thing good\n    @@ -1,1 +1,1 @@\n    -size: 1\n    +size: 2\n  1 unchanged\n',
  )
  expect(first.out).toContain('○ shop-planned/deploy-items/unknown (planned)\n  It has no dry run.\n')
  const second = await phaseline('plan -f - --on-target --json', { stdin: manifest('planned', ['good', 'broken']) })
  expect(second.code).toBe(1)
  expect(documents(second.out)).toMatchObject([
    {
      name: 'shop-planned',
      dryRun: {
        complete: true,
        items: [{ state: 'PLANNED' }, { state: 'FAILED', code: 'AGENT_ERROR', message: 'Error: no such thing' }],
      },
    },
  ])
  // Nothing was written.
  expect((await phaseline('get shop-planned')).code).not.toBe(0)
})

test('another agent takes over from one that is gone', async () => {
  const begun = Promise.withResolvers<void>()
  const first = await start('passed', 'first', async (_item, { signal }) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { changes: [] }
  })
  const stdin = manifest('passed', ['web'])
  const planned = until(
    async () => {
      const answer = await phaseline('plan -f - --on-target', { stdin })
      return answer.out.includes('No connected agent') ? null : answer
    },
    { what: 'the agent is known' },
  )
  await begun.promise
  const ending = first[Symbol.asyncDispose]()
  await using _second = await start('passed', 'second', ({ attempt }) => ({
    changes: [{ kind: 'Thing', name: `attempt ${attempt}`, action: 'CREATE' }],
  }))
  expect((await planned).out).toMatch(/create Thing attempt [2-9]/)
  await ending
})

test('a viewer is refused', async () => {
  const { secret } = await ask(server.client, MUTATIONS.createToken, { name: 'reader', role: 'READER' })
  const reader = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: secret })
  const answer = await reader('plan -f - --on-target', { stdin: manifest('mock', ['a']) })
  expect(answer.code).toBe(3)
  expect(answer.err).toContain('may not dry-run installation')
})
