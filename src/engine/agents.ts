import { forbidden, invalidInput, notFound, stale, transitionRefused } from '../core/errors.ts'
import { allowedFrom } from '../core/machine.ts'
import type { AgentPort, ClaimedItem, LogLineEntry, Outcome, Renewal, Report, Viewer } from '../core/ports.ts'
import { WORK_STATE } from '../core/tree.ts'
import {
  appendLogLines,
  countWaiting,
  findCandidates,
  findFinishedWork,
  findRoots,
  noteAgent,
  noteSeen,
  renewLeases,
} from '../store/work.ts'
import type { Draft } from './draft.ts'
import { FENCE_SECRET_BYTES, hashOf, makeFence, type OpenedFence, openFence, sameHash } from './fence.ts'
import type { TreeRunner } from './runner.ts'
import type { TreeSlice } from './slice.ts'
import type { EngineParts } from './transaction.ts'

const MAX_CLAIM = 500
const MAX_REPORTS = 500
const LEASE_MS = { least: 1_000, most: 600_000 } as const
/** An agent is noted again when it has not been for so long. */
const NOTE_MS = 5_000
/** Candidates may have gone to somebody else meanwhile: then others are looked for. */
const CLAIM_ROUNDS = 3
/** Bounds of one line of captured output, in characters, and of what is kept of it. */
const MAX_LINE = 8_192

type ReportOutcome = Outcome<{ objectId: string | null; changed: boolean }>

/** Claims, renewals and reports. Who an agent is comes from its token; what it works on, from the fence. */
export function agentPort(
  parts: EngineParts,
  runner: TreeRunner,
  onWork: (handler: (types: readonly string[]) => void) => () => void,
): AgentPort {
  const { pool, ambient } = parts
  const noted = new Map<string, number>()

  const port: AgentPort = {
    async claim(viewer, request) {
      const refused = mayNotWork(viewer)
      if (refused) return refused
      const targets = within(viewer.targets, request.targets)
      const types = request.types.filter((type) => viewer.types === null || viewer.types.includes(type))
      if (types.length < request.types.length) {
        return {
          ok: false,
          refusal: forbidden(`This token may claim only work of the types ${viewer.types?.join(', ')}.`),
        }
      }
      if (request.max < 1 || request.max > MAX_CLAIM) {
        return {
          ok: false,
          refusal: invalidInput([{ path: 'input.max', message: `must be between 1 and ${MAX_CLAIM}` }]),
        }
      }
      await note(viewer, request.instance, types, targets)
      const leaseMs = Math.min(LEASE_MS.most, Math.max(LEASE_MS.least, request.leaseMs))
      const items: ClaimedItem[] = []
      for (let round = 0; round < CLAIM_ROUNDS && items.length < request.max; round++) {
        const now = ambient.now()
        const candidates = await findCandidates(pool, { types, targets, now, max: request.max - items.length })
        if (candidates.length === 0) break
        const byRoot = Map.groupBy(candidates, (candidate) => candidate.rootId)
        const claims = [...byRoot].map(([rootId, of]) => {
          const ids = of.map(({ objectId }) => objectId)
          return runner.run(rootId, {
            ids,
            apply: (slice) => claimAll(slice, ids, { viewer, request, leaseMs, parts }),
          })
        })
        for (const ran of await Promise.all(claims)) if (ran.found) items.push(...ran.value)
      }
      return { ok: true, items }
    },

    async renew(viewer, fences, leaseMs) {
      const refused = mayNotWork(viewer)
      if (refused) return refused
      if (fences.length > MAX_REPORTS * 10) return tooMany('input.fences', MAX_REPORTS * 10)
      const opened = fences.map(openFence)
      const until = new Date(ambient.now().getTime() + Math.min(LEASE_MS.most, Math.max(LEASE_MS.least, leaseMs)))
      const known = opened.filter((fence): fence is OpenedFence => fence !== null)
      await noteRenewal(viewer, known)
      const renewed = known.length > 0 ? await renewLeases(pool, known, until, viewer.name) : []
      const byId = new Map(renewed.map((lease) => [lease.objectId, lease]))
      const leases = fences.map((fence, i): Renewal => {
        const lease = byId.get(opened[i]?.objectId ?? '')
        if (!lease) return { fence, state: 'LOST', leaseUntil: null }
        return { fence, state: lease.abortRequested ? 'ABORT_REQUESTED' : 'HELD', leaseUntil: lease.leaseUntil }
      })
      return { ok: true, leases }
    },

    async report(viewer, reports) {
      const refused = mayNotWork(viewer)
      if (refused) return refused
      if (reports.length > MAX_REPORTS) return tooMany('input.reports', MAX_REPORTS)
      return { ok: true, results: await reportAll(viewer, reports, parts, runner) }
    },

    async appendLogs(viewer, lines) {
      const refused = mayNotWork(viewer)
      if (refused) return refused
      if (lines.length > MAX_REPORTS * 10) return tooMany('input.lines', MAX_REPORTS * 10)
      const accepted = await linesWithFence(viewer, lines)
      if (accepted.length > 0) await appendLogLines(pool, accepted)
      return { ok: true, accepted: accepted.length }
    },

    waiting: (types, targets) => countWaiting(pool, types, targets, ambient.now()),
    onWork,
  }

  async function note(viewer: Viewer, instance: string, types: readonly string[], targets: readonly string[] | null) {
    const key = `${viewer.name} ${instance}`
    const now = ambient.now()
    if (now.getTime() - (noted.get(key) ?? 0) < NOTE_MS) return
    noted.set(key, now.getTime())
    await noteAgent(pool, { id: ambient.id(), name: viewer.name, instance, actor: viewer.actor, types, targets, now })
  }

  /** An agent that is busy up to its limit claims nothing, and is there all the same. */
  async function noteRenewal(viewer: Viewer, fences: readonly OpenedFence[]) {
    const key = `${viewer.name} renews`
    const now = ambient.now()
    if (fences.length === 0 || now.getTime() - (noted.get(key) ?? 0) < NOTE_MS) return
    noted.set(key, now.getTime())
    await noteSeen(
      pool,
      viewer.name,
      fences.map((fence) => fence.objectId),
      now,
    )
  }

  async function linesWithFence(viewer: Viewer, lines: readonly LogLineEntry[]) {
    const opened = lines.map(({ fence }) => openFence(fence))
    const held = await heldWork(parts, viewer, opened)
    return lines.flatMap(({ at, stream, text }, i) => {
      const fence = opened[i]
      if (!fence || !held.has(fence.objectId)) return []
      return [
        {
          objectId: fence.objectId,
          at: at ?? ambient.now(),
          stream,
          text: text.slice(0, MAX_LINE).replaceAll('\0', ''),
        },
      ]
    })
  }
  return port
}

