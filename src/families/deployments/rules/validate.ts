import { findExpressions, hasExpressions, unreadable } from '../../../core/expression.ts'
import type { Problems } from '../../../core/problems.ts'
import { expandItems, listsOf } from './for-each.ts'
import { findCycle, sortByDependencies } from './graph.ts'
import { defaultOf, nestedDependencies } from './scope.ts'
import type { InstallationSpec, ItemSpec } from './spec.ts'

/** Refuses a spec that can never work when it is written, not while it runs. */

/** References of each expression by its source, from the sandbox. */
export type References = ReadonlyMap<
  string,
  | { readonly ok: true; readonly references: readonly (readonly string[])[] }
  | { readonly ok: false; readonly message: string }
>

/** All distinct expressions of the spec. */
export function expressionsOf(spec: InstallationSpec): readonly string[] {
  const own = [...spec.exports.map((e) => e.value), ...spec.deployItems.flatMap((i) => [i.config, i.limits, i.forEach])]
    .filter(hasExpressions)
    .flatMap((value) =>
      findExpressions(value).flatMap(({ source, problem }) => (problem === undefined ? [source] : [])),
    )
  return [...new Set([...own, ...spec.installations.flatMap(({ spec: nested }) => expressionsOf(nested))])]
}

export function schemasOf(spec: InstallationSpec, path: string): readonly { path: string; schema: unknown }[] {
  return [
    ...spec.imports.flatMap(({ schema }, i) =>
      schema === undefined ? [] : [{ path: `${path}.imports.${i}.schema`, schema }],
    ),
    ...spec.installations.flatMap(({ spec: nested }, i) => schemasOf(nested, `${path}.installations.${i}.spec`)),
  ]
}

/** Values that imports have in the spec, with what they must satisfy. */
export function givenValuesOf(
  spec: InstallationSpec,
  path: string,
): readonly { readonly path: string; readonly name: string; readonly schema: unknown; readonly value: unknown }[] {
  return [
    ...spec.imports.flatMap(({ name, schema, value }, i) => {
      const at = `${path}.imports.${i}`
      const given = [
        { path: `${at}.value`, name, schema, value },
        { path: `${at}.schema.default`, name, schema, value: defaultOf(schema) },
      ]
      return schema === undefined ? [] : given.filter((one) => one.value !== undefined)
    }),
    ...spec.installations.flatMap(({ spec: nested }, i) => givenValuesOf(nested, `${path}.installations.${i}.spec`)),
  ]
}

/** The spec with implied dependencies, and with its items sorted after their dependencies. */
export function validateSpec(
  spec: InstallationSpec,
  path: string,
  references: References,
  problems: Problems,
): InstallationSpec {
  noDuplicates(spec, path, problems)
  const installations = spec.installations.map(({ name, spec: nested }, i) => ({
    name,
    spec: validateSpec(nested, `${path}.installations.${i}.spec`, references, problems),
  }))
  const names = new Set(spec.deployItems.map(({ name }) => name))
  const items = spec.deployItems.map((item, i) => {
    return withImplied(item, { spec, names, path: `${path}.deployItems.${i}` }, references, problems)
  })
  checkScope(spec, path, problems)
  checkExports(spec, path, references, problems)
  const deployItems = inOrder(items, path, problems)
  checkLists(deployItems, path, problems)
  return { ...spec, installations, deployItems }
}

function noDuplicates(spec: InstallationSpec, path: string, problems: Problems): void {
  for (const list of ['imports', 'exports', 'installations', 'deployItems'] as const) {
    const seen = new Set<string>()
    for (const [i, { name }] of spec[list].entries()) {
      if (seen.has(name)) problems.add(`${path}.${list}.${i}.name`, `${name} occurs twice`)
      seen.add(name)
    }
  }
}

interface Place {
  readonly spec: InstallationSpec
  /** Names of all items of the spec. */
  readonly names: ReadonlySet<string>
  readonly path: string
}

function withImplied(
  item: ItemSpec,
  { spec, names, path }: Place,
  references: References,
  problems: Problems,
): ItemSpec {
  for (const [i, name] of item.dependsOn.entries()) {
    if (name === item.name) problems.add(`${path}.dependsOn.${i}`, `${name} depends on itself`)
    else if (!names.has(name)) problems.add(`${path}.dependsOn.${i}`, `there is no deploy item ${name} beside it`)
  }
  const implied: string[] = []
  const mentions = (['config', 'limits'] as const).flatMap((field) =>
    referencesIn(item[field], `${path}.${field}`, references, problems),
  )
  for (const { at, reference } of mentions) {
    const [root, name] = reference
    if (root === 'imports') checkImport(name, spec, at, problems)
    else if (root === 'each' && item.forEach !== undefined) continue
    else if (root !== 'deployItems')
      problems.add(
        at,
        `an item may speak of imports and deployItems, ${root === 'each' ? 'and of each with `forEach` alone' : `not of ${root}`}`,
      )
    else if (name === undefined || !names.has(name)) problems.add(at, `there is no deploy item ${name ?? ''} beside it`)
    else if (name === item.name) problems.add(at, `${name} depends on itself`)
    else implied.push(name)
  }
  for (const { at, reference } of referencesIn(item.forEach, `${path}.forEach`, references, problems)) {
    const [root, name] = reference
    if (root === 'imports') checkImport(name, spec, at, problems)
    else
      problems.add(at, `forEach may speak of imports alone, since the items are made when a job begins, not of ${root}`)
  }
  return { ...item, dependsOn: [...new Set([...item.dependsOn, ...implied])].sort() }
}

