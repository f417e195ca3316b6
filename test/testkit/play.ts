import type { Pool } from 'pg'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import type { Outcome } from '../../src/core/ports/outcome.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import type { SpecInput } from '../../src/families/deployments/rules/normalise.ts'
import { viewerOf } from './viewers.ts'
import { DEPLOYER, USER, type World } from './world.ts'

/** One root with users and deployers that act at random, in any order, and sometimes wrongly. */

export type Act =
  | { readonly do: 'claim'; readonly who: number; readonly max: number; readonly leaseMs: number }
  | { readonly do: 'report'; readonly which: number; readonly phase: Phase | null; readonly retryable: boolean }
  | { readonly do: 'end'; readonly which: number; readonly well: boolean }
  | { readonly do: 'renew'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'reconcile'; readonly mode: 'STANDARD' | 'IF_CHANGED' | 'FORCE' }
  | { readonly do: 'remove'; readonly force: boolean; readonly withoutUninstall: boolean }
  | { readonly do: 'update'; readonly reconcile: boolean }
  | { readonly do: 'ignore'; readonly nested: boolean; readonly ignored: boolean }
  | { readonly do: 'cancel' | 'seed' | 'work' }
export interface Move {
  readonly act: Act
  /** Lets the engine reconcile before the next action. */
  readonly settle: boolean
}

interface Leased {
  readonly item: ClaimedItem
  readonly viewer: Viewer
  leaseUntil: Date
  /** Its agent has ended or returned it. */
  let: boolean
}

const DEPLOYERS: readonly Viewer[] = [
  DEPLOYER,
  ...['second', 'third'].map((name) => viewerOf('AGENT', { name, actor: 'DEPLOYER' })),
]
const LEAST_MS = 1_000
const RUNNING: readonly Phase[] = ['PROGRESSING', 'DELETING']

export class Play {
  readonly #world: World
  readonly #specs: readonly SpecInput[]
  readonly #type: string
  readonly rootId: string
  readonly #leased: Leased[] = []
  #spec = 0
  seeded = false
  /** Jobs that were cancelled, with the last batch of the log that was there then. */
  readonly cancelled: { readonly jobId: string; readonly batchId: string }[] = []

  private constructor(world: World, rootId: string, type: string, specs: readonly SpecInput[]) {
    this.#world = world
    this.#specs = specs
    this.#type = type
    this.rootId = rootId
  }

  static async begin(world: World, name: string, specs: readonly SpecInput[]): Promise<Play> {
    const input = { project: 'default', name, spec: specs[0] ?? {}, reconcile: true }
    const outcome = await world.commands.createInstallation(USER, input)
    if (!outcome.ok) throw new Error(outcome.refusal.message)
    return new Play(world, outcome.objectId, name, specs)
  }

  async make({ act, settle }: Move): Promise<void> {
    await this.#do(act)
    if (settle) await this.#world.settle()
  }