async function heldWork(
  parts: EngineParts,
  viewer: Viewer,
  opened: readonly (OpenedFence | null)[],
): Promise<ReadonlySet<string>> {
  const fences = opened.filter((fence): fence is OpenedFence => fence !== null)
  const { rows } = await parts.pool.query<{ id: string }>({
    name: 'held-work',
    text: `select distinct w.object_id as id from work w
      join unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash) on w.object_id = u.id and w.fence_hash = u.fence_hash
      join object o on o.id = w.object_id where w.principal = $3`,
    values: [fences.map((f) => f.objectId), fences.map((f) => f.hash), viewer.name],
  })
  return new Set(rows.map(({ id }) => id))
}

const tooMany = (path: string, most: number) =>
  ({ ok: false, refusal: invalidInput([{ path, message: `must not be more than ${most}` }]) }) as const

function mayNotWork(viewer: Viewer): { ok: false; refusal: ReturnType<typeof forbidden> } | null {
  if (viewer.role === 'AGENT') return null
  return { ok: false, refusal: forbidden('Only an agent may do this: use a token made for one (role AGENT).') }
}

/** What the token allows, narrowed to what is asked for; null: everything. */
function within(allowed: readonly string[] | null, asked: readonly string[] | null): readonly string[] | null {
  if (allowed === null || asked === null) return asked ?? allowed
  return asked.filter((target) => allowed.includes(target))
}

interface Claiming {
  readonly viewer: Viewer
  readonly request: { readonly instance: string }
  readonly leaseMs: number
  readonly parts: EngineParts
}

/** Under the tree's lock: whatever is still to be had is claimed, and the claim is the pickup. */
function claimAll(slice: TreeSlice, ids: readonly string[], claiming: Claiming): ClaimedItem[] {
  const { viewer, parts } = claiming
  return ids.flatMap((id) => {
    const draft = slice.nodes.get(id)
    if (!draft || !mayDrive(viewer, draft, parts)) return []
    // What a timeout or a cancel has ended is not worked on, even if no engine has looked since.
    slice.look(draft, () => parts.kinds.family(draft.row.kind).decide(draft, slice))
    return isClaimable(draft, slice.now) ? [claimOne(draft, slice, claiming)] : []
  })
}

/** A machine that has no row for an actor is none of its business. */
const mayDrive = (viewer: Viewer, { row }: Draft, { kinds }: EngineParts): boolean =>
  kinds.families
    .flatMap(({ machines }) => machines)
    .some((m) => m.kinds.includes(row.kind) && m.transitions.some(({ actor }) => actor === viewer.actor))

function isClaimable({ work }: Draft, now: Date): boolean {
  if (!work || work.abortRequestedAt) return false
  if (work.state === WORK_STATE.OFFERED) return !work.offerAfter || work.offerAfter <= now
  return work.state === WORK_STATE.CLAIMED && work.leaseUntil !== null && work.leaseUntil <= now
}

