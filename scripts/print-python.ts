import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildSchema,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  visit,
} from 'graphql'
import { LIMITS } from '../src/core/limits.ts'
import { Modules } from './documents/constants.ts'
import { findDocuments } from './documents/find-documents.ts'

/**
 * Writes the documents and types of the client for Python, from schema.graphql. Its documents are those of our own agents, so that a server
 * which takes trusted documents alone takes these. With `--check`: writes nothing, and fails when the file is stale.
 */

const ROOT = join(import.meta.dirname, '..')
const FILE = 'clients/python/phaseline/operations.py'
const OPERATIONS: Readonly<Record<string, string>> = {
  Claim: 'CLAIM',
  Renew: 'RENEW',
  Report: 'REPORT',
  AppendLogs: 'APPEND_LOGS',
}
const BOUNDS = ['reports', 'message', 'step', 'progressUnit', 'errorCode', 'logLine'] as const
/** The fields of a line of `GET /log`. */
const CHANGE =
  `id sequence cursor objectId kind name path rootId projectName machine from to actor by byId reason message jobId revision
  rejected requested at`.split(/\s+/)
const FENCED = 'PhaseReportInput'

const SCALARS: Readonly<Record<string, string>> = {
  ...{ ID: 'str', String: 'str', DateTime: 'str', Boolean: 'bool', Int: 'int', Float: 'float', Sequence: 'int' },
  JSON: 'Any',
}
/** Words of Python that are no names of fields in a class. */
const KEYWORDS = new Set(['from'])

const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'))
const { documents } = findDocuments(new Modules(ROOT), ROOT, ['src/client/agent/agent-api.ts'])
const printed = new Map<string, string>()

const texts = Object.entries(OPERATIONS).map(([name, constant]) => {
  const text = documents.find((document) => document.text.startsWith(`mutation ${name}(`))?.text
  if (text === undefined) throw new Error(`src/client/agent/agent-api.ts has no mutation ${name}.`)
  visit(parse(text), { NamedType: ({ name: { value } }) => void printInput(value) })
  return { constant, text }
})
printAnswer('WorkItem', selectedIn(texts[0]?.text ?? '', 'items'))
printAnswer('PhaseChange', CHANGE)

const written = `"""Made by \`npm run generate\` from schema.graphql and the documents of our own agents. A newer server may send other values of enums."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


${[...printed.values()].join('\n\n')}

#: The most characters of a text, in UTF-16, and of the reports of a call.
LIMITS = {${BOUNDS.map((name) => `"${name}": ${LIMITS[name].max}`).join(', ')}}

${texts.map(({ constant, text }) => `${constant} = """${text}"""`).join('\n')}
`

const path = join(ROOT, FILE)
if (!process.argv.includes('--check')) writeFileSync(path, written)
else if (readFileSync(path, 'utf8') !== written) {
  process.stderr.write(`${FILE} is stale: run npm run generate.\n`)
  process.exitCode = 1
}

/** The fields that a document selects of a field. */
function selectedIn(text: string, field: string): readonly string[] {
  const names: string[] = []
  visit(parse(text), {
    Field: ({ name, selectionSet }) => {
      if (name.value !== field) return
      for (const one of selectionSet?.selections ?? []) if ('name' in one) names.push(one.name.value)
    },
  })
  return names
}

function printInput(name: string): void {
  const type = schema.getType(name)
  if (!type || printed.has(name)) return
  if (isEnumType(type))
    printed.set(
      name,
      `${name} = Literal[${type
        .getValues()
        .map((value) => `"${value.name}"`)
        .join(', ')}]\n`,
    )
  if (!isInputObjectType(type)) return
  printed.set(name, '')
  const fields = Object.values(type.getFields())
  for (const field of fields) printInput(namedIn(field.type))
  const members = fields.map(({ name: field, type: given, description, default: byDefault }) => {
    const isRequired = isNonNullType(given) && byDefault === undefined
    return { field, type: isRequired ? typeOf(given) : `NotRequired[${typeOf(given)}]`, description }
  })
  // A type may name those above it.
  printed.delete(name)
  if (name !== FENCED) {
    printed.set(name, classOf(name, 'TypedDict', members))
    return
  }
  // The agent adds the fence to what its work returns.
  const { fence = [], outcome = [] } = Object.groupBy(members, ({ field }) => (field === 'fence' ? 'fence' : 'outcome'))
  printed.set('Outcome', classOf('Outcome', 'TypedDict', outcome))
  printed.set(name, classOf(name, 'Outcome', fence))
}

function printAnswer(name: string, names: readonly string[]): void {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`There is no type ${name}.`)
  const fields = type.getFields()
  const members = names.map((field) => {
    const found = fields[field]
    if (!found) throw new Error(`${name} has no field ${field}.`)
    printInput(namedIn(found.type))
    return { field, type: typeOf(found.type), description: found.description }
  })
  printed.set(name, classOf(name, 'TypedDict', members))
}

interface Member {
  readonly field: string
  readonly type: string
  readonly description: string | null | undefined
}
function classOf(name: string, base: string, members: readonly Member[]): string {
  if (members.some(({ field }) => KEYWORDS.has(field))) {
    const pairs = members.map(({ field, type }) => `    "${field}": ${type},`)
    return `${name} = TypedDict("${name}", {\n${pairs.join('\n')}\n})\n`
  }
  const lines = members.flatMap(({ field, type, description }) => [
    ...wrapped(description ?? '').map((line) => `    #: ${line}`),
    `    ${field}: ${type}`,
  ])
  return `class ${name}(${base}):\n${lines.join('\n')}\n`
}

function wrapped(text: string): readonly string[] {
  return text.replaceAll(/\s+/g, ' ').match(/\S(?:.{0,110}\S)?(?=\s|$)/g) ?? []
}

function namedIn(type: GraphQLType): string {
  return isNonNullType(type) || isListType(type) ? namedIn(type.ofType) : type.name
}

function typeOf(type: GraphQLInputType | GraphQLOutputType): string {
  if (isNonNullType(type)) return bareTypeOf(type.ofType)
  const bare = bareTypeOf(type)
  return bare === 'Any' ? bare : `${bare} | None`
}
function bareTypeOf(type: GraphQLInputType | GraphQLOutputType): string {
  if (isListType(type)) return `list[${typeOf(type.ofType)}]`
  const name = namedIn(type)
  return SCALARS[name] ?? name
}
