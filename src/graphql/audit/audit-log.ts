import type { ChainEnd } from '../../core/audit.ts'
import { projectsWith, RIGHTS } from '../../core/rights.ts'
import { type AuditFilter, type AuditRow, auditAnchor, auditHead, countAudit, listAudit } from '../../store/audit.ts'
import { isUuid } from '../../store/objects.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { auditCursor } from '../schema/cursors.ts'
import { badInput } from '../schema/limits.ts'
import { AuditEventRef, AuditOutcomeEnum } from './audit-event.ts'

const AuditFilterInput = builder.inputType('AuditFilterInput', {
  description: 'Which events. Each field that is given narrows the choice.',
  fields: (t) => ({
    principalId: t.id({ description: 'Only of this principal. Left out or null: all.' }),
    tokenId: t.id({ description: 'Only with this token. Left out or null: all.' }),
    operation: t.string({
      limit: 'reference',
      description: 'Only this field of the API, or `token.refused`. Left out or null: all.',
    }),
    project: t.string({
      limit: 'reference',
      description: 'Only of projects that had this name then. Left out or null: all.',
    }),
    objectId: t.id({ description: 'Only about this object. Left out or null: all.' }),
    outcome: t.field({ type: AuditOutcomeEnum, description: 'Only with this outcome. Left out or null: all.' }),
    from: t.field({ type: 'DateTime', description: 'Only at this time or later. Left out or null: all.' }),
    until: t.field({ type: 'DateTime', description: 'Only before this time. Left out or null: all.' }),
  }),
})
type Given = typeof AuditFilterInput.$inferInput

builder.queryField('auditLog', (t) =>
  t.connection({
    right: RIGHTS.readAudit,
    type: AuditEventRef,
    nullable: true,
    description:
      'Who has done what, the newest first: everything for administrators of the instance, and for those of projects what concerns their projects. The cursor of an event is its sequence. Null only together with an entry in `errors`.',
    args: { filter: t.arg({ type: AuditFilterInput, description: 'Which events; left out or null: all.' }) },
    resolve: async (_, { filter, ...page }, { viewer, pool, audit }) => {
      const wanted = readFilter(filter ?? {}, projectsWith(viewer, RIGHTS.readAudit))
      await audit.settle()
      return connect(page, {
        cursor: auditCursor,
        position: ({ sequence }: AuditRow) => String(sequence),
        load: (window) => listAudit(pool, wanted, window),
        count: () => countAudit(pool, wanted),
      })
    },
  }),
)

function readFilter(given: Given, projects: readonly string[] | null): AuditFilter {
  const { principalId = null, tokenId = null, operation = null, project = null, objectId = null } = given
  for (const [name, id] of Object.entries({ principalId, objectId }))
    if (id !== null && !isUuid(id)) throw badInput(`filter.${name} is not an id.`)
  const { outcome = null, from = null, until = null } = given
  return { projects, principalId, tokenId, operation, project, objectId, outcome, from, until }
}

const AuditEndRef = builder.objectRef<ChainEnd>('AuditEnd').implement({
  description: 'A place in the chain of the audit.',
  fields: (t) => ({
    sequence: t.exposeFloat('sequence', { description: 'Place of the event; 0: before the first one.' }),
    hash: t.string({
      description: 'Hash of the event in hexadecimal digits; empty before the first one.',
      resolve: ({ hash }) => hash.toString('hex'),
    }),
  }),
})
const AuditChainRef = builder
  .objectRef<{ readonly anchor: ChainEnd; readonly head: ChainEnd }>('AuditChain')
  .implement({
    description:
      'The ends of the chain of the audit. Who keeps the head elsewhere can show later that nothing before it was changed.',
    fields: (t) => ({
      anchor: t.expose('anchor', { type: AuditEndRef, description: 'The last event that retention has removed.' }),
      head: t.expose('head', { type: AuditEndRef, description: 'The newest event.' }),
    }),
  })

builder.queryField('auditChain', (t) =>
  t.field({
    right: RIGHTS.verifyAudit,
    type: AuditChainRef,
    nullable: true,
    description:
      'The ends of the chain of the audit, with everything that was committed before. Null only together with an entry in `errors`.',
    resolve: async (_, __, { pool, audit }) => {
      await audit.settle()
      return { anchor: await auditAnchor(pool), head: await auditHead(pool) }
    },
  }),
)
