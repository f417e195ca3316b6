import { setTimeout as delay } from 'node:timers/promises'
import { type Client, ClientError, createClient } from '../../src/client/index.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { ask, type Payload } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'
import type { TokenProbe, UserMutation } from './evidence.ts'
import { machineMs } from './machine-clock.ts'

/** Users of all families, who ask for something, wait, and ask again: with the same key if they had no answer. */

export interface Load {
  readonly client: Client
  readonly url: string
  readonly cloudletId: string
  readonly seed: number
  readonly signal: AbortSignal
}

const SHOW = gql('query ($id: ID!) { object(id: $id) { phase finished } }')
const INSTANCES = gql(
  `query ($id: ID!) { tree(rootId: $id) { objects(first: 100) { edges { node { id kind name phase } } } } }`,
)
const WHO = gql('{ viewer { id } }')
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
  deleteClusterInst: gql(`mutation ($input: DeleteClusterInstInput!) {
    answer: deleteClusterInst(input: $input) { ... on ClusterInst { id generation } ... on Error { message } }
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

export class Users {
  readonly mutations: UserMutation[] = []
  readonly probes: TokenProbe[] = []
  readonly #load: Load
  readonly #random: () => number
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
    ]
    await Promise.all(each.map((act) => this.#repeat(act)))
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
  ): Promise<AnswerOf<M>> {
    const { idempotencyKey: key = null } = input as { idempotencyKey?: string }
    const sent = { mutation, id: null, value: null, generation: null, jobId: null, key, askedMs: machineMs(), ...about }
    try {
      const answer: object = await ask(this.#load.client, SEND[mutation] as never, input as never)
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

  /** A tree that is created, changed, cancelled perhaps, and deleted. */
  async #deploy(): Promise<void> {
    const name = this.#name('tree')
    const about = { kind: 'INSTALLATION', name } as const
    const first = this.#spec(name)
    const { id } = await this.#create(() =>
      this.#send('createInstallation', { name, spec: first, idempotencyKey: name }, { ...about, value: first }),
    )
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
      // What waits for several must not begin after the first of them.
      dependsOn: i < 2 ? [] : i % 2 === 0 ? [`item-${i - 2}`] : [`item-${i - 2}`, `item-${i - 1}`],
      config: { ms: 20 + this.#pick(400), fails: this.#random() < 0.03 },
    }))
    const exports = [{ name: `${name}-url`, value: `\${deployItems['item-0'].exports.url}` }]
    const spec = { deployItems: [{ name: 'inner', type: 'chaos', config: { ms: this.#pick(200) } }] }
    const installations = [{ name: 'nested', spec }]
    return this.#random() < 0.5 ? { deployItems, exports } : { deployItems, exports, installations }
  }

  async #build(): Promise<void> {
    const key = this.#name('event')
    const about = { kind: 'EVENT', name: key } as const
    const input = { project: PROJECT, source: 'chaos', type: 'push', idempotencyKey: key }
    const { events } = await this.#create(() => this.#send('createEvent', input, about))
    const id = events[0]?.id ?? ''
    if (this.#random() < 0.2) await this.#send('cancelEvent', { id }, { ...about, id })
    if (this.#random() < 0.5) await this.#untilFinished(id)
    if (this.#random() < 0.2) await this.#send('deleteEvent', { id }, { ...about, id })
  }

  async #maintain(): Promise<void> {
    const name = this.#name('task')
    const about = { kind: 'TASK', name } as const
    const jobs = Array.from({ length: 1 + this.#pick(3) }, (_, i) => {
      const locks = [`r${this.#pick(4)}=${this.#random() < 0.5 ? 'X' : 'S'}`, `s${this.#pick(3)}=X`]
      return { name: `job-${i}`, gadget: 'take', args: [`${name}/job-${i}`, String(1 + this.#pick(4)), ...locks] }
    })
    const { id } = await this.#create(() => this.#send('createTask', { name, jobs, idempotencyKey: name }, about))
    if (this.#random() < 0.2) await this.#send('cancelTask', { id }, { ...about, id })
    if (this.#random() < 0.5) await this.#untilFinished(id)
  }

  async #operate(): Promise<void> {
    const { client, cloudletId } = this.#load
    const { tree } = await client.query(INSTANCES, { id: cloudletId })
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
    // What cancels no job has dropped one that had not begun.
    ...(jobId !== undefined && { jobId: finished ? null : jobId }),
  }
}

/** An outage, or a refusal, which `ask` throws: the state has changed, or the object is gone. Anything else is a mistake of the run. */
const isAnswer = (error: unknown): boolean =>
  error instanceof ClientError || (error instanceof Error && error.constructor === Error)
