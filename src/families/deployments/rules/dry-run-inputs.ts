import { findExpressions, hasExpressions } from '../../../core/expression.ts'
import { sameJson } from '../../../core/json.ts'
import type { TargetFacts } from '../../../core/target.ts'
import type { Evaluated } from '../../../core/tree.ts'
import { chooseTarget } from './choose-target.ts'
import { expandItems, listsOf } from './for-each.ts'
import { topologicalOrder } from './graph.ts'
import type { ScopeEntry } from './imports.ts'
import { type Existing, isLeftAlone } from './plan.ts'
import { defaultOf, nestedDependencies } from './scope.ts'
import type { Each, InstallationSpec, ItemSpec } from './spec.ts'
import type { References } from './validate.ts'

/** Finds the inputs of deploy items before anything runs: a value is known if nothing that the run changes makes it. */

/** A value, or why it is not known yet. `fails`: the run would end there. */
export type Known =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string; readonly fails?: true }

/** The deployed state of an object. */
export interface DeployedState {
  readonly handed: boolean | null
  /** As its deployer got it last. */
  readonly handedConfig: unknown
  readonly exports: unknown
}

/** The config of a deploy item, by its path. */
export interface ItemInputs {
  readonly path: readonly string[]
  readonly item: ItemSpec
  readonly existing: Existing | null
  readonly config: Known
  /** It succeeded with this very config. */
  readonly isDeployed: boolean
}

export interface InputSources {
  readonly references: References
  /** By the ids of existing objects. */
  readonly deployed: ReadonlyMap<string, DeployedState>
  /** The targets of the project, for items that select one. */
  readonly targets: readonly TargetFacts[]
  /** The project's scope, by name. */
  readonly scope: ReadonlyMap<string, ScopeEntry>
  evaluate(template: unknown, scope: Readonly<Record<string, unknown>>): Promise<Evaluated>
}

type Names = ReadonlyMap<string, Known>

export interface DryRunInputs {
  /** In the order of the spec. */
  readonly items: readonly ItemInputs[]
  /** With the items of all lists that are known. */
  readonly spec: InstallationSpec
}

/** The inputs of all items of a tree. */
export async function findInputs(
  name: string,
  spec: InstallationSpec,
  existing: Existing | null,
  sources: InputSources,
): Promise<DryRunInputs> {
  const items: ItemInputs[] = []
  const inScope = (from: string): Known | null => valueOfScope(sources.scope.get(from))
  const walked = await walk({ path: [name], spec, existing, find: inScope }, sources, items)
  return { items, spec: walked.spec }
}

function valueOfScope(entry: ScopeEntry | undefined): Known | null {
  if (entry?.exporter && !(entry.exporter.ready && entry.exists))
    return unknown(`the installation ${entry.exporter.name} is not ready`)
  return entry?.exists ? { ok: true, value: entry.value } : null
}

const unknown = (why: string): Extract<Known, { ok: false }> => ({ ok: false, why })

interface Place {
  readonly path: readonly string[]
  readonly spec: InstallationSpec
  readonly existing: Existing | null
  /** The value of a name in its scope; null: none. */
  find(from: string): Known | null
}

interface Walked {
  readonly exports: Names
  readonly spec: InstallationSpec
}

