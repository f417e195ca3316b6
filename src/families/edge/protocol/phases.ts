import type { ReportedError } from '../../../client/agent/work.ts'
import { asError } from '../../../client/as-error.ts'
import { beginningOf, portableText } from '../../../core/portable.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { CrmProblem, type CrmRequest } from './crm.ts'

const WHILE = { CREATE: 'CREATING', UPDATE: 'UPDATING', DELETE: 'DELETING' } as const
const ERROR = { CREATE: 'CREATE_ERROR', UPDATE: 'UPDATE_ERROR', DELETE: 'DELETE_ERROR' } as const
const MAX_MESSAGE = 500

/** The phase reported first. Null for an upgrade, whose first report follows the start of the new CRM. */
export const transitionalPhase = ({ kind, action }: CrmRequest): Phase | null =>
  kind === 'CLOUDLET' ? null : WHILE[action]

/** The phase reported on success. The new CRM reports the end of an upgrade. */
export function finalPhase({ kind, action }: CrmRequest): Phase {
  if (kind === 'CLOUDLET') return 'UPDATING'
  return action === 'DELETE' ? 'NOT_PRESENT' : 'READY'
}

/** The report of a failure. */
export const problemOf = ({ action }: CrmRequest, thrown: unknown): { phase: Phase; error: ReportedError } => ({
  phase: ERROR[action],
  error: shownError(thrown),
})

/** The message of a foreign error may hold secrets, e.g. a spec with its passwords: only its name and code are shown. */
function shownError(thrown: unknown): ReportedError {
  const error = asError(thrown)
  const isShown = error instanceof CrmProblem && typeof error.code === 'string'
  if (isShown) return { code: error.code, message: firstLine(error.message) }
  const code = error === thrown ? codeOf(error) : null
  const name = error === thrown ? error.name : 'an error'
  return { code: 'CRM_FAILED', message: firstLine(`The CRM failed (${name}${code === null ? '' : `: ${code}`}).`) }
}
function codeOf(error: object): string | null {
  try {
    return 'code' in error && typeof error.code === 'string' ? error.code : null
  } catch {
    return null
  }
}
const firstLine = (text: string): string => portableText(beginningOf(text.split('\n')[0] ?? '', MAX_MESSAGE))
