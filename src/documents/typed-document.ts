/** The text of a GraphQL document with the types of its answer and its variables, which only the compiler sees. */
export interface TypedDocument<Result, Variables> {
  valueOf(): string
  readonly __apiType?: (variables: Variables) => Result
}

/** The answer of a typed document. */
export type ResultOf<Document> = Document extends TypedDocument<infer Result, never> ? Result : never

/** The variables of a typed document. */
export type VariablesOf<Document> = Document extends TypedDocument<unknown, infer Variables> ? Variables : never

/** A node of a connection that an answer holds, which may be null. */
export type NodeOf<Connection> = Connection extends { readonly edges: ReadonlyArray<{ readonly node: infer Node }> }
  ? Node
  : never
