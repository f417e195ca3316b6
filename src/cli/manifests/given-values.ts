import type { Command } from 'commander'
import { invalid, type Outcome, type Refusal } from '../../client-model/index.ts'
import { isSecretImport, SECRET_RULE } from '../../core/secret-import.ts'
import { similarTo } from '../../core/similar.ts'
import {
  describeProblem,
  type Manifest,
  type ManifestProblem,
  placesIn,
  type ReadDocument,
  readJson,
  valuesSchema,
} from '../../manifest/index.ts'
import { type LabelArgument, parseLabel } from '../options.ts'
import type { Io } from '../terminal/io.ts'
import { readSourced } from './one-document.ts'
import { shownFile } from './source.ts'

export interface ValueOptions {
  readonly set?: readonly LabelArgument[]
  readonly values?: readonly string[]
}

export const withValueOptions = (command: Command): Command =>
  command
    .option('--set <name=value>', 'value of an import of the root installation; may be repeated', parseLabel)
    .option('--values <file...>', 'values of its imports: a map in YAML or JSON; --set goes before')

interface Given {
  /** e.g. `--set image`, or `production.yaml:2:1: image`. */
  readonly place: string
  readonly value: unknown
  /** The value is text of the command line, whose type the schema of the import says. */
  readonly isText: boolean
}

/** Values of `--set` and `--values`. They become values of the imports of these names. */
export class GivenValues {
  readonly #given: ReadonlyMap<string, Given>
  /** Names of all imports that were there to get one. */
  readonly #imports = new Set<string>()

  private constructor(given: ReadonlyMap<string, Given>) {
    this.#given = given
  }

  static async read(io: Pick<Io, 'stdin'>, { set = [], values = [] }: ValueOptions): Promise<Outcome<GivenValues>> {
    const given = new Map<string, Given>()
    for (const file of values) {
      const read = await readSourced(io, file, { schema: valuesSchema, what: 'a map of values' })
      if (!read.ok) return read
      const placeOf = placesIn(read.value.source.text)
      for (const [name, value] of Object.entries(read.value.value)) {
        const place = describeProblem(shownFile(file), { ...placeOf(name), path: name, message: '' })
        given.set(name, { place, value, isText: false })
      }
    }
    for (const { key, value } of set) given.set(key, { place: `--set ${key}`, value, isText: true })
    return { ok: true, value: new GivenValues(given) }
  }

  /** The manifest with the values that its imports get. */
  giveTo(manifest: Manifest): ReadDocument<Manifest> {
    const { imports } = manifest.spec
    if (!imports) return { ok: true, value: manifest }
    const problems: ManifestProblem[] = []
    const filled = imports.map((one, i) => {
      this.#imports.add(one.name)
      const given = this.#given.get(one.name)
      if (!given) return one
      // The server would refuse it, and has no need to see it.
      if (isSecretImport(one.schema)) {
        problems.push({ path: `spec.imports.${i}.value`, message: `${given.place}: ${SECRET_RULE}` })
        return one
      }
      const typed = given.isText
        ? typedBy(one.schema, String(given.value))
        : ({ ok: true, value: given.value } as const)
      if (typed.ok) return { ...one, value: typed.value as typeof one.value }
      problems.push({ path: `spec.imports.${i}`, message: `${given.place}: ${typed.message}` })
      return one
    })
    const value = { ...manifest, spec: { ...manifest.spec, imports: filled } }
    return problems.length > 0 ? { ok: false, problems } : { ok: true, value }
  }

  /** Refuses names that no installation imports. */
  refuseOthers(): Refusal | null {
    const problems = [...this.#given].flatMap(([name, { place }]) => {
      if (this.#imports.has(name)) return []
      const similar = similarTo(name, [...this.#imports])
      const hint = similar.length > 0 ? `. Did you mean ${similar.join(', or ')}?` : ''
      return [{ path: place, message: `no root installation imports ${name}${hint}` }]
    })
    return problems.length > 0 ? invalid('A value is for nothing.', problems) : null
  }
}

/** Text is the value, unless the schema wants something else. */
function typedBy(schema: unknown, text: string) {
  const declared: unknown = typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : []
  const types = [declared].flat()
  if (types.length === 0 || types.includes('string')) return { ok: true, value: text } as const
  const read = readJson('The value', text)
  return read.ok ? read : ({ ok: false, message: `must be of the type ${types.join(' or ')}, in JSON` } as const)
}
