import type { Refusal } from '../../src/core/errors.ts'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import type { Outcome } from '../../src/core/ports/outcome.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { Actor, Phase } from '../../src/core/vocabulary.ts'
import { DEPLOYER, type World } from './world.ts'

/** Helpers of the tests of executions, items and their deployers. */

export const at = (name: string) => ['shop', 'deploy-items', name] as const
export const EXECUTION = ['shop', 'deploy-items'] as const

export const broken = { phase: 'FAILED', error: { code: 'BROKEN', message: 'It broke.', retryable: false } } as const
export const tryAgain = { code: 'BUSY', message: 'Not now.', retryable: true } as const

/** The one item that was claimed. */
export function only(items: readonly ClaimedItem[]): ClaimedItem {
  const [item] = items
  if (!item || items.length > 1) throw new Error(`${items.length} items were claimed, not one`)
  return item
}
export function named(items: readonly ClaimedItem[], name: string): ClaimedItem {
  const item = items.find((i) => i.name === name)
  if (!item) throw new Error(`${name} is not among ${items.map((i) => i.name).join(', ')}`)
  return item
}
export const names = (items: readonly { name: string }[]): readonly string[] => items.map(({ name }) => name)

/** Moves the clock and reconciles every tree that is due then. */
export async function pass(world: World, ms: number): Promise<void> {
  world.clock.advance(ms)
  await world.settle()
}

/** The refusal; throws when it was accepted. */
export async function refused(outcome: Promise<Outcome<object>>): Promise<Refusal> {
  const result = await outcome
  if (result.ok) throw new Error('it was not refused')
  return result.refusal
}

/** The result of one report. */
export async function shown(world: World, report: Report, viewer: Viewer = DEPLOYER) {
  const outcome = await world.engineHost.agents.report(viewer, [report])
  await world.settle()
  const result = outcome.ok ? outcome.results[0] : outcome
  if (!result) throw new Error('there is no result')
  return result
}

export async function renewed(world: World, fence: string, viewer: Viewer = DEPLOYER, leaseMs = 30_000) {
  const outcome = await world.engineHost.agents.renew(viewer, [fence], leaseMs)
  if (!outcome.ok) throw new Error(outcome.refusal.message)
  return outcome.leases[0]?.state
}

/** Phases of an execution's items by name, in their order. */
export async function itemsOf(world: World, root = 'shop'): Promise<Readonly<Record<string, Phase>>> {
  const execution = await world.see(root, 'deploy-items')
  const { rows } = await world.pool.query<{ name: string; phase: Phase }>(
    'select name, phase from object where parent_id = $1 order by ordinal',
    [execution.id],
  )
  return Object.fromEntries(rows.map(({ name, phase }) => [name, phase]))
}

export interface Counts {
  readonly total: number
  readonly untriggered: number
  readonly open: number
  readonly failed: number
}
export async function countsOf(world: World, id: string): Promise<Counts | undefined> {
  const { rows } = await world.pool.query<Counts>(
    'select total, untriggered, open, failed from tally where object_id = $1',
    [id],
  )
  return rows[0]
}

export interface Entry {
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly by: string | null
  readonly reason: string | null
  readonly rejected: boolean
}
/** All records of an object, including refusals. */
export async function logOf(world: World, id: string): Promise<readonly Entry[]> {
  const { rows } = await world.pool.query<Entry>(
    `select "from", "to", actor, "by", reason, rejected from phase_change where object_id = $1 order by batch_id, idx`,
    [id],
  )
  return rows
}

/** An edge that no spec could have: `from` now waits for one more. */
export async function dependOn(world: World, from: string, to: string): Promise<void> {
  await world.pool.query('insert into edge (from_id, to_id) values ($1, $2)', [from, to])
  await world.pool.query('update object set waiting_for = waiting_for + 1 where id = $1', [from])
}
