/** Jain's index of how much each of them has had, for its weight: 1 if all had the same. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((a, b) => a + b, 0)
  return (sum * sum) / (shares.length * shares.reduce((a, b) => a + b * b, 0))
}
