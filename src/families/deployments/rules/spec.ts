import type { LabelInput } from '../../../core/labels.ts'
import type { LimitRequest } from '../../../core/limit-request.ts'
import type { RetryPolicy } from '../../../core/retry.ts'

/** The spec of an installation in the API and the store. Values may contain expressions `${…}`. */
export interface InstallationSpec extends WantedTarget {
  readonly imports: readonly ImportSpec[]
  readonly exports: readonly ExportSpec[]
  readonly installations: readonly NestedSpec[]
  readonly deployItems: readonly ItemSpec[]
  /** A root alone has it; absent: it begins no job by itself. */
  readonly automaticReconcile?: AutomaticReconcile
}
export interface AutomaticReconcile {
  /** Null: none begins after a success. */
  readonly afterSuccess: ReconcileTimes | null
  /** Null: none begins after a failure. The first one begins at once. */
  readonly afterFailure: (ReconcileTimes & { readonly attempts: number | null }) | null
}
/** One of the two: an interval, or lines of cron. */
export interface ReconcileTimes {
  /** From the end of the last job; null: the lines of cron say the times. */
  readonly intervalMs: number | null
  readonly cron: readonly string[]
  readonly timeZone: string
}
/** The target of items: none, one by its name, or the one that a selector selects. */
export interface WantedTarget {
  /** An installation has it for its items that say nothing else. */
  readonly target?: string | null
  /** Absent in specs of before there were selectors, with which new ones are compared. */
  readonly targetSelector?: SelectorSpec
}
/** A selector as the API takes it, since a stored spec is an input, too. */
export interface SelectorSpec {
  readonly type: string | null
  readonly labels: readonly LabelInput[]
}
export interface ImportSpec {
  readonly name: string
  /** Name of the data in the scope; the import's own name if left out. */
  readonly from: string
  /** A JSON Schema; absent: any value. */
  readonly schema?: unknown
  readonly required: boolean
  /** Its own value; absent: the scope gives it. */
  readonly value?: unknown
}
export interface ExportSpec {
  readonly name: string
  readonly value: unknown
}
export interface NestedSpec {
  readonly name: string
  readonly spec: InstallationSpec
}
export interface ItemSpec extends WantedTarget {
  readonly name: string
  readonly type: string
  readonly target: string | null
  /** Sorted names of siblings: explicit dependencies and those that expressions in the config imply. */
  readonly dependsOn: readonly string[]
  readonly config: unknown
  readonly timeouts: Timeouts
  /** Absent: an item that fails is not attempted again in its job. */
  readonly retry?: RetryPolicy
  /** Limits that it holds while a deployer has it; absent: none. Keys may contain expressions. */
  readonly limits?: readonly LimitRequest[]
  /** One item for each entry of this list or map, in which expressions may speak of imports. Absent: it is one item. */
  readonly forEach?: unknown
  /** In the spec of an execution: the entry of which the item is made. */
  readonly each?: Each
  /** In the spec of an execution: names of its dependencies that `forEach` has made several items of. */
  readonly fanned?: readonly string[]
}
/** An entry of a list, and the item that has the list. */
export interface Each {
  readonly of: string
  readonly key: string
  readonly value: unknown
}
/** Absent: the server's default. */
export interface Timeouts {
  readonly pickup?: Timeout
  readonly progressing?: Timeout
  readonly aborting?: Timeout
}
export type Timeout = { readonly ms: number } | { readonly never: true }
