import type { AuditFilter } from '../../core/audit.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { projectsWith, RIGHTS } from '../../core/rights.ts'
import { isUuid } from '../../store/objects.ts'
import { builder } from '../schema/builder.ts'
import { badInput } from '../schema/limits.ts'
import { AuditOutcomeEnum } from './audit-event.ts'

export const AuditFilterRef = builder.inputType('AuditFilter', {
  description: 'Selects events. Each field that is given narrows the choice.',
  fields: (t) => ({
    principalId: t.id({ description: 'Only of this principal. Left out or null: all.' }),
    tokenId: t.id({ description: 'Only with this token. Left out or null: all.' }),
    operation: t.string({
      limit: 'reference',
      description: 'Only this field of the API, or such as `token.refused`. Left out or null: all.',
    }),
    project: t.string({
      limit: 'reference',
      description: 'Only of projects that had this name then. Left out or null: all.',
    }),
    objectId: t.id({ description: 'Only about this object. Left out or null: all.' }),
    outcome: t.field({ type: AuditOutcomeEnum, description: 'Only with this outcome. Left out or null: all.' }),
    since: t.field({ type: 'DateTime', description: 'Only at this time or later. Left out or null: all.' }),
    until: t.field({ type: 'DateTime', description: 'Only before this time. Left out or null: all.' }),
  }),
})
type Given = typeof AuditFilterRef.$inferInput

/** Restricts the requested filter to what the viewer may read. */
export function readFilter(given: Given, viewer: Viewer): AuditFilter {
  const projects = projectsWith(viewer, RIGHTS.readAudit)
  const { principalId = null, tokenId = null, operation = null, project = null, objectId = null } = given
  for (const [name, id] of Object.entries({ principalId, objectId }))
    if (id !== null && !isUuid(id)) throw badInput(`filter.${name} is not an id.`)
  const { outcome = null, since = null, until = null } = given
  return { projects, principalId, tokenId, operation, project, objectId, outcome, since, until }
}
