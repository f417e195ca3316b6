import type { Client } from 'phaseline/client'
import type { BulkPlan, Step, Target } from '../model/bulk.ts'
import { act } from './act.ts'
import { eachOf } from './bulk.ts'
import { Store } from './store.ts'

export interface Refusal {
  readonly target: Target
  readonly message: string
}
/** As many as a browser has connections to one server. */
const ABREAST = 6

/** A plan that is being carried out: one refusal stops none of the others. */
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
  /** Never asked for, because it was stopped. */
  get untried(): number {
    return this.plan.steps.length - this.#done - this.#refusals.length
  }

  /** What has been asked for is; nothing more is. */
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
