import { expect, it } from 'vitest'
import type { NodeOf, ResultOf } from '../../src/documents/typed-document.ts'
import { allMachines } from '../../src/families/machines.ts'
import { killableEdgePlace, type Seen } from '../agents/edge-place.ts'
import { present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { seeded } from '../testkit/seed.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'

const random = seeded()

/**
 * A CRM of which nothing can be relied on: 20% of all messages are lost, 20% come twice, many come late, and it crashes once
 * in fifty operations, forgetting what it was at. An engine beside the other one has a clock that is ten minutes ahead. The long form has 2,000 of them.
 */
const OPERATIONS = soak(50, 2_000)
const CLUSTERS = 10
const APPS = 4
/** Users that each do one thing after the other. */
const USERS = 10
const BEHAVIOUR = {
  seed: 4,
  delayMs: [0, 20] as [number, number],
  steps: 2,
  fail: 0.05,
  crash: 1 / 50,
  loseRequests: 0.2,
  repeatRequests: 0.2,
  loseBeginnings: 0.2,
  loseEnds: 0.2,
  repeatReports: 0.2,
  delayReports: 0.2,
  laterMs: 30,
}

it('over a bad network, with a CRM that crashes, records and folders agree in the end', {
  timeout: 900_000,
}, async () => {
  await using place = await killableEdgePlace(
    { behaviour: BEHAVIOUR },
    { env: { PHASELINE_CRM_SILENCE_MS: '1500' }, secondary: { offset: '+600s' } },
  )
  const { server, cloudletId, mutate, create, instances, recorded, found } = place
  const done = new Map<string, number>()
  const crashes = (): number => place.said('crm serves').length - 1
  let operations = 0
  async function operate(): Promise<void> {
    const name = `c${Math.floor(random() * CLUSTERS)}`
    const path = random() < 1 / (APPS + 1) ? name : `${name}/a${Math.floor(random() * APPS)}`
    const known = (await instances()).find((one) => pathOf(one) === path)
    const what = choose(known?.phase)
    const answer = known ? await change(known, what) : await create(path)
    // A refusal is no operation: another one runs on the instance.
    if (!/^[A-Z_]+$/.test(answer)) operations += 1
    const outcome = /^[A-Z_]+$/.test(answer) ? answer : what
    done.set(outcome, (done.get(outcome) ?? 0) + 1)
  }
  function change({ id, kind: of }: Seen, what: Doing): Promise<string> {
    const kind = of === 'APP_INST' ? 'AppInst' : 'ClusterInst'
    if (what === 'update') return mutate(MUTATIONS[`update${kind}`], { id, spec: { at: operations } })
    if (what === 'cancel') return mutate(MUTATIONS[`cancel${kind}`], { id })
    const how = kind === 'ClusterInst' ? { cascade: random() < 0.5 } : {}
    return mutate(MUTATIONS[`delete${kind}`], { id, ...how })
  }
  const user = async (): Promise<void> => {
    // It crashes by chance, about twice in so many: until it has, this is not the test that it says it is.
    while (operations < OPERATIONS || (crashes() === 0 && operations < 10 * OPERATIONS)) await operate()
  }
  await Promise.all(Array.from({ length: USERS }, user))

  // Without further requests each operation ends, and the next resync shows what has drifted.
  const isQuiet = async () => (await instances()).every(({ phase }) => phase === 'READY')
  await until(isQuiet, { what: 'nothing is in motion', timeoutMs: 240_000 })
  expect(crashes()).toBeGreaterThan(0)
  console.log(JSON.stringify({ operations, crashes: crashes(), ...Object.fromEntries(done) }))
  expect(await recorded()).toEqual(await found())

  const moves = await allMoves(server, cloudletId)
  expect(moves.length).toBeGreaterThan(operations)
  const wrong = moves.filter(({ machine, from, actor, to }) => {
    const rows = allMachines.find(({ name }) => name === machine)?.transitions ?? []
    return from !== null && !rows.some((row) => row.from === from && row.actor === actor && row.to === to)
  })
  expect(wrong).toEqual([])
})

const MOVES =
  gql(`query ($id: ID!, $after: String) { log: phaseChanges(filter: { rootId: $id }, first: 500, after: $after) {
  edges { node { machine from actor to } } pageInfo { hasNextPage endCursor } } }`)
type MovesPage = NonNullable<ResultOf<typeof MOVES>['log']>

/** The whole log of a tree. */
async function allMoves({ client }: ReachableServer, rootId: string): Promise<readonly NodeOf<MovesPage>[]> {
  const moves: NodeOf<MovesPage>[] = []
  for (let after: string | null = null; ; ) {
    const log: MovesPage = present((await client.query(MOVES, { id: rootId, after })).log)
    moves.push(...log.edges.map(({ node }) => node))
    if (!log.pageInfo.hasNextPage) return moves
    after = log.pageInfo.endCursor
  }
}

type Doing = 'create' | 'update' | 'delete' | 'cancel'
function choose(phase: string | undefined): Doing {
  if (phase === undefined) return 'create'
  if (phase !== 'READY') return 'cancel'
  return random() < 0.6 ? 'update' : 'delete'
}
const pathOf = ({ kind, name, parent }: { kind: string; name: string; parent: { name: string } | null }): string =>
  kind === 'APP_INST' ? `${parent?.name}/${name}` : name
