import { NO_TARGET } from '../../core/audit.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { GraphQLContext } from '../context.ts'
import { callerOf } from './caller-of.ts'

type About = Pick<ObjectRow, 'id' | 'kind' | 'name'>

/** Notes that the caller reads the output of an object: once a minute, however often it does. */
export function noteLogsRead({ audit, viewer }: GraphQLContext, { id, kind, name }: About): void {
  audit.noteThrottled({
    ...{ ...callerOf(viewer), ...NO_TARGET, objectId: id, objectKind: kind, objectName: name },
    ...{ operation: 'logs', outcome: 'DONE', code: null, fields: [], count: 1 },
  })
}

/** Notes that the caller got these secrets, by their names, with the work that it has claimed. */
export function noteSecretsRead(
  { audit, viewer }: GraphQLContext,
  { id, kind, name }: About,
  secrets: readonly string[],
): void {
  audit.note({
    ...{ ...callerOf(viewer), ...NO_TARGET, objectId: id, objectKind: kind, objectName: name },
    ...{ operation: 'claimWork', outcome: 'DONE', code: null, fields: secrets, count: 1 },
  })
}
