import type { LabelInput } from '../../../core/labels.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import type { Fenced } from '../../access.ts'
import { type InstallationDetails, SETTINGS } from '../rules/details.ts'
import type { SpecInput } from '../rules/normalise.ts'

/** Inputs from the API: GraphQL has checked the types and the bounds. */

export type InstallationSettings = Nullable<Pick<InstallationDetails, (typeof SETTINGS)[number]>> & {
  readonly labels?: readonly LabelInput[] | null
}
type Nullable<T> = { readonly [K in keyof T]?: T[K] | null }

/** The columns that differ from the present ones. A setting that is left out or null changes nothing. */
export const changedSettings = (
  input: InstallationSettings,
  present: InstallationDetails,
): Partial<InstallationDetails> =>
  Object.fromEntries(
    SETTINGS.flatMap((name) => {
      const value = input[name] ?? present[name]
      return value === present[name] ? [] : [[name, value]]
    }),
  )

export interface NewInstallation extends InstallationSettings {
  readonly name: string
  readonly spec: SpecInput
  readonly reconcile: boolean
}
export interface UpdateInstallation extends InstallationSettings, Fenced {
  readonly id: string
  readonly spec?: SpecInput | null
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
/** Exactly one of the four is set. */
export interface DryRunInstallation extends PlanInstallation {
  readonly reconcile?: { readonly id: string; readonly mode: ReconcileMode } | null
}
export interface DataObjectKey {
  readonly project: string
  readonly name: string
}
