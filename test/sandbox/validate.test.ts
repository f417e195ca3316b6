import { afterAll, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/index.ts'

const sandbox = createSandbox()
afterAll(() => sandbox[Symbol.asyncDispose]())

const schema = {
  type: 'object',
  properties: { port: { type: 'integer', minimum: 1 }, name: { $ref: '#/$defs/name' } },
  required: ['port'],
  additionalProperties: false,
  $defs: { name: { type: 'string', pattern: '^[a-z]+$' } },
}

test('values are judged by draft 2020-12, and messages never quote them', async () => {
  const values = [
    { port: 1, name: 'ab' },
    { port: 'hunter2' },
    { name: 'ab' },
    { port: 1, name: 'hunter2' },
    { port: 1, hunter2: 1 },
  ]
  expect(await sandbox.validate(values.map((value) => ({ schema, value })))).toEqual([
    { ok: true },
    {
      ok: false,
      message:
        'the value does not satisfy #/properties/port/type of its schema: Instance type "string" is invalid. Expected "integer".',
    },
    {
      ok: false,
      message: 'the value does not satisfy #/required of its schema: Instance does not have required property "port".',
    },
    { ok: false, message: 'the value does not satisfy #/properties/name/$ref/pattern of its schema' },
    { ok: false, message: 'the value does not satisfy #/additionalProperties of its schema' },
  ])
  const tuple = { prefixItems: [{ type: 'string' }], items: false }
  expect(
    await sandbox.validate([
      { schema: tuple, value: ['a'] },
      { schema: tuple, value: ['a', 'b'] },
      { schema: false, value: 1 },
      { schema: true, value: 1 },
    ]),
  ).toMatchObject([{ ok: true }, { ok: false }, { ok: false }, { ok: true }])
})

test.each<[unknown, string | null]>([
  [schema, null],
  [true, null],
  [
    { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://example.com/a', type: ['string', 'null'] },
    null,
  ],
  [{ $ref: '#thing', $defs: { t: { $anchor: 'thing', type: 'string' } } }, null],
  [{ properties: { $ref: { type: 'string' } }, const: { $ref: 'https://example.com' } }, null],
  [{ $ref: 'https://example.com/schema.json' }, 'a $ref must stay within the schema and begin with "#", at #/$ref'],
  [
    { anyOf: [{}, { items: { $ref: 'other.json' } }] },
    'a $ref must stay within the schema and begin with "#", at #/anyOf/1/items/$ref',
  ],
  [{ $ref: '#/$defs/nope' }, 'the $ref leads nowhere, at #/$ref'],
  [{ $dynamicRef: '#x' }, '$dynamicRef is not supported, at #/$dynamicRef'],
  [{ $schema: 'http://json-schema.org/draft-07/schema#' }, 'only draft 2020-12 is supported, at #/$schema'],
  [{ items: { $id: 'x' } }, '$id must be a URI, and only the whole schema may have one, at #/items/$id'],
  [{ type: 'int' }, 'there is no such type, at #/type'],
  [{ pattern: '(' }, 'the pattern is not a valid regular expression, at #/pattern'],
  [{ properties: { a: 1 } }, 'a JSON Schema must be an object or a boolean, at #/properties/a'],
  ['string', 'a JSON Schema must be an object or a boolean, at #'],
  [{ description: 'x'.repeat(70_000) }, 'a JSON Schema is larger than 65536 characters'],
])('a schema itself is judged %#', async (given, message) => {
  const [found] = await sandbox.inspect([{ type: 'schema', value: given }])
  expect(found?.ok ? (found.problems[0]?.message ?? null) : found?.message).toBe(message)
})

test('what takes long to judge is judged in the sandbox, and stopped there', async () => {
  const schema = { pattern: '[^\\p{L}]'.repeat(7_000) }
  const problems = { image: 'x', ports: Array.from({ length: 30_000 }, () => ({})) }
  const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`a${i}`, {}]))
  const lists = `${'['.repeat(32_000)}`
  const found = await sandbox.inspect(
    [
      { type: 'schema', value: schema },
      { type: 'config', itemType: 'container', value: problems },
      { type: 'config', itemType: 'container', value: unknown },
      { type: 'manifest', value: lists },
      { type: 'config', itemType: 'container', value: { image: 'x' } },
    ],
    'someone',
  )
  expect(found).toEqual([
    { ok: false, message: 'it took more than 100 ms' },
    { ok: true, problems: [{ path: '.ports', message: 'array has too many items (30000 > 64)' }] },
    expect.objectContaining({ ok: false }),
    expect.anything(),
    { ok: true, problems: [] },
  ])
})

test('an unacceptable schema fails its own jobs only; one that refers to itself for ever is an error too', async () => {
  const results = await sandbox.validate([
    { schema: { $ref: 'https://example.com' }, value: 1 },
    { schema: { $ref: '#' }, value: 1 },
    { schema, value: { port: 1 } },
  ])
  expect(results).toEqual([
    { ok: false, message: 'a $ref must stay within the schema and begin with "#", at #/$ref' },
    { ok: false, message: 'it is nested too deep or grew too large' },
    { ok: true },
  ])
})
