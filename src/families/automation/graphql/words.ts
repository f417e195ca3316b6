/** The values of an enum with their descriptions. */
export const words = <T extends string>(meanings: Readonly<Record<T, string>>, order: readonly T[]) =>
  Object.fromEntries(order.map((word) => [word, { description: meanings[word] }])) as {
    readonly [Word in T]: { readonly description: string }
  }
