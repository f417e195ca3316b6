import type { Outcome } from '../../../src/core/ports/outcome.ts'
import type { ReconcileMode, WorkAction } from '../../../src/core/vocabulary.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import { DEPLOYER, USER, type World } from '../../testkit/world.ts'
import { type HistoryWorld, type Reported, reportOf, type SeenObject } from './history-world.ts'

const OBJECTS = `
  with recursive below(id, path) as (
    select o.id, o.name::text from object o join project p on p.id = o.project_id where p.name = $1 and o.parent_id is null
    union all
    select o.id, b.path || '/' || o.name from below b join object o on o.parent_id = b.id
  )
  select o.id, b.path, o.kind, o.phase, o.job_id as "jobId", o.finished_job_id as "finishedJobId",
    o.waiting_for as "waitingFor", s.error ->> 'code' as code, n.begun, w.state, w.action,
    w.offer_after as "offerAfter", w.lease_until as "leaseUntil", w.abort_requested_at as "abortRequestedAt",
    w.picked_up_at as "pickedUpAt"
  from below b join object o on o.id = b.id
    left join object_status s on s.object_id = o.id
    left join work w on w.object_id = o.id
    cross join lateral (select count(*)::integer as begun from object_phase_change c
      where c.object_id = o.id and c."to" = 'INIT' and c.revision is not null) n`

type Row = Omit<SeenObject, 'work'> & NonNullable<SeenObject['work']>

/** A project of a real database. The product's own commands act on it, and its agents. */
export class DatabaseWorld implements HistoryWorld {
  readonly #world: World
  readonly #project: string
  readonly #names = new Map<string, string>()
  readonly #claimed = new Map<string, { readonly fence: string; readonly action: WorkAction }>()

  private constructor(world: World, project: string) {
    this.#world = world
    this.#project = project
  }
  get clock(): World['clock'] {
    return this.#world.clock
  }
  static async open(world: World, project: string): Promise<DatabaseWorld> {
    accepted(await world.projects.createProject(USER, { name: project }))
    return new DatabaseWorld(world, project)
  }

  async create(name: string, spec: SpecInput): Promise<string> {
    const input = { project: this.#project, name, spec: this.#placed(spec, name), reconcile: true }
    const { objectId } = accepted(await this.#world.commands.createInstallation(USER, input))
    this.#names.set(objectId, name)
    return objectId
  }
  async update(id: string, spec: SpecInput, reconcile: boolean): Promise<void> {
    const placed = this.#placed(spec, this.#names.get(id) as string)
    allowed(await this.#world.commands.updateInstallation(USER, { id, spec: placed, reconcile }))
  }
  async rollback(id: string, _spec: SpecInput, toGeneration: number): Promise<void> {
    allowed(await this.#world.commands.rollbackInstallation(USER, { id, toGeneration, reconcile: true }))
  }
  async reconcile(id: string, mode: ReconcileMode): Promise<void> {
    accepted(await this.#world.commands.reconcileInstallation(USER, { id, mode }))
  }
  async remove(id: string, how: { readonly force: boolean; readonly withoutUninstall: boolean }): Promise<void> {
    accepted(await this.#world.commands.deleteInstallation(USER, { id, ...how }))
  }
  async cancel(id: string): Promise<void> {
    allowed(await this.#world.commands.cancelInstallation(USER, { id }))
  }
  async ignore(id: string, ignored: boolean, reconcile: boolean): Promise<void> {
    accepted(await this.#world.commands.updateInstallation(USER, { id, ignored, reconcile }))
  }
  async setData(name: string, value: unknown): Promise<void> {
    accepted(await this.#world.commands.setDataObject(USER, { project: this.#project, name, value }))
  }
  async deleteData(name: string): Promise<void> {
    allowed(await this.#world.commands.deleteDataObject(USER, { project: this.#project, name }))
  }

  async claimItems(items: readonly SeenObject[], leaseMs: number): Promise<void> {
    const targets = items.map(({ path }) => `${this.#project}/${path}`)
    const request = { instance: 'one', types: ['mock'], targets, max: 500, leaseMs }
    const claimed = accepted(await this.#world.engineHost.agents.claim(DEPLOYER, request)).items
    for (const { objectId, fence, action } of claimed) this.#claimed.set(objectId, { fence, action })
    if (claimed.length !== items.length) throw new Error(`${claimed.length} of ${items.length} items were claimed`)
  }
  async report(_rootId: string, reports: readonly Reported[]): Promise<void> {
    const isGate = ({ itemId }: Reported): boolean => !this.#claimed.has(itemId)
    for (const { itemId: id, v } of reports.filter(isGate))
      allowed(await this.#world.services.gates.signal(USER, { id, name: 'go', payload: { v } }))
    const sent = reports
      .filter((one) => !isGate(one))
      .map(({ itemId, answer, v }) => {
        const claimed = this.#claimed.get(itemId)
        if (!claimed) throw new Error(`${itemId} was not claimed`)
        return { fence: claimed.fence, ...reportOf(answer, claimed.action, v) }
      })
    if (sent.length === 0) return
    for (const result of accepted(await this.#world.engineHost.agents.report(DEPLOYER, sent)).results) accepted(result)
  }
  async pass(ms: number): Promise<void> {
    this.#world.clock.advance(ms)
    await this.settle()
  }
  /** Throws if the database has refused a decision. */
  async settle(): Promise<void> {
    await this.#world.settle()
    this.#world.rulesHold()
  }

  async objects(): Promise<readonly SeenObject[]> {
    const { rows } = await this.#world.pool.query<Row>(OBJECTS, [this.#project])
    return rows.map((row) => ({ ...row, work: row.state === null ? null : row }))
  }

  /** Each item has a target of its own, so that a claim can name it. */
  #placed(spec: SpecInput, path: string): SpecInput {
    return {
      ...spec,
      deployItems: (spec.deployItems ?? []).map((item) => ({
        ...item,
        ...(item.type !== 'gate' && { target: `${this.#project}/${path}/deploy-items/${item.name}` }),
        ...(item.forEach !== undefined && {
          forEach: Object.fromEntries(
            Object.entries(item.forEach as object).map(([key, value]) => [
              key,
              { ...value, target: `${this.#project}/${path}/deploy-items/${item.name}-${key}` },
            ]),
          ),
        }),
      })),
      installations: (spec.installations ?? []).map(({ name, spec: own }) => ({
        name,
        spec: this.#placed(own, `${path}/${name}`),
      })),
    }
  }
}

/** Throws what was refused. */
function accepted<T extends object>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.refusal))
  return outcome
}
/** The model knows what is refused, too. */
const EXPECTED: readonly string[] = ['ConflictError', 'NotFoundError', 'TransitionError']
function allowed(outcome: Outcome<object>): void {
  if (!outcome.ok && !EXPECTED.includes(outcome.refusal.type)) accepted(outcome)
}
