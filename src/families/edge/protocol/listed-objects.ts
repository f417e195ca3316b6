import { plainJson } from '../../../client/agent/plain-json.ts'
import { isPortableText } from '../../../core/portable.ts'
import { PHASES } from '../../../core/vocabulary.ts'
import type { CrmObject } from './crm.ts'

const KINDS: ReadonlySet<unknown> = new Set<CrmObject['kind']>(['CLUSTER_INST', 'APP_INST'])
const KNOWN_PHASES: ReadonlySet<unknown> = new Set(PHASES)
const MAX_REVISION = 2 ** 31 - 1

/**
 * A copy of the objects that a driver lists. The server would refuse the whole connection for one that it cannot read, and
 * would take one that is left out for gone.
 * @throws TypeError that says what was expected; what a getter throws
 */
export function listedObjects(listed: unknown): readonly CrmObject[] {
  if (!Array.isArray(listed)) throw new TypeError('list() returned no list of objects.')
  const objects = plainJson('list() returned what cannot be sent: its', listed) as readonly CrmObject[]
  for (const [i, object] of objects.entries()) {
    const problem = problemOf(object)
    if (problem) throw new TypeError(`list() returned an object, number ${i}, ${problem}.`)
  }
  return objects.map(({ kind, path, phase, specRevision = null }) => ({ kind, path, phase, specRevision }))
}

function problemOf(object: Partial<Record<keyof CrmObject, unknown>> | null): string | null {
  if (typeof object !== 'object' || object === null) return 'that is none'
  const { kind, path, phase, specRevision = null } = object
  if (!KINDS.has(kind)) return `whose kind is none of ${[...KINDS].join(', ')}`
  const isPath = Array.isArray(path) && path.length > 0 && path.every(isName)
  if (!isPath) return 'whose path is no list of names'
  if (!KNOWN_PHASES.has(phase)) return 'whose phase is not known'
  const isRevision =
    specRevision === null || (Number.isInteger(specRevision) && (specRevision as number) <= MAX_REVISION)
  return isRevision ? null : 'whose specRevision is neither null nor a whole number'
}

const isName = (name: unknown): boolean => typeof name === 'string' && isPortableText(name)
