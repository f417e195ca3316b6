import { dateHere } from '../../core/clock-offset.ts'
import { LIMITS } from '../../core/limits.ts'
import { portableText } from '../../core/portable.ts'
import type { AgentPort, LogLineEntry } from '../../core/ports/agents.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { RIGHTS } from '../../core/rights.ts'
import { array, bytea, uuid } from '../../store/column-types.ts'
import { type OpenedFence, openFence } from '../../store/fence.ts'
import { appendLogLines, LOG_BOUNDS } from '../../store/log-lines.ts'
import { statement } from '../../store/statement.ts'
import * as table from '../../store/tables.ts'
import type { EngineParts } from '../parts.ts'
import { requireAgent } from './access.ts'

/** Stores output of work whose latest fence the agent has; lines with an older fence are dropped. */
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
  const opened = lines.map(({ fence }) => openFence(fence))
  const owned = await ownedWork(parts, viewer, opened)
  const now = parts.system.now()
  return lines.flatMap(({ at, stream, text }, i) => {
    const fence = opened[i]
    if (!fence || !owned.has(fence.objectId)) return []
    return [
      {
        objectId: fence.objectId,
        at: at ? dateHere(at, { sentAt, now }) : now,
        stream,
        text: portableText(text.slice(0, LIMITS.logLine.max)),
      },
    ]
  })
}

const OWNED_WORK = statement({
  name: 'owned-work',
  text: `select distinct w.object_id as id from work w
      join unnest($1::uuid[], $2::bytea[]) as u(id, fence_hash) on w.object_id = u.id and w.fence_hash = u.fence_hash
      join object o on o.id = w.object_id where w.principal_id = $3`,
  params: [array(uuid), array(bytea), uuid],
  row: { id: table.work.objectId },
})

async function ownedWork(
  parts: EngineParts,
  viewer: Viewer,
  opened: readonly (OpenedFence | null)[],
): Promise<ReadonlySet<string>> {
  const fences = opened.filter((fence): fence is OpenedFence => fence !== null)
  const { rows } = await OWNED_WORK.query(parts.pool, [
    fences.map((f) => f.objectId),
    fences.map((f) => f.hash),
    viewer.principalId,
  ])
  return new Set(rows.map(({ id }) => id))
}
