import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, ClientError, createClient } from '../../src/client/index.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { ask, type Payload } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'
import type { SentDelivery, TokenProbe, UserMutation } from './evidence.ts'
import { machineMs } from './machine-clock.ts'
import type { ChaosAddress } from './receivers.ts'

/** Users of all families, who ask for something, wait, and ask again: with the same key if they had no answer. */

export interface Load {
  readonly client: Client
  readonly url: string
  readonly cloudletId: string
  /** Ids of the limits, by name. */
  readonly limits: ReadonlyMap<string, string>
  readonly address: ChaosAddress
  readonly seed: number
  readonly signal: AbortSignal
}

const SHOW = gql('query ($id: ID!) { object(id: $id) { phase finished } }')
const OBJECTS = gql(
  `query ($id: ID!) { tree(rootId: $id) { objects(first: 100) { edges { node { id kind name phase } } } } }`,
)
const WHO = gql('{ viewer { id } }')
const SCHEDULES = gql(`query ($project: String!) {
  objects(first: 500, filter: { project: $project, kinds: [SCHEDULE] }) { edges { node { id name phase } } }
}`)
const SEND = {
  createInstallation: gql(`mutation ($input: CreateInstallationInput!) {
    answer: createInstallation(input: $input) { ... on Installation { id generation jobId } ... on Error { message } }
  }`),
  updateInstallation: gql(`mutation ($input: UpdateInstallationInput!) {
    answer: updateInstallation(input: $input) { ... on Installation { id generation jobId } ... on Error { message } }
  }`),
  cancelInstallation: gql(`mutation ($input: CancelInstallationInput!) {
    answer: cancelInstallation(input: $input) { ... on Installation { id generation jobId finished } ... on Error { message } }
  }`),
  deleteInstallation: gql(`mutation ($input: DeleteInstallationInput!) {
    answer: deleteInstallation(input: $input) { ... on Installation { id generation jobId } ... on Error { message } }
  }`),
  createEvent: gql(`mutation ($input: CreateEventInput!) {
    answer: createEvent(input: $input) { ... on CreatedEvents { events { id } } ... on Error { message } }
  }`),
  cancelEvent: gql(`mutation ($input: CancelEventInput!) {
    answer: cancelEvent(input: $input) { ... on Event { id } ... on Error { message } }
  }`),
  deleteEvent: gql(`mutation ($input: DeleteEventInput!) {
    answer: deleteEvent(input: $input) { ... on Event { id } ... on Error { message } }
  }`),
  createTask: gql(`mutation ($input: CreateTaskInput!) {
    answer: createTask(input: $input) { ... on Task { id } ... on Error { message } }
  }`),
  cancelTask: gql(`mutation ($input: CancelTaskInput!) {
    answer: cancelTask(input: $input) { ... on Task { id } ... on Error { message } }
  }`),
  createClusterInst: gql(`mutation ($input: CreateClusterInstInput!) {
    answer: createClusterInst(input: $input) { ... on ClusterInst { id generation } ... on Error { message } }
  }`),
  updateClusterInst: gql(`mutation ($input: UpdateClusterInstInput!) {
    answer: updateClusterInst(input: $input) { ... on ClusterInst { id generation } ... on Error { message } }
  }`),
  pause: gql(`mutation ($input: PauseInput!) {
    answer: pause(input: $input) { ... on PausedTree { object { phase } } ... on Error { message } }
  }`),
  resume: gql(`mutation ($input: ResumeInput!) {
    answer: resume(input: $input) { ... on PausedTree { object { phase } } ... on Error { message } }
  }`),
  approve: gql(`mutation ($input: ApproveInput!) {
    answer: approve(input: $input) { ... on DeployItem { id } ... on Error { message } }
  }`),
  reject: gql(`mutation ($input: RejectInput!) {
    answer: reject(input: $input) { ... on DeployItem { id } ... on Error { message } }
  }`),
  signal: gql(`mutation ($input: SignalInput!) {
    answer: signal(input: $input) { ... on DeployItem { id } ... on Error { message } }
  }`),
  updateLimit: gql(`mutation ($input: UpdateLimitInput!) {
    answer: updateLimit(input: $input) { ... on Limit { id } ... on Error { message } }
  }`),
  overrideLimit: gql(`mutation ($input: OverrideLimitInput!) {
    answer: overrideLimit(input: $input) { ... on Limit { id } ... on Error { message } }
  }`),
  pauseLimit: gql(`mutation ($input: PauseLimitInput!) {
    answer: pauseLimit(input: $input) { ... on Limit { id } ... on Error { message } }
  }`),
  resumeLimit: gql(`mutation ($input: ResumeLimitInput!) {
    answer: resumeLimit(input: $input) { ... on Limit { id } ... on Error { message } }
  }`),
  deleteClusterInst: gql(`mutation ($input: DeleteClusterInstInput!) {
    answer: deleteClusterInst(input: $input) { ... on ClusterInst { id generation } ... on Error { message } }
  }`),
  createSchedule: gql(`mutation ($input: CreateScheduleInput!) {
    answer: createSchedule(input: $input) { ... on Schedule { id } ... on Error { message } }
  }`),
  updateSchedule: gql(`mutation ($input: UpdateScheduleInput!) {
    answer: updateSchedule(input: $input) { ... on Schedule { id } ... on Error { message } }
  }`),
  pauseSchedule: gql(`mutation ($input: PauseScheduleInput!) {
    answer: pauseSchedule(input: $input) { ... on Schedule { id } ... on Error { message } }
  }`),
  resumeSchedule: gql(`mutation ($input: ResumeScheduleInput!) {
    answer: resumeSchedule(input: $input) { ... on Schedule { id } ... on Error { message } }
  }`),
  fireSchedule: gql(`mutation ($input: FireScheduleInput!) {
    answer: fireSchedule(input: $input) { ... on Schedule { id } ... on Error { message } }
  }`),
  deleteSchedule: gql(`mutation ($input: DeleteScheduleInput!) {
    answer: deleteSchedule(input: $input) { ... on Schedule { id } ... on Error { message } }
  }`),
  setSecret: gql(`mutation ($input: SetSecretInput!) {
    answer: setSecret(input: $input) { ... on Secret { name } ... on Error { message } }
  }`),
  setDataObject: gql(`mutation ($input: SetDataObjectInput!) {
    answer: setDataObject(input: $input) { ... on DataObject { name } ... on Error { message } }
  }`),
  createToken: gql(`mutation ($input: CreateTokenInput!) {
    answer: createToken(input: $input) { ... on CreatedToken { secret token { id principal { id } } } ... on Error { message } }
  }`),
  updatePrincipal: gql(`mutation ($input: UpdatePrincipalInput!) {
    answer: updatePrincipal(input: $input) { ... on Principal { id } ... on Error { message } }
  }`),
  revokeToken: gql(`mutation ($input: RevokeTokenInput!) {
    answer: revokeToken(input: $input) { ... on RevokedToken { id } ... on Error { message } }
  }`),
}
type Sent = keyof typeof SEND
type InputOf<M extends Sent> = (typeof SEND)[M] extends TypedDocument<infer _, { readonly input: infer I }> ? I : never
type AnswerOf<M extends Sent> =
  (typeof SEND)[M] extends TypedDocument<{ readonly answer: infer T }, infer _> ? Payload<T> : never

