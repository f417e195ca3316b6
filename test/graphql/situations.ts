import { expect } from 'vitest'
import type { HealthCauseName } from '../../src/core/health-causes.ts'
import type { SpecInput } from '../../src/families/deployments/rules/normalise.ts'
import { present } from '../testkit/ask.ts'
import { connectCrm } from '../testkit/edge.ts'
import { exclusive, RUNNER } from '../testkit/operations.ts'
import { accepted, addEvent, addProject, failed, RUNTIME, sendReport, succeeded } from '../testkit/pipelines.ts'
import { USER, type World } from '../testkit/world.ts'
import type { Api } from './api.ts'

/**
 * Situations on a real database, each in a project of its own: what happened eight minutes ago, what happens now, and the one
 * cause that health names; null: it is quiet.
 */

export const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const AGO = 8 * MINUTE
/** The agents are still at work. */
export const LEASE = 9 * MINUTE
/** Each situation has a type of work of its own, so that no other one's agent serves it. */
export class Place {
  readonly api: Api
  readonly project: string
  constructor(api: Api, project: string) {
    this.api = api
    this.project = project
  }
  get world(): World {
    return this.api.world
  }
  readonly item = (name = 'a', more: object = {}) => ({ name, type: this.project, timeouts: LONG, ...more })
  async create(spec: SpecInput | readonly object[], name = 'shop'): Promise<string> {
    const { project, world } = this
    const full = (Array.isArray(spec) ? { deployItems: spec } : spec) as SpecInput
    const { objectId } = await accepted(
      world.commands.createInstallation(USER, { project, name, spec: full, reconcile: true }),
    )
    await world.settle()
    return objectId
  }
  /** One piece of work; its agent is still at work. */
  readonly claim = async (leaseMs = LEASE) =>
    present((await this.world.claim(1, undefined, [this.project], leaseMs))[0])
  async end(phase: 'SUCCEEDED' | 'FAILED' | 'DELETE_FAILED' | 'GONE', error = BROKEN): Promise<void> {
    await this.world.report({ fence: (await this.claim()).fence, phase, ...(phase.includes('FAILED') && { error }) })
  }
  readonly ask = async (mutation: string): Promise<void> => {
    const { data, errors } = await this.api.execute(
      `mutation { answer: ${mutation} { __typename ... on Error { message } } }`,
    )
    const { message } = present(data?.answer) as { readonly message?: string }
    expect([errors, message]).toEqual([undefined, undefined])
    await this.world.settle()
  }
}
export const BROKEN = { code: 'BROKEN', message: 'It broke.' }
export const LONG = { pickup: { never: true }, progressing: { never: true } } as const
export const GATE = (config: object) => [{ name: 'go', type: 'gate', config }]

export type Play = (place: Place) => unknown
export interface Situation {
  readonly maxWorkers?: number
  readonly yesterday?: Play
  readonly earlier?: Play
  readonly now?: Play
  readonly cause: HealthCauseName | null
}

