/** The spec of an installation in the API and the store. Values may contain expressions `${…}`. */
export interface InstallationSpec {
  readonly imports: readonly ImportSpec[]
  readonly exports: readonly ExportSpec[]
  readonly installations: readonly NestedSpec[]
  readonly deployItems: readonly ItemSpec[]
}
export interface ImportSpec {
  readonly name: string
  /** Name of the data in the scope; the import's own name if left out. */
  readonly from: string
  /** A JSON Schema; absent: any value. */
  readonly schema?: unknown
  readonly required: boolean
}
export interface ExportSpec {
  readonly name: string
  readonly value: unknown
}
export interface NestedSpec {
  readonly name: string
  readonly spec: InstallationSpec
}
export interface ItemSpec {
  readonly name: string
  readonly type: string
  readonly target: string | null
  /** Sorted names of siblings: explicit dependencies and those that expressions in the config imply. */
  readonly dependsOn: readonly string[]
  readonly config: unknown
  readonly timeouts: Timeouts
}
/** Absent: the server's default. */
export interface Timeouts {
  readonly pickup?: Timeout
  readonly progressing?: Timeout
  readonly aborting?: Timeout
}
export type Timeout = { readonly ms: number } | { readonly never: true }