const PAUSE_MS = 300
/** Between two of what is seldom asked for. */
const LONG_MS = 5_000
export const PROJECT = 'chaos'
/** The project's secret, which each worker writes down as it starts. */
export const SECRET = 'VERSION'
/** The data that roots import. */
const DATA = 'setting'
/** The export of the first root that follows data; the second one imports it. */
const FOLLOWED = 'followed'
const ROLES = ['VIEWER', 'EDITOR', 'AUTHOR'] as const
/** A hook of the project, with what its sender signs by. */
export const HOOK = { name: 'sent', secret: 'a secret that both sides have' }
/** The sources of events that schedules and the hook create. */
export const SOURCE = { schedule: 'schedule', hook: 'hook' }
const OVERLAPS = ['ALLOW', 'SKIP', 'QUEUE', 'CANCEL_RUNNING'] as const
const CATCH_UPS = ['ALL', 'LAST', 'NONE'] as const
/** Work that fails has this policy, and fails before it succeeds, or always. */
export const RETRY = { attempts: 3, backoff: { initialMs: 3_000, factor: 2, maxMs: 60_000, jitter: 0.2 } }
const SENDER_PATIENCE_MS = 10_000

/** The bounds that users give a limit, the first at its creation. */
interface ChaosLimit {
  readonly project: string
  readonly bounds: readonly {
    readonly shared?: boolean
    readonly max?: number
    readonly maxPerKey?: number
    readonly rate?: { readonly count: number; readonly perMs: number }
    readonly weights?: readonly { readonly key: string; readonly weight: number }[]
  }[]
}
export const LIMITS: Readonly<Record<string, ChaosLimit>> = {
  builds: {
    project: PROJECT,
    bounds: [
      { max: 5, maxPerKey: 3 },
      { max: 2, weights: [{ key: SOURCE.hook, weight: 3 }] },
      { maxPerKey: 2, rate: { count: 6, perMs: 1_000 } },
    ],
  },
  deploys: {
    project: 'default',
    bounds: [{ max: 3, maxPerKey: 2 }, { max: 2, weights: [{ key: 'a', weight: 2 }] }, { maxPerKey: 1 }],
  },
  paced: {
    project: 'default',
    bounds: [{ rate: { count: 4, perMs: 1_500 } }, { max: 2, rate: { count: 2, perMs: 1_000 } }],
  },
  // Work of both projects has it.
  fleet: {
    project: PROJECT,
    bounds: [
      { shared: true, max: 5 },
      { shared: true, max: 3, maxPerKey: 2 },
    ],
  },
}
export const WORKER_LIMITS = ['builds', 'fleet'].map((limit) => ({ limit, key: '${event.source}' }))
const KEYS = ['a', 'b', 'c']
/** The limits that the items of a tree ask for. */
const ASKED: readonly (readonly string[])[] = [['deploys'], ['paced'], [`${PROJECT}/fleet`], ['deploys', 'paced']]
const KEYS_OF: Readonly<Record<string, readonly string[]>> = { builds: ['chaos', ...Object.values(SOURCE)] }
const OVERRIDES = [{ maxPerKey: 0 }, { maxPerKey: 1 }, { maxPerKey: 4 }, { rate: { count: 1, perMs: 1_000 } }]

