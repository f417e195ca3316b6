import { forbidden, type Refusal } from '../core/errors.ts'
import type { Outcome, WrittenObject } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'

/** Who may do what, for the commands of every family. */

export type CommandResult = Outcome<WrittenObject>

export const refuse = (refusal: Refusal): { ok: false; refusal: Refusal } => ({ ok: false, refusal })

/** A viewer that may not change anything is told so; one that may not see the project is told that there is none. */
export function requireProjectWrite(viewer: Viewer, project?: string): Refusal | null {
  if (viewer.role !== 'ADMIN' && viewer.role !== 'USER')
    return forbidden(`The role ${viewer.role} may not change anything.`)
  if (project !== undefined && !canRead(viewer, project))
    return forbidden(`You have no access to a project ${project}.`)
  return null
}
export const canRead = (viewer: Viewer, project: string): boolean =>
  viewer.projects === null || viewer.projects.includes(project)
