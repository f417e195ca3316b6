import { expect, test } from 'vitest'
import { schemaOfDocuments } from '../../src/cli/manifests/document-schema.ts'
import { manifestSchema, projectSchema } from '../../src/manifest/index.ts'
import { suggestionsAt } from '../../web-playground/src/model/completion.ts'

const { definitions } = schemaOfDocuments([
  { kind: 'Installation', schema: manifestSchema },
  { kind: 'Project', schema: projectSchema },
])

/** The suggestions at the ¦ of a text. */
function optionsAt(text: string, kind = 'Installation') {
  const offset = text.indexOf('¦')
  const found = suggestionsAt(text.replace('¦', ''), offset, { part: definitions[kind] ?? {}, definitions })
  return found?.options ?? []
}
const labelsAt = (text: string, kind?: string) => optionsAt(text, kind).map(({ label }) => label)
const textOf = (label: string, text: string, kind?: string) =>
  optionsAt(text, kind).find((option) => option.label === label)?.text

test('required keys come first, with their types and descriptions, and none that is there already', () => {
  expect(labelsAt('¦')).toEqual(['name', 'spec', 'kind', 'project', 'labels', 'description', 'ignored'])
  expect(labelsAt('name: a\nlab¦\nspec: {}\n')).toEqual(['kind', 'project', 'labels', 'description', 'ignored'])
  // The key at the cursor is no reason to leave it out.
  expect(labelsAt('name: a\nlabels¦: {}\n')).toContain('labels')
  const [first] = optionsAt('name: a\nspec:\n  deployItems:\n    - name: x\n      t¦\n')
  expect(first).toMatchObject({ label: 'type', type: 'text', isRequired: true, text: 'type: ' })
  expect(first?.description).not.toBe('')
})

test.each([
  ['spec:\n  deployItems:\n    - name: a\n      timeouts:\n        ¦', ['pickup', 'progressing', 'aborting']],
  ['spec:\n  deployItems:\n    - retry: { backoff: { factor: 2, ¦ } }', ['initialMs', 'maxMs', 'jitter']],
  ['spec:\n  installations:\n    - name: a\n      spec:\n        installations:\n          - ¦', ['name', 'spec']],
  ['{"spec": {"installations": [{"name": "a", "¦"}]}}', ['spec']],
  ['spec:\n  targetSelector:\n    ¦\n  deployItems:\n    - name: a\n', ['type', 'labels']],
])('%j is completed as deep as the schema goes', (text, expected) => {
  expect(labelsAt(text)).toEqual(expected)
})

test('values of enums, of booleans and of the kind are completed, with their descriptions', () => {
  expect(labelsAt('kind: ¦')).toEqual(['Installation'])
  expect(labelsAt('name: a\nignored: t¦\n')).toEqual(['true', 'false'])
  const artifact = 'workerTemplate:\n  artifacts:\n    - name: a\n      '
  expect(optionsAt(`${artifact}when: ¦\n      path: b\n`, 'Project')).toMatchObject([
    { label: 'SUCCESS', text: 'SUCCESS', description: expect.stringMatching(/\w/) },
    { label: 'ALWAYS', text: 'ALWAYS', description: expect.stringMatching(/\w/) },
  ])
  expect(labelsAt('limits: { strategy: "¦" }', 'Project')).toEqual(['QUEUE', 'LATEST_ONLY'])
  expect(labelsAt('limits:\n  strategy:\n    ¦', 'Project')).toEqual(['QUEUE', 'LATEST_ONLY'])
})

test('a key brings the place of its value', () => {
  expect(textOf('deployItems', 'spec:\n  ¦\n')).toBe('deployItems:\n    - ')
  expect(textOf('targetSelector', 'spec:\n  ¦\n')).toBe('targetSelector:\n    ')
  expect(textOf('labels', '¦')).toBe('labels:\n  ')
  expect(textOf('config', 'spec:\n  deployItems:\n    - ¦')).toBe('config: ')
  // A duration may be text, so it begins in the same line.
  expect(textOf('pickup', 'spec:\n  deployItems:\n    - timeouts:\n        ¦')).toBe('pickup: ')
  expect(textOf('deployItems', 'spec: { ¦ }')).toBe('deployItems: ')
  expect(textOf('labels', 'lab¦: {}')).toBe('labels')
  expect(textOf('labels', '{"lab¦"}')).toBe('labels')
  // Without its dash, the entry of a list begins with one.
  expect(textOf('name', 'spec:\n  deployItems:\n    ¦\n')).toBe('- name: ')
  expect(textOf('name', 'spec:\n  deployItems:\n    - name: a\n    ¦\n')).toBe('- name: ')
  expect(textOf('dependsOn', 'spec:\n  deployItems:\n    ¦\n')).toBe('- dependsOn:\n        - ')
})

test.each([
  ['a comment', 'name: a # ¦'],
  ['a block of text', 'description: >\n  na¦\n'],
  ['a config', 'spec:\n  deployItems:\n    - config:\n        ¦'],
  ['the map of labels', 'labels:\n  ¦'],
  ['a word', 'na¦me: a'],
  ['a field that is not there', 'spec:\n  nothing:\n    ¦'],
  ['the value of a text', 'name: ¦'],
])('nothing is suggested in %s', (_, text) => {
  expect(optionsAt(text)).toEqual([])
})

test('errors elsewhere in the text do not matter', () => {
  expect(labelsAt('spec:\n  imports: [a\n  deployItems:\n    - na¦\n\tx\n')).toContain('type')
})
