import { Busy } from '../../core/busy.ts'
import { forbidden, notFound, stale, transitionRefused } from '../../core/errors.ts'
import { isExpired } from '../../core/lease.ts'
import { allowedFrom } from '../../core/machine.ts'
import type { AgentPort, Report, ReportOutcome } from '../../core/ports/agents.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { hasRight, RIGHTS } from '../../core/rights.ts'
import { WORK_STATE, type Work } from '../../core/tree.ts'
import { articled, words } from '../../core/words.ts'
import { type OpenedFence, openFence, sameHash } from '../../store/fence.ts'
import { findLastWork, finishOrphanedWork } from '../../store/orphaned-work.ts'
import { findRoots } from '../../store/work.ts'
import type { TreeTask } from '../apply-tasks.ts'
import type { EngineParts } from '../parts.ts'
import type { TreeRunner } from '../runner.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'
import type { TransactionTrace } from '../transaction-trace.ts'
import { canDrive, requireAgent } from './access.ts'

/** Applies reports tree by tree; returns one result for each, in order. */
export function reporter(parts: EngineParts, runner: TreeRunner): AgentPort['report'] {
  return async (viewer, reports) => {
    const refused = requireAgent(viewer, RIGHTS.reportWork)
    if (refused) return refused
    return { ok: true, results: await reportAll(viewer, reports, parts, runner) }
  }
}

async function reportAll(
  viewer: Viewer,
  reports: readonly Report[],
  parts: EngineParts,
  runner: TreeRunner,
): Promise<readonly ReportOutcome[]> {
  const opened = reports.map(({ fence }) => openFence(fence))
  const roots = await rootsOf(
    opened.flatMap((fence) => fence?.objectId ?? []),
    parts,
    runner,
  )
  const results: ReportOutcome[] = reports.map(() => refuse(noWork))
  const byRoot = new Map<string, number[]>()
  for (const [i, fence] of opened.entries()) {
    if (!fence) results[i] = refuse(stale('This is not a fence: send the one that came with the claimed work.'))
    const rootId = fence && roots.get(fence.objectId)
    if (rootId) byRoot.set(rootId, [...(byRoot.get(rootId) ?? []), i])
  }
  const gone: number[] = []
  const tasks = [...byRoot].map(([rootId, indexes]) => {
    const ids = indexes.map((i) => (opened[i] as OpenedFence).objectId)
    const task: TreeTask<(ReportOutcome | 'gone')[]> = {
      ids,
      ends: true,
      canRecall: (work, now) => work.state === WORK_STATE.CLAIMED && hasValidLease(work, now),
      apply: (slice, { trace }) =>
        indexes.map((i) => reportOne(slice, reports[i] as Report, opened[i] as OpenedFence, { viewer, parts, trace })),
    }
    return { rootId, indexes, task }
  })
  const [only] = tasks
  const ran =
    only && tasks.length === 1
      ? [await runner.run(only.rootId, only.task)]
      : await runner.runEach(tasks, LOCKED_TREE_MS)
  let busy: Busy | null = null
  for (const [n, { rootId, indexes }] of tasks.entries()) {
    const outcomes = ran[n] ?? null
    if (outcomes === 'locked') {
      busy ??= new Busy(`The tree ${rootId}`, { waiting: indexes.length, waitedMs: LOCKED_TREE_MS })
      continue
    }
    for (const [at, i] of indexes.entries()) {
      const outcome = outcomes ? outcomes.value[at] : 'gone'
      if (outcome === undefined || outcome === 'gone') gone.push(i)
      else results[i] = outcome
    }
  }
  // A repetition of the call shows which reports were accepted.
  if (busy) throw busy
  await judgeGone(gone, { reports, opened, results, viewer, parts })
  return results
}

/** How long one call's reports on several trees wait for a tree that others have locked, in milliseconds. */
const LOCKED_TREE_MS = 1_000

/**
 * Maps work to its root; work that does not exist is absent. The cache is read before the first await, since it may be
 * cleared later.
 */
