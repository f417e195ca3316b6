import { parseMaps } from '../../../../cli/import/import-command.ts'
import {
  durationOf,
  type Fields,
  ImportProblem,
  isMap,
  listOf,
  mapOf,
  nameFrom,
  some,
  textOf,
} from '../../../../cli/import/loose-values.ts'
import { MAX_INSTALLATION_DEPTH } from '../../../../core/limits.ts'
import { celOf, Expression, memberOf, readTemplate, templateOf } from './go-template.ts'
import { importItem } from './landscaper-item.ts'

/** The files of a blueprint. */
export interface Blueprint {
  /** @throws ImportProblem */
  file(path: string): Promise<string>
}
export interface World {
  /** Null: it lies in a registry. */
  blueprintOf(reference: unknown): Promise<Blueprint | null>
  /** The descriptor of a component; empty if it is not among the files. */
  componentOf(reference: unknown): Fields
}
export interface ImportedInstallation {
  readonly spec: Fields
  readonly left: readonly string[]
  /** Texts that a person has to rewrite. */
  readonly unread: readonly string[]
}

/** The surroundings of an installation of Landscaper: the scope of its namespace, or its parent. */
interface Scope {
  /** The name under which an import finds a data object here, or the value that it stands for. */
  data(name: string): { readonly from: string } | { readonly value: unknown }
  target(name: string): string
}
const PROJECT: Scope = { data: (name) => ({ from: nameFrom(name) }), target: nameFrom }

/** Parts of an installation that are read. */
const TAKEN = new Set(
  'apiVersion kind name blueprint componentDescriptor imports exports importDataMappings exportDataMappings automaticReconcile'.split(
    ' ',
  ),
)

export async function importInstallation(
  spec: Fields,
  world: World,
  scope: Scope = PROJECT,
  depth = 1,
): Promise<ImportedInstallation> {
  if (depth > MAX_INSTALLATION_DEPTH)
    throw new ImportProblem(`installations may be nested at most ${MAX_INSTALLATION_DEPTH} deep`)
  const left: string[] = []
  const blueprint = await world.blueprintOf(spec.blueprint)
  if (!blueprint) {
    left.push('its blueprint is not among the files: get its folder, and name it with --blueprint')
    return { spec: {}, left, unread: [] }
  }
  left.push(...Object.keys(spec).flatMap((key) => (TAKEN.has(key) ? [] : `${key} is left out`)))
  const [file = {}] = parseMaps(await blueprint.file('blueprint.yaml'), 'blueprint')
  const reading = new Reading(
    { spec, file, blueprint, component: world.componentOf(spec.componentDescriptor) },
    scope,
    left,
  )
  const installations: Fields[] = []
  for (const one of await reading.subinstallations()) {
    const nested = await importInstallation(one, reading.worldOf(world), reading, depth + 1)
    const subname = nameFrom(textOf(one.name))
    left.push(...nested.left.map((what) => `${subname}: ${what}`))
    reading.unread.push(...nested.unread)
    installations.push({ name: subname, spec: nested.spec })
    for (const { name: exported } of listOf(nested.spec.exports).map(mapOf))
      reading.exporters.set(textOf(exported), subname)
  }
  const deployItems = await reading.deployItems()
  const exports = await reading.exports()
  return {
    spec: {
      ...some('imports', [...reading.imports.values()]),
      ...some('exports', exports),
      ...some('installations', installations),
      ...some('deployItems', deployItems),
      ...(depth === 1 ? automaticReconcileOf(spec.automaticReconcile, left) : {}),
    },
    left: [...new Set(left)],
    unread: reading.unread,
  }
}

/** Landscaper's own defaults, in milliseconds. */
const DEFAULT_MS = { succeededReconcile: 86_400_000, failedReconcile: 300_000 } as const

function automaticReconcileOf(given: unknown, left: string[]): Fields {
  const automatic = mapOf(given)
  const times = (name: keyof typeof DEFAULT_MS): Fields | null => {
    if (!isMap(automatic[name])) return null
    const { interval } = mapOf(automatic[name])
    const ms = interval === undefined ? DEFAULT_MS[name] : durationOf(interval)
    if (ms !== undefined && ms >= 1_000 && ms < 2 ** 31) return { intervalMs: ms }
    left.push(`automaticReconcile.${name}: the interval ${textOf(interval)} is left out: write cron, or milliseconds`)
    return null
  }
  const afterSuccess = times('succeededReconcile')
  const { numberOfReconciles: attempts } = mapOf(automatic.failedReconcile)
  // Zero switches it off.
  const afterFailure = attempts === 0 ? null : times('failedReconcile')
  const written = {
    ...(afterSuccess && { afterSuccess }),
    ...(afterFailure && { afterFailure: { ...(typeof attempts === 'number' ? { attempts } : {}), ...afterFailure } }),
  }
  return Object.keys(written).length > 0 ? { automaticReconcile: written } : {}
}