/** Gates have this name; its items stand before and behind it. */
export const GATE = 'go'
export const GATE_PICKUP_MS = 12_000
const SIGNAL = 'tested'
interface Person {
  readonly id: string
  readonly name: string
  readonly client: Client
}
const EDITOR = { role: 'EDITOR', project: 'default' } as const

export class Users {
  readonly mutations: UserMutation[] = []
  readonly probes: TokenProbe[] = []
  readonly deliveries: SentDelivery[] = []
  readonly #load: Load
  readonly #random: () => number
  readonly #teams = new Map<string, Promise<readonly Person[]>>()
  #next = 0

  constructor(load: Load) {
    this.#load = load
    this.#random = mulberry32(load.seed)
  }

  async run(): Promise<void> {
    const each = [
      () => this.#deploy(),
      () => this.#deploy(),
      () => this.#build(),
      () => this.#maintain(),
      () => this.#operate(),
      () => this.#set(),
      () => this.#follow('follower', DATA, FOLLOWED),
      () => this.#follow('second', FOLLOWED, null),
      () => this.#admit(),
      () => this.#schedule(),
      () => this.#schedule(),
      () => this.#deliver(),
      () => this.#decide('red'),
      () => this.#decide('blue'),
      () => this.#bound(),
    ]
    await Promise.all(each.map((act) => this.#repeat(act)))
    for (const people of this.#teams.values()) for (const { client } of await people) await client.close()
  }

  async #repeat(act: () => Promise<void>): Promise<void> {
    const { signal } = this.#load
    while (!signal.aborted) {
      await act().catch((error: unknown) => {
        if (!isAnswer(error)) throw error
      })
      await delay(PAUSE_MS * (0.5 + this.#random()))
    }
  }

  /** Sends it, and notes what it was and how it was answered. A refusal is no evidence. */
  async #send<M extends Sent>(
    mutation: M,
    input: InputOf<M>,
    about: Pick<UserMutation, 'kind' | 'name'> & Partial<Pick<UserMutation, 'id' | 'value'>>,
    person?: Person,
  ): Promise<AnswerOf<M>> {
    const { idempotencyKey: key = null } = input as { idempotencyKey?: string }
    const blank = { id: null, value: null, generation: null, jobId: null, by: person?.name ?? null }
    const sent = { mutation, ...blank, key, askedMs: machineMs(), ...about }
    try {
      const { client } = person ?? this.#load
      const answer: object = await ask(client, SEND[mutation] as never, input as never)
      this.mutations.push({ ...sent, ...factsOf(answer), answeredMs: machineMs() })
      return answer as AnswerOf<M>
    } catch (error) {
      if (error instanceof ClientError) this.mutations.push({ ...sent, answeredMs: null })
      throw error
    }
  }

  /** Sends it again, with its key, until there is an answer, and sometimes after that. */
  async #create<T>(send: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const made = await send()
        if (this.#random() < 0.1) await send()
        return made
      } catch (error) {
        if (this.#load.signal.aborted || !(error instanceof ClientError)) throw error
        await delay(100)
      }
    }
  }
  readonly #pick = (count: number): number => Math.floor(this.#random() * count)
  #name(what: string): string {
    return `${what}-${this.#next++}`
  }
  async #untilFinished(id: string): Promise<void> {
    for (;;) {
      const { object } = await this.#load.client.query(SHOW, { id })
      if (!object || object.finished || this.#load.signal.aborted) return
      await delay(PAUSE_MS)
    }
  }

  /** Pauses some trees for a moment. They are resumed whatever has happened, since each of them has to end. */
  async #rest(about: Pick<UserMutation, 'kind' | 'name'> & { readonly id: string }): Promise<void> {
    if (this.#random() > 0.2) return
    const { id } = about
    try {
      await this.#create(() => this.#send('pause', { id, idempotencyKey: this.#name('pause') }, about))
      await delay(this.#pick(2_000))
    } finally {
      await this.#resume(about)
    }
  }
  async #resume(about: Pick<UserMutation, 'kind' | 'name'> & { readonly id: string }): Promise<void> {
    for (;;) {
      try {
        await this.#send('resume', { id: about.id }, about)
        return
      } catch (error) {
        // Refused: it is gone.
        if (!(error instanceof ClientError)) return
        await delay(100)
      }
    }
  }

  /** A tree that is created, changed, cancelled perhaps, and deleted. */
  async #deploy(): Promise<void> {
    const name = this.#name('tree')
    const about = { kind: 'INSTALLATION', name } as const
    const first = this.#spec(name)
    const { id } = await this.#create(() =>
      this.#send('createInstallation', { name, spec: first, idempotencyKey: name }, { ...about, value: first }),
    )
    await this.#rest({ ...about, id })
    await this.#untilFinished(id)
    if (this.#random() < 0.7) {
      const spec = this.#spec(name)
      await this.#send('updateInstallation', { id, spec }, { ...about, id, value: spec })
      if (this.#random() < 0.3) await this.#send('cancelInstallation', { id }, { ...about, id })
      await this.#untilFinished(id)
    }
    if (this.#random() < 0.5) await this.#send('deleteInstallation', { id }, { ...about, id })
  }
  #spec(name: string) {
    const deployItems = Array.from({ length: 2 + this.#pick(5) }, (_, i) => ({
      name: `item-${i}`,
      type: 'chaos',
      ...this.#limitsOf(name, i, ASKED[i]),
      // Some items have two dependencies: such an item must not begin after the first of them.
      dependsOn: i < 2 ? [] : i % 2 === 0 ? [`item-${i - 2}`] : [`item-${i - 2}`, `item-${i - 1}`],
      config: { ms: 20 + this.#pick(400), fails: this.#random() < 0.03, failures: 0 },
    }))
    const flaky = deployItems[this.#pick(deployItems.length)]
    if (flaky && this.#random() < 0.4)
      Object.assign(flaky, { retry: RETRY, config: { ...flaky.config, failures: 1 + this.#pick(3) } })
    const exports = [{ name: `${name}-url`, value: `\${deployItems['item-0'].exports.url}` }]
    const crowd = Array.from({ length: this.#random() < 0.3 ? 8 : 0 }, (_, i) => ({
      ...{ name: `crowd-${i}`, type: 'chaos', dependsOn: [], config: { ms: 20 + this.#pick(150) } },
      ...this.#limitsOf(name, i, ['deploys']),
    }))
    const inner = { name: 'inner', type: 'chaos', config: { ms: this.#pick(200) } }
    const spec = { deployItems: [{ ...inner, ...this.#limitsOf(name, 0, ['deploys']) }] }
    const own = { deployItems: [...deployItems, ...crowd], exports }
    return this.#random() < 0.5 ? own : { ...own, installations: [{ name: 'nested', spec }] }
  }
  /** The same in each generation of the tree, so that the ledger knows them for each job. */
  #limitsOf(tree: string, i: number, names: readonly string[] = []) {
    if (names.length === 0) return {}
    const n = Number(tree.split('-')[1]) + i
    const of = { key: KEYS[n % KEYS.length], ...(n % 5 === 0 && { priority: 5 }) }
    return { limits: names.map((limit) => ({ limit, ...of })) }
  }

  async #build(): Promise<void> {
    const key = this.#name('event')
    const about = { kind: 'EVENT', name: key } as const
    const input = { project: PROJECT, source: 'chaos', type: 'push', idempotencyKey: key }
    const { events } = await this.#create(() => this.#send('createEvent', input, about))
    const id = events[0]?.id ?? ''
    await this.#rest({ ...about, id })
    if (this.#random() < 0.2) await this.#send('cancelEvent', { id }, { ...about, id })
    if (this.#random() < 0.5) await this.#untilFinished(id)
    if (this.#random() < 0.2) await this.#send('deleteEvent', { id }, { ...about, id })
  }

  async #maintain(): Promise<void> {
    const name = this.#name('task')
    const about = { kind: 'TASK', name } as const
    const jobs = Array.from({ length: 1 + this.#pick(3) }, (_, i) => {
      const locks = [`r${this.#pick(4)}=${this.#random() < 0.5 ? 'X' : 'S'}`, `s${this.#pick(3)}=X`]
      const args = [`${name}/job-${i}`, String(1 + this.#pick(4)), ...locks]
      const flaky = { retry: RETRY, env: [{ name: 'FAILURES', value: String(1 + this.#pick(3)) }] }
      return { name: `job-${i}`, gadget: 'take', args, ...(this.#random() < 0.2 && flaky) }
    })
    const { id } = await this.#create(() => this.#send('createTask', { name, jobs, idempotencyKey: name }, about))
    await this.#rest({ ...about, id })
    if (this.#random() < 0.2) await this.#send('cancelTask', { id }, { ...about, id })
    if (this.#random() < 0.5) await this.#untilFinished(id)
  }

  async #operate(): Promise<void> {
    const { client, cloudletId } = this.#load
    const { tree } = await client.query(OBJECTS, { id: cloudletId })
    const known = tree?.objects.edges.map(({ node }) => node).filter(({ kind }) => kind === 'CLUSTER_INST') ?? []
    const name = `c${this.#pick(4)}`
    const about = { kind: 'CLUSTER_INST', name } as const
    const found = known.find((one) => one.name === name)
    const spec = { nodes: this.#next++ }
    if (!found) await this.#send('createClusterInst', { cloudletId, name, spec }, { ...about, value: spec })
    else if (this.#random() < 0.6)
      await this.#send('updateClusterInst', { id: found.id, spec }, { ...about, id: found.id, value: spec })
    else await this.#send('deleteClusterInst', { id: found.id }, { ...about, id: found.id })
  }

  /** Sets the secret of workers, and the data that a root imports. */
  async #set(): Promise<void> {
    const value = `v${this.#next++}`
    if (this.#random() < 0.5)
      await this.#send('setSecret', { project: PROJECT, name: SECRET, value }, { kind: 'SECRET', name: SECRET, value })
    else await this.#send('setDataObject', { name: DATA, value }, { kind: 'DATA_OBJECT', name: DATA, value })
  }

  /** A root that runs again whenever what it imports changes. */
  async #follow(name: string, from: string, to: string | null): Promise<void> {
    const spec = {
      imports: [{ name: 'value', from }],
      deployItems: [{ name: 'use', type: 'chaos', config: { ms: 20, value: `\${imports.value}` } }],
      exports: to === null ? [] : [{ name: to, value: `\${imports.value}` }],
    }
    await this.#create(() =>
      this.#send(
        'createInstallation',
        { name, spec, idempotencyKey: name },
        { kind: 'INSTALLATION', name, value: spec },
      ),
    )
    await delay(LONG_MS * this.#random())
  }

  /** Creates a token, changes its rights and revokes it; its holder keeps using it. */
  async #admit(): Promise<void> {
    const name = this.#name('reader')
    const input = { name, role: 'READER', projects: [PROJECT] } as const
    const { secret, token } = await this.#send(
      'createToken',
      { ...input, projects: [PROJECT] },
      { kind: 'TOKEN', name },
    )
    await using stack = new AsyncDisposableStack()
    const holder = stack.adopt(createClient({ url: this.#load.url, token: secret }), (one) => one.close())
    await this.#probe(holder, token.id)
    const { id } = token.principal
    for (let changes = this.#pick(3); changes > 0; changes--) {
      const role = ROLES[this.#pick(ROLES.length)] ?? 'VIEWER'
      const grants = this.#random() < 0.3 ? [] : [{ role, project: PROJECT }]
      const roles = grants.map((grant) => grant.role)
      await this.#send('updatePrincipal', { id, grants }, { kind: 'PRINCIPAL', name, id, value: roles })
    }
    if (this.#random() < 0.8) await this.#send('revokeToken', { id: token.id }, { kind: 'TOKEN', name, id: token.id })
    for (let i = 0; i < 4; i++) {
      await this.#probe(holder, token.id)
      await delay(2_000 * this.#random())
    }
  }
  /** A schedule that is paused, resumed, edited and fired by hand while it fires, and paused or deleted in the end. */
  async #schedule(): Promise<void> {
    const { signal } = this.#load
    const name = this.#name('schedule')
    const about = { kind: 'SCHEDULE', name } as const
    const spec = {
      when: { every: { ms: 1_000 + 500 * this.#pick(4), offsetMs: this.#pick(900) } },
      overlap: OVERLAPS[this.#pick(OVERLAPS.length)] ?? 'SKIP',
      catchUp: CATCH_UPS[this.#pick(CATCH_UPS.length)] ?? 'LAST',
      maxCaughtUp: 100,
      jitterMs: this.#random() < 0.3 ? 700 : 0,
    }
    const run = (type: string) => ({
      createEvent: { source: SOURCE.schedule, type, payload: '${schedule.name} ${schedule.due}' },
    })
    const input = { project: PROJECT, name, ...spec, run: run('first'), idempotencyKey: name }
    const { id } = await this.#create(() => this.#send('createSchedule', input, about))
    const of = { ...about, id }
    for (let acts = 2 + this.#pick(4); acts > 0 && !signal.aborted; acts--) {
      await delay(LONG_MS * this.#random())
      const key = `${name}/${acts}`
      const act = this.#random()
      if (act < 0.3) await this.#create(() => this.#send('fireSchedule', { id, idempotencyKey: key }, of))
      else if (act < 0.6) await this.#send('updateSchedule', { id, ...spec, run: run(key) }, of)
      else {
        await this.#send('pauseSchedule', { id }, of)
        await delay(LONG_MS * this.#random())
        await this.#send('resumeSchedule', { id }, of)
      }
    }
    await delay(LONG_MS)
    if (this.#random() < 0.3) await this.#send('deleteSchedule', { id }, of)
    else await this.#send('pauseSchedule', { id }, of)
  }
  /** A tree whose gate people, a program, an address or the clock open, or nobody in time. The author tries it, too. */
  async #decide(team: string): Promise<void> {
    const people = this.#shuffled(await this.#team(team))
    const name = this.#name('gated')
    const about = { kind: 'INSTALLATION', name } as const
    const until = new Date(Date.now() + 3_000).toISOString()
    const http = { url: this.#load.address.of(name), until: 'status == 200 && body.isOpen', every: '1s' }
    const approval = { count: 2 }
    const config = [{ approval }, { approval }, { signal: SIGNAL }, { until }, { http }][this.#pick(5)]
    const item = (dependsOn: readonly string[]) => ({ type: 'chaos', dependsOn: [...dependsOn], config: { ms: 20 } })
    const gate = {
      name: GATE,
      type: 'gate',
      dependsOn: ['before'],
      config,
      timeouts: { pickup: { ms: GATE_PICKUP_MS } },
    }
    const spec = { deployItems: [{ name: 'before', ...item([]) }, gate, { name: 'behind', ...item([GATE]) }] }
    const { id } = await this.#create(() =>
      this.#send('createInstallation', { name, spec, idempotencyKey: name }, { ...about, value: spec }),
    )
    const gateId = await this.#untilAtGate(id)
    await this.#rest({ ...about, id })
    if (gateId && config && 'approval' in config) await this.#approve(name, gateId, people)
    else if (gateId && config && 'signal' in config) {
      const value = { passed: this.#next++ }
      const input = { id: gateId, name: SIGNAL, payload: value, idempotencyKey: `${name}/signal` }
      await this.#create(() => this.#send('signal', input, { kind: 'DEPLOY_ITEM', name, id: gateId, value }, people[0]))
    }
    await this.#untilFinished(id)
    if (this.#random() < 0.3) await this.#send('deleteInstallation', { id }, { ...about, id })
  }
  /** Some approve, one after the other or at once; the right of one of them may be taken away before the next one does. */
  async #approve(name: string, id: string, [first, second, third]: readonly Person[]): Promise<void> {
    if (!first || !second || !third) return
    const about = { kind: 'DEPLOY_ITEM', name, id } as const
    const approve = async (person?: Person) => {
      const input = { id, idempotencyKey: `${name}/${person?.name ?? 'author'}` }
      // Refused: it is decided, or this one may not.
      await this.#create(() => this.#send('approve', input, about, person)).catch(() => null)
    }
    const act = this.#random()
    await approve()
    if (act < 0.1) return void (await this.#send('reject', { id }, about, second).catch(() => null))
    await approve(first)
    if (act < 0.2) return
    if (act < 0.6) {
      await this.#grant(first, [])
      await delay(this.#pick(100))
      await approve(second)
      if (this.#random() < 0.5) await this.#grant(first, [EDITOR])
      await Promise.all([approve(third), approve(first)])
      return await this.#grant(first, [EDITOR])
    }
    await Promise.all([approve(second), approve(third), approve(first)])
  }
  async #grant({ id, name }: Person, grants: readonly (typeof EDITOR)[]): Promise<void> {
    const value = grants.map(({ role }) => role)
    const about = { kind: 'PRINCIPAL', name, id, value } as const
    await this.#create(() => this.#send('updatePrincipal', { id, grants: [...grants] }, about))
  }
  readonly #shuffled = <T>(all: readonly T[]): readonly T[] =>
    all
      .map((one) => ({ one, at: this.#random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ one }) => one)
  #team(team: string): Promise<readonly Person[]> {
    const known = this.#teams.get(team)
    if (known) return known
    const people = Promise.all(['ann', 'ben', 'cem'].map((one) => this.#person(`${one}-${team}`)))
    this.#teams.set(team, people)
    people.catch(() => this.#teams.delete(team))
    return people
  }
  async #person(name: string): Promise<Person> {
    const input = { name, role: 'READER', projects: ['default'] } as const
    const { secret, token } = await this.#send(
      'createToken',
      { ...input, projects: ['default'] },
      { kind: 'TOKEN', name },
    )
    const { id } = token.principal
    const person = { id, name, client: createClient({ url: this.#load.url, token: secret }) }
    await this.#grant(person, [EDITOR])
    return person
  }
  /** Its id; null: the tree has ended without coming to its gate. */
  async #untilAtGate(rootId: string): Promise<string | null> {
    for (;;) {
      const { tree } = await this.#load.client.query(OBJECTS, { id: rootId })
      const gate = tree?.objects.edges.find(({ node }) => node.name === GATE)?.node
      if (gate?.phase === 'INIT') return gate.id
      const { object } = await this.#load.client.query(SHOW, { id: rootId })
      if (!object || object.finished || this.#load.signal.aborted) return null
      await delay(PAUSE_MS / 3)
    }
  }

  /** Edits limits, gives keys of them other bounds for a time, and pauses them for a moment. */
  async #bound(): Promise<void> {
    const names = [...this.#load.limits.keys()]
    const name = names[this.#pick(names.length)] ?? ''
    const id = this.#load.limits.get(name)
    const bounds = LIMITS[name]?.bounds ?? []
    if (!id) return
    const about = { kind: 'LIMIT', name, id } as const
    const act = this.#random()
    if (act < 0.4) {
      const value = bounds[this.#pick(bounds.length)]
      await this.#send('updateLimit', { id, ...value } as InputOf<'updateLimit'>, { ...about, value })
    } else if (act < 0.8) {
      const keys = KEYS_OF[name] ?? KEYS
      const key = keys[this.#pick(keys.length)] ?? ''
      const override = OVERRIDES[this.#pick(OVERRIDES.length)]
      const value = { key, ...override, ttlMs: 1_000 + this.#pick(3_000) }
      await this.#send('overrideLimit', { id, ...value }, { ...about, value })
    } else
      try {
        await this.#send('pauseLimit', { id }, about)
        await delay(this.#pick(1_500))
      } finally {
        await this.#resumeLimit(name, id)
      }
    await delay((LONG_MS / 2) * this.#random())
  }
  async #resumeLimit(name: string, id: string): Promise<void> {
    for (;;) {
      try {
        await this.#send('resumeLimit', { id }, { kind: 'LIMIT', name, id })
        return
      } catch {
        await delay(100)
      }
    }
  }

  /** Nothing that is paused, because a failover has lost its end, ends by itself; and schedules that fire would never let the run end. */
  async settle(paused: { readonly roots: readonly string[]; readonly limits: readonly string[] }): Promise<void> {
    for (const id of paused.roots) await this.#resume({ kind: 'INSTALLATION', name: 'paused', id })
    for (const id of paused.limits) await this.#resumeLimit('paused', id)
    await this.#pauseSchedules()
  }
  async #pauseSchedules(): Promise<void> {
    const { objects } = await this.#load.client.query(SCHEDULES, { project: PROJECT })
    for (const { node } of objects?.edges ?? [])
      if (node.phase === 'ACTIVE') {
        const { id, name } = node
        await this.#send('pauseSchedule', { id }, { kind: 'SCHEDULE', name, id })
      }
  }

  /** Posts to the hook until it is accepted, as senders do, and sometimes once more. */
  async #deliver(): Promise<void> {
    const { url, signal } = this.#load
    const id = this.#name('delivery')
    const body = JSON.stringify({ id })
    const headers = {
      ...{ 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': id },
      'x-hub-signature-256': `sha256=${createHmac('sha256', HOOK.secret).update(body).digest('hex')}`,
    }
    const to = new URL(`/hooks/${PROJECT}/${HOOK.name}`, url)
    for (let repeats = this.#random() < 0.3 ? 1 : 0; repeats >= 0; await delay(100)) {
      const askedMs = machineMs()
      const patience = AbortSignal.timeout(SENDER_PATIENCE_MS)
      const response = await fetch(to, { method: 'POST', headers, body, signal: patience }).catch(() => null)
      const answer = (await response?.json().catch(() => null)) as { deliveries?: { eventId?: string | null }[] } | null
      const eventId = answer?.deliveries?.[0]?.eventId ?? null
      const status = answer ? (response?.status ?? null) : null
      this.deliveries.push({ id, askedMs, answeredMs: status === null ? null : machineMs(), status, eventId })
      if (status === 202 || status === 200) repeats--
      else if (signal.aborted) return
    }
  }

  async #probe(holder: Client, tokenId: string): Promise<void> {
    const askedMs = machineMs()
    const answer = await holder.query(WHO).catch((error: unknown) => error)
    // An outage says nothing of the token.
    if (answer instanceof ClientError && answer.kind !== 'unauthorized') return
    this.probes.push({ tokenId, askedMs, isValid: !(answer instanceof Error) })
  }
}

/** The facts in an answer. */
function factsOf(answer: object): Partial<Pick<UserMutation, 'id' | 'generation' | 'jobId'>> {
  const { id, generation, jobId, finished, events, token } = answer as Partial<UserMutation> & {
    finished?: boolean
    events?: readonly { readonly id: string }[]
    token?: { readonly id: string }
  }
  const found = id ?? events?.[0]?.id ?? token?.id
  return {
    ...(found && { id: found }),
    ...(generation !== undefined && { generation }),
    // A cancellation without a job has dropped a job that had not begun.
    ...(jobId !== undefined && { jobId: finished ? null : jobId }),
  }
}

/** An outage, or a refusal that `ask` throws: the state has changed, or the object is gone. Other errors are bugs of the run. */
const isAnswer = (error: unknown): boolean =>
  error instanceof ClientError || (error instanceof Error && error.constructor === Error)
