import type { FragmentOf } from '../../documents/gql.ts'

/** The fields that the tree shows of each object. */
export const TREE_FIELDS = `fragment TreeFields on TreeObject {
  id kind name parent { id } phase phaseSince finished revision jobId
  error { code message }
  progress { step value total unit }
}`
/** Costs the server more than all other fields together. */
export const TREE_BLOCKERS = `fragment TreeBlockers on TreeObject { blockedBy(first: 3) {
  reason message source { path } ... on DecisionBlocker { object { id } verbs { name label } }
} }`

export type Blocker = FragmentOf<typeof TREE_BLOCKERS>['blockedBy'][number]
export interface TreeObject extends FragmentOf<typeof TREE_FIELDS> {
  /** Only with TREE_BLOCKERS; without it the model keeps the last known list. */
  readonly blockedBy?: readonly Blocker[] | undefined
}
export type Progress = NonNullable<TreeObject['progress']>
