import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { outcomeOf, type Refusal } from '../../src/client-model/index.ts'
import { type PlanStep, summaryOf } from '../../web-playground/src/families/deployments/model/plan.ts'
import {
  type EventValues,
  eventInput,
  missingIn,
} from '../../web-playground/src/families/pipelines/model/event-values.ts'
import {
  readInstallation,
  readProjectText,
  readSpec,
  readTask,
  refusedAt,
} from '../../web-playground/src/model/manifest-text.ts'
import { pairProblems, pairsInput } from '../../web-playground/src/model/pairs.ts'
import { problemOf, problemsOutside } from '../../web-playground/src/model/refusal.ts'
import { createHref } from '../../web-playground/src/ui/links.ts'

const refused = (fields: Refusal['fields']): Refusal => ({
  code: 'INVALID_INPUT',
  message: 'no',
  fields,
  object: null,
})

test('every example is what its form reads', () => {
  const folder = join(import.meta.dirname, '../../examples/manifests')
  const readers = { task: readTask, project: readProjectText, cluster: readSpec, app: readSpec }
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), 'utf8')
    const [, kind] = /(task|project|cluster|app)\.yaml$/.exec(file) ?? []
    const read = kind ? readers[kind as keyof typeof readers] : readInstallation
    expect(read(text), file).toMatchObject({ ok: true })
  }
})

test('a form takes one installation, and says where else the others go', () => {
  const problem = (text: string) => {
    const read = readInstallation(text)
    return read.ok ? null : read.problems[0]?.message
  }
  expect(problem('name: a\nspec: {}\n')).toBeNull()
  expect(problem('name: a\nspec: {}\n---\nname: b\nspec: {}\n')).toContain('apply -f')
  expect(problem('kind: Project\nname: web\n')).toContain('a form for those')
  expect(problem('')).toBe('The file holds no document.')
})

test('what the server refuses stands where it is written', () => {
  const cycle = refused([{ path: 'input.spec.deployItems.1.dependsOn.0', message: 'there is no such item' }])
  const text = 'name: a\nspec:\n  deployItems:\n    - { name: x, type: mock }\n    - name: y\n      dependsOn: [z]\n'
  expect(refusedAt(text, cycle)).toEqual([
    { path: 'spec.deployItems.1.dependsOn.0', message: 'there is no such item', line: 6, column: 19 },
  ])
  expect(refusedAt('nodes: 3\n', refused([{ path: 'input.spec.nodes', message: 'too many' }]), 'input.spec')).toEqual([
    { path: 'nodes', message: 'too many', line: 1, column: 8 },
  ])
  expect(refusedAt('nodes: 3\n', refused([{ path: 'input.name', message: 'bad' }]), 'input.spec')).toEqual([])
  expect(refusedAt('nodes: 3\n', null)).toEqual([])
})

test('an error is separated from the payload, and each field gets its own', () => {
  const object = { id: '1', kind: 'TASK', name: 'a', phase: 'PENDING', root: { id: '1' } }
  const task = { __typename: 'Task', id: '1' }
  expect(outcomeOf(task)).toEqual({ ok: true, value: task })
  const conflict = { __typename: 'ConflictError', code: 'ALREADY_EXISTS', message: 'taken', object }
  expect(outcomeOf(conflict)).toMatchObject({
    ok: false,
    refusal: { code: 'ALREADY_EXISTS', object },
  })
  expect(outcomeOf(null)).toMatchObject({ ok: false })
  const both = refused([
    { path: 'input.labels.0.key', message: 'a' },
    { path: 'input.labelsElse', message: 'b' },
  ])
  expect(problemOf(both, 'input.labels')).toBe('a')
  expect(problemOf(null, 'input.labels')).toBeNull()
  expect(problemsOutside(both, ['input.labels']).map(({ message }) => message)).toEqual(['b'])
})

test('rows without a key are told, empty ones are left out', () => {
  const pairs = [
    { key: ' a ', value: '1' },
    { key: '', value: '' },
    { key: '', value: 'x' },
    { key: 'a', value: '2' },
    { key: '-', value: '' },
  ]
  expect(pairProblems(pairs).map((problem) => problem !== null)).toEqual([false, false, true, true, true])
  expect(pairsInput(pairs.slice(0, 2))).toEqual([{ key: 'a', value: '1' }])
})

test('an event says what is missing, and keeps its payload as it is', () => {
  const event: EventValues = { project: '', source: ' acme ', type: 'push', qualifiers: [], labels: [], payload: ' x ' }
  expect(missingIn({ ...event, source: ' ' })).toContain('where')
  expect(missingIn({ ...event, qualifiers: [{ key: '', value: 'x' }] })).toContain('qualifiers')
  expect(missingIn(event)).toBeNull()
  expect(eventInput(event)).toEqual({ source: 'acme', type: 'push', qualifiers: [], labels: [], payload: ' x ' })
  expect(eventInput({ ...event, project: 'web', payload: '' })).not.toHaveProperty('payload')
})

test('a plan is counted in words', () => {
  const step = (action: string): PlanStep => ({ order: 1, action, kind: 'DEPLOY_ITEM', path: ['a'], reason: '' })
  expect(
    summaryOf({ steps: ['RUN', 'CREATE', 'DELETE', 'CREATE', 'ELSE'].map(step), blockers: [], broughtCode: [] }),
  ).toBe('2 to create, 1 to run again, 1 to delete, 1 to else.')
  expect(summaryOf({ steps: [], blockers: [], broughtCode: [] })).toBe('Nothing would be done.')
})

test('the address of a form', () => {
  expect(createHref()).toBe('/create')
  expect(createHref('installation', { from: 'x', copy: true })).toBe('/create/installation?from=x&copy=yes')
  expect(createHref('app', { on: 'c1', example: 'web' })).toBe('/create/app?on=c1&example=web')
})
