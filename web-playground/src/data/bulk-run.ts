import type { Client } from 'phaseline/client'
import type { BulkPlan, Step, Target } from '../model/bulk.ts'
import { type Answered, act } from './act.ts'
import { eachOf } from './bulk.ts'
import { Store } from './store.ts'

export interface Refusal {
  readonly target: Target
  readonly message: string
}
/** The number of connections that a browser opens to one server. */
const ABREAST = 6
/** Milliseconds before each further attempt: a network that changes loses all requests that are under way. */
const PAUSES_MS = [500, 2_000]

/** A running plan. A refusal does not stop the other steps. */
export class BulkRun extends Store {
  readonly plan: BulkPlan
  readonly #client: Client
  #done = 0
  #refusals: readonly Refusal[] = []
  #stopped = false
  #ended = false

  constructor(client: Client, plan: BulkPlan) {
    super()
    this.#client = client
    this.plan = plan
  }

  get done(): number {
    return this.#done
  }
  get refusals(): readonly Refusal[] {
    return this.#refusals
  }
  get ended(): boolean {
    return this.#ended
  }
  /** Steps that were not sent, because the plan was stopped. */
  get untried(): number {
    return this.plan.steps.length - this.#done - this.#refusals.length
  }

  /** Stops the plan: sent requests finish, no other is sent. */
  readonly stop = (): void => {
    this.#stopped = true
    this.changed()
  }

  async run(): Promise<void> {
    await eachOf(this.plan.steps, ABREAST, (step) => this.#step(step))
    this.#ended = true
    this.changed()
  }

  async #step({ target, action }: Step): Promise<void> {
    if (this.#stopped) return
    const { ok, message } = await this.#act(action)
    if (ok) this.#done += 1
    else this.#refusals = [...this.#refusals, { target, message }]
    this.changed()
  }

  /** To cancel or to delete once more what is cancelled or deleted does no harm. */
  async #act(action: Step['action']): Promise<Answered> {
    const send = (): Promise<Answered> => act(this.#client, { ...action, done: action.label })
    for (const pause of PAUSES_MS) {
      const answer = await send()
      if (!answer.lost || this.#stopped) return answer
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
    return await send()
  }
}
