import { setTimeout as delay } from 'node:timers/promises'
import { type Client, ClientError } from '../../src/client/index.ts'
import type { ObjectKind } from '../../src/core/vocabulary.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'
import type { AcceptedCreation } from './evidence.ts'
import { machineMs } from './faults.ts'

/** Users of all families, who ask for something, wait, and ask again: with the same key if they had no answer. */

export interface Load {
  readonly client: Client
  readonly cloudletId: string
  readonly seed: number
  readonly signal: AbortSignal
}

const SHOW = gql('query ($id: ID!) { object(id: $id) { phase finished } }')
const INSTANCES = gql(
  `query ($id: ID!) { tree(rootId: $id) { objects(first: 100) { edges { node { id kind name phase } } } } }`,
)
const PAUSE_MS = 300
export const PROJECT = 'chaos'

export class Users {
  readonly accepted: AcceptedCreation[] = []
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

  /** Sends it again, with its key, until there is an answer. */
  async #create(kind: ObjectKind, name: string, send: () => Promise<string>): Promise<string> {
    for (;;) {
      try {
        const id = await send()
        this.accepted.push({ id, kind, name, answeredMs: machineMs() })
        return id
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
    const { client } = this.#load
    const name = this.#name('tree')
    const id = await this.#create('INSTALLATION', name, () =>
      ask(client, MUTATIONS.createInstallation, { name, spec: this.#spec(), idempotencyKey: name }).then(
        (made) => made.id,
      ),
    )
    await this.#untilFinished(id)
    if (this.#random() < 0.7) {
      await ask(client, MUTATIONS.updateInstallation, { id, spec: this.#spec() })
      if (this.#random() < 0.3) await ask(client, MUTATIONS.cancelInstallation, { id })
      await this.#untilFinished(id)
    }
    if (this.#random() < 0.5) await ask(client, MUTATIONS.deleteInstallation, { id })
  }
  #spec() {
    const deployItems = Array.from({ length: 2 + this.#pick(5) }, (_, i) => ({
      name: `item-${i}`,
      type: 'chaos',
      dependsOn: i < 2 ? [] : [`item-${i - 2}`],
      config: { ms: 20 + this.#pick(400), fails: this.#random() < 0.03 },
    }))
    const spec = { deployItems: [{ name: 'inner', type: 'chaos', config: { ms: this.#pick(200) } }] }
    const installations = [{ name: 'nested', spec }]
    return this.#random() < 0.5 ? { deployItems } : { deployItems, installations }
  }

  async #build(): Promise<void> {
    const { client } = this.#load
    const key = this.#name('event')
    const id = await this.#create('EVENT', key, async () => {
      const input = { project: PROJECT, source: 'chaos', type: 'push', idempotencyKey: key }
      return (await ask(client, MUTATIONS.createEvent, input)).events[0]?.id ?? ''
    })
    if (this.#random() < 0.2) await ask(client, MUTATIONS.cancelEvent, { id })
    if (this.#random() < 0.5) await this.#untilFinished(id)
  }

  async #maintain(): Promise<void> {
    const { client } = this.#load
    const name = this.#name('task')
    const jobs = Array.from({ length: 1 + this.#pick(3) }, (_, i) => {
      const locks = [`r${this.#pick(4)}=${this.#random() < 0.5 ? 'X' : 'S'}`, `s${this.#pick(3)}=X`]
      return { name: `job-${i}`, gadget: 'take', args: [`${name}/job-${i}`, String(1 + this.#pick(4)), ...locks] }
    })
    const id = await this.#create('TASK', name, () =>
      ask(client, MUTATIONS.createTask, { name, jobs, idempotencyKey: name }).then((made) => made.id),
    )
    if (this.#random() < 0.2) await ask(client, MUTATIONS.cancelTask, { id })
    if (this.#random() < 0.5) await this.#untilFinished(id)
  }

  async #operate(): Promise<void> {
    const { client, cloudletId } = this.#load
    const { tree } = await client.query(INSTANCES, { id: cloudletId })
    const known = tree?.objects.edges.map(({ node }) => node).filter(({ kind }) => kind === 'CLUSTER_INST') ?? []
    const name = `c${this.#pick(4)}`
    const found = known.find((one) => one.name === name)
    if (!found) await ask(client, MUTATIONS.createClusterInst, { cloudletId, name, spec: { nodes: 1 } })
    else if (this.#random() < 0.6)
      await ask(client, MUTATIONS.updateClusterInst, { id: found.id, spec: { nodes: this.#next++ } })
    else await ask(client, MUTATIONS.deleteClusterInst, { id: found.id })
  }
}

/** An outage, or a refusal, which `ask` throws: the state has changed, or the object is gone. Anything else is a mistake of the run. */
const isAnswer = (error: unknown): boolean =>
  error instanceof ClientError || (error instanceof Error && error.constructor === Error)
