import { ApiError } from '../../../../agents/kubernetes/api.ts'
import { type ObjectRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { CrmProblem } from '../../../../client/index.ts'

/** Why a request fails, for its user. */

const QUOTA = /exceeded quota|must specify (limits|requests)|forbidden: (maximum|minimum) /

/** The code of a refusal by the API server or a controller. */
export const codeOfRefusal = (message: string): string =>
  QUOTA.test(message) ? 'QUOTA_EXCEEDED' : 'KUBERNETES_REFUSED'

/** The API server's refusal of one object as a problem; other errors as they are. */
export function refusalOf(error: unknown, ref: ObjectRef): unknown {
  if (!(error instanceof ApiError)) return error
  const { message, reason, status } = error
  return new CrmProblem(`${titleOf(ref)}: ${reason || `status ${status}`}: ${message}`, codeOfRefusal(message))
}

/** Requests of the API that are about no single object are refused for want of rights. */
export const problemOf = (error: unknown): unknown =>
  error instanceof ApiError
    ? new CrmProblem(`${error.reason || `status ${error.status}`}: ${error.message}`, codeOfRefusal(error.message))
    : error
