import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLInputObjectType, type GraphQLObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { MANIFEST_FRAGMENT } from '../../src/client-model/index.ts'
import { SETTINGS } from '../../src/families/deployments/rules/details.ts'
import { DEFAULT_SETTINGS, parseManifests, placesIn, setField, writeManifest } from '../../src/manifest/index.ts'

const SHOP = `# The shop.
name: shop
labels:
  tier: front
  team: web
spec:
  deployItems:
    - name: api
      type: mock
      dependsOn: [web]
    - { name: web, type: mock, dependsOn: [api] }
  installations:
    - name: base
      spec: { exports: &none [] }
`

describe('placesIn', () => {
  it.each([
    ['input.spec.deployItems.1.dependsOn.0', 11, 44],
    ['input.spec.deployItems.0.type', 9, 13],
    // A block below its key has the position of the key.
    ['input.spec.deployItems', 7, 3],
    // A missing field has the position where it should be.
    ['input.spec.deployItems.0.config.x.y', 8, 7],
    ['input.spec.exports.3.name', 6, 1],
    ['input.labels.1.key', 5, 3],
    ['input.create.name', 2, 7],
    ['input.project', 2, 1],
    ['input', 2, 1],
  ])('%s', (path, line, column) => {
    expect(placesIn(SHOP)(path)).toEqual({ line, column })
  })

  it('knows no place in a text that is none', () => {
    expect(placesIn('')('input.name')).toBeNull()
    expect(placesIn('a: [')('input.a')).not.toBeUndefined()
  })
})

describe('setField', () => {
  const set = (text: string, field: string, value: string): string | null => {
    const edit = setField(text, field, value)
    return edit && text.slice(0, edit.from) + edit.insert + text.slice(edit.to)
  }
  it.each([
    ['name: a # so\nspec: {}\n', 'name: b # so\nspec: {}\n'],
    ['# top\nspec: {}\n', '# top\nname: b\nspec: {}\n'],
    ['name:\nspec: {}\n', 'name: b\nspec: {}\n'],
    ['name: ""\nspec: {}\n', 'name: b\nspec: {}\n'],
    ['', 'name: b\n'],
    ['{"name": "a", "spec": {}}', '{"name": "b", "spec": {}}'],
    ['{"spec": {}}', '{ "name": "b","spec": {}}'],
    ['name: [a]\n', null],
    ['- a\n', null],
    ['name: {', null],
  ])('in %j', (before, after) => {
    expect(set(before, 'name', 'b')).toBe(after)
  })

  it('writes what would be something else in quotes', () => {
    for (const value of ['true', '12', 'a: b', '', 'x #y']) {
      const text = set('name: a\nspec: {}\n', 'name', value) ?? ''
      expect(parseManifests(text)).toMatchObject(value ? { ok: true, manifests: [{ name: value }] } : { ok: false })
    }
  })
})

describe('writeManifest', () => {
  it('has each setting of the API, and the API takes and shows each', () => {
    const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))
    const fieldsOf = (type: string): string[] =>
      Object.keys((schema.getType(type) as GraphQLObjectType | GraphQLInputObjectType).getFields())
    const settings = Object.keys(DEFAULT_SETTINGS).sort()
    expect(['labels', ...SETTINGS].sort()).toEqual(settings)
    const about = [
      ...['id', 'name', 'project', 'spec', 'reconcile'],
      ...['expectedGeneration', 'ifUnchanged', 'idempotencyKey'],
    ]
    for (const input of ['CreateInstallationInput', 'UpdateInstallationInput'])
      expect(
        fieldsOf(input)
          .filter((field) => !about.includes(field))
          .sort(),
        input,
      ).toEqual(settings)
    expect(fieldsOf('Installation')).toEqual(expect.arrayContaining(settings))
    expect(MANIFEST_FRAGMENT.match(/\w+/g)).toEqual(expect.arrayContaining(settings))
  })

  it('leaves out what is as by default, and keeps all else', () => {
    const text = writeManifest({
      name: 'shop',
      project: 'web',
      labels: [{ key: 'tier', value: 'front' }],
      description: 'sells things',
      ignored: false,
      spec: {
        imports: [
          { name: 'url', from: 'url', required: true },
          { name: 'other', from: 'else', required: false, schema: { type: 'string' } },
        ],
        exports: [{ name: 'x', value: null }],
        installations: [{ name: 'base', spec: { imports: [], exports: [], installations: [], deployItems: [] } }],
        deployItems: [
          {
            name: 'api',
            type: 'mock',
            target: null,
            dependsOn: ['web'],
            config: { command: '${imports.url}' },
            timeouts: { pickup: { ms: 5 } },
          },
          { name: 'web', type: 'mock', target: 'eu', dependsOn: [], config: null, timeouts: {} },
        ],
      },
    })
    expect(text).toBe(`name: shop
project: web
labels:
  tier: front
description: sells things
spec:
  imports:
    - name: url
    - name: other
      from: else
      required: false
      schema:
        type: string
  exports:
    - name: x
      value: null
  installations:
    - name: base
      spec: {}
  deployItems:
    - name: api
      type: mock
      dependsOn:
        - web
      config:
        command: \${imports.url}
      timeouts:
        pickup:
          ms: 5
    - name: web
      type: mock
      target: eu
`)
    expect(parseManifests(text)).toMatchObject({ ok: true })
  })
})
