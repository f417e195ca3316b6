import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import type { FoundDocument } from '../../scripts/documents/find-documents.ts'
import { printDocuments } from '../../scripts/documents/print-documents.ts'

const SCHEMA = buildSchema(`
  scalar JSON
  scalar Sequence
  enum Color { RED GREEN }
  interface Thing { id: ID! color: Color next: Thing }
  type Box implements Thing { id: ID! color: Color next: Thing boxes: [Box!]! spec: JSON }
  type Bag implements Thing { id: ID! color: Color next: Thing size: Float }
  type Refused { message: String! }
  union Answer = Box | Refused
  input Inner { list: [Color!]! at: Sequence }
  input Paint { id: ID!, inner: Inner, times: Int! = 1 }
  input Place @oneOf { left: Int, right: Inner }
  type Query { thing(id: ID!): Thing place(at: Place!): Boolean! }
  type Mutation { paint(input: Paint!): Answer }
`)

const found = (text: string, isExpectedToFail = false): FoundDocument => ({
  text,
  isExpectedToFail,
  file: 'a.ts',
  line: 3,
})
const print = (...texts: readonly string[]) =>
  printDocuments(
    SCHEMA,
    texts.map((text) => found(text)),
  )
/** The printed entry of one document. */
function entry(text: string): string {
  const { module, problems } = print(text)
  expect(problems).toEqual([])
  return (
    module
      .split('\n')
      .find((line) => line.startsWith('  "'))
      ?.slice(JSON.stringify(text).length + 4) ?? ''
  )
}
const resultOf = (text: string): string => /; readonly result: (.*) }$/.exec(entry(text))?.[1] ?? ''
const variablesOf = (text: string): string =>
  /^{ readonly variables: (.*); readonly result: /.exec(entry(text))?.[1] ?? ''

test('a field is null where the schema lets it be', () => {
  expect(resultOf('{ thing(id: 1) { id c: color } }')).toBe(
    '{ readonly thing: { readonly id: string; readonly c: Color | null } | null }',
  )
})

test('types of one shape are one, and what only some of them have is undefined elsewhere', () => {
  expect(resultOf('{ thing(id: 1) { id ... on Box { boxes { id } spec } } }')).toBe(
    '{ readonly thing: ' +
      '{ readonly id: string; readonly boxes: ReadonlyArray<{ readonly id: string }>; readonly spec: unknown } | ' +
      '{ readonly id: string; readonly boxes?: undefined; readonly spec?: undefined } | null }',
  )
})

test('the name of a type tells the variants of an answer apart', () => {
  expect(resultOf('mutation ($input: Paint!) { paint(input: $input) { __typename ... on Refused { message } } }')).toBe(
    "{ readonly paint: { readonly __typename: 'Box'; readonly message?: undefined } | " +
      "{ readonly __typename: 'Refused'; readonly message: string } | null }",
  )
})

test('selections of one field are merged, fragments included', () => {
  expect(resultOf('{ thing(id: 1) { next { id } ...F } } fragment F on Thing { next { color } }')).toBe(
    '{ readonly thing: { readonly next: { readonly id: string; readonly color: Color | null } | null } | null }',
  )
})

test('a field that may be skipped is optional, unless it is selected elsewhere too', () => {
  expect(
    resultOf(
      'query ($x: Boolean!) { thing(id: 1) { id @skip(if: $x) color ... @include(if: $x) { color next { id } } } }',
    ),
  ).toBe(
    '{ readonly thing: { readonly id?: string; readonly color: Color | null; readonly next?: { readonly id: string } | null } | null }',
  )
})

test('variables are required where the schema requires them', () => {
  expect(variablesOf('query ($id: ID!, $x: Boolean = true) { thing(id: $id) { id @skip(if: $x) } }')).toBe(
    '{ readonly id: string; readonly x?: boolean | null | undefined }',
  )
  expect(variablesOf('{ thing(id: 1) { id } }')).toBe('Readonly<Record<string, never>>')
})

test('enums and input types are printed once, with those that they name', () => {
  const { module } = print(
    'mutation ($input: Paint!) { paint(input: $input) { __typename } }',
    'query ($at: Place!) { place(at: $at) }',
  )
  expect(module.slice(module.indexOf('export type')).trim().split('\n')).toEqual([
    "export type Color = 'RED' | 'GREEN'",
    'export type Inner = { readonly list: ReadonlyArray<Color>; readonly at?: number | string | null | undefined }',
    'export type Paint = { readonly id: string; readonly inner?: Inner | null | undefined; readonly times?: number | undefined }',
    'export type Place = { readonly left: number; readonly right?: undefined } | { readonly right: Inner; readonly left?: undefined }',
  ])
})

test('a fragment by itself has a type', () => {
  expect(entry('fragment F on Box { id }')).toBe(
    '{ readonly variables: never; readonly result: { readonly id: string } }',
  )
})

test('a document that the schema refuses has no type, and its place is reported unless a fixture expects it', () => {
  const wrong = '{ thing(id: 1) { nmae } }'
  const { module, problems } = printDocuments(SCHEMA, [found(wrong), found('{ thing', true)])
  expect(module).not.toContain('nmae')
  expect(problems).toEqual(['a.ts:3: Cannot query field "nmae" on type "Thing".'])
})
