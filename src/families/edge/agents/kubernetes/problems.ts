import { ApiError } from '../../../../agents/kubernetes/api.ts'
import { type ObjectRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { CrmProblem } from '../../../../client/index.ts'

/** Why a request fails, for its user. */

const QUOTA = /exceeded quota|must specify (limits|requests)|forbidden: (maximum|minimum) /

/** The code of a refusal by the API server or a controller. */
export const codeOfRefusal = (message: string): string =>
  QUOTA.test(message) ? 'QUOTA_EXCEEDED' : 'KUBERNETES_REFUSED'

/** The API server's refusal, of one object or for want of rights, as a problem; other errors as they are. */
export function problemOf(error: unknown, ref?: ObjectRef): unknown {
  if (!(error instanceof ApiError)) return error
  const subject = ref ? `${titleOf(ref)}: ` : ''
  return new CrmProblem(`${subject}${error.describe()}`, codeOfRefusal(error.message))
}
