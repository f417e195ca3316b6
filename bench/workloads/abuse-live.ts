import { setTimeout as delay } from 'node:timers/promises'
import { createRoot, type Door, LiveSocket, type Variables } from './abuse-client.ts'

/** Attacks whose work comes after their operations have begun. */

/** Subscriptions of one socket. */
const OF_A_SOCKET = 500
const CHANGE_MS = 100
const TREES = 10
/** Two lines a second of each tree, for longer than an attack takes: enough for each search to have something new every time. */
const PRINTING = { delayMs: 90_000, steps: 180 }

const FIELDS = 'sequence kind name path projectName machine from to actor by reason message revision at'
const CHANGES = `subscription ($filter: PhaseChangeFilter) {
  phaseChanges(filter: $filter) {
    ${Array.from({ length: 12 }, (_, i) => FIELDS.replaceAll(/\w+/g, (field) => `a${i}${field}: ${field}`)).join(' ')}
    object { name phase }
  }
}`
const LINES = 'subscription ($filter: OutputFilter) { output(filter: $filter) { cursor at text object { name path } } }'

/** So many different subscriptions to all changes, some of one project, and changes for them to hear. */
export async function subscribeToChanges(door: Door, count: number): Promise<never> {
  await openMany(door, count, (i) => ({
    query: CHANGES,
    variables: { filter: { since: new Date(i).toISOString(), ...(i % 2 === 1 && { project: 'default' }) } },
  }))
  for (;;) {
    await createRoot(door)
    await delay(CHANGE_MS)
  }
}

/** So many different live searches: of all lines, of a project, and of trees that print all the time. */
export async function searchLines(door: Door, count: number): Promise<never> {
  const trees = await Promise.all(Array.from({ length: TREES }, () => createRoot(door, PRINTING)))
  await openMany(door, count, (i) => {
    const place = [{}, { project: 'default' }, { rootId: trees[i % TREES] }][i % 3]
    return { query: LINES, variables: { filter: { search: `of 180 ${i}`, ...place } } }
  })
  return await new Promise(() => {})
}

async function openMany(
  door: Door,
  count: number,
  requestOf: (i: number) => { readonly query: string; readonly variables: Variables },
): Promise<void> {
  for (let from = 0; from < count; from += OF_A_SOCKET) {
    const socket = await LiveSocket.open(door)
    for (let i = from; i < Math.min(count, from + OF_A_SOCKET); i++) {
      const { query, variables } = requestOf(i)
      socket.subscribe(query, variables)
    }
  }
}
