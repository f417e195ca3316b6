import { expect, test } from 'vitest'
import type { Client, PhaseChange } from '../../src/client/index.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Reads the log after a sequence up to `through`. */
async function readLog(client: Client, after: number, through: number): Promise<readonly PhaseChange[]> {
  const changes: PhaseChange[] = []
  if (after >= through) return changes
  for await (const batch of client.followPhases({ after, maxBatch: 7 })) {
    changes.push(...batch.changes)
    if (batch.through >= through) return changes
  }
  throw new Error('the log ended')
}

const ENDS = gql('query ($id: ID!) { object(id: $id) { history(last: 1) { edges { node { sequence to } } } } }')
/** The sequence of a root's end, which is the last thing that its job says. */
async function endOf(client: Client, id: string): Promise<number | null> {
  const { object } = await client.query(ENDS, { id })
  const last = object?.history.edges[0]?.node
  return last?.to === 'SUCCEEDED' ? last.sequence : null
}

test('a subscription resumed after any sequence, across a server restart, delivers exactly the rest', async () => {
  await using server = await startServer()
  const { client } = server
  const first = await create(client, 'first', items(5))
  await until(async () => (await show(client, first))?.finished, { what: 'the first tree has ended' })

  // One reader stays on through the restart; it must neither miss nor repeat anything.
  const stop = new AbortController()
  const seen: PhaseChange[] = []
  const reading = (async () => {
    for await (const batch of client.followPhases({ after: 0, signal: stop.signal })) seen.push(...batch.changes)
  })()
  await until(() => seen.length > 0, { what: 'the reader reads' })
  await server.kill()
  await server.start()
  const second = await create(client, 'second', items(5))
  const head = await until(() => endOf(client, second), { what: 'the second tree has ended, and the log says so' })
  const whole = await readLog(client, 0, head)
  expect(whole.map((change) => change.sequence)).toEqual(Array.from({ length: head }, (_, i) => i + 1))
  for (let after = 0; after <= head; after++) {
    expect(await readLog(client, after, head)).toEqual(whole.slice(after))
  }
  await until(() => seen.at(-1)?.sequence === head, { what: 'the reader has caught up' })
  expect(seen).toEqual(whole)
  stop.abort()
  await reading

  // A sequence beyond this log is refused at once.
  const beyond = client.followPhases({ after: head + 1_000_000 })
  await expect(beyond[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })
})
