import { forbidden, type Refusal, type RefusalOf, type RefusalType } from '../core/errors.ts'
import type { Outcome, Refused, WrittenObject } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'

/** Authorisation of the commands of every family. */

/** What a command has written, or one of the refusals of these types. */
export type CommandResult<Type extends RefusalType = RefusalType> = Outcome<WrittenObject, RefusalOf<Type>>

export const refuse = <R extends Refusal>(refusal: R): Refused<R> => ({ ok: false, refusal })

/** Refuses viewers that may not write at all, or not in this project. */
export function requireProjectWrite(viewer: Viewer, project?: string): RefusalOf<'ForbiddenError'> | null {
  if (viewer.role !== 'ADMIN' && viewer.role !== 'USER')
    return forbidden(`The role ${viewer.role} may not change anything.`)
  if (project !== undefined && !canRead(viewer, project))
    return forbidden(`You have no access to a project ${project}.`)
  return null
}
export const canRead = (viewer: Viewer, project: string): boolean =>
  viewer.projects === null || viewer.projects.includes(project)