const SPIFF = /^\(\(\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\)\)$/

/** An installation with its blueprint. */
interface Given {
  readonly spec: Fields
  readonly file: Fields
  readonly blueprint: Blueprint
  readonly component: Fields
}

class Reading implements Scope {
  readonly imports = new Map<string, Fields>()
  /** Templates that are left to a person. */
  readonly unread: string[] = []
  /** Nested installations by the names of their exports. */
  readonly exporters = new Map<string, string>()
  readonly #spec: Fields
  readonly #file: Fields
  readonly #blueprint: Blueprint
  readonly #component: Fields
  readonly #left: string[]
  /** Values of the blueprint's parameters. */
  readonly #parameters = new Map<string, unknown>()
  readonly #targets = new Map<string, string>()
  readonly #items = new Map<string, unknown>()

  constructor({ spec, file, blueprint, component }: Given, scope: Scope, left: string[]) {
    this.#spec = spec
    this.#file = file
    this.#blueprint = blueprint
    this.#component = component
    this.#left = left
    const { data, targets } = mapOf(spec.imports)
    for (const { name, target } of listOf(targets).map(mapOf))
      this.#targets.set(textOf(name), scope.target(textOf(target).replace(/^#/, '')))
    const declared = listOf(file.imports).map(mapOf)
    const given = new Map<string, unknown>()
    for (const one of listOf(data).map(mapOf)) {
      const name = textOf(one.name)
      const found = scope.data(referenceOf(one))
      if ('value' in found) given.set(name, found.value)
      else {
        const own = nameFrom(name)
        const { schema } = declared.find((other) => other.name === name) ?? {}
        const isNamed = found.from === own
        this.imports.set(name, { name: own, ...(isNamed ? {} : { from: found.from }), ...this.#schemaOf(schema) })
        given.set(name, new Expression(memberOf('imports', own)))
      }
    }
    const mappings = mapOf(spec.importDataMappings)
    for (const { name, targetType, type, default: fallback } of declared) {
      const key = textOf(name)
      if (targetType !== undefined || type === 'target') continue
      if (Object.hasOwn(mappings, key))
        this.#parameters.set(key, this.#mapped(mappings[key], given, `importDataMappings.${key}`))
      else if (given.has(key)) this.#parameters.set(key, given.get(key))
      else if (isMap(fallback)) this.#parameters.set(key, fallback.value)
    }
  }

  // As the scope of nested installations.
  data(name: string): { readonly from: string } | { readonly value: unknown } {
    const value = this.#parameters.get(name)
    if (value === undefined) return { from: nameFrom(name) }
    const own = [...this.imports.values()].find(
      (one) => value instanceof Expression && value.source === memberOf('imports', textOf(one.name)),
    )
    if (own) return { from: textOf(own.name) }
    if (!(value instanceof Expression)) return { value }
    this.#left.push(
      `the data ${name} of nested installations is ${value.source}: let an installation before them export it`,
    )
    return { from: nameFrom(name) }
  }
  target(name: string): string {
    return this.#targets.get(name) ?? nameFrom(name)
  }

  #schemaOf(schema: unknown): Fields {
    if (!isMap(schema)) return {}
    if (!JSON.stringify(schema).includes('"$ref"')) return { schema }
    this.#left.push('a schema refers to others, and is left out')
    return {}
  }