/** Adds the items of an installation and of those in it. */
async function walk(
  { path, spec, existing, find }: Place,
  sources: InputSources,
  found: ItemInputs[],
): Promise<Walked> {
  if (existing && isLeftAlone(existing)) {
    const exports = (sources.deployed.get(existing.id)?.exports ?? {}) as Readonly<Record<string, unknown>>
    return { spec, exports: new Map(Object.entries(exports).map(([name, value]) => [name, { ok: true, value }])) }
  }
  const imports = new Map(
    spec.imports.flatMap(({ name, from, required, schema, value: own }): [string, Known][] => {
      const fallback = defaultOf(schema)
      const value =
        (own === undefined ? find(from) : { ok: true as const, value: own }) ??
        (fallback === undefined ? null : { ok: true as const, value: fallback }) ??
        (required ? unknown(`nothing gives the import ${from} a value`) : null)
      return value ? [[name, value]] : []
    }),
  )
  const children = (kind: Existing['kind']) => existing?.children.filter((child) => child.kind === kind) ?? []
  const nested = new Map(children('INSTALLATION').map((child) => [child.name, child]))
  const wanted = new Map(spec.installations.map((one) => [one.name, one.spec]))
  const exported = new Map<string, Known>()
  const installations = new Map<string, Names>()
  for (const name of topologicalOrder(nestedDependencies(spec))) {
    const own = wanted.get(name)
    if (!own) continue
    const place = { path: [...path, name], spec: own, existing: nested.get(name) ?? null }
    const { exports, spec: known } = await walk(
      { ...place, find: (from) => exported.get(from) ?? imports.get(from) ?? null },
      sources,
      found,
    )
    wanted.set(name, known)
    installations.set(name, exports)
    for (const [export_, value] of exports) exported.set(export_, value)
  }
  const items = new Map(children('EXECUTION')[0]?.children.map((item) => [item.name, item]))
  const deployItems = new Map<string, Known>()
  const wantedItems = await expanded(spec.deployItems, imports, sources)
  for (const item of wantedItems) {
    const present = items.get(item.name) ?? null
    const { each } = item
    const config =
      item.forEach === undefined
        ? await resolve(item.config, { imports, deployItems, installations: new Map(), ...(each && { each }) }, sources)
        : unknown('the list of its forEach is not known yet')
    const state = present ? sources.deployed.get(present.id) : undefined
    const chosen = chooseTarget(item, sources.targets)
    const isDeployed =
      config.ok &&
      present?.phase === 'SUCCEEDED' &&
      chosen.ok &&
      chosen.target === present.target &&
      sameJson(present.spec, item) &&
      state?.handed === true &&
      sameJson(state.handedConfig, config.value)
    found.push({ path: [...path, 'deploy-items', item.name], item, existing: present, config, isDeployed })
    const exports: Known = isDeployed
      ? { ok: true, value: state?.exports ?? {} }
      : unknown(`the deploy item ${item.name} ${present ? 'changes' : 'is not deployed yet'}`)
    deployItems.set(each?.of ?? item.name, each ? withEntry(deployItems.get(each.of), each.key, exports) : exports)
  }
  const own = spec.exports.map(async ({ name, value }) => {
    const resolved = await resolve(value, { imports, deployItems, installations }, sources)
    return [name, resolved] as const
  })
  const nestedSpecs = spec.installations.map((one) => ({ ...one, spec: wanted.get(one.name) ?? one.spec }))
  return {
    spec: { ...spec, installations: nestedSpecs, deployItems: wantedItems },
    exports: new Map(await Promise.all(own)),
  }
}

/** The items of its lists, too, if these are known. */
async function expanded(
  items: readonly ItemSpec[],
  imports: Names,
  sources: InputSources,
): Promise<readonly ItemSpec[]> {
  const none = new Map<string, never>()
  const lists = await resolve(listsOf(items), { imports, deployItems: none, installations: none }, sources)
  const all = lists.ok ? expandItems(items, lists.value as Readonly<Record<string, unknown>>) : items
  return typeof all === 'string' ? items : all
}

/** The exports of the items of a list, by their keys: known if all are. */
const withEntry = (before: Known = { ok: true, value: {} }, key: string, exports: Known): Known =>
  before.ok && exports.ok
    ? { ok: true, value: { ...(before.value as object), [key]: exports.value } }
    : before.ok
      ? exports
      : before

interface Scope {
  readonly each?: Each
  readonly imports: Names
  /** The exports of each. */
  readonly deployItems: Names
  readonly installations: ReadonlyMap<string, Names>
}

async function resolve(template: unknown, scope: Scope, { references, evaluate }: InputSources): Promise<Known> {
  if (!hasExpressions(template)) return { ok: true, value: template ?? null }
  const read = findExpressions(template).flatMap(({ source }) => {
    const found = references.get(source)
    return found?.ok ? found.references.map((reference) => ({ source, reference })) : []
  })
  for (const { source, reference } of read) {
    const why = whyUnknown(reference, scope)
    if (why !== null) return unknown(`\${${source}} waits: ${why}`)
  }
  const answer = await evaluate(template, valuesOf(scope))
  return answer.ok ? answer : { ...unknown(answer.message), fails: true }
}

/** Null: all that the reference may reach is known. */
function whyUnknown([root, name, , own]: readonly string[], scope: Scope): string | null {
  const all: readonly (Known | undefined)[] =
    root === 'deployItems'
      ? [scope.deployItems.get(name ?? '')]
      : root === 'imports'
        ? name === undefined
          ? [...scope.imports.values()]
          : [scope.imports.get(name)]
        : own === undefined
          ? [...(scope.installations.get(name ?? '')?.values() ?? [])]
          : [scope.installations.get(name ?? '')?.get(own)]
  for (const one of all) if (one && !one.ok) return one.why
  return null
}

function valuesOf({ imports, deployItems, installations, each }: Scope): Readonly<Record<string, unknown>> {
  const known = (names: Names) =>
    Object.fromEntries([...names].flatMap(([name, value]) => (value.ok ? [[name, value.value]] : [])))
  const exportsOf = (names: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(names).map(([name, exports]) => [name, { exports }]))
  return {
    ...(each && { each }),
    imports: known(imports),
    deployItems: exportsOf(known(deployItems)),
    installations: exportsOf(Object.fromEntries([...installations].map(([name, names]) => [name, known(names)]))),
  }
}
