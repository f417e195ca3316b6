import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { readPages } from '../../../src/client-model/index.ts'
import { ask, present } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { show } from '../../testkit/mutations.ts'
import { createTestDatabase } from '../../testkit/postgres.ts'
import { seeded } from '../../testkit/seed.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'

const TOKEN = gql(`mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret token { principal { id } } } ... on Error { message } }
}`)
const RIGHTS = gql(`mutation ($input: UpdatePrincipalInput!) {
  answer: updatePrincipal(input: $input) { ... on Principal { id } ... on Error { message } }
}`)
const GATES = gql(`query ($id: ID!) { tree(rootId: $id) { objects(first: 10) { edges { node { id name phase } } } } }`)
const CHANGES = gql(`query ($first: Int!, $after: String) {
  phaseChanges(filter: { kinds: [DEPLOY_ITEM] }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { objectId name from to by reason message requested } }
  }
}`)

/** How people treat a gate that two of them open, and how it ends then. */
const CASES = ['all at once', 'a right lost', 'too late', 'one of them twice'] as const
const EXPIRES_MS = 4_000

test('kill -9 of servers, while people decide: each gate opens once, by two who may, or expires', {
  timeout: soak(300_000, 1_500_000),
}, async () => {
  const random = seeded()
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await createTestDatabase(1))
  const env = { DATABASE_URL: url, PHASELINE_SECRET_KEY: SECRET_KEY }
  const first = stack.use(await startServer({ env }))
  const servers = [first, stack.use(await startServer({ env, token: first.token }))]

  /** Sends it to one server after the other until one answers. */
  let sent = 0
  const answered = async <T>(
    token: string,
    send: (client: ReturnType<typeof createClient>) => Promise<T>,
  ): Promise<T> => {
    for (;;) {
      await using client = createClient({ url: servers[sent++ % servers.length]?.url ?? '', token })
      const answer = await send(client).then(
        (value) => ({ value }),
        () => null,
      )
      if (answer) return answer.value
      await delay(50)
    }
  }
  const people = new Map<string, { readonly id: string; readonly token: string }>()
  for (const name of ['ann', 'ben', 'cem', 'dan']) {
    const { secret, token } = await ask(first.client, TOKEN, { name, role: 'USER' })
    people.set(name, { id: token.principal.id, token: secret })
  }
  const gates: { readonly root: string; readonly id: string; readonly how: (typeof CASES)[number] }[] = []
  /** The type of the answer. A repetition with the same key is the same approval. */
  const approve = async (id: string, by: string, key = `${by}-${id}`) => {
    const input = { id, idempotencyKey: key }
    const token = people.get(by)?.token ?? first.token
    const send = () =>
      answered(token, (client) => client.query(MUTATIONS.approve, { input })).then(
        ({ answer }) => present(answer).__typename,
      )
    const type = await send()
    if (random() < 0.5) await send()
    return type
  }

  let kills = 0
  const stop = new AbortController()
  const killing = (async () => {
    while (!stop.signal.aborted) {
      await delay(300 + random() * 700)
      const server = servers[kills++ % servers.length]
      await server?.kill()
      await server?.start()
    }
  })()
  killing.catch(() => undefined)
  stack.defer(async () => {
    stop.abort()
    await killing.catch(() => undefined)
  })

  for (let round = 0; round < soak(1, 15) || kills < 4; round++) {
    await answered(first.token, (client) =>
      ask(client, RIGHTS, { id: people.get('dan')?.id ?? '', grants: [{ role: 'EDITOR' }] }),
    )
    const some = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const how = CASES[i % CASES.length] ?? 'too late'
        const timeouts = how === 'too late' ? { pickup: { ms: EXPIRES_MS } } : {}
        const deployItems = [
          { name: 'go', type: 'gate', config: { approval: { count: 2 } }, timeouts },
          { name: 'behind', type: 'mock', dependsOn: ['go'], config: {} },
        ]
        const name = `gated-${round}-${i}`
        const input = { name, spec: { deployItems }, idempotencyKey: name }
        const { id: root } = await answered(first.token, (client) => ask(client, MUTATIONS.createInstallation, input))
        const id = await until(
          () =>
            answered(first.token, (client) => client.query(GATES, { id: root })).then(
              ({ tree }) =>
                tree?.objects.edges.find(({ node }) => node.name === 'go' && node.phase === 'INIT')?.node.id,
            ),
          { what: 'the gate waits' },
        )
        return { root, id, how }
      }),
    )
    gates.push(...some)
    const of = (how: (typeof CASES)[number]) => some.filter((one) => one.how === how)
    const each = (all: typeof some, by: string) => Promise.all(all.map(({ id }) => approve(id, by)))
    expect(new Set(await each(some, 'admin'))).toEqual(new Set(['ForbiddenError']))
    const [lost, twice] = [of('a right lost'), of('one of them twice')]
    await Promise.all([
      each(of('too late'), 'ann'),
      ...['ann', 'ben', 'cem'].map((by) => each(of('all at once'), by)),
      each(twice, 'ann').then(async () => {
        await Promise.all(twice.map(({ id }) => approve(id, 'ann', `again-${id}`)))
        await each(twice, 'ben')
      }),
      each(lost, 'dan').then(async () => {
        await answered(first.token, (client) => ask(client, RIGHTS, { id: people.get('dan')?.id ?? '', grants: [] }))
        await each(lost, 'ben')
        await each(lost, 'cem')
      }),
    ])
    for (const { root } of some)
      await until(() => answered(first.token, (client) => show(client, root)).then((seen) => seen?.finished), {
        what: 'it has ended',
      })
  }
  stop.abort()
  await killing

  const { nodes: changes } = present(
    await readPages(
      100_000,
      async (count, after) => (await first.client.query(CHANGES, { first: count, after })).phaseChanges,
    ),
  )
  for (const { id, root, how } of gates) {
    const own = changes.filter((one) => one.objectId === id)
    const ends = own.filter((one) => !one.requested && one.from === 'INIT')
    expect(ends, how).toHaveLength(1)
    const [end] = ends
    const names = /^Approved by (.+)\.$/.exec(end?.message ?? '')?.[1]?.split(', ') ?? []
    // The log has them as requests, and the last one as the decision.
    const given = own.filter(({ requested, reason }) => requested && reason === 'approved').map(({ by }) => by ?? '')
    if (how === 'too late') {
      expect(end).toMatchObject({ to: 'FAILED', reason: 'GATE_EXPIRED' })
      expect(given).toEqual(['ann'])
      expect(await show(first.client, root)).toMatchObject({ phase: 'FAILED' })
      continue
    }
    expect(end).toMatchObject({ to: 'SUCCEEDED', by: names.at(-1) })
    expect(await show(first.client, root)).toMatchObject({ phase: 'SUCCEEDED' })
    if (how === 'a right lost') expect({ names, given }).toEqual({ names: ['ben', 'cem'], given: ['dan', 'ben'] })
    if (how === 'one of them twice') expect({ names, given }).toEqual({ names: ['ann', 'ben'], given: ['ann', 'ann'] })
    if (how === 'all at once') {
      expect(new Set(names).size).toBe(2)
      expect(given).toEqual(names.slice(0, 1))
    }
  }
})