  /** The one form of Spiff that is an expression here: a reference. */
  #mapped(value: unknown, known: ReadonlyMap<string, unknown>, of: string): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#mapped(one, known, of))
    if (isMap(value))
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#mapped(one, known, of)]))
    if (typeof value !== 'string' || !value.includes('((')) return value
    const [root = '', ...path] = SPIFF.exec(value)?.[1]?.split('.') ?? []
    const found = known.get(root)
    if (found instanceof Expression) return path.reduce((inner, key) => inner.member(key), found)
    if (found !== undefined && path.length === 0) return found
    this.#left.push(`${of}: ${value} is for a person to write as an expression`)
    return value
  }

  async #template(execution: Fields): Promise<string> {
    const { template, file } = execution
    if (typeof file === 'string') return await this.#blueprint.file(file)
    if (typeof template === 'string') return template
    if (template === undefined) throw new ImportProblem('it has no template')
    return JSON.stringify(template)
  }

  /** The values that templates of executions write. A template that cannot be read is left to a person. */
  async #written(
    key: 'deployExecutions' | 'exportExecutions' | 'subinstallationExecutions',
  ): Promise<readonly Fields[]> {
    const written: Fields[] = []
    for (const execution of listOf(this.#file[key]).map(mapOf)) {
      const of = `${key}, ${textOf(execution.name)}`
      const text = await this.#template(execution)
      const left: string[] = []
      try {
        if (execution.type === 'Spiff') throw new ImportProblem('it is a template of Spiff')
        written.push(mapOf(readTemplate(text, this.#scopeOfTemplates(), left)))
      } catch (error) {
        if (!(error instanceof ImportProblem)) throw error
        left.push(`${error.message}: write what it stands for`)
        this.unread.push(`${of}:`, ...text.trimEnd().split('\n'))
      }
      this.#left.push(...left.map((what) => `${of}: ${what}`))
    }
    return written
  }

  #scopeOfTemplates(): Fields {
    const targets = [...this.#targets].map(
      ([name, target]) => [name, { metadata: { name: target, namespace: '' } }] as const,
    )
    const dataobjects = [...this.exporters].map(([name, by]) => [
      name,
      new Expression(memberOf(`${memberOf('installations', by)}.exports`, name)),
    ])
    const values = {
      deployitems: Object.fromEntries(this.#items),
      dataobjects: Object.fromEntries([...this.#parameters, ...dataobjects]),
    }
    return {
      imports: Object.fromEntries([...targets, ...this.#parameters]),
      values,
      ...values,
      cd: this.#component,
    }
  }

  async deployItems(): Promise<readonly Fields[]> {
    const items: Fields[] = []
    for (const { deployItems } of await this.#written('deployExecutions'))
      for (const given of listOf(deployItems).map(mapOf)) {
        const { item, left } = importItem(given, (name) => this.#targets.get(name))
        this.#left.push(...left.map((what) => `${textOf(item.name)}: ${what}`))
        this.#items.set(textOf(given.name), new Expression(`${memberOf('deployItems', textOf(item.name))}.exports`))
        items.push(item)
      }
    return items
  }

  async exports(): Promise<readonly Fields[]> {
    const values = new Map<string, unknown>()
    for (const { exports } of await this.#written('exportExecutions'))
      for (const [name, value] of Object.entries(mapOf(exports))) values.set(name, value)
    const mappings = mapOf(this.#spec.exportDataMappings)
    const known = new Map([...values].map(([name, value]) => [name, new Expression(celOf(value))]))
    for (const [name, mapping] of Object.entries(mappings))
      values.set(name, templateOf(this.#mapped(mapping, known, `exportDataMappings.${name}`)))
    const wanted = listOf(mapOf(this.#spec.exports).data).map(mapOf)
    return wanted.flatMap(({ name, dataRef }) => {
      const value = values.get(textOf(name))
      if (value !== undefined) return { name: nameFrom(textOf(dataRef)), value }
      this.#left.push(`the export ${textOf(name)} has no value that could be read`)
      return []
    })
  }

  /** Templates of nested installations, from files of the blueprint or from its text. */
  async subinstallations(): Promise<readonly Fields[]> {
    const listed: Fields[] = []
    for (const { subinstallations } of await this.#written('subinstallationExecutions'))
      listed.push(...listOf(subinstallations).map(mapOf))
    for (const one of listOf(this.#file.subinstallations).map(mapOf))
      if (typeof one.file === 'string')
        listed.push(...parseMaps(await this.#blueprint.file(one.file), 'template of an installation'))
      else listed.push(one)
    return listed
  }

  worldOf(world: World): World {
    const blueprint = this.#blueprint
    return {
      // Nested installations are of the component of their parent.
      componentOf: () => this.#component,
      async blueprintOf(reference) {
        const { ref, filesystem } = mapOf(reference)
        if (filesystem !== undefined) return await world.blueprintOf({ filesystem })
        const [, folder] = /^(?:file:\/\/)?(\.?\/[^:]*)$/.exec(textOf(ref)) ?? []
        if (folder === undefined) return await world.blueprintOf(reference)
        return { file: async (path) => await blueprint.file(`${folder}/${path}`) }
      },
    }
  }
}

const referenceOf = ({ name, dataRef, configMapRef, secretRef }: Fields): string => {
  const { name: from, key } = mapOf(configMapRef ?? secretRef)
  return from === undefined ? textOf(dataRef ?? name).replace(/^#/, '') : `${textOf(from)}-${textOf(key)}`
}