function claimOne(draft: Draft, slice: TreeSlice, { viewer, request, leaseMs, parts }: Claiming): ClaimedItem {
  const secret = parts.ambient.secret(FENCE_SECRET_BYTES)
  const attempt = (draft.work?.attempt ?? 0) + 1
  const leaseUntil = new Date(slice.now.getTime() + leaseMs)
  slice.setWork(draft, {
    state: WORK_STATE.CLAIMED,
    fenceHash: hashOf(secret),
    principal: viewer.name,
    instance: request.instance,
    attempt,
    leaseUntil,
    offerAfter: null,
  })
  parts.kinds.family(draft.row.kind).claimed(draft, viewer.name, slice)
  const { action, type, target, config } = draft.work as NonNullable<Draft['work']>
  const { id, kind, name, jobId } = draft.row
  return {
    fence: makeFence(id, secret),
    objectId: id,
    kind,
    name,
    jobId,
    action,
    type,
    target,
    config,
    attempt,
    leaseUntil,
  }
}

async function reportAll(
  viewer: Viewer,
  reports: readonly Report[],
  parts: EngineParts,
  runner: TreeRunner,
): Promise<readonly ReportOutcome[]> {
  const opened = reports.map(({ fence }) => openFence(fence))
  const roots = await findRoots(
    parts.pool,
    opened.flatMap((fence) => fence?.objectId ?? []),
  )
  const results: ReportOutcome[] = reports.map(() => refuse(notFound(null, 'work')))
  const byRoot = new Map<string, number[]>()
  for (const [i, fence] of opened.entries()) {
    if (!fence) results[i] = refuse(stale('This is not a fence: hand back the one that came with the work.'))
    const rootId = fence && roots.get(fence.objectId)
    if (rootId) byRoot.set(rootId, [...(byRoot.get(rootId) ?? []), i])
  }
  const gone: number[] = []
  await Promise.all(
    [...byRoot].map(async ([rootId, indexes]) => {
      const ids = indexes.map((i) => (opened[i] as OpenedFence).objectId)
      const ran = await runner.run(rootId, {
        ids,
        apply: (slice) =>
          indexes.map((i) => reportOne(slice, reports[i] as Report, opened[i] as OpenedFence, viewer, parts)),
      })
      for (const [at, i] of indexes.entries()) {
        const outcome = ran.found ? ran.value[at] : 'gone'
        if (outcome === undefined || outcome === 'gone') gone.push(i)
        else results[i] = outcome
      }
    }),
  )
  await judgeGone(gone, { reports, opened, results, viewer, parts })
  return results
}

function reportOne(
  slice: TreeSlice,
  report: Report,
  fence: OpenedFence,
  viewer: Viewer,
  parts: EngineParts,
): ReportOutcome | 'gone' {
  const { kinds } = parts
  const draft = slice.nodes.get(fence.objectId)
  if (!draft || draft.gone) return 'gone'
  const { work, row } = draft
  if (!mayDrive(viewer, draft, parts)) return refuse(forbidden(`${viewer.actor} may not work on ${row.kind}.`))
  if (!work || !sameHash(work.fenceHash, fence.hash) || work.principal !== viewer.name) {
    return refuse(stale('The work was handed to somebody else, or started anew: stop what you do for it.'))
  }
  const verdict = kinds.family(row.kind).report(draft, report, viewer.name, slice)
  if (verdict.ok) return { ok: true, objectId: draft.gone ? null : row.id, changed: verdict.changed }
  const allowed = allowedFrom(kinds.machine(row.kind), row.phase, viewer.actor)
  const refusal = transitionRefused(row.kind, row.phase, viewer.actor, verdict.to, allowed)
  slice.reject(draft, verdict.to, viewer.actor, viewer.name, refusal.message)
  return refuse(refusal)
}

const refuse = (refusal: Extract<ReportOutcome, { ok: false }>['refusal']): ReportOutcome => ({ ok: false, refusal })

/** The object is gone: a repeated "gone" by whoever said it first is accepted, anything else comes too late. */
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
  const finished = await findFinishedWork(
    parts.pool,
    indexes.flatMap((i) => opened[i]?.objectId ?? []),
  )
  for (const i of indexes) {
    const fence = opened[i] as OpenedFence
    const work = finished.get(fence.objectId)
    const right = work && sameHash(work.fenceHash, fence.hash) && work.principal === viewer.name
    if (!right) results[i] = refuse(stale('The object of this work is gone, and this is not its last fence.'))
    else if (reports[i]?.phase === 'GONE') results[i] = { ok: true, objectId: null, changed: false }
    else results[i] = refuse(notFound(fence.objectId))
  }
}