export const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a project without anything': { cause: null },
  'a tree that succeeded': {
    earlier: async (place) => {
      await place.create([place.item()])
      await place.end('SUCCEEDED')
    },
    cause: null,
  },
  'work that no agent serves': { earlier: (place) => place.create([place.item()]), cause: 'NO_AGENT' },
  'such work of this moment': { now: (place) => place.create([place.item()]), cause: null },
  'work for which the agents do not suffice': {
    earlier: async (place) => {
      await place.create(['a', 'b', 'c'].map((name) => place.item(name)))
      await place.claim()
    },
    now: (place) => place.claim(),
    cause: 'WORK_WAITS',
  },
  'work that an agent does': {
    earlier: async (place) => {
      await place.create([place.item()])
      await place.claim()
    },
    cause: null,
  },
  'work whose agent died': {
    earlier: async (place) => {
      await place.create([place.item()])
      await place.claim(MINUTE)
    },
    cause: 'NO_AGENT',
  },
  'an agent that is close to its timeout': {
    earlier: async (place) => {
      await place.create([place.item('a', { timeouts: { progressing: { ms: 9 * MINUTE } } })])
      await place.claim()
    },
    cause: 'DEADLINE_NEAR',
  },
  'an agent in the middle of its timeout': {
    earlier: async (place) => {
      await place.create([place.item('a', { timeouts: { progressing: { ms: 20 * MINUTE } } })])
      await place.claim()
    },
    cause: null,
  },
  'a tree that failed': {
    earlier: async (place) => {
      await place.create([place.item()])
      await place.end('FAILED')
    },
    cause: 'FAILED',
  },
  'a tree that failed, and then succeeded': {
    earlier: async (place) => {
      const id = await place.create([place.item()])
      await place.end('FAILED')
      await place.world.reconcile(id)
    },
    now: (place) => place.end('SUCCEEDED'),
    cause: null,
  },
  'work that is tried again in an hour': {
    earlier: async (place) => {
      await place.create([place.item('a', { retry: { attempts: 3, backoff: { initialMs: HOUR } } })])
      await place.end('FAILED')
    },
    cause: null,
  },
  'an item that waits for one that is worked on': {
    earlier: async (place) => {
      await place.create([place.item('a'), place.item('b', { dependsOn: ['a'] })])
      await place.claim()
    },
    cause: null,
  },
  'a deletion that failed': {
    earlier: async (place) => {
      const id = await place.create([place.item()])
      await place.end('SUCCEEDED')
      await place.world.remove(id)
      await place.end('DELETE_FAILED')
    },
    cause: 'DECISION',
  },
  'a deletion that succeeded': {
    earlier: async (place) => {
      const id = await place.create([place.item()])
      await place.end('SUCCEEDED')
      await place.world.remove(id)
      await place.end('GONE')
    },
    cause: null,
  },
  'a gate for a person': { now: (place) => place.create({ deployItems: GATE({ approval: {} }) }), cause: 'DECISION' },
  'a gate for tomorrow': {
    earlier: (place) =>
      place.create({ deployItems: GATE({ until: new Date(place.world.clock.now().getTime() + DAY).toISOString() }) }),
    cause: null,
  },
  'a pause with work to do': {
    earlier: async (place) => place.ask(`pause(input: { id: "${await place.create([place.item()])}" })`),
    cause: 'PAUSED',
  },
  'a pause of a tree at rest': {
    earlier: async (place) => {
      const id = await place.create([place.item()])
      await place.end('SUCCEEDED')
      await place.ask(`pause(input: { id: "${id}" })`)
    },
    cause: null,
  },
  'an import that nobody provides': {
    earlier: (place) => place.create({ imports: [{ name: 'url' }], deployItems: [place.item()] }),
    cause: 'MISSING_IMPORT',
  },
  'an import that came': {
    earlier: (place) => place.create({ imports: [{ name: 'url' }], deployItems: [] }),
    now: ({ project, ask }) => ask(`setDataObject(input: { project: "${project}", name: "url", value: 1 })`),
    cause: null,
  },
  'an import of this moment': {
    now: (place) => place.create({ imports: [{ name: 'url' }], deployItems: [place.item()] }),
    cause: null,
  },
  'an event for which there is no slot': {
    maxWorkers: 1,
    earlier: async ({ project, world }) => {
      await addEvent(world, project)
      await run(world)
      await addEvent(world, project)
    },
    cause: 'SLOTS_FULL',
  },
  'an event that runs': {
    earlier: async ({ project, world }) => {
      await addEvent(world, project)
      await run(world)
    },
    cause: null,
  },
  'an event that failed': {
    earlier: async ({ project, world }) => {
      await addEvent(world, project)
      for (const { fence } of await run(world)) await sendReport(world, { fence, ...failed })
    },
    cause: 'FAILED',
  },
  'an event that failed the day before yesterday': {
    yesterday: async ({ project, world }) => {
      await addEvent(world, project)
      for (const { fence } of await run(world)) await sendReport(world, { fence, ...failed })
    },
    cause: null,
  },
  'an event that succeeded': {
    earlier: async ({ project, world }) => {
      await addEvent(world, project)
      for (const { fence } of await run(world)) await sendReport(world, { fence, ...succeeded })
    },
    cause: null,
  },
  'a cloudlet without its resource manager': {
    earlier: async ({ project, world }) => {
      const { objectId: parentId } = await accepted(world.edge.createCloudlet(USER, { project, name: 'far' }))
      await connectCrm(world, parentId, { leaseMs: MINUTE })
      const instance = { kind: 'CLUSTER_INST', parentId, name: 'k8s', spec: { size: 1 } } as const
      await accepted(world.edge.createInstance(USER, instance))
      await world.settle()
    },
    cause: 'CLOUDLET_OFFLINE',
  },
  'a cloudlet that nobody asks for anything': {
    earlier: ({ project, world }) => accepted(world.edge.createCloudlet(USER, { project, name: 'idle' })),
    cause: null,
  },
  'a job that waits for the lock of another': {
    earlier: async ({ project, world }) => {
      for (const name of ['first', 'second']) {
        await accepted(world.operations.createTask(USER, { project, name, jobs: [{ name, gadget: 'do-it' }] }))
        await world.settle()
        await work(world, 'GET_LOCKS', (fence) => ({ fence, phase: 'WAITING', locks: [exclusive('disk')] }))
        await work(world, 'RUN', (fence) => ({ fence, phase: 'RUNNING' }))
      }
    },
    cause: null,
  },
  'a project whose automation is held': {
    earlier: ({ project, ask }) => ask(`holdAutomation(input: { project: "${project}", reason: "a drill" })`),
    cause: 'AUTOMATION_HELD',
  },
}

/** Starts all events that wait for a runtime. */
async function run(world: World) {
  const request = { instance: 'here', types: ['process'], targets: ['here'], max: 9, leaseMs: LEASE }
  const { items } = await accepted(world.engineHost.agents.claim(RUNTIME, request))
  for (const { fence } of items) await sendReport(world, { fence, phase: 'RUNNING' })
  return items
}
/** Has the runner of gadgets do all that it is offered. */
async function work(
  world: World,
  action: string,
  answer: (fence: string) => Parameters<World['report']>[0],
): Promise<void> {
  for (const item of await world.claim(9, RUNNER, ['gadget-job'], LEASE))
    if (item.action === action) await world.report(answer(item.fence), RUNNER)
}

/** Plays all of them, each in a project of its own: what happened yesterday, eight minutes ago and now. */
export async function playSituations<S extends Situation>(
  api: Api,
  situations: Readonly<Record<string, S>>,
): Promise<ReadonlyMap<string, Place>> {
  const { world } = api
  const places = new Map(Object.keys(situations).map((name, i) => [name, new Place(api, `p${i}`)]))
  for (const [name, { project }] of places)
    await addProject(world, project, { limits: { maxWorkers: situations[name]?.maxWorkers ?? null } })
  const play = async (when: 'yesterday' | 'earlier' | 'now') => {
    for (const [name, place] of places) await situations[name]?.[when]?.(place)
  }
  await play('yesterday')
  world.clock.advance(25 * HOUR)
  await world.settle()
  await play('earlier')
  for (let passed = 0; passed < AGO; passed += MINUTE) {
    world.clock.advance(MINUTE)
    await world.settle()
  }
  await play('now')
  return places
}
