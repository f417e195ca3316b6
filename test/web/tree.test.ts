import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { CLASS_SYMBOLS } from '../../src/client-model/index.ts'
import { PHASES } from '../../src/core/vocabulary.ts'
import { allMachines } from '../../src/families/machines.ts'
import {
  type Actable,
  actionsFor,
  mayChange,
  refusedFor,
  rerunsFor,
  retriesFor,
} from '../../web-playground/src/model/actions.ts'
import { type Connection, type ConnectionEvent, nextConnection } from '../../web-playground/src/model/connection.ts'
import { classOf, humanKind } from '../../web-playground/src/model/known.ts'
import { tokenIn } from '../../web-playground/src/model/token.ts'
import { TreeModel } from '../../web-playground/src/model/tree-model.ts'
import { clockOf, duration } from '../../web-playground/src/model/words.ts'
import { factsOf } from '../../web-playground/src/model/work-facts.ts'
import { machinesOf } from '../cli/machines.ts'
import { actable, change, machines, row } from './samples.ts'

const below = (id: string, parent: string) => row(id, { parent: { id: parent } })
function tree(leaves: number): TreeModel {
  const model = new TreeModel('root', machines)
  const items = Array.from({ length: leaves }, (_, i) => below(`i${i}`, 'sub'))
  model.replace([row('root'), below('sub', 'root'), ...items], [{ from: 'i1', to: 'i0' }])
  return model
}

test('a tree takes in changes once, and tells what has to be looked up', () => {
  const model = tree(2)
  const before = model.structure
  expect(model.change([change('i0', 'SUCCEEDED'), change('new', 'PENDING', { from: null })])).toEqual({
    fresh: ['new'],
    ended: ['i0'],
  })
  expect(model.structure).toBe(before)
  model.put([below('new', 'sub')])
  expect(model.childrenOf('sub')).toEqual(['i0', 'i1', 'new'])
  expect(model.structure).toBeGreaterThan(before)
  // Older than what is known, of another tree, refused: nothing.
  model.put([{ ...below('i0', 'sub'), revision: 1 }])
  model.change([
    change('i0', 'FAILED', { revision: 2 }),
    change('i0', 'FAILED', { revision: 9, rejected: true }),
    change('i0', 'FAILED', { revision: 9, rootId: 'other' }),
  ])
  expect(model.nodes.get('i0')?.phase).toBe('SUCCEEDED')
  model.change([change('i0', 'GONE', { revision: 10 })])
  model.put([below('i0', 'sub')])
  expect(model.nodes.has('i0')).toBe(false)
})

test('a node shows progress and attempts where there are any', () => {
  const progress = { step: 'copying', value: 4, total: 10, unit: 'files' }
  const attempt = (number: number) => ({ number, begunAt: null, finalBy: null })
  expect(factsOf({})).toEqual({ progress: null, attempt: null })
  expect(factsOf({ progress, attempts: [attempt(1)], maxAttempts: 3 })).toEqual({ progress: '40%', attempt: null })
  expect(factsOf({ progress: { ...progress, total: null }, attempts: [1, 2].map(attempt), maxAttempts: 3 })).toEqual({
    progress: '4 files',
    attempt: '2 of 3',
  })
  expect(factsOf({ progress: { ...progress, value: null } }).progress).toBe(null)
  expect(factsOf({ attempts: [{ ...attempt(1), finalBy: 'AGENT' }], maxAttempts: 3 }).attempt).toBe('1 of 3, final')
})

const run = (events: readonly ConnectionEvent[]): Connection =>
  events.reduce<Connection>(nextConnection, { kind: 'connecting' })

test('after a loss the connection says how many changes it has caught up, once it has', () => {
  const lost: readonly ConnectionEvent[] = [
    { kind: 'connected', at: 0 },
    { kind: 'batch', count: 5, through: 5, at: 10 },
    { kind: 'lost', at: 1_000 },
    // A try that fails does not begin the loss anew.
    { kind: 'lost', at: 2_000 },
    { kind: 'connected', at: 3_000 },
    { kind: 'batch', count: 3, through: 8, at: 3_100 },
  ]
  expect(run(lost)).toEqual({ kind: 'catching-up', since: 1_000, head: null, count: 3 })
  const known: ConnectionEvent = { kind: 'head', head: 12, cursor: 8, at: 3_200 }
  expect(run([...lost, known])).toMatchObject({ kind: 'catching-up', head: 12 })
  expect(run([...lost, known, { kind: 'batch', count: 4, through: 12, at: 3_300 }])).toEqual({
    kind: 'live',
    caughtUp: { changes: 7, awayMs: 2_300, at: 3_300 },
  })
  expect(run([...lost, { kind: 'head', head: 8, cursor: 8, at: 3_200 }])).toMatchObject({ kind: 'live' })
})

test('phases look as in the terminal, and each class has a symbol of its own', () => {
  const inTerminal = machinesOf()
  for (const phase of PHASES) expect([phase, classOf(phase).toUpperCase()]).toEqual([phase, inTerminal.classOf(phase)])
  expect(new Set(Object.values(CLASS_SYMBOLS)).size).toBe(Object.keys(CLASS_SYMBOLS).length)
})

type Given = Partial<Omit<Actable, 'verbs'>>
const object = (more: Given): Actable =>
  actable({
    id: 'x',
    kind: 'TASK',
    phase: 'RUNNING',
    finished: false,
    parent: null,
    deletionRequestedAt: null,
    ...more,
  })
