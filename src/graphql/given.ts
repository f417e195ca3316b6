/** An input without the `undefined` that the types of optional fields allow for: GraphQL leaves out what is not given. */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { [Key in keyof T]: Given<Exclude<T[Key], undefined>> }
    : T
export const given = <T>(input: T): Given<T> => input as Given<T>
