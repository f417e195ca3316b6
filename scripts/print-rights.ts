import { isObjectType } from 'graphql'
import { ITEM_TYPES, LEVEL_WORDS } from '../src/core/deployers/item-types.ts'
import { RIGHTS, type Right, ROLES, type Role } from '../src/core/rights.ts'
import { families } from '../src/families/index.ts'
import { loadFamilies } from '../src/families/load-families.ts'
import { rightOf } from '../src/graphql/schema/rights-plugin.ts'
import { buildSchema } from '../src/graphql/schema.ts'
import { writeTable } from './write-table.ts'

/** Writes the tables of rights and of types of items in docs/security.md. With `--check`: writes nothing, and fails when the table is stale. */

const schema = buildSchema((await loadFamilies(families)).map(({ graphql }) => graphql))
const fields = ['Query', 'Mutation', 'Subscription'].flatMap((name) => {
  const type = schema.getType(name)
  return isObjectType(type) ? Object.values(type.getFields()) : []
})
const rights: readonly Right[] = [...Object.values(RIGHTS), ...families.flatMap((family) => family.rights)]

const fieldsOf = (right: Right): string =>
  [...new Set(fields.filter((field) => rightOf(field) === right).map(({ name }) => `\`${name}\``))].join(', ')

function mark({ roles, actor, everywhere }: Right, role: Role): string {
  if (roles === null) return '✓'
  if (!roles.includes(role)) return ''
  if (role === 'AGENT' && actor) return actor
  return everywhere && role !== 'ADMINISTRATOR' ? 'of all projects' : '✓'
}

const cells = (row: readonly string[]): string => `| ${row.join(' | ')} |`
writeTable('docs/security.md', {
  name: 'rights',
  from: 'src/core/rights.ts and the families',
  lines: [
    cells(['may', ...ROLES, 'with']),
    `|---|${ROLES.map(() => ':-:|').join('')}---|`,
    ...rights.map((right) =>
      cells([`${right.verb} ${right.kind}`, ...ROLES.map((role) => mark(right, role)), fieldsOf(right)]),
    ),
  ],
})
writeTable('docs/security.md', {
  name: 'types of items',
  from: 'src/core/deployers/item-types.ts',
  lines: [
    cells(['type', 'level', 'an item brings', 'takes']),
    '|---|---|---|---|',
    ...[...ITEM_TYPES, ['any other', 'COMMAND'] as const].map(([type, level]) =>
      cells([
        ITEM_TYPES.has(type) ? `\`${type}\`` : type,
        level,
        LEVEL_WORDS[level],
        level === 'NONE' ? 'EDITOR' : 'EDITOR and AUTHOR',
      ]),
    ),
  ],
})
