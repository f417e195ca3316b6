import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import type { DeclaredLock } from '../../src/families/operations/rules/lock-mode.ts'
import type { TaskJob } from '../../src/families/tasks.ts'
import { accepted } from './pipelines.ts'
import { viewerOf } from './viewers.ts'
import { USER, type World } from './world.ts'

/** Tasks and their jobs said shortly, with a gadget runner that the test plays. */

export const RUNNER: Viewer = viewerOf('AGENT', { name: 'runner', actor: 'GADGET_RUNNER' })

export const gadget = (name: string, more: Partial<TaskJob> = {}): TaskJob => ({ name, gadget: 'do-it', ...more })
export const shared = (resource: string): DeclaredLock => ({ resource, mode: 'SHARED' })
export const exclusive = (resource: string): DeclaredLock => ({ resource, mode: 'EXCLUSIVE' })

let tasks = 0
export async function addTask(world: World, jobs: readonly TaskJob[], name = `task-${++tasks}`): Promise<string> {
  const { objectId } = await accepted(world.operations.createTask(USER, { project: 'default', name, jobs }))
  await world.settle()
  return objectId
}

export async function claimJobs(world: World, instance = 'here'): Promise<readonly ClaimedItem[]> {
  const request = { instance, types: ['gadget-job'], targets: null, max: 500, leaseMs: 30_000 }
  const { items } = await accepted(world.engineHost.agents.claim(RUNNER, request))
  await world.settle()
  return items
}
/** Work that was claimed in addition to the work that a test asked for. */
let claimed: readonly ClaimedItem[] = []
export const letGo = (): void => {
  claimed = []
}
/** The piece of work that there is for a job. */
export async function claimJob(world: World, name: string, instance = 'here'): Promise<ClaimedItem> {
  const items = [...claimed, ...(await claimJobs(world, instance))]
  const item = items.findLast((one) => one.name === name)
  if (!item) throw new Error(`there is nothing to do for ${name}, but for ${items.map((one) => one.name).join(', ')}`)
  claimed = items.filter((one) => one !== item)
  return item
}
export const reportJob = (world: World, report: Report): Promise<boolean | string> => world.report(report, RUNNER)

/** Declares these locks for a job that has started. */
export async function declare(world: World, name: string, locks: readonly DeclaredLock[] = []): Promise<void> {
  const { fence, action } = await claimJob(world, name)
  if (action !== 'GET_LOCKS') throw new Error(`${name} is to ${action}`)
  await reportJob(world, { fence, phase: 'WAITING', locks })
}
/** Declares its locks and begins to run. */
export async function begin(world: World, name: string, locks: readonly DeclaredLock[] = []): Promise<ClaimedItem> {
  await declare(world, name, locks)
  return await claimJob(world, name)
}
export const broken = { code: 'GADGET_FAILED', message: 'It ended with exit code 1.', retryable: false }

export async function jobsOf(world: World, taskId: string): Promise<Readonly<Record<string, Phase>>> {
  const { rows } = await world.pool.query<{ name: string; phase: Phase }>(
    `select case kind when 'TASK' then 'task' else name end as name, phase from object where root_id = $1 order by ordinal, id`,
    [taskId],
  )
  return Object.fromEntries(rows.map(({ name, phase }) => [name, phase]))
}
export async function journalOf(world: World, taskId: string, name: string): Promise<readonly string[]> {
  const { rows } = await world.pool.query<{ entry: string }>(
    'select j.entry from journal j join object o on o.id = j.object_id where o.root_id = $1 and o.name = $2 order by j.n',
    [taskId, name],
  )
  return rows.map(({ entry }) => entry)
}
/** Resources and modes that are held, or waited for. */
export async function locksNow(world: World): Promise<readonly string[]> {
  const { rows } = await world.pool.query<{ line: string }>(
    `select o.name || ' ' || case when l.held then 'has' else 'wants' end || ' ' || l.resource || ' ' || l.mode as line
     from lock l join object o on o.id = l.object_id order by l.ticket, l.resource`,
  )
  return rows.map(({ line }) => line)
}
