/** The text of a GraphQL document with the types of its answer and its variables, which only the compiler sees. */
export interface TypedDocument<Result, Variables> {
  valueOf(): string
  readonly __apiType?: (variables: Variables) => Result
}

/** The answer of a typed document. */
export type ResultOf<Document> = Document extends TypedDocument<infer Result, never> ? Result : never
