import { setTimeout as delay } from 'node:timers/promises'
import { ask, createRoot, type Door, LiveSocket } from './abuse-client.ts'

/** Callers that ask for much in good faith: nothing of it may be refused. */

const AGAIN_MS = 1_000
const PRINTING = { delayMs: 60_000, steps: 600 }

const CHANGES_OF = 'subscription ($filter: PhaseChangeFilter) { phaseChanges(filter: $filter) { objectId to } }'
const LOG = `subscription ($after: Sequence!) {
  phaseLog(after: $after) { through cursor changes { sequence objectId kind name to } }
}`
const LINES = 'subscription ($filter: OutputFilter) { output(filter: $filter) { cursor at text } }'
const HEAD = '{ log { head } }'
const PAGE = [
  '{ viewer { name } }',
  HEAD,
  '{ projects { edges { node { name } } } }',
  '{ phaseChanges(last: 50) { edges { node { sequence name to at } } } }',
  '{ output(last: 50) { edges { node { at text } } } }',
  '{ phaseChanges(last: 10, filter: { to: [FAILED] }) { edges { node { name } } } }',
  '{ project(name: "default") { name } }',
  '{ output(last: 10, filter: { search: "step" }) { edges { node { text } } } }',
]

/** Jobs with one token at once: each creates a tree and follows it on a socket of its own until it has ended, again and again. */
export async function runJobs(door: Door, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => again(() => runJob(door))))
}

async function runJob(door: Door): Promise<void> {
  const socket = await LiveSocket.open(door)
  const rootId = await createRoot(door, { delayMs: AGAIN_MS, steps: 5 })
  const ended = new Promise<void>((resolve) => {
    // From its first change on: it may have ended already.
    const query = 'subscription ($root: ID!) { phaseChanges(after: 0, filter: { rootId: $root }) { objectId to } }'
    socket.subscribe(query, { root: rootId }, ({ data, code }) => {
      const change = (data as { phaseChanges?: { objectId: string; to: string } } | null)?.phaseChanges
      if (code !== null || (change?.objectId === rootId && change.to === 'SUCCEEDED')) resolve()
    })
    socket.subscribe(LINES, { filter: { rootId } })
  })
  await Promise.race([ended, socket.closed])
  socket.close()
}

/** Tabs of one person, each with two subscriptions, and eight queries every second. */
export async function openTabs(door: Door, count: number): Promise<void> {
  const rootId = await createRoot(door, PRINTING)
  const head = (await ask<{ log: { head: number } }>(door, HEAD)).data?.log.head
  const tab = async (i: number): Promise<void> => {
    const socket = await LiveSocket.open(door)
    socket.subscribe(LOG, { after: head })
    if (i % 2 === 0) socket.subscribe(LINES, { filter: { rootId } })
    else socket.subscribe(CHANGES_OF, { filter: { rootId } })
    await again(async () => {
      await Promise.all(PAGE.map((query) => ask(door, query)))
      await delay(AGAIN_MS)
    })
  }
  await Promise.all(Array.from({ length: count }, (_, i) => tab(i)))
}

/** Creates roots, so many at a time, again and again: a fixed number would have ended before the last question, sooner on a faster server. */
export async function createMany(door: Door, atOnce: number, type: string): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => again(async () => void (await createRoot(door, {}, type)))))
}

async function again(work: () => Promise<void>): Promise<never> {
  for (;;) await work()
}
