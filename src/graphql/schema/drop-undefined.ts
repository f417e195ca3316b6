/** An input without `undefined`, which the types of optional fields allow. GraphQL omits fields that are not given. */
export type Defined<T> = T extends readonly (infer Item)[]
  ? readonly Defined<Item>[]
  : T extends Date
    ? T
    : T extends object
      ? { [Key in keyof T]: Defined<Exclude<T[Key], undefined>> }
      : T
export const dropUndefined = <T>(input: T): Defined<T> => input as Defined<T>
