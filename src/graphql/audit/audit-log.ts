import type { Pool } from 'pg'
import { cursorAt, isAtCursor } from '../../core/audit.ts'
import { AuditCursorExpired, type AuditRow } from '../../core/ports/audit.ts'
import { RIGHTS } from '../../core/rights.ts'
import { auditAnchor, auditAt, auditHead, countAudit, listAudit } from '../../store/audit.ts'
import { eventStream, unpack } from '../log/event-stream.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { auditCursor } from '../schema/cursors.ts'
import { auditCursorExpired } from '../schema/failures.ts'
import { badInput, pageCost } from '../schema/limits.ts'
import { AuditEventConnection, AuditEventRef } from './audit-event.ts'
import { AuditFilterRef, readFilter } from './audit-filter.ts'

builder.queryField('auditLog', (t) =>
  t.field({
    right: RIGHTS.readAudit,
    type: AuditEventConnection,
    nullable: true,
    description:
      'The actions of principals, newest first: all of them for administrators of the instance, those on their projects for administrators of projects. The cursor of an event is its sequence and the start of its hash, or its sequence alone. Null only together with an entry in `errors`.',
    args: {
      filter: t.arg({ type: AuditFilterRef, description: 'Selects events; left out or null: all.' }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: async (_, { filter, ...page }, { viewer, pool, audit }) => {
      const wanted = readFilter(filter ?? {}, viewer)
      await audit.settle()
      for (const text of [page.after, page.before]) if (text != null) await refuseForeign(pool, text)
      return connect(page, {
        cursor: auditCursor,
        position: (event: AuditRow) => cursorAt(event),
        load: (window) => listAudit(pool, wanted, window),
        count: () => countAudit(pool, wanted),
      })
    },
  }),
)

builder.subscriptionField('auditEvents', (t) =>
  t.field({
    right: RIGHTS.readAudit,
    type: AuditEventRef,
    description:
      'Events of the audit in the order of the chain, each exactly once: first those after `after`, then live, with no gap between. Visibility is as for `auditLog`. An `after` that retention has removed, or that the audit does not have (after a restore, or where another server took over), ends the stream with the error CURSOR_EXPIRED, whose extensions have `oldest` and `head`.',
    args: {
      filter: t.arg({ type: AuditFilterRef, description: 'Selects events; left out or null: all.' }),
      after: t.arg.string({
        limit: 'cursor',
        description:
          'Cursor of the last known event, to resume after it; 0: the first of all. A sequence alone is taken for whichever event has it. Left out or null: now.',
      }),
    },
    subscribe: async (_, { filter, after }, context) => {
      const { viewer, audit, pool } = context
      const wanted = readFilter(filter ?? {}, viewer)
      const start = after == null ? undefined : auditCursor.decode(after)
      if (after != null && start === undefined)
        throw badInput(`${JSON.stringify(after.slice(0, 100))} is not a cursor of the audit.`)
      // Everything committed before the call is before "now".
      await audit.settle()
      const from = start ?? cursorAt(await auditHead(pool))
      return eventStream(context, (signal) => audit.follow(wanted, from, signal), {
        keyOf: ({ sequence }) => String(sequence),
        place: wanted.objectId ?? wanted.project ?? '',
      })
    },
    resolve: (event) => unpack(event),
  }),
)

/**
 * Refuses a cursor that names an event of another copy of the audit. A removed event cannot be compared, so its page is
 * answered.
 */
async function refuseForeign(pool: Pool, text: string): Promise<void> {
  const cursor = auditCursor.decode(text)
  if (!cursor?.hash) return
  const [at, head] = [await auditAt(pool, cursor.sequence), await auditHead(pool)]
  const isForeign = at ? !isAtCursor(at, cursor) : cursor.sequence > head.sequence
  if (isForeign) throw auditCursorExpired(new AuditCursorExpired(cursor, await auditAnchor(pool), head))
}
