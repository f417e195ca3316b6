import type { InstallationSpec } from './spec.ts'

/** Which nested installation depends on which: it imports what the other exports. In the spec's order. */
export function nestedDependencies(spec: InstallationSpec): ReadonlyMap<string, readonly string[]> {
  const exporters = new Map(
    spec.installations.flatMap(({ name, spec: own }) => own.exports.map((e) => [e.name, name] as const)),
  )
  return new Map(
    spec.installations.map(({ name, spec: own }) => {
      const names = own.imports.flatMap(({ from }) => exporters.get(from) ?? [])
      return [name, [...new Set(names)]]
    }),
  )
}
