import type { HealthCauseName } from '../../src/core/health-causes.ts'
import type { SpecInput } from '../../src/families/deployments/rules/normalise.ts'
import { BROKEN, GATE, LEASE, MINUTE, type Place, SITUATIONS, type Situation } from '../graphql/situations.ts'
import { present } from '../testkit/ask.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'
import { RUNNER } from '../testkit/operations.ts'
import { accepted } from '../testkit/pipelines.ts'
import { DEPLOYER, succeed, USER } from '../testkit/world.ts'

/** Fifty incidents: the situations of health that are none, and faults in trees that a seed draws, beside trees that are well. */

export interface Truth {
  readonly cause: HealthCauseName
  /** The code of the failure, or the reason of the wait. */
  readonly code: string
  /** The path of the object in its project, or what the cause is about where it is about none. */
  readonly at: string
}
export interface Incident extends Situation {
  readonly cause: HealthCauseName
  readonly truth: (project: string) => Omit<Truth, 'cause'>
}

/** The truth of each situation that has a cause. */
const KNOWN: Readonly<Record<string, Incident['truth']>> = {
  'work that no agent serves': () => ({ code: 'AGENT', at: 'shop/deploy-items/a' }),
  'work for which the agents do not suffice': () => ({ code: 'AGENT', at: 'shop/deploy-items/c' }),
  'work whose agent died': () => ({ code: 'AGENT', at: 'shop/deploy-items/a' }),
  'an agent that is close to its timeout': () => ({ code: 'DEADLINE_NEAR', at: 'shop/deploy-items/a' }),
  'a tree that failed': () => ({ code: 'BROKEN', at: 'shop/deploy-items/a' }),
  'a deletion that failed': () => ({ code: 'BROKEN', at: 'shop/deploy-items/a' }),
  'a gate for a person': () => ({ code: 'DECISION', at: 'shop/deploy-items/go' }),
  'a pause with work to do': () => ({ code: 'PAUSED', at: 'shop' }),
  'an import that nobody provides': () => ({ code: 'IMPORT', at: 'shop' }),
  'an event for which there is no slot': () => ({ code: 'CAPACITY', at: 'event-2' }),
  'an event that failed': () => ({ code: 'EXIT_CODE', at: 'event-1' }),
  'a cloudlet without its resource manager': () => ({ code: 'CLOUDLET', at: 'far/k8s' }),
  'a project whose automation is held': (project) => ({ code: 'AUTOMATION_HELD', at: project }),
}

interface Drawn {
  /** A whole number below this one. */
  below(count: number): number
  pick<T>(choices: readonly T[]): T
  readonly error: { readonly code: string; readonly message: string }
}
type Fault = (drawn: Drawn) => Incident

/** An agent does all work of the place, and fails at the items of these names. */
async function work(place: Place, fails: readonly string[] = [], error = BROKEN): Promise<void> {
  const { world, project } = place
  for (;;) {
    const items = await world.claim(500, undefined, [project], LEASE)
    if (items.length === 0) return
    for (const one of items) {
      const isFault = fails.includes(one.name)
      const lines = [`works on ${one.name}`, ...(isFault ? [`fatal: ${error.message}`, 'giving up'] : ['done'])]
      const { fence } = one
      await world.engineHost.agents.appendLogs(
        DEPLOYER,
        lines.map((text) => ({ fence, stream: isFault ? 'STDERR' : 'STDOUT', text })),
      )
      await world.report({ fence, ...(isFault ? { phase: 'FAILED', error } : succeed(one)) })
    }
  }
}

/** The spec within as many installations, each in the one before, and the path of that. */
function nest(spec: SpecInput, depth: number): { readonly spec: SpecInput; readonly path: string } {
  const names = Array.from({ length: depth }, (_, i) => `part-${i}`)
  const whole = names.reduceRight<SpecInput>((inner, name) => ({ installations: [{ name, spec: inner }] }), spec)
  return { spec: whole, path: ['shop', ...names].join('/') }
}
const chain = (place: Place, names: readonly string[], last: object = {}) =>
  names.map((name, i) =>
    place.item(name, { dependsOn: names.slice(Math.max(0, i - 1), i), ...(i === names.length - 1 && last) }),
  )
const names = (count: number) => Array.from({ length: count }, (_, i) => `step-${i}`)

