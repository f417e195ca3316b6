import type { AgentProblem, CrmError } from '../client/index.ts'
import { escapeHidden } from '../core/hidden-text.ts'

/** Writes one line of JSON to standard error, for the supervisor of this process. */
export function logEvent(event: string, details: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${escapeHidden(JSON.stringify({ event, ...details }))}\n`)
}

export function logProblem(type: string, { what, error, objectId }: AgentProblem | CrmError): void {
  logEvent('agent problem', { type, what, message: error.message, ...(objectId === undefined ? {} : { objectId }) })
}
