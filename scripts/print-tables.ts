import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'

/** Writes src/store/tables.ts from prisma/schema.prisma; with --check it only says whether the file is up to date. */

const SCHEMA = new URL('../prisma/schema.prisma', import.meta.url)
const FILE = new URL('../src/store/tables.ts', import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  'String @db.Uuid': 'uuid',
  String: 'text',
  Int: 'integer',
  'Int @db.SmallInt': 'smallint',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Json: 'jsonb',
  Bytes: 'bytea',
  'DateTime @db.Timestamptz(3)': 'timestamptz',
}

/** Enums that families add words to, so their types are those of the vocabulary. */
const OPEN_ENUMS = ['Actor', 'ObjectKind', 'Phase', 'WorkAction']

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

function printTables(schema: string): string {
  const enums = new Map(
    [...schema.matchAll(/^enum (\w+) \{\n(.*?)^\}/gms)].map(([, name = '', body = '']) => [name, body]),
  )
  const models = [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)].map(([, name = '', body = '']) => ({
    name,
    body,
  }))
  const names = new Set(models.map(({ name }) => name))
  const declared = [...enums].map(([name, body]) => printEnum(name, body))
  const tables = models.map(({ name, body }) => printModel(name, body, enums, names))
  const used = ['array', 'enumeration', 'nullable', ...new Set(Object.values(TYPES))].sort()
  return `import type { ${OPEN_ENUMS.join(', ')} } from '../core/vocabulary.ts'
import { ${used.join(', ')} } from './column-types.ts'

/** The columns of each table by Prisma's names. Written by \`scripts/print-tables.ts\` from prisma/schema.prisma. */

${[...declared, ...tables].join('\n\n')}
`
}

function printEnum(name: string, body: string): string {
  if (OPEN_ENUMS.includes(name)) return `export const ${camel(name)} = enumeration<${name}>('${snake(camel(name))}')`
  const values = [...body.matchAll(/^ {2}(\w+)$/gm)].map(([, value]) => `  | '${value}'`)
  return `export const ${camel(name)} = enumeration<\n${values.join('\n')}\n>('${snake(camel(name))}')`
}

function printModel(
  name: string,
  body: string,
  enums: ReadonlyMap<string, string>,
  models: ReadonlySet<string>,
): string {
  const columns = [...body.matchAll(/^ {2}(\w+)\s+(\w+)(\?|\[\])?(.*)$/gm)].flatMap(
    ([line, property = '', type = '', mark, rest = '']) => {
      if (models.has(type)) return []
      const column = /@map\("(\w+)"\)/.exec(rest)?.[1] ?? property
      if (column !== snake(property))
        throw new Error(`schema.prisma: the column of ${line.trim()} has to be ${snake(property)}`)
      const native = /@db\.\w+(\(\d+\))?/.exec(rest)?.[0]
      const base = enums.has(type) ? camel(type) : TYPES[native ? `${type} ${native}` : type]
      if (!base) throw new Error(`schema.prisma: no database type is known for ${line.trim()}`)
      return [`  ${property}: ${mark === '[]' ? `array(${base})` : mark === '?' ? `nullable(${base})` : base},`]
    },
  )
  return `export const ${camel(name)} = {\n${columns.join('\n')}\n}`
}

const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')
const page = execFileSync(process.execPath, [biome, 'format', '--stdin-file-path=src/store/tables.ts'], {
  input: printTables(await readFile(SCHEMA, 'utf8')),
  encoding: 'utf8',
})

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
if (!values.check) await writeFile(FILE, page)
else if ((await readFile(FILE, 'utf8').catch(() => '')) !== page) {
  console.error('src/store/tables.ts is stale: run node scripts/print-tables.ts')
  process.exitCode = 1
}
