import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { painter } from '../../src/cli/terminal/paint.ts'
import { columns } from '../../src/cli/terminal/text.ts'
import type { TreeObject } from '../../src/cli/tree/fields.ts'
import { type TreeChange, TreeModel } from '../../src/cli/tree/model.ts'
import { describeChange, treeLines } from '../../src/cli/tree/presenter.ts'
import { describeProgress, renderTree } from '../../src/cli/tree/render.ts'
import { openScreen } from '../../src/cli/tree/screen.ts'
import { CLASS_SYMBOLS } from '../../src/client-model/index.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { machinesOf } from './machines.ts'

const FINAL = ['SUCCEEDED', 'FAILED', 'ABORTED', 'DELETE_FAILED']
const machines = machinesOf()
const START = '2026-01-01T00:00:00.000Z'
const later = (ms: number): string => new Date(Date.parse(START) + ms).toISOString()

const object = (id: string, parent: string | null, phase: Phase, more: Partial<TreeObject> = {}): TreeObject => ({
  id,
  kind: parent === null ? 'INSTALLATION' : 'DEPLOY_ITEM',
  name: id,
  parent: parent === null ? null : { id: parent },
  phase,
  phaseSince: START,
  finished: FINAL.includes(phase),
  revision: 1,
  jobId: 'job-1',
  error: null,
  progress: null,
  ...more,
})
const change = (objectId: string, from: string | null, to: string, more: Partial<TreeChange> = {}): TreeChange => ({
  sequence: 1,
  objectId,
  kind: 'DEPLOY_ITEM',
  name: objectId,
  machine: 'deployItem',
  from,
  to,
  jobId: 'job-1',
  revision: 2,
  rejected: false,
  at: later(1000),
  ...more,
})
const modelOf = (...objects: TreeObject[]): TreeModel => {
  const model = new TreeModel(objects[0]?.id ?? '', machines)
  for (const one of objects) model.put(one)
  return model
}
const render = (model: TreeModel, size: { width?: number; height?: number; now?: number } = {}): string[] =>
  renderTree(model, { width: 120, height: 50, now: Date.parse(START) + 5000, paint: painter(false), ...size })

