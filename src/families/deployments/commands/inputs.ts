import type { LabelInput } from '../../../core/labels.ts'
import type { SpecInput } from '../rules/normalise.ts'

/** Inputs from the API: GraphQL has checked the types and the bounds. */

export interface CreateInstallation {
  readonly project: string
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly spec: SpecInput
  readonly reconcile: boolean
  readonly idempotencyKey?: string | null
}
export interface UpdateInstallation {
  readonly id: string
  readonly spec?: SpecInput | null
  readonly labels?: readonly LabelInput[] | null
  readonly ignored?: boolean | null
  readonly expectedGeneration?: number | null
  readonly reconcile: boolean
  readonly idempotencyKey?: string | null
}
export interface RollbackInstallation {
  readonly id: string
  readonly toGeneration: number
  readonly expectedGeneration?: number | null
  readonly reconcile: boolean
  readonly idempotencyKey?: string | null
}
/** Exactly one of the three is set. */
export interface PlanInstallation {
  readonly create?: { readonly project: string; readonly name: string; readonly spec: SpecInput } | null
  readonly update?: { readonly id: string; readonly spec?: SpecInput | null } | null
  readonly delete?: { readonly id: string; readonly withoutUninstall?: boolean | null } | null
}
export interface DataObjectKey {
  readonly project: string
  readonly name: string
}
