import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Client, PhaseChange } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { type Member, startPatroni } from './patroni.ts'
import { areProgramsThere } from './programs.ts'

const HEAD = gql('{ log { epoch head endCursor } }')
/** Seconds from a promotion until mutations are accepted again. */
const BACK_WITHIN = 15

interface Reader extends AsyncDisposable {
  readonly received: PhaseChange[]
  /** The position to resume at, for each time that its own was lost. */
  readonly lost: string[]
}

function follow(client: Client): Reader {
  const stop = new AbortController()
  const received: PhaseChange[] = []
  const lost: string[] = []
  const onExpired = ({ commonCursor }: { commonCursor: string }): string => {
    lost.push(commonCursor)
    received.length = 0
    return commonCursor
  }
  const done = (async () => {
    for await (const { changes } of client.followPhases({ after: 0, signal: stop.signal, onExpired }))
      received.push(...changes)
  })()
  return {
    received,
    lost,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await done
    },
  }
}

/** Creates trees, one after the other, until it is stopped; those whose creation was answered. */
function createTrees(
  client: Client,
  prefix: string,
): AsyncDisposable & {
  readonly accepted: readonly { readonly id: string; readonly at: number }[]
  stop(): Promise<void>
} {
  const accepted: { readonly id: string; readonly at: number }[] = []
  let isStopped = false
  const done = (async () => {
    for (let i = 0; !isStopped; i++) {
      const id = await create(client, `${prefix}-${i}`, items(2)).catch(() => null)
      if (id !== null) accepted.push({ id, at: performance.now() })
      // A client that refuses at once must not keep everything else from its turn.
      else await delay(10)
    }
  })()
  const stop = async (): Promise<void> => {
    isStopped = true
    await done
  }
  return { accepted, stop, [Symbol.asyncDispose]: stop }
}

/** Crashes the server that takes writes, and returns when the other one was promoted, in time and in seconds from the crash. */
async function failOver(primary: Member, standby: Member): Promise<{ readonly at: number; readonly after: number }> {
  const since = performance.now()
  await primary.crash()
  await until(() => standby.isPrimary(), { what: 'the standby is promoted' })
  const at = performance.now()
  return { at, after: (at - since) / 1_000 }
}

test.runIf(areProgramsThere())(
  'a failover by Patroni, with clients at work: nothing is lost with a synchronous standby; with an asynchronous one, readers are told',
  async () => {
    await using cluster = await startPatroni()
    await cluster.replicate('synchronous')
    await using app = await startTestApp({
      env: { DATABASE_URL: cluster.url, PHASELINE_ROLES: 'gateway,engine,agents', PHASELINE_LOG_LEVEL: 'warn' },
    })
    const { client } = app
    const headOf = async () => present((await client.query(HEAD)).log)
    await using reader = follow(client)
    const backAfter = async (trees: ReturnType<typeof createTrees>, at: number): Promise<number> => {
      const first = await until(() => trees.accepted.find((tree) => tree.at > at), { what: 'mutations are accepted' })
      return (first.at - at) / 1_000
    }

    await using trees = createTrees(client, 'kept')
    await until(() => trees.accepted.length > 3, { what: 'trees are created' })
    const { primary, standby } = await cluster.roles()
    const first = await failOver(primary, standby)
    const back = await backAfter(trees, first.at)
    await until(() => trees.accepted.filter(({ at }) => at > first.at).length > 3, { what: 'work goes on' })
    await trees.stop()
    expect(back).toBeLessThan(BACK_WITHIN)
    for (const { id } of trees.accepted)
      await until(async () => (await show(client, id))?.finished, { what: 'each accepted tree is done' })
    const whole = await headOf()
    await until(() => reader.received.at(-1)?.sequence === whole.head, { what: 'the reader is at the end' })
    expect(reader.received.map(({ sequence }) => sequence)).toEqual(Array.from({ length: whole.head }, (_, i) => i + 1))
    expect(reader.lost).toEqual([])

    await cluster.replicate('asynchronous')
    const again = await cluster.roles()
    const cut = again.primary.cutStandbys()
    await until(async () => (await cluster.query('select from pg_stat_replication')).length === 0, {
      what: 'the standby gets nothing more',
    })
    const lost = await create(client, 'lost', items(2))
    await until(async () => (await show(client, lost))?.finished, { what: 'the tree that will be lost is done' })
    const late = await headOf()
    await until(() => reader.received.at(-1)?.sequence === late.head, { what: 'the reader has seen it' })
    await using newer = createTrees(client, 'new')
    const second = await failOver(again.primary, again.standby)
    cut[Symbol.dispose]()
    const backAgain = await backAfter(newer, second.at)
    await newer.stop()
    expect(backAgain).toBeLessThan(BACK_WITHIN)
    expect(await show(client, lost)).toBeNull()
    await until(() => reader.lost.length > 0, { what: 'the reader is told' })
    const now = await headOf()
    expect(now.epoch).toBe(late.epoch + 1)
    // The last trees may run on meanwhile.
    await until(() => (reader.received.at(-1)?.sequence ?? 0) >= now.head, { what: 'the reader has gone on' })
    // From where both histories agree on, nothing is missing.
    const from = reader.received[0]?.sequence ?? 0
    expect(from).toBeLessThanOrEqual(whole.head + 1)
    const seen = reader.received.map(({ sequence }) => sequence)
    expect(seen).toEqual(seen.map((_, i) => from + i))
    await expect(
      (async () => {
        for await (const batch of client.followPhases({ after: late.endCursor })) return batch
        return null
      })(),
    ).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })
    console.info(
      `Patroni: promoted ${first.after.toFixed(1)} and ${second.after.toFixed(1)} s after the crash; mutations accepted ${back.toFixed(2)} s (synchronous) and ${backAgain.toFixed(2)} s (asynchronous) after the promotion.`,
    )
  },
)
