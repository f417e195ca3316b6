import { expect, test } from 'vitest'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import { commandLine } from '../cli/command.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { place } from './process-place.ts'

/** Two process runtimes as two places of one server: labels, capacity, a drain, and the loss of one. */

const EVENT = gql(`query PlacedEvent($id: ID!) { object(id: $id) {
  phase blockedBy { reason ... on PlaceBlocker { problem places } }
} }`)
const PLACES = gql(`query AllPlaces { places { edges { node {
  name state capacity runningWorkers labels { key value } drain { by reason }
} } } }`)

test('work goes where its labels are, within the capacity, and not to a place that is drained or lost', async () => {
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const { client, url, token } = server
  const phaseline = commandLine({ PHASELINE_URL: url, PHASELINE_TOKEN: token })
  const { secret } = await ask(client, MUTATIONS.createToken, {
    ...{ name: 'runtimes', role: 'AGENT', actor: 'RUNTIME', types: ['process'] },
  })
  await using europe = await place()
  await using america = await place()
  const start = (state: string, options: Readonly<Record<string, string>>) =>
    startAgentProcess({
      ...{ types: ['process'], url, token: new Secret(secret), state, graceMs: 300, leaseMs: 6_000 },
      options: { isolation: 'trusted', ...options },
    })
  await using inEurope = start(europe.state, { label: 'zone=eu,disk=ssd', capacity: '1' })
  await using _inAmerica = start(america.state, { label: 'zone=us' })

  const places = async () => {
    const listed = await client.query(PLACES, {})
    return listed.places?.edges.map(({ node }) => node) ?? []
  }
  const placeIn = async (zone: string) =>
    (await places()).find(({ labels }) => labels.some(({ key, value }) => key === 'zone' && value === zone))
  const names = new Map<string, string>()
  for (const zone of ['eu', 'us']) {
    names.set(zone, (await until(() => placeIn(zone), { what: `the place in ${zone} is registered` })).name)
    await ask(client, MUTATIONS.createProject, {
      name: zone,
      workerTemplate: { command: ['sleep', '60'], targetLabels: [{ key: 'zone', value: zone }] },
    })
  }
  const add = async (project: string): Promise<string> => {
    const { events } = await ask(client, MUTATIONS.createEvent, { project, source: 'test', type: 'push' })
    return present(events[0]).id
  }
  const see = async (id: string) => present((await client.query(EVENT, { id })).object)
  const untilRuns = (id: string) => until(async () => (await see(id)).phase === 'RUNNING', { what: `${id} runs` })
  const untilBlocked = (id: string, problem: string, zone: string) =>
    until(
      async () =>
        (await see(id)).blockedBy.some(
          (blocker) => 'problem' in blocker && blocker.problem === problem && blocker.places[0] === names.get(zone),
        ),
      { what: `${id} waits since its place is ${problem}` },
    )

  const first = await add('eu')
  await untilRuns(first)
  const second = await add('eu')
  await untilBlocked(second, 'FULL', 'eu')
  expect(await placeIn('eu')).toMatchObject({ state: 'FULL', capacity: 1, runningWorkers: 1 })
  await untilRuns(await add('us'))

  const drained = await phaseline(`place drain ${names.get('us')} --reason maintenance`)
  expect(drained).toMatchObject({ code: 0, out: `${names.get('us')} (process) is drained\n` })
  const third = await add('us')
  await untilBlocked(third, 'DRAINED', 'us')
  const listed = await phaseline('places')
  expect(listed.out).toMatch(/full\s+1\/1\s+0\/1\s+disk=ssd, zone=eu/)
  expect(listed.out).toMatch(/drained\s+1\s+0\s+zone=us\s+by .* ago: maintenance/)
  expect(await phaseline('place drain nowhere')).toMatchObject({ code: 3 })
  expect(await phaseline(`place undrain ${names.get('us')}`)).toMatchObject({ code: 0 })
  await untilRuns(third)

  await ask(client, MUTATIONS.cancelEvent, { id: first })
  await untilRuns(second)
  await inEurope.close()
  await until(async () => (await placeIn('eu'))?.state === 'LOST', { what: 'the place in eu is lost' })
  expect(await placeIn('us')).toMatchObject({ state: 'ACTIVE', runningWorkers: 2 })
  await untilBlocked(await add('eu'), 'LOST', 'eu')
})
