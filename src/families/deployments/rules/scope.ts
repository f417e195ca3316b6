import type { ImportSpec, InstallationSpec } from './spec.ts'

/** The imports without a value of their own. */
export const scopeImports = (imports: readonly ImportSpec[]): readonly ImportSpec[] =>
  imports.filter(({ value }) => value === undefined)

/** The value that a JSON Schema has for an import that gets none; undefined: none. */
export const defaultOf = (schema: unknown): unknown =>
  typeof schema === 'object' && schema !== null && 'default' in schema ? schema.default : undefined

/** Dependencies between nested installations: the importer depends on the exporter. In the spec's order. */
export function nestedDependencies(spec: InstallationSpec): ReadonlyMap<string, readonly string[]> {
  const exporters = new Map(
    spec.installations.flatMap(({ name, spec: own }) => own.exports.map((e) => [e.name, name] as const)),
  )
  return new Map(
    spec.installations.map(({ name, spec: own }) => {
      const names = scopeImports(own.imports).flatMap(({ from }) => exporters.get(from) ?? [])
      return [name, [...new Set(names)]]
    }),
  )
}