async function rootsOf(
  objectIds: readonly string[],
  { pool }: EngineParts,
  runner: TreeRunner,
): Promise<ReadonlyMap<string, string>> {
  const roots = new Map<string, string>()
  const unknown: string[] = []
  for (const id of objectIds) {
    const rootId = runner.rootOf(id)
    if (rootId === undefined) unknown.push(id)
    else roots.set(id, rootId)
  }
  if (unknown.length > 0) for (const [id, rootId] of await findRoots(pool, unknown)) roots.set(id, rootId)
  return roots
}

/** Once the cached lease has ended, only the store knows whether the agent renewed it. */
const hasValidLease = ({ leaseWatched, leaseUntil }: Work, now: Date): boolean =>
  !leaseWatched || !isExpired(leaseUntil, now)

interface Reporting {
  readonly viewer: Viewer
  readonly parts: EngineParts
  /** Null: nothing is traced. */
  readonly trace: TransactionTrace | null
}

function reportOne(
  slice: TreeSlice,
  report: Report,
  fence: OpenedFence,
  { viewer, parts: { kinds }, trace }: Reporting,
): ReportOutcome | 'gone' {
  const tracked = slice.nodes.get(fence.objectId)
  if (!tracked || tracked.gone) return 'gone'
  const { work, row } = tracked
  if (!hasRight(viewer, RIGHTS.reportWork, row.projectId)) return refuse(noWork)
  if (!canDrive(viewer, row.kind, kinds))
    return refuse(forbidden(`${viewer.actor} may not work on ${articled(words(row.kind))}.`))
  const family = kinds.family(row.kind)
  const holdsWork = work && sameHash(work.fenceHash, fence.hash) && work.principalId === viewer.principalId
  if (!holdsWork && !family.holds?.(tracked, fence.hash, viewer.principalId)) {
    return refuse(outdated)
  }
  trace?.reported(tracked, report.traceparent, report.phase)
  const verdict = family.report(tracked, report, viewer, slice)
  if (verdict.ok) return { ok: true, objectId: tracked.gone ? null : row.id, changed: verdict.changed }
  if (verdict.refused === 'STALE') return refuse(outdated)
  const { to, actor = viewer.actor, secondary } = verdict
  const { machine, from } = secondary ?? { machine: kinds.machine(row.kind), from: row.phase }
  const refusal = transitionRefused(row.kind, from, actor, to, allowedFrom(machine, from, actor))
  slice.reject({ node: tracked, to, actor, by: viewer, reason: refusal.message, secondary })
  return refuse(refusal)
}

const noWork = notFound(null, 'work', 'of this fence')
const outdated = stale('The work was claimed by another agent, or started anew: stop working on it.')
const refuse = (refusal: Extract<ReportOutcome, { ok: false }>['refusal']): ReportOutcome => ({ ok: false, refusal })

/**
 * Judges reports on objects that are gone. A repeated "gone" from the same agent is accepted, and so is the end of
 * orphaned work. Any other report is too late.
 */
async function judgeGone(
  indexes: readonly number[],
  all: {
    reports: readonly Report[]
    opened: readonly (OpenedFence | null)[]
    results: ReportOutcome[]
    viewer: Viewer
    parts: EngineParts
  },
): Promise<void> {
  if (indexes.length === 0) return
  const { reports, opened, results, viewer, parts } = all
  const last = await findLastWork(
    parts.pool,
    indexes.flatMap((i) => opened[i]?.objectId ?? []),
  )
  const { outlivingActions, gonePhases } = parts.kinds
  const done: string[] = []
  for (const i of indexes) {
    const fence = opened[i] as OpenedFence
    const report = reports[i]
    const work = last.get(fence.objectId)
    const hasLastFence = work && sameHash(work.fenceHash, fence.hash) && work.principalId === viewer.principalId
    if (!hasLastFence) results[i] = refuse(stale('The object of this work is gone, and this is not its last fence.'))
    else if (report?.done && outlivingActions.includes(work.action)) {
      if (!work.finished) done.push(fence.objectId)
      results[i] = { ok: true, objectId: null, changed: false }
    } else if (report?.phase && gonePhases.includes(report.phase) && work.finished)
      results[i] = { ok: true, objectId: null, changed: false }
    else results[i] = refuse(notFound(fence.objectId))
  }
  if (done.length > 0) await finishOrphanedWork(parts.pool, done, parts.system.now())
}
