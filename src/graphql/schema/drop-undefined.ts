/** An input without the `undefined` that the types of optional fields allow for: GraphQL leaves out what is not given. */
export type Defined<T> = T extends readonly (infer Item)[]
  ? readonly Defined<Item>[]
  : T extends object
    ? { [Key in keyof T]: Defined<Exclude<T[Key], undefined>> }
    : T
export const dropUndefined = <T>(input: T): Defined<T> => input as Defined<T>