describe('TreeModel', () => {
  it('never lets an older revision win, whichever way it comes', () => {
    const model = modelOf(object('root', null, 'PROGRESSING'), object('a', 'root', 'SUCCEEDED', { revision: 5 }))
    expect(model.change(change('a', 'INIT', 'PROGRESSING', { revision: 4 }))).toBe(false)
    model.put(object('a', 'root', 'PENDING', { revision: 3 }))
    expect(model.nodes.get('a')?.phase).toBe('SUCCEEDED')
    expect(model.change(change('a', 'SUCCEEDED', 'INIT', { revision: 6 }))).toBe(true)
    expect(model.nodes.get('a')).toMatchObject({ phase: 'INIT', finished: false })
  })

  it('does not bring back what is gone', () => {
    const model = modelOf(object('root', null, 'DELETING'), object('a', 'root', 'DELETING'))
    expect(model.change(change('a', 'DELETING', 'GONE'))).toBe(true)
    model.put(object('a', 'root', 'DELETING', { revision: 9 }))
    expect(model.nodes.has('a')).toBe(false)
    expect(model.gone).toBe(1)
    expect(render(model).join('\n')).toContain('1 gone')
  })

  it('takes a snapshot of another log for what it is, and still knows what was there', () => {
    const model = modelOf(object('root', null, 'SUCCEEDED', { revision: 9 }), object('a', 'root', 'SUCCEEDED'))
    model.put(object('b', 'root', 'SUCCEEDED'))
    model.remove('b')
    model.replace([object('root', null, 'PROGRESSING', { revision: 3 }), object('b', 'root', 'INIT')])
    expect([...model.nodes.values()].map(({ id, phase }) => [id, phase])).toEqual([
      ['root', 'PROGRESSING'],
      ['b', 'INIT'],
    ])
    expect([...(model.children.get('root') ?? [])]).toEqual(['b'])
    model.put(object('a', 'root', 'SUCCEEDED', { revision: 99 }))
    expect([model.nodes.has('a'), model.gone]).toEqual([false, 1])
    model.replace([])
    expect([model.root, model.rootName]).toEqual([undefined, 'root'])
  })

  it('ignores refusals and the second machine of a kind', () => {
    const model = modelOf(object('cloud', null, 'READY', { kind: 'CLOUDLET' }))
    const upgrade = change('cloud', 'READY', 'UPDATE_REQUESTED', { kind: 'CLOUDLET', machine: 'cloudletUpgrade' })
    expect(model.change(upgrade)).toBe(false)
    expect(model.change({ ...upgrade, machine: 'cloudlet', to: 'OFFLINE', rejected: true })).toBe(false)
    expect(model.root?.phase).toBe('READY')
  })

  it('knows what is or was below the object that is looked at', () => {
    const model = modelOf(object('a', 'root', 'INIT'), object('root', null, 'INIT'), object('b', 'root', 'INIT'))
    model.put(object('a1', 'a', 'INIT'))
    model.put(object('b1', 'b', 'INIT'))
    for (const id of ['a', 'a1', 'b1']) model.remove(id)
    expect(['root', 'a', 'a1', 'b', 'b1', 'unseen'].filter((id) => model.isBelow(id))).toEqual(['a', 'a1', 'unseen'])
  })

  it('remembers what failed without saying why, until an update says it', () => {
    const model = modelOf(object('root', null, 'PROGRESSING'), object('a', 'root', 'PROGRESSING'))
    model.change(change('a', 'PROGRESSING', 'FAILED'))
    expect([...model.unexplained]).toEqual(['a'])
    model.put(object('a', 'root', 'FAILED', { revision: 2, error: { code: 'BOOM', message: 'it broke' } }))
    expect(model.unexplained.size).toBe(0)
    expect(render(model).join('\n')).toContain('BOOM: it broke')
  })

  it('measures a job from its trigger to its end', () => {
    const model = modelOf(object('root', null, 'PROGRESSING'), object('a', 'root', 'PENDING'))
    model.change(change('a', 'PENDING', 'INIT', { revision: 2, at: later(1000) }))
    model.change(change('a', 'INIT', 'PROGRESSING', { revision: 3, at: later(1200) }))
    model.change(change('a', 'PROGRESSING', 'SUCCEEDED', { revision: 4, at: later(3500) }))
    expect(render(model).find((line) => line.includes('a '))).toMatch(/SUCCEEDED .*2\.5s/)
  })
})

