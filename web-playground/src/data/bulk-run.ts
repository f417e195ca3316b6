import type { Client } from 'phaseline/client'
import type { BulkPlan, Step, Target } from '../model/bulk.ts'
import { act } from './act.ts'
import { eachOf } from './bulk.ts'
import { Store } from './store.ts'

export interface Refusal {
  readonly target: Target
  readonly message: string
}
/** The number of connections that a browser opens to one server. */
const ABREAST = 6

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

  /** Stops the plan: sent requests go on, no other is sent. */
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
    const { ok, message } = await act(this.#client, { ...action, done: action.label })
    if (ok) this.#done += 1
    else this.#refusals = [...this.#refusals, { target, message }]
    this.changed()
  }
}
