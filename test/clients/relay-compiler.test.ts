import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { expect, onTestFinished, test } from 'vitest'
import { schema } from '../testkit/mutate.ts'

const require = createRequire(import.meta.url)
/** The program for this machine. */
const relay = require('relay-compiler') as string

type Field = GraphQLField<unknown, unknown>

/** All fields that need no argument, and those of what they lead to. */
function fieldsOf(type: GraphQLObjectType, depth: number): string {
  const fields = Object.values<Field>(type.getFields()).filter(({ args }) => !args.some(isRequiredArgument))
  const selected = fields.flatMap((field) => {
    const named = getNamedType(field.type)
    if (isLeafType(named)) return [field.name]
    return depth === 0 ? [] : [`${field.name} { ${selectionOf(named, depth - 1)} }`]
  })
  return ['__typename', ...selected].join(' ')
}
function selectionOf(type: GraphQLNamedType, depth: number): string {
  if (isObjectType(type)) return fieldsOf(type, depth)
  if (!isAbstractType(type)) return ''
  return schema
    .getPossibleTypes(type)
    .map((member) => `... on ${member.name} { ${fieldsOf(member, depth)} }`)
    .join(' ')
}
const listed = (entries: readonly string[]): string => (entries.length === 0 ? '' : `(${entries.join(', ')})`)

function documentOf({ name, args, type }: Field): string {
  const declared = listed(args.map((arg) => `$${arg.name}: ${arg.type}`))
  const given = listed(args.map((arg) => `${arg.name}: $${arg.name}`))
  return `mutation all_${name}_Mutation${declared} { ${name}${given} { ${selectionOf(getNamedType(type), 1)} } }`
}

test('Relay’s compiler takes each mutation with all that its result can hold', async () => {
  const mutations = Object.values<Field>(schema.getMutationType()?.getFields() ?? {})
  expect(mutations.length).toBeGreaterThan(50)
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-relay-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const documents = mutations.map((mutation) => `graphql\`${documentOf(mutation)}\``)
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'src', 'all.js'), `import { graphql } from 'react-relay'\n${documents.join('\n')}\n`)
  await symlink(resolve('schema.graphql'), join(folder, 'schema.graphql'))
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: true }
  await writeFile(join(folder, 'relay.config.json'), JSON.stringify(config))
  await promisify(execFile)(relay, ['relay.config.json'], { cwd: folder })
  expect(await readdir(join(folder, 'src', '__generated__'))).toHaveLength(mutations.length)
})