  async #do(act: Act): Promise<void> {
    const { commands, clock } = this.#world
    const id = this.rootId
    switch (act.do) {
      case 'claim':
        await this.claim(act.max, DEPLOYERS[act.who % DEPLOYERS.length] ?? DEPLOYER, act.leaseMs)
        return
      case 'report':
        return this.#report(act.which, {
          ...(act.phase ? { phase: act.phase } : {}),
          progress: { value: act.which },
          ...(act.retryable ? { error: { code: 'AGAIN', message: 'Not now.', retryable: true } } : {}),
        })
      case 'end':
        return this.#end(act.which, act.well)
      case 'work':
        for (const leased of await this.claim(100)) await this.finish(leased, true)
        return
      case 'renew':
        return this.#renew(act.which)
      case 'wait':
        return clock.advance(act.ms)
      case 'reconcile':
        return expected(commands.reconcileInstallation(USER, { id, mode: act.mode }))
      case 'remove':
        return expected(
          commands.deleteInstallation(USER, { id, force: act.force, withoutUninstall: act.withoutUninstall }),
        )
      case 'update':
        this.#spec++
        return expected(commands.updateInstallation(USER, { id, spec: this.spec, reconcile: act.reconcile }))
      case 'ignore':
        return this.ignore(act.nested ? await this.#nested() : id, act.ignored)
      case 'cancel':
        return this.#cancel()
      case 'seed':
        this.seeded = true
        return expected(commands.setDataObject(USER, { project: 'default', name: `seed-${this.#type}`, value: 1 }))
      default:
        return act satisfies never
    }
  }

  get spec(): SpecInput {
    return this.#specs[this.#spec % this.#specs.length] ?? {}
  }
  ignore(id: string, ignored: boolean): Promise<void> {
    return expected(this.#world.commands.updateInstallation(USER, { id, ignored, reconcile: false }))
  }
  async #nested(): Promise<string> {
    const { rows } = await this.#world.pool.query<{ id: string }>(
      `select id from object where root_id = $1 and parent_id is not null and kind = 'INSTALLATION' order by id`,
      [this.rootId],
    )
    return rows[0]?.id ?? this.rootId
  }

  async claim(max: number, viewer = DEPLOYER, leaseMs = 30_000): Promise<readonly Leased[]> {
    const { agents } = this.#world.engineHost
    const outcome = await agents.claim(viewer, { instance: 'p', types: [this.#type], targets: null, max, leaseMs })
    if (!outcome.ok) throw new Error(outcome.refusal.message)
    const leased = outcome.items.map((item): Leased => ({ item, viewer, leaseUntil: item.leaseUntil, let: false }))
    const now = this.#world.clock.now()
    for (const { item } of leased) {
      const other = this.#leased.find((h) => h.item.objectId === item.objectId && !h.let && h.leaseUntil > now)
      if (other)
        throw new Error(`${item.name} was offered while ${other.viewer.name} held it until ${other.leaseUntil}`)
    }
    this.#leased.push(...leased)
    return leased
  }

  async #renew(which: number): Promise<void> {
    const leased = this.#pick(which)
    if (!leased) return
    const outcome = await this.#world.engineHost.agents.renew(leased.viewer, [leased.item.fence], LEAST_MS * 40)
    const lease = outcome.ok ? outcome.leases[0] : undefined
    if (lease?.leaseUntil) leased.leaseUntil = lease.leaseUntil
    if (lease?.state !== 'LOST' && !this.#isLatest(leased))
      throw new Error(`${leased.item.name}: an old fence was renewed`)
  }

  async #end(which: number, well: boolean): Promise<void> {
    const leased = this.#pick(which)
    if (leased) await this.finish(leased, well)
  }
  finish(leased: Leased, well: boolean): Promise<void> {
    const deletes = leased.item.action === 'DELETE'
    const phase = deletes ? (well ? 'GONE' : 'DELETE_FAILED') : well ? 'SUCCEEDED' : 'FAILED'
    return this.#sendReport(leased, { phase, exports: { v: 1 } })
  }
  async #report(which: number, report: Omit<Report, 'fence'>): Promise<void> {
    const leased = this.#pick(which)
    if (leased) await this.#sendReport(leased, report)
  }
  async #sendReport(leased: Leased, report: Omit<Report, 'fence'>): Promise<void> {
    const { fence } = leased.item
    // As agents do: the last progress comes in the same call.
    const reports = [
      { fence, progress: { step: 'last' } },
      { ...report, fence },
    ]
    const outcome = await this.#world.engineHost.agents.report(leased.viewer, reports)
    const result = outcome.ok ? outcome.results.at(-1) : undefined
    if (!result) throw new Error('a report had no result')
    if (!result.ok) return
    if (result.changed && !this.#isLatest(leased)) throw new Error(`${leased.item.name}: an old fence moved it`)
    const { phase, error } = report
    if (phase && (error?.retryable || !RUNNING.includes(phase))) leased.let = true
  }
  #pick(which: number): Leased | undefined {
    return this.#leased.at(-1 - (which % Math.max(1, this.#leased.length)))
  }
  #isLatest({ item }: Leased): boolean {
    return this.#leased.findLast((h) => h.item.objectId === item.objectId)?.item.fence === item.fence
  }

  async #cancel(): Promise<void> {
    const { pool, commands } = this.#world
    const running = await runningJob(pool, this.rootId)
    const outcome = await commands.cancelInstallation(USER, { id: this.rootId })
    if (outcome.ok && running) this.cancelled.push(running)
  }
}

async function runningJob(pool: Pool, rootId: string): Promise<{ jobId: string; batchId: string } | null> {
  const { rows } = await pool.query<{ jobId: string; batchId: string }>(
    `select job_id as "jobId", (select max(batch_id) from phase_change) as "batchId" from object
     where id = $1 and job_id is distinct from finished_job_id`,
    [rootId],
  )
  return rows[0] ?? null
}

const EXPECTED: readonly string[] = ['TransitionError', 'ConflictError', 'NotFoundError']
async function expected(outcome: Promise<Outcome<object>>): Promise<void> {
  const result = await outcome
  if (result.ok || EXPECTED.includes(result.refusal.type)) return
  throw new Error(result.refusal.message)
}
