/** Names contain no slash. */
export const keyOf = (path: readonly string[]): string => path.join('/')