const asUser = (kind: string, phase: string) => ({ kind, phase })
const names = (more: Given) => actionsFor(object(more)).map(({ name }) => name)

test('buttons follow from what the viewer may do', () => {
  expect(names(asUser('TASK', 'RUNNING'))).toEqual(['cancel', 'pause'])
  expect(names({ ...asUser('TASK', 'FAILED'), finished: true })).toEqual(['retry', 'rerun', 'delete'])
  expect(names({ ...asUser('TASK', 'SUCCEEDED'), finished: true })).toEqual(['rerun', 'delete'])
  expect(names(asUser('GADGET_JOB', 'UNDO_FAILED'))).toEqual(['retryUndo', 'giveUpUndo'])
  expect(names({ ...asUser('EVENT', 'FAILED'), finished: true })).toEqual(['retry', 'clone', 'delete'])
  expect(names(asUser('CLUSTER_INST', 'CREATE_REQUESTED'))).toEqual(['cancel'])
  expect(names(asUser('CLOUDLET', 'UPDATE_ERROR'))).toEqual(['resolve'])
  expect(names({ kind: 'UNHEARD_OF' })).toEqual([])
  const running = asUser('INSTALLATION', 'PROGRESSING')
  expect(names(running)).toEqual(['reconcile', 'cancel', 'pause', 'delete'])
  expect(names({ ...running, deletionRequestedAt: '2026-01-01' })).toEqual(['cancel', 'pause'])
  expect(names({ ...running, finished: true, deletionRequestedAt: '2026-01-01' })).toEqual(['pause', 'delete'])
  expect(names({ ...running, finished: true })).toEqual(['reconcile', 'pause', 'delete'])
  expect(names({ ...running, parent: { id: 'p' } })).toEqual([])
})

test('what has failed offers what its root does about it', () => {
  const root = object({ id: 'root', ...asUser('INSTALLATION', 'FAILED'), finished: true })
  const item = (phase: string) => object({ ...asUser('DEPLOY_ITEM', phase), finished: true, parent: root })
  expect(retriesFor(item('FAILED'), root)).toMatchObject([{ name: 'retry', variables: { id: 'root' } }])
  expect(retriesFor(item('SUCCEEDED'), root)).toEqual([])
  // Its own button.
  expect(retriesFor(root, root)).toEqual([])
  expect(retriesFor(item('FAILED'), actable(root, 'VIEWER'))).toEqual([])
})

test('a job runs alone again once its task has ended', () => {
  const task = (phase: string, finished: boolean) => object({ id: 'root', ...asUser('TASK', phase), finished })
  const job = { ...object({ ...asUser('GADGET_JOB', 'FAILED'), finished: true, parent: { id: 'root' } }), name: 'dump' }
  expect(rerunsFor(job, task('FAILED', true))).toMatchObject([
    { label: 'Run this job again', field: 'retryTask', variables: { id: 'root', jobs: ['dump'] }, confirm: null },
  ])
  expect(rerunsFor(job, task('RUNNING', false))).toEqual([])
  expect(rerunsFor(job, actable(task('FAILED', true), 'VIEWER'))).toEqual([])
})

test('what is in the way of a button is said once for all that it concerns', () => {
  const labels = ['Reconcile', 'Retry what failed', 'Cancel', 'Pause', 'Resume', 'Delete']
  const nested = object({ ...asUser('INSTALLATION', 'PROGRESSING'), parent: { id: 'p' } })
  expect(refusedFor(nested)).toEqual([{ labels, obstacle: 'NOT_ROOT', why: expect.stringContaining('on the root') }])
  const deleted = object({ ...asUser('INSTALLATION', 'DELETING'), deletionRequestedAt: '2026-01-01' })
  expect(refusedFor(deleted).map(({ labels }) => labels)).toEqual([['Reconcile', 'Retry what failed'], ['Delete']])
  // Buttons of other phases are not missed.
  expect(refusedFor(object({ kind: 'GADGET_JOB', phase: 'RUNNING' }))).toEqual([])
  const read = actable({ ...nested, parent: null }, 'VIEWER')
  expect([actionsFor(read), mayChange(read), mayChange(nested)]).toEqual([[], false, true])
  expect(refusedFor(read)).toEqual([{ labels, obstacle: 'RIGHT', why: 'It takes the role EDITOR in the project.' }])
})

test('each button names a mutation and an input of the schema', () => {
  const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../schema.graphql'), 'utf8'))
  const mutations = schema.getMutationType()?.getFields() ?? {}
  const all = allMachines.flatMap(({ kinds, phases }) =>
    kinds.flatMap((kind) =>
      phases.flatMap((phase) =>
        [true, false].flatMap((finished) => actionsFor(object({ ...asUser(kind, phase), finished }))),
      ),
    ),
  )
  expect(all.length).toBeGreaterThan(15)
  for (const { field, input } of all) expect(String(mutations[field]?.args[0]?.type)).toBe(`${input}!`)
})

test('words', () => {
  expect([999, 61_000, 3_600_000, 90_061_000].map(duration)).toEqual(['0s', '1m 1s', '1h', '1d 1h'])
  expect(clockOf(new Date(2026, 0, 2, 3, 4, 5, 6).toISOString())).toBe('03:04:05.006')
  expect(humanKind('DEPLOY_ITEM')).toBe('Deploy item')
  expect(tokenIn('#token=a.b-c')).toBe('a.b-c')
  expect(tokenIn('#main')).toBe(null)
})
