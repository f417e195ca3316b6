import type { InstallationSpec } from './spec.ts'

/** Dependencies between nested installations: the importer depends on the exporter. In the spec's order. */
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