/** Lists without expressions are known already. */
function checkLists(items: readonly ItemSpec[], path: string, problems: Problems): void {
  const lists = listsOf(items)
  if (hasExpressions(lists)) return
  const expanded = expandItems(items, lists)
  if (typeof expanded === 'string') problems.add(`${path}.deployItems`, expanded)
}

interface Mention {
  /** Path of the expression in the input. */
  readonly at: string
  readonly reference: readonly string[]
}
function referencesIn(value: unknown, path: string, references: References, problems: Problems): readonly Mention[] {
  if (!hasExpressions(value)) return []
  return findExpressions(value).flatMap((expression) => {
    const at = [path, expression.path].filter(Boolean).join('.')
    const found = expression.problem === undefined ? references.get(expression.source) : undefined
    if (found?.ok) return found.references.map((reference) => ({ at, reference }))
    problems.add(at, expression.problem ?? unreadable(expression, found?.message ?? 'it could not be read'))
    return []
  })
}

function checkImport(name: string | undefined, spec: InstallationSpec, path: string, problems: Problems): void {
  if (name === undefined || spec.imports.some((i) => i.name === name)) return
  problems.add(path, `${name} is not among the imports`)
}

function checkExports(spec: InstallationSpec, path: string, references: References, problems: Problems): void {
  for (const [i, { value }] of spec.exports.entries()) {
    for (const { at, reference } of referencesIn(value, `${path}.exports.${i}.value`, references, problems)) {
      const [root, name, what, own] = reference
      if (root === 'imports') checkImport(name, spec, at, problems)
      else if (root === 'deployItems') {
        if (!spec.deployItems.some((item) => item.name === name))
          problems.add(at, `there is no deploy item ${name ?? ''}`)
      } else if (root === 'installations') {
        const nested = spec.installations.find((n) => n.name === name)
        if (!nested) problems.add(at, `there is no nested installation ${name ?? ''}`)
        else if (what === 'exports' && own !== undefined && !nested.spec.exports.some((e) => e.name === own)) {
          problems.add(at, `the installation ${name} does not export ${own}`)
        }
      } else
        problems.add(at, `an export may speak of imports, deployItems and installations, not of ${root ?? 'nothing'}`)
    }
  }
}

/** Nested installations see their parent's imports and the exports of their siblings, and nothing else. */
function checkScope(spec: InstallationSpec, path: string, problems: Problems): void {
  const exporters = new Map<string, string>()
  const parentImports = new Set(spec.imports.map(({ name }) => name))
  for (const [i, { name, spec: nested }] of spec.installations.entries()) {
    for (const [j, own] of nested.exports.entries()) {
      const at = `${path}.installations.${i}.spec.exports.${j}.name`
      const other = exporters.get(own.name)
      if (parentImports.has(own.name)) problems.add(at, `${own.name} is in the scope already: the parent imports it`)
      else if (other !== undefined && other !== name) problems.add(at, `${own.name} is exported by ${other} already`)
      else exporters.set(own.name, name)
    }
  }
  for (const [i, { name, spec: nested }] of spec.installations.entries()) {
    for (const [j, { from, required, value }] of nested.imports.entries()) {
      if (value !== undefined) continue
      const exporter = exporters.get(from)
      if (exporter === name || (exporter === undefined && required && !parentImports.has(from))) {
        problems.add(`${path}.installations.${i}.spec.imports.${j}`, `nothing in the scope can ever give it ${from}`)
      }
    }
  }
  const cycle = findCycle(withoutSelf(nestedDependencies(spec)))
  if (cycle)
    problems.add(`${path}.installations`, `the installations depend on each other in a cycle: ${cycle.join(' → ')}`)
}

function inOrder(items: readonly ItemSpec[], path: string, problems: Problems): readonly ItemSpec[] {
  const byName = new Map(items.map((item) => [item.name, item]))
  const { order, cycle } = sortByDependencies(withoutSelf(new Map(items.map((item) => [item.name, item.dependsOn]))))
  if (cycle) {
    problems.add(`${path}.deployItems`, `the deploy items depend on each other in a cycle: ${cycle.join(' → ')}`)
    return items
  }
  return order.flatMap((name) => byName.get(name) ?? [])
}

/** Reports an item that depends on itself only there, not as a cycle too. */
function withoutSelf(edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  return new Map([...edges].map(([name, to]) => [name, to.includes(name) ? to.filter((other) => other !== name) : to]))
}
