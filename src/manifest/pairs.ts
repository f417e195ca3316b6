/** The API has lists of pairs where a file has maps. */

export interface Pair {
  readonly key: string
  readonly value: string
}
export interface Variable {
  readonly name: string
  readonly value: string
}
type Texts = Readonly<Record<string, string>>

export const pairsOf = (map: Texts = {}): Pair[] => Object.entries(map).map(([key, value]) => ({ key, value }))
export const mapOf = (pairs: readonly Pair[]): Texts => Object.fromEntries(pairs.map(({ key, value }) => [key, value]))
export const variablesOf = (env: Texts = {}): Variable[] =>
  Object.entries(env).map(([name, value]) => ({ name, value }))
export const envOf = (variables: readonly Variable[]): Texts =>
  Object.fromEntries(variables.map(({ name, value }) => [name, value]))
