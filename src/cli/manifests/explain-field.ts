import { invalid } from '../../client-model/index.ts'
import { similarTo } from '../../core/similar.ts'
import { type DocumentField, fieldsBelow, type JsonSchema, partAt, typeInWords } from '../../manifest/index.ts'
import type { Cli } from '../cli.ts'
import { printRefusal } from '../objects/refusal.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printJson, printLine, yamlPrinter } from '../terminal/io.ts'
import { schemaOfDocuments } from './document-schema.ts'

export interface ExplainOptions {
  readonly recursive?: boolean
  readonly json?: boolean
  readonly format?: 'json' | 'yaml'
}

/** Prints what a document may hold at a field, or a JSON Schema of it. */
export async function explainField(cli: Cli, field: string | undefined, options: ExplainOptions): Promise<ExitCode> {
  const { stdout, stderr } = cli.io
  const { format = options.json ? 'json' : undefined } = options
  const schema = schemaOfDocuments((await cli.documentKinds()).kinds)
  const { definitions } = schema
  const emit = async (part: JsonSchema): Promise<void> =>
    format === 'yaml' ? (await yamlPrinter(stdout))(part) : printJson(stdout, part)
  const found = find(schema, field)
  if (!found.ok) return printRefusal(invalid(found.message), format !== undefined, stdout, stderr)
  const { title, part } = found
  if (format !== undefined) {
    // A part may refer to the definitions at any depth.
    await emit(part === schema ? schema : { ...part, definitions })
    return EXIT.ok
  }
  const width = Math.min(stdout.columns ?? 100, 100)
  const say = (...lines: readonly string[]): void => {
    for (const line of lines) printLine(stdout, line)
  }
  if (part === schema) {
    say(...kindsOf(schema), '', 'phaseline explain KIND shows its fields.')
    return EXIT.ok
  }
  say(title + (field?.includes('.') ? `: ${typeInWords(part, definitions)}` : ''))
  if (part.description) say(...wrap(part.description, width, '  '))
  for (const one of fieldsBelow(part, definitions, options.recursive ? Infinity : 1)) say('', ...describe(one, width))
  return EXIT.ok
}

const kindsOf = ({ properties = {} }: JsonSchema): readonly string[] => (properties.kind?.enum ?? []).map(String)

type Found =
  | { readonly ok: true; readonly title: string; readonly part: JsonSchema }
  | { readonly ok: false; readonly message: string }

function find(schema: ReturnType<typeof schemaOfDocuments>, field: string | undefined): Found {
  if (field === undefined) return { ok: true, title: '', part: schema }
  const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_]/g, '')
  const [first = '', ...path] = field
    .replaceAll(/\[\d*\]/g, '')
    .split('.')
    .filter((name) => !/^\d*$/.test(name))
  const kinds = kindsOf(schema)
  const kind = kinds.find((one) => [plain(one), `${plain(one)}s`].includes(plain(first)))
  if (kind === undefined) {
    const meant = kinds.flatMap((one) =>
      fieldsBelow(schema.definitions[one] ?? {}, schema.definitions)
        .map(({ path: below }) => `${one}.${below.replaceAll('[]', '')}`)
        .filter((below) => [plain(first), `${plain(first)}s`].includes(plain(below.split('.').at(-1) ?? '')))
        .map((below) => [below, ...path].join('.')),
    )
    const suggestion = meant.length > 0 ? ` Did you mean ${meant.slice(0, 3).join(', or ')}?` : ''
    return { ok: false, message: `There is no kind ${first} of documents: ${kinds.join(', ')}.${suggestion}` }
  }
  const part = schema.definitions[kind] ?? {}
  const found = partAt(part, schema.definitions, path)
  if ('part' in found) return { ok: true, title: [kind, ...path].join('.'), part: found.part }
  const { wrong, possible } = found
  const similar = similarTo(wrong, possible)
  const hint =
    similar.length > 0
      ? `Did you mean ${similar.join(', or ')}?`
      : possible.length > 0
        ? `There are ${possible.join(', ')}.`
        : 'Nothing is below it.'
  return { ok: false, message: `${kind} has no field ${wrong} there. ${hint}` }
}

function describe({ path, type, required, description, repeats }: DocumentField, width: number): readonly string[] {
  const rest = repeats ? 'The same fields once more.' : ''
  return [
    `  ${path}: ${type}${required ? ', required' : ''}`,
    ...wrap([description, rest].filter(Boolean).join(' '), width, '      '),
  ]
}

/** At blanks; a longer word has a line of its own. */
function wrap(text: string, width: number, indent: string): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    if (last !== undefined && indent.length + last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => indent + line)
}
