import { v7 } from 'uuid'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { type Grant, projectsOf, type Role, type SummaryRole } from '../../src/core/rights.ts'

const ROLES: Readonly<Record<SummaryRole, readonly Role[]>> = {
  ADMIN: ['ADMIN', 'AUTHOR', 'EDITOR'],
  USER: ['EDITOR', 'AUTHOR'],
  READER: ['VIEWER'],
  MONITOR: ['MONITOR'],
  AGENT: ['AGENT'],
  WORKER: ['WORKER'],
}

/** A viewer as a token of this role has it, in these projects (by id) or in all; ADMIN in all is the administrator. */
export function viewerOf(
  role: SummaryRole,
  { projects = null, ...more }: Partial<Omit<Viewer, 'grants'>> = {},
): Viewer {
  const roles: readonly Role[] = role === 'ADMIN' && projects === null ? ['ADMINISTRATOR'] : ROLES[role]
  return viewerWith(
    (projects ?? [null]).flatMap((projectId) => roles.map((one) => ({ role: one, projectId }))),
    more,
  )
}

export const viewerWith = (grants: readonly Grant[], more: Partial<Viewer> = {}): Viewer => ({
  principalId: v7(),
  tokenId: v7(),
  name: 'ada',
  actor: 'USER',
  grants,
  projects: projectsOf(grants),
  types: null,
  targets: null,
  ...more,
})
