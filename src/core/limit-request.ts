/** A limit of its project that a spec asks for. */
export interface LimitRequest {
  /** Name of the limit, or `project/name` of one that another project shares. */
  readonly limit: string
  /** One of its keys; empty: that of all who name none. */
  readonly key: string
  /** Higher ones come first; absent: 0. */
  readonly priority?: number
}