describe('treeLines', () => {
  it('tells of an absent agent once it had time to come, and only then', () => {
    const none = [{ reason: 'AGENT', message: 'none is connected', source: null }] as const
    const model = modelOf(
      object('shop', null, 'PROGRESSING'),
      object('new', 'shop', 'INIT', { blockedBy: none, phaseSince: new Date().toISOString() }),
      object('old', 'shop', 'INIT', { blockedBy: none }),
    )
    const out: string[] = []
    using lines = treeLines({ write: (text) => out.push(String(text).trim()) }, painter(false))
    lines.refresh(model)
    expect(out).toEqual(['○ shop/old waits for agent: none is connected'])
  })

  it('tells that children have not ended neither of a healthy tree, nor where a cause is known', () => {
    const open = { reason: 'CHILDREN', message: '2 of its children have not ended the job yet.', source: null } as const
    const none = { reason: 'AGENT', message: 'none is connected', source: null } as const
    const out: string[] = []
    using lines = treeLines({ write: (text) => out.push(String(text).trim()) }, painter(false))
    lines.refresh(modelOf(object('shop', null, 'PROGRESSING', { blockedBy: [open] })))
    expect(out).toEqual([])
    const stuck = modelOf(object('shop', null, 'PROGRESSING', { blockedBy: [none, open] }))
    lines.refresh(stuck)
    expect(out).toEqual(['○ shop waits for agent: none is connected'])
    expect(render(stuck)[0]).toMatch(/agent: none is connected$/)
    const source = { path: 'shop/inner/db' }
    expect(render(modelOf(object('shop', null, 'INIT', { blockedBy: [{ ...none, source }] })))[0]).toContain(
      ' shop/inner/db: agent: none is connected',
    )
  })

  it('says once when the tree is expected to end', () => {
    const model = modelOf(object('shop', null, 'PROGRESSING'))
    const out: string[] = []
    using lines = treeLines({ write: (text) => out.push(String(text).trim()) }, painter(false))
    lines.refresh(model)
    model.forecast = { p50: null, p90: null, runs: 3 }
    lines.refresh(model)
    lines.refresh(model)
    expect(out).toEqual(['○ shop longer than each of its 3 earlier runs'])
    model.forecast = { p50: later(65_000), p90: later(125_000), runs: 9 }
    expect(render(model).at(-1)).toBe('1 object: 1 ▶ active; about 1m 00s left, at most 2m 00s in 9 of 10 runs')
  })

  it('says when the next attempt begins, and how long from now, once', () => {
    vi.useFakeTimers({ now: Date.parse(later(0)), toFake: ['Date'] })
    try {
      const blockedBy = [{ reason: 'BACKOFF', message: `It begins at ${later(30_000)}.`, source: null }] as const
      const model = modelOf(object('shop', null, 'PROGRESSING'), object('db', 'shop', 'INIT', { blockedBy }))
      const out: string[] = []
      using lines = treeLines({ write: (text) => out.push(String(text).trim()) }, painter(false))
      for (const ms of [0, 5_000]) {
        vi.setSystemTime(later(ms))
        lines.refresh(model)
      }
      expect(out).toEqual([`○ shop/db waits for backoff: It begins at ${later(30_000)} (in 30.0s).`])
    } finally {
      vi.useRealTimers()
    }
  })

  it('marks the end of an object as no phase that it is in', () => {
    const gone = { ...change('a', 'DELETING', 'GONE'), actor: 'CONTROLLER' }
    expect(describeChange(gone, 'shop/a', { paint: painter(false), machines })).toBe(
      '2026-01-01T00:00:01.000Z  ∅ shop/a  DELETING → GONE  CONTROLLER',
    )
    expect(machines.classOf('GONE')).toBe('REMOVING')
  })
})

