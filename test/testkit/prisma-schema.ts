/** Describes the database of `schema.prisma` in the database's own terms. Supports the features that this schema uses. */
export interface TableShape {
  /** column → type, `not null` where it is. */
  readonly columns: Readonly<Record<string, string>>
  /** `primary key (a, b)`, `unique (a)`, `index (a, b)`, sorted. */
  readonly keys: readonly string[]
}

const TYPES: Readonly<Record<string, string>> = {
  'String @db.Uuid': 'uuid',
  String: 'text',
  Int: 'integer',
  'Int @db.SmallInt': 'smallint',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Json: 'jsonb',
  Bytes: 'bytea',
  'DateTime @db.Timestamptz(3)': 'timestamp(3) with time zone',
}
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export function readPrismaSchema(text: string): Readonly<Record<string, TableShape>> {
  const enums = new Map(
    [...text.matchAll(/^enum (\w+) \{[^}]*@@map\("(\w+)"\)\n\}/gm)].map(([, name = '', mapped = '']) => [name, mapped]),
  )
  const models = [...text.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)]
  const names = new Set(models.map(([, name]) => name))
  return Object.fromEntries(
    models.map(([, name = '', body = '']) => {
      const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? snake(name)
      return [table, readModel(body, enums, names)]
    }),
  )
}

function readModel(
  body: string,
  enums: ReadonlyMap<string, string>,
  models: ReadonlySet<string | undefined>,
): TableShape {
  const columns: Record<string, string> = {}
  const keys: string[] = []
  const fields = new Map<string, string>()
  for (const line of body.split('\n').map((l) => l.trim())) {
    const field = /^(\w+)\s+(\w+)(\?|\[\])?(.*)$/.exec(line)
    if (!field) continue
    const [, name = '', type = '', mark = '', rest = ''] = field
    if (models.has(type)) continue
    const column = /@map\("(\w+)"\)/.exec(rest)?.[1] ?? name
    const native = /@db\.\w+(\(\d+\))?/.exec(rest)?.[0]
    const base = enums.get(type) ?? TYPES[native ? `${type} ${native}` : type]
    if (!base) throw new Error(`schema.prisma: no database type is known for ${line}`)
    fields.set(name, column)
    columns[column] = `${base}${mark === '[]' ? '[]' : ''}${mark === '?' ? '' : ' not null'}`
    if (/@id\b/.test(rest)) keys.push(`primary key (${column})`)
  }
  for (const [, what = '', list = ''] of body.matchAll(/@@(id|unique|index)\(\[([^\]]*)\]/g)) {
    const on = list.split(',').map((name) => fields.get(name.trim()) ?? name.trim())
    keys.push(`${what === 'id' ? 'primary key' : what} (${on.join(', ')})`)
  }
  return { columns, keys: keys.sort() }
}
