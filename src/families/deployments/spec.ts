/** The spec of an installation, as the API takes it and the store keeps it. Values may hold expressions `${…}`. */
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
  /** Explicit ones and those that expressions in the config imply. Names of siblings, sorted. */
  readonly dependsOn: readonly string[]
  readonly config: unknown
  readonly timeouts: Timeouts
}
/** Left out: the server's default. */
export interface Timeouts {
  readonly pickup?: Timeout
  readonly progressing?: Timeout
  readonly aborting?: Timeout
}
export type Timeout = { readonly ms: number } | { readonly never: true }