const FAULTS: readonly Fault[] = [
  // One item fails, deep in a tree, and the others depend on it.
  ({ below, error }) => {
    const [depth, before, after] = [below(4), below(3), 1 + below(4)]
    const all = names(before + 1 + after)
    const bad = `step-${before}`
    return {
      cause: 'FAILED',
      async earlier(place) {
        await place.create(nest({ deployItems: chain(place, all) }, depth).spec)
        await work(place, [bad], error)
      },
      truth: () => ({ code: error.code, at: `${nest({}, depth).path}/deploy-items/${bad}` }),
    }
  },
  // The attempts of an item are used up.
  ({ below, error }) => {
    const depth = below(3)
    const retry = { attempts: 2, backoff: { initialMs: 1_000 } }
    return {
      cause: 'FAILED',
      async earlier(place) {
        await place.create(
          nest({ deployItems: [...chain(place, names(3)), place.item('flaky', { retry })] }, depth).spec,
        )
        await work(place, ['flaky'], error)
      },
      now: (place) => work(place, ['flaky'], error),
      truth: () => ({ code: error.code, at: `${nest({}, depth).path}/deploy-items/flaky` }),
    }
  },
  // A root imports what another one would export, whose item has failed.
  ({ error }) => ({
    cause: 'FAILED',
    async earlier(place) {
      const exports = [{ name: 'url', value: `\${deployItems.make.exports.url}` }]
      await place.create({ exports, deployItems: [place.item('make')] }, 'base')
      await work(place, ['make'], error)
      await place.create({ imports: [{ name: 'url' }], deployItems: [place.item('use')] })
    },
    truth: () => ({ code: error.code, at: 'base/deploy-items/make' }),
  }),
  // A config asks for an export that nobody makes.
  ({ below }) => {
    const depth = below(3)
    return {
      cause: 'FAILED',
      async earlier(place) {
        const config = { url: `\${deployItems.first.exports.nothing}` }
        const deployItems = [place.item('first'), place.item('second', { dependsOn: ['first'], config })]
        await place.create(nest({ deployItems }, depth).spec)
        await work(place)
      },
      truth: () => ({ code: 'EXPRESSION', at: `${nest({}, depth).path}/deploy-items/second` }),
    }
  },
  // An agent takes longer than the item may, and does not stop when it is asked to.
  ({ below }) => {
    const depth = below(3)
    return {
      cause: 'FAILED',
      async earlier(place) {
        const timeouts = { progressing: { ms: MINUTE }, aborting: { ms: MINUTE } }
        await place.create(nest({ deployItems: chain(place, names(3), { timeouts }) }, depth).spec)
        const { world, project } = place
        for (const name of ['step-0', 'step-1']) {
          const [one] = await world.claim(1, undefined, [project], LEASE)
          if (one?.name !== name) throw new Error(`${name} is not next`)
          await world.report({ fence: one.fence, phase: 'SUCCEEDED' })
        }
        await place.claim()
      },
      truth: () => ({ code: 'ABORTING_TIMEOUT', at: `${nest({}, depth).path}/deploy-items/step-2` }),
    }
  },
  // No agent of the type comes in time.
  () => ({
    cause: 'FAILED',
    earlier: (place) => place.create([place.item('orphan', { timeouts: { pickup: { ms: 2 * MINUTE } } })]),
    truth: () => ({ code: 'PICKUP_TIMEOUT', at: 'shop/deploy-items/orphan' }),
  }),
  // A gadget of a task fails, and the jobs that come after it do not run.
  ({ error }) => ({
    cause: 'FAILED',
    async earlier({ world, project }) {
      const jobs = [
        { name: 'copy', gadget: 'do-it' },
        { name: 'check', gadget: 'do-it', dependsOn: ['copy'] },
      ]
      await accepted(world.operations.createTask(USER, { project, name: 'move', jobs }))
      await world.settle()
      const take = async (action: string) =>
        present((await world.claim(9, RUNNER, ['gadget-job'], LEASE)).find((one) => one.action === action)).fence
      await world.report({ fence: await take('GET_LOCKS'), phase: 'WAITING', locks: [] }, RUNNER)
      await world.report({ fence: await take('RUN'), phase: 'UNDOING', error: { ...error, retryable: false } }, RUNNER)
      await world.report({ fence: await take('UNDO'), phase: 'FAILED' }, RUNNER)
    },
    truth: () => ({ code: error.code, at: 'move/copy' }),
  }),
  // Somebody has rejected a gate.
  ({ below }) => {
    const depth = below(3)
    return {
      cause: 'FAILED',
      async earlier(place) {
        const deployItems = [...GATE({ approval: {} }), place.item('after', { dependsOn: ['go'] })]
        await place.create(nest({ deployItems }, depth).spec)
        const { rows } = await place.world.pool.query<{ id: string }>(
          `select o.id from object o join project p on p.id = o.project_id where p.name = $1 and o.name = 'go'`,
          [place.project],
        )
        await place.ask(`reject(input: { id: "${rows[0]?.id}" })`)
      },
      truth: () => ({ code: 'REJECTED', at: `${nest({}, depth).path}/deploy-items/go` }),
    }
  },
  // A gate waits for a person, deep in a tree.
  ({ below }) => {
    const depth = 1 + below(3)
    return {
      cause: 'DECISION',
      earlier: (place) =>
        place.create(
          nest({ deployItems: [...GATE({ approval: {} }), place.item('after', { dependsOn: ['go'] })] }, depth).spec,
        ),
      truth: () => ({ code: 'DECISION', at: `${nest({}, depth).path}/deploy-items/go` }),
    }
  },
  // A deployer cannot uninstall its item.
  ({ below, error }) => {
    const depth = below(3)
    return {
      cause: 'DECISION',
      async earlier(place) {
        const id = await place.create(nest({ deployItems: [place.item('stays')] }, depth).spec)
        await work(place)
        await place.world.remove(id)
        await place.end('DELETE_FAILED', error)
      },
      truth: () => ({ code: error.code, at: `${nest({}, depth).path}/deploy-items/stays` }),
    }
  },
  // Data that a nested installation imports is not there.
  ({ below }) => {
    const name = `key-${below(1_000)}`
    return {
      cause: 'MISSING_IMPORT',
      earlier: (place) => {
        const inner = { name: 'inner', spec: { imports: [{ name }], deployItems: [place.item()] } }
        return place.create({ imports: [{ name }], installations: [inner] })
      },
      truth: () => ({ code: 'IMPORT', at: 'shop' }),
    }
  },
  // Somebody has paused a tree that is half done.
  ({ below }) => ({
    cause: 'PAUSED',
    async earlier(place) {
      const id = await place.create(chain(place, names(2 + below(4))))
      const { fence } = await place.claim()
      await place.ask(`pause(input: { id: "${id}", reason: "a drill" })`)
      await place.world.report({ fence, phase: 'SUCCEEDED' })
    },
    truth: () => ({ code: 'PAUSED', at: 'shop' }),
  }),
  // The agent of the last step has never come.
  ({ below }) => ({
    cause: 'NO_AGENT',
    async earlier(place) {
      const all = chain(place, names(1 + below(3)))
      await place.create([
        ...all,
        { ...place.item('last'), type: `${place.project}-rare`, dependsOn: [all.at(-1)?.name] },
      ])
      await work(place)
    },
    truth: () => ({ code: 'AGENT', at: 'shop/deploy-items/last' }),
  }),
]

