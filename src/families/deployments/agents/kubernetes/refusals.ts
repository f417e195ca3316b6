import { ApiError, CONFLICT } from '../../../../agents/kubernetes/api.ts'
import { SandboxBusy } from '../../../../sandbox/index.ts'
import { DeployError } from '../deploy-error.ts'

/** The API server's refusal to change an object. Its message may quote a secret. */
export function refusedBy(error: unknown, { kind, title }: { readonly kind: string; readonly title: string }): unknown {
  if (!(error instanceof ApiError)) return error
  const code = error.causes.includes(CONFLICT) ? 'KUBERNETES_CONFLICT' : 'KUBERNETES_REFUSED'
  const message = kind === 'Secret' ? '(not shown, since it may quote the secret)' : undefined
  return new DeployError(code, `${title}: ${error.describe(message)}`)
}

/** The error that ends the work on an item; undefined: a bug of the deployer. Messages of reads quote no secret. */
export function deployErrorOf(error: unknown): DeployError | undefined {
  if (error instanceof DeployError) return error
  if (error instanceof SandboxBusy) return new DeployError('KUBERNETES_BUSY', error.message)
  return error instanceof ApiError ? new DeployError('KUBERNETES_REFUSED', error.describe()) : undefined
}