describe('renderTree', () => {
  it('shows phases, time, progress, what blocks and what failed', () => {
    const model = modelOf(
      object('shop', null, 'PROGRESSING'),
      object('db', 'shop', 'SUCCEEDED'),
      object('api', 'shop', 'PROGRESSING', {
        progress: { step: 'copying', value: 5, total: 10, unit: 'MB' },
      }),
      object('web', 'shop', 'PENDING', {
        blockedBy: [
          { reason: 'DEPENDENCY', message: 'api is not ready', source: null },
          { reason: 'AGENT', message: 'no agent', source: null },
        ],
      }),
      object('mail', 'shop', 'FAILED', { error: { code: 'SMTP', message: 'no\nroute' } }),
    )
    expect(render(model, { width: 100 })).toEqual([
      '▶ shop     installation  PROGRESSING    5.0s',
      '├─ ✓ db    deploy item   SUCCEEDED',
      '├─ ▶ api   deploy item   PROGRESSING    5.0s  [██████──────]  50% 5/10 MB copying',
      '├─ ○ web   deploy item   PENDING        5.0s  dependency: api is not ready (+1)',
      '└─ ✗ mail  deploy item   FAILED               SMTP: no route',
      '5 objects: 1 ✗ failed, 2 ▶ active, 1 ○ waiting, 1 ✓ done',
    ])
  })

  it('does not complain of absent agents before they had time to come', () => {
    const blockedBy = [
      { reason: 'AGENT', message: 'none is connected', source: null },
      { reason: 'CAPACITY', message: 'no slot is free', source: null },
    ] as const
    const model = modelOf(
      object('shop', null, 'PROGRESSING'),
      object('db', 'shop', 'INIT', { blockedBy: blockedBy.slice(0, 1) }),
      object('api', 'shop', 'INIT', { blockedBy }),
    )
    const soon = render(model, { now: Date.parse(later(4_999)) }).join('\n')
    expect(soon).toContain('capacity: no slot is free')
    expect(soon).not.toMatch(/none is connected|\+1/)
    expect(
      render(model, { now: Date.parse(later(5_000)) })
        .join('\n')
        .match(/none is connected/g),
    ).toHaveLength(2)
  })

  it('collapses what is finished first, and says how much', () => {
    const items = Array.from({ length: 40 }, (_, n) =>
      object(`item-${n}`, 'root', n === 17 ? 'FAILED' : n > 36 ? 'PROGRESSING' : 'SUCCEEDED'),
    )
    const lines = render(modelOf(object('root', null, 'PROGRESSING'), ...items), { height: 8 })
    expect(lines).toHaveLength(8)
    const text = lines.join('\n')
    for (const name of ['item-17', 'item-37', 'item-38', 'item-39']) expect(text).toContain(name)
    expect(text).toContain('└─ … 35 more: 35 ✓ done')
  })

  it('never takes more lines or columns than there are, and accounts for every object', () => {
    const phases = ['SUCCEEDED', 'FAILED', 'PROGRESSING', 'PENDING', 'ABORTED', 'DELETING'] as const
    const trees = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...phases), fc.string({ maxLength: 30 })), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(trees, fc.integer({ min: 3, max: 40 }), fc.integer({ min: 20, max: 200 }), (nodes, height, width) => {
        const objects = nodes.map(([parent, phase, message], index) =>
          object(`n${index + 1}`, `n${parent % (index + 1)}`, phase, { error: { code: 'E', message } }),
        )
        const lines = render(modelOf(object('n0', null, 'PROGRESSING'), ...objects), { height, width })
        expect(lines.length).toBeLessThanOrEqual(height)
        for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(width)
        if (width < 120) return
        const shown = lines.slice(0, -1)
        const hidden = shown.reduce((sum, line) => sum + Number(/… (\d+) more/.exec(line)?.[1] ?? 0), 0)
        const rows = shown.filter((line) => !/… \d+ more/.test(line)).length
        expect(rows + hidden).toBe(objects.length + 1)
      }),
      { numRuns: 200 },
    )
  })

  it('tells every class apart without colour, in one column', () => {
    const symbols = Object.values(CLASS_SYMBOLS)
    expect(new Set(symbols).size).toBe(symbols.length)
    for (const symbol of symbols) expect(columns(symbol)).toBe(1)
  })

  it('only adds escape sequences when it colours', () => {
    const model = modelOf(object('root', null, 'FAILED', { error: { code: 'X', message: 'y' } }))
    const options = { width: 80, height: 10, now: 0 }
    const coloured = renderTree(model, { ...options, paint: painter(true) })
    const bare = renderTree(model, { ...options, paint: painter(false) })
    expect(coloured.join()).toContain('\u001b[')
    expect(coloured.map((line) => stripVTControlCharacters(line))).toEqual(bare)
  })

  it('says which items the finished job never reached', () => {
    const model = modelOf(object('root', null, 'FAILED', { jobId: 'job-2' }), object('a', 'root', 'SUCCEEDED'))
    expect(render(model)[1]).toContain('not part of this job')
  })
})

describe('describeProgress', () => {
  it.each([
    [{ step: 'x', value: null, total: null, unit: null }, 'x'],
    [{ step: null, value: 3, total: null, unit: 'rows' }, '3 rows'],
    [{ step: null, value: 0, total: 0, unit: null }, '0/0'],
    [{ step: null, value: 15, total: 10, unit: null }, '[████████████] 100% 15/10'],
    [{ step: null, value: 999, total: 1000, unit: null }, '[███████████─]  99% 999/1000'],
  ])('%j', (progress, expected) => {
    expect(describeProgress(progress)).toBe(expected)
  })
})

describe('a live screen', () => {
  it('is drawn over its last lines, and beneath those of others', () => {
    let text = ''
    using screen = openScreen({ write: (more) => (text += String(more)) })
    const drawn = (): string => {
      text = ''
      screen.draw(['a', 'b'])
      return text
    }
    drawn()
    expect(drawn()).toContain('\x1b[2F')
    screen.moved()
    expect(drawn()).not.toContain('\x1b[2F')
  })
})
