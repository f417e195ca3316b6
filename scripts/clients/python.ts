import { type GraphQLType, isListType, isNonNullType } from 'graphql'
import { namedIn, type Operations, type TypeOfAgents, wrapped } from './operations.ts'

const SCALARS: Readonly<Record<string, string>> = {
  ...{ ID: 'str', String: 'str', DateTime: 'str', Boolean: 'bool', Int: 'int', Float: 'float', Sequence: 'int' },
  JSON: 'Any',
}
/** Words of Python that are no names of fields in a class. */
const KEYWORDS = new Set(['from'])

export function printPython({ types, limits, documents }: Operations): string {
  return `"""Made by \`npm run generate\` from schema.graphql and the documents of our own agents. A newer server may send other values of enums."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


${types.map(printType).join('\n\n')}

#: The most characters of a text, in UTF-16, and of the reports of a call.
LIMITS = {${limits.map(([name, most]) => `"${name}": ${most}`).join(', ')}}

${documents.map(({ name, text }) => `${name.replaceAll(/\B[A-Z]/g, '_$&').toUpperCase()} = """${text}"""`).join('\n')}
`
}

function printType(type: TypeOfAgents): string {
  const { name } = type
  if (type.is === 'enum') return `${name} = Literal[${type.values.map((value) => `"${value}"`).join(', ')}]\n`
  const members = type.fields.map((field) => {
    const bare = typeOf(field.type)
    return { ...field, type: type.is === 'input' && field.isOptional ? `NotRequired[${bare}]` : bare }
  })
  if (members.some((field) => KEYWORDS.has(field.name))) {
    const pairs = members.map((field) => `    "${field.name}": ${field.type},`)
    return `${name} = TypedDict("${name}", {\n${pairs.join('\n')}\n})\n`
  }
  const lines = members.flatMap((field) => [
    ...wrapped(field.about).map((line) => `    #: ${line}`),
    `    ${field.name}: ${field.type}`,
  ])
  return `class ${name}(${type.base ?? 'TypedDict'}):\n${lines.join('\n')}\n`
}

function typeOf(type: GraphQLType): string {
  if (isNonNullType(type)) return bareTypeOf(type.ofType)
  const bare = bareTypeOf(type)
  return bare === 'Any' ? bare : `${bare} | None`
}
function bareTypeOf(type: GraphQLType): string {
  if (isListType(type)) return `list[${typeOf(type.ofType)}]`
  const name = namedIn(type)
  return SCALARS[name] ?? name
}
