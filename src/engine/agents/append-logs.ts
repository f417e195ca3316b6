import { dateHere } from '../../core/clock-offset.ts'
import { LIMITS } from '../../core/limits.ts'
import { beginningOf, portableText } from '../../core/portable.ts'
import type { AgentPort, LogLineEntry } from '../../core/ports/agents.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { RIGHTS } from '../../core/rights.ts'
import { array, bigint, bytea, timestamptz, uuid } from '../../store/column-types.ts'
import { type OpenedFence, openFence } from '../../store/fence.ts'
import { appendLogLines, LOG_BOUNDS } from '../../store/log-lines.ts'
import { statement } from '../../store/statement.ts'
import type { EngineParts } from '../parts.ts'
import { requireAgent } from './access.ts'

/**
 * Stores output of work whose latest fence the agent has; lines with an older fence are dropped. Work that only one
 * instance may do continues while its lease is lost and claimed again, so its lines are stored under any of its fences:
 * nobody else can have read them. After a failed attempt only the latest fence shows whose attempt they are of.
 */
export function logAppender(parts: EngineParts, bounds = LOG_BOUNDS): AgentPort['appendLogs'] {
  return async (viewer, lines, sentAt = null) => {
    const refused = requireAgent(viewer, RIGHTS.reportWork)
    if (refused) return refused
    const accepted = await linesWithFence(parts, viewer, { lines, sentAt })
    if (accepted.length > 0) await appendLogLines(parts.pool, accepted, bounds)
    return { ok: true, accepted: accepted.length }
  }
}

async function linesWithFence(
  parts: EngineParts,
  viewer: Viewer,
  { lines, sentAt }: { readonly lines: readonly LogLineEntry[]; readonly sentAt: Date | null },
) {
  const fenced = lines.flatMap((line) => {
    const fence = openFence(line.fence)
    return fence ? [{ ...line, fence }] : []
  })
  const owned = await placesOwned(
    parts,
    viewer,
    fenced.map(({ fence }) => fence),
  )
  const now = parts.system.now()
  return fenced.flatMap(({ at, stream, text, fence }, i) => {
    const since = owned.get(i + 1)
    if (!since) return []
    const written = at ? dateHere(at, { sentAt, now }) : now
    return {
      objectId: fence.objectId,
      // Clocks differ: a line of a job is not from before the job.
      at: new Date(Math.max(written.getTime(), since.getTime())),
      stream,
      text: portableText(beginningOf(text, LIMITS.logLine.max)),
    }
  })
}

const OWNED_WORK = statement({
  name: 'owned-work',
  text: `select u.place, w.triggered_at as since from unnest($1::uuid[], $2::bytea[]) with ordinality as u(id, fence_hash, place)
      join agent_work w on w.object_id = u.id and (w.fence_hash = u.fence_hash or w.target = w.instance and not exists (
        select from workload a where a.object_id = w.object_id and jsonb_array_length(a.retry -> 'attempts') > 0 offset 0))
      join object o on o.id = w.object_id where w.principal_id = $3`,
  params: [array(uuid), array(bytea), uuid],
  row: { place: bigint, since: timestamptz },
})

/** The places, from 1, of fences whose work takes lines of the viewer, and when that was offered. */
async function placesOwned(
  parts: EngineParts,
  viewer: Viewer,
  fences: readonly OpenedFence[],
): Promise<ReadonlyMap<number, Date>> {
  const { rows } = await OWNED_WORK.query(parts.pool, [
    fences.map((f) => f.objectId),
    fences.map((f) => f.hash),
    viewer.principalId,
  ])
  return new Map(rows.map(({ place, since }) => [place, since]))
}