const ERRORS = [
  ['DISK_FULL', 'No space is left on the device /var/lib/data'],
  ['IMAGE_PULL', 'The registry answers 403 for shop:1.4.2'],
  ['DNS', 'The name db.internal cannot be resolved'],
  ['QUOTA', 'The quota of 8 CPUs is used up'],
  ['EXIT_CODE', 'It ended with 137'],
  ['CERTIFICATE', 'The certificate of the cluster has expired'],
] as const

function drawnBy(seed: number): Drawn {
  const random = mulberry32(seed)
  const below = (count: number): number => Math.floor(random() * count)
  const pick = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T
  const [code, message] = pick(ERRORS)
  return { below, pick, error: { code, message } }
}

/** Trees of the same project that are well, so that the cause has to be found among others. */
const amid = (incident: Incident, { below }: Drawn): Incident => ({
  ...incident,
  async earlier(place) {
    for (let i = below(4); i > 0; i -= 1) {
      await place.create(chain(place, names(1 + below(5))), `well-${i}`)
      await work(place)
    }
    await incident.earlier?.(place)
  },
})

const COUNT = 50
export const INCIDENTS: Readonly<Record<string, Incident>> = Object.fromEntries([
  ...Object.entries(KNOWN).map(([name, truth]) => {
    const situation = present(SITUATIONS[name])
    return [name, { ...situation, cause: present(situation.cause), truth }] as const
  }),
  ...Array.from({ length: COUNT - Object.keys(KNOWN).length }, (_, seed) => {
    const drawn = drawnBy(seed)
    return [`fault ${seed}`, amid(present(FAULTS[seed % FAULTS.length])(drawn), drawn)] as const
  }),
])
