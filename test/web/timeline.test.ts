import fc from 'fast-check'
import { expect, test } from 'vitest'
import { START } from '../../web-playground/src/model/diagram.ts'
import { withFold, withOpen } from '../../web-playground/src/model/graph-changes.ts'
import { GRAPH_VIEW } from '../../web-playground/src/model/graph-view.ts'
import type { Machine } from '../../web-playground/src/model/machines.ts'
import { exactly, sentenceOf } from '../../web-playground/src/model/moment.ts'
import { PastTree } from '../../web-playground/src/model/past-tree.ts'
import {
  END_PX,
  lengthsBeside,
  NARROWEST_PX,
  panned,
  piecesOf,
  wholeWindow,
  zoomed,
} from '../../web-playground/src/model/time-window.ts'
import { creationAfter, lastWhole, type Segment, Timeline } from '../../web-playground/src/model/timeline.ts'
import { segmentsOf, timelineRows } from '../../web-playground/src/model/timeline-rows.ts'
import { drawnSegments, lastSpan, runMs } from '../../web-playground/src/model/timeline-runs.ts'
import { TreeModel } from '../../web-playground/src/model/tree-model.ts'
import { readPlace, writePlace } from '../../web-playground/src/model/tree-place.ts'
import { numbersText, transitionPath } from '../../web-playground/src/model/way.ts'
import { clockTime, recentTime } from '../../web-playground/src/ui/exact-time.ts'
import { ticksOf } from '../../web-playground/src/ui/ticks.ts'
import { change, machines, row } from './samples.ts'

const T0 = Date.parse('2026-11-21T20:00:00.000Z')
const at = (ms: number): string => new Date(T0 + ms).toISOString()
/** e.g. `PENDING 0-100`; times after T0, `…`: still. */
const text = ({ phase, from, to }: Segment): string =>
  `${phase} ${Number.isFinite(from) ? from - T0 : '?'}-${to === null ? '…' : to - T0}`

/** A root with an item that succeeds and one that goes. */
function whole(): Timeline {
  const timeline = new Timeline('root', machines)
  timeline.append([
    change('root', 'PENDING', { from: null, at: at(0) }),
    change('a', 'PENDING', { from: null, at: at(0) }),
    change('b', 'PENDING', { from: null, at: at(10) }),
    change('a', 'PROGRESSING', { at: at(100) }),
    change('a', 'SUCCEEDED', { from: 'PROGRESSING', at: at(300) }),
    change('a', 'PENDING', { from: 'SUCCEEDED', at: at(350), rejected: true, revision: 0 }),
    change('b', 'GONE', { at: at(400) }),
  ])
  return timeline
}

test('the log is folded into the phases of each object, gone ones and refused requests too', () => {
  const { lanes, hasBeginning, changes } = whole()
  expect([...lanes.values()].map(({ id, segments }) => [id, segments.map(text)])).toEqual([
    ['root', ['PENDING 0-…']],
    ['a', ['PENDING 0-100', 'PROGRESSING 100-300', 'SUCCEEDED 300-…']],
    ['b', ['PENDING 10-400']],
  ])
  expect(lanes.get('a')?.refused).toEqual([changes[5]])
  expect(lanes.get('b')?.gone).toBe(changes[6])
  expect(hasBeginning).toBe(true)
})

test('the duration of the last run is that of the phases in which something happens, where all of them are known', () => {
  const { lanes } = whole()
  const ms = (id: string, ...more: Parameters<typeof change>[]) => {
    const timeline = new Timeline('root', machines)
    timeline.append(more.map((each) => change(...each)))
    const lane = timeline.lanes.get(id)
    return lane && runMs(lane)
  }
  expect([...lanes.values()].map(runMs)).toEqual([null, 200, null])
  // It runs, or began before the known changes.
  expect(ms('a', ['a', 'PENDING', { from: null }], ['a', 'PROGRESSING', { at: at(5) }])).toBe(null)
  expect(ms('a', ['a', 'SUCCEEDED', { from: 'PROGRESSING', at: at(5) }])).toBe(null)
})

test('what is of another tree, of a machine beside the phase, or known already moves nothing', () => {
  const timeline = whole()
  const known = timeline.changes.length
  expect(timeline.append(timeline.changes)).toEqual([])
  expect(timeline.append([change('x', 'PENDING', { rootId: 'other' })])).toEqual([])
  timeline.append([
    change('c', 'OFFLINE', { kind: 'CLOUDLET', machine: 'cloudlet', from: null, at: at(500) }),
    change('c', 'UPDATING', { kind: 'CLOUDLET', machine: 'cloudletUpgrade', at: at(600) }),
  ])
  expect(timeline.lanes.get('c')?.segments.map(text)).toEqual(['OFFLINE 500-…'])
  // It is a moment of the tree all the same.
  expect(timeline.changes).toHaveLength(known + 2)
})

test('clocks that differ make no bar that ends before it begins', () => {
  const timeline = new Timeline('root', machines)
  timeline.append([
    change('a', 'PENDING', { from: null, at: at(100) }),
    change('a', 'PROGRESSING', { at: at(90) }),
    change('a', 'SUCCEEDED', { at: at(120) }),
  ])
  expect(timeline.lanes.get('a')?.segments.map(text)).toEqual([
    'PENDING 100-100',
    'PROGRESSING 100-120',
    'SUCCEEDED 120-…',
  ])
})

test('at each sequence it tells what was there, as a replay of the log does', () => {
  const timeline = whole()
  const replayed = new Map<string, string>()
  for (const { sequence, objectId, to, rejected } of timeline.changes) {
    if (!rejected && to === 'GONE') replayed.delete(objectId)
    else if (!rejected) replayed.set(objectId, to)
    const received = new Map([...timeline.at(sequence)].map(([id, { phase }]) => [id, phase]))
    expect(received).toEqual(replayed)
  }
  const [first] = timeline.changes
  expect(timeline.at((first?.sequence ?? 0) - 1).size).toBe(0)
  expect(timeline.indexAt((first?.sequence ?? 0) - 1)).toBe(-1)
  expect(timeline.indexAt(Number.MAX_SAFE_INTEGER)).toBe(timeline.changes.length - 1)
})

test('of a log that is read from its end, what was before is open to the left until it is known', () => {
  const { changes: all, lanes } = whole()
  const timeline = new Timeline('root', machines)
  timeline.append(all.slice(3))
  expect(timeline.lanes.get('a')?.segments.map(text).slice(0, 2)).toEqual(['PENDING ?-100', 'PROGRESSING 100-300'])
  expect(timeline.hasBeginning).toBe(false)
  // Pages may overlap.
  timeline.prepend(all.slice(0, 4))
  expect(timeline.changes).toEqual(all)
  expect(timeline.lanes).toEqual(lanes)
  expect(timeline.hasBeginning).toBe(true)
})

test('for a time before its creation a tree has its creation, where that is known', () => {
  const timeline = whole()
  const [first] = timeline.changes
  expect(creationAfter(timeline, (first?.sequence ?? 0) - 1)).toBe(first)
  expect(creationAfter(timeline, first?.sequence ?? 0)).toBeUndefined()
  const later = new Timeline('root', machines)
  later.append([change('root', 'SUCCEEDED')])
  expect(creationAfter(later, 0)).toBeUndefined()
})

test('before its deletion is before it began to be removed', () => {
  const timeline = new Timeline('root', machines)
  timeline.append([
    change('root', 'PENDING', { from: null }),
    change('root', 'SUCCEEDED'),
    change('root', 'INIT_DELETE'),
    change('root', 'DELETING'),
    change('root', 'GONE'),
  ])
  expect(lastWhole(timeline)).toBe((timeline.changes[2]?.sequence ?? 0) - 1)
  expect(lastWhole(new Timeline('root', machines))).toBe(null)
})

const below = (id: string, parent: string, more = {}) => row(id, { parent: { id: parent }, ...more })

test('rows are in the order of the tree; what is gone keeps its place, or is below the root', () => {
  const model = new TreeModel('root', machines)
  model.replace([row('root'), below('a', 'root'), below('x', 'a'), below('b', 'root')], [])
  const timeline = new Timeline('root', machines)
  timeline.append([
    change('root', 'PENDING', { from: null }),
    change('y', 'PENDING', { from: null }),
    change('lost', 'GONE'),
    change('x', 'GONE'),
  ])
  model.change(timeline.changes.filter(({ objectId }) => objectId === 'x'))
  const source = {
    rootId: 'root',
    nodes: model.nodes,
    parentOf: (id: string) => model.parentOf(id) ?? (id === 'y' ? 'a' : undefined),
  }
  expect(
    timelineRows(timeline, source).map(({ id, depth, isGone }) => `${id} ${depth}${isGone ? ' gone' : ''}`),
  ).toEqual(['root 0', 'a 1', 'x 2 gone', 'y 2 gone', 'b 1', 'lost 1 gone'])
  // Its changes are not among those that were read.
  expect(segmentsOf(undefined, model.nodes.get('b')).map(text)).toEqual(['PENDING 0-…'])
})

const segments = (...ends: readonly number[]): readonly Segment[] =>
  ends.map((to, i) => ({ phase: `P${i}`, from: T0 + (ends[i - 1] ?? 0), to: T0 + to, change: null }))
const drawn = (all: readonly Segment[], to: number, width = 100) =>
  piecesOf(all, { from: T0, to: T0 + to }, { width, now: T0 + to }).map(
    ({ left, width: wide, segments: of }) => `${left}+${wide} ${of.map(({ phase }) => phase).join(' ')}`,
  )

test('segments are drawn to scale; what is too short is seen all the same, or together', () => {
  expect(drawn(segments(500, 1_000), 1_000)).toEqual(['0+50 P0', '50+50 P1'])
  expect(drawn(segments(1, 1_000), 1_000)).toEqual(['0+4 P0', '4+96 P1'])
  expect(drawn(segments(1, 2, 3, 4, 1_000), 1_000)).toEqual(['0+4 P0', '4+4 P1 P2 P3', '8+92 P4'])
  // Nothing outside of what is in sight.
  expect(drawn(segments(500, 1_000, 2_000, 3_000), 1_500)).toHaveLength(3)
  const open: Segment = { phase: 'NOW', from: Number.NEGATIVE_INFINITY, to: null, change: null }
  expect(drawn([open], 1_000)).toEqual(['0+100 NOW'])
  // However many there are: few are drawn.
  expect(drawn(segments(...Array.from({ length: 5_000 }, (_, i) => i + 1)), 5_000).length).toBeLessThan(30)
})

/** A lane of an item whose first run had two attempts, and whose second one runs. */
function retried() {
  const timeline = new Timeline('root', machines)
  timeline.append([
    change('a', 'PENDING', { from: null, at: at(0) }),
    change('a', 'INIT', { at: at(100) }),
    change('a', 'PROGRESSING', { from: 'INIT', at: at(110) }),
    change('a', 'INIT', { from: 'PROGRESSING', at: at(200) }),
    change('a', 'PROGRESSING', { from: 'INIT', at: at(300) }),
    change('a', 'SUCCEEDED', { from: 'PROGRESSING', at: at(400) }),
    change('a', 'INIT', { from: 'SUCCEEDED', at: at(900) }),
  ])
  const lane = timeline.lanes.get('a')
  if (!lane) throw new Error('it has no lane')
  return lane
}

test('a bar ends where the work ends; attempts are apart, each with its result', () => {
  const lane = retried()
  const segments = drawnSegments('DEPLOY_ITEM', lane.segments)
  expect(segments.map((one) => `${text(one)} ${one.look}${one.isEnd ? ' end' : ''} ${one.attempt}`)).toEqual([
    'PENDING 0-100 WAITING 1',
    'INIT 100-110 ACTIVE 1',
    'PROGRESSING 110-200 FAILED 1',
    // It waits for the next attempt.
    'INIT 200-300 WAITING 2',
    'PROGRESSING 300-400 ACTIVE 2',
    'SUCCEEDED 400-900 DONE end null',
    'INIT 900-… ACTIVE null',
  ])
  const pieces = piecesOf(segments, { from: T0, to: T0 + 1_000 }, { width: 1_000, now: T0 + 1_000 })
  const [end, running] = pieces.slice(-2)
  expect(end).toMatchObject({ left: 400, width: END_PX })
  expect(running).toMatchObject({ left: 900, width: 100 })
  expect(lengthsBeside(pieces, 1_000).map(({ left, ms }) => [left, ms])).toEqual([[400 + END_PX, 300]])
  expect(lastSpan(lane)).toEqual({ from: T0 + 900, to: null })
  // No mark covers what begins soon after, and no duration.
  const soon = piecesOf(segments, { from: T0 + 350, to: T0 + 10_350 }, { width: 100, now: T0 + 10_350 })
  expect(soon.slice(-2)).toMatchObject([
    { left: 4, width: NARROWEST_PX },
    { left: 8, width: 92 },
  ])
  expect(lengthsBeside(soon, 100)).toEqual([])
})

test('a final phase that lasts is no bar, and a deletion ends a run', () => {
  const timeline = new Timeline('root', machines)
  timeline.append([
    change('a', 'SUCCEEDED', { from: 'PROGRESSING', at: at(100) }),
    change('a', 'INIT_DELETE', { from: 'SUCCEEDED', at: at(500) }),
    change('a', 'GONE', { from: 'INIT_DELETE', at: at(600) }),
  ])
  const lane = timeline.lanes.get('a')
  expect(lane && lastSpan(lane)).toEqual({ from: T0 + 500, to: T0 + 600 })
  const before = { from: T0 + 200, to: T0 + 400 }
  expect(piecesOf(drawnSegments('DEPLOY_ITEM', lane?.segments ?? []), before, { width: 100, now: T0 })).toEqual([])
})

test('a time of day stands alone only where its day is today', () => {
  const at = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString()
  expect(recentTime(at(0), clockTime)).toBe(clockTime(at(0)))
  expect(recentTime(at(2), clockTime)).toContain(String(new Date(at(2)).getDate()))
  expect(recentTime(at(2), clockTime)).toContain(clockTime(at(2)))
})

test('labels of the axis never overlap, and none is cut at the edge', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 50, max: 2_000 }),
      fc.double({ min: Math.log(20), max: Math.log(3e11), noNaN: true }),
      fc.integer({ min: 0, max: 86_400_000 * 400 }),
      (width, logarithm, offset) => {
        const from = T0 + offset
        const to = from + Math.exp(logarithm)
        const ticks = ticksOf({ from, to }, width)
        // A digit of the axis is 6.7 pixels wide.
        const ends = ticks.map((tick) => ({
          left: ((tick.at - from) / (to - from)) * width,
          wide: tick.text.length * 6.7 + 5,
        }))
        for (const [i, { left, wide }] of ends.entries()) {
          expect(left + wide).toBeLessThanOrEqual(ends[i + 1]?.left ?? (ticks[i]?.text ? width : left + wide))
        }
      },
    ),
  )
})

test('zooming keeps what is under the pointer where it is; it has limits', () => {
  expect(zoomed({ from: 0, to: 1_000 }, 0.5, 250)).toEqual({ from: 125, to: 625 })
  expect(zoomed({ from: 0, to: 1_000 }, 1e-9)).toMatchObject({ from: 490, to: 510 })
  expect(zoomed({ from: 0, to: 1e12 }, 1e9).to).toBeLessThan(1e13)
  expect(panned({ from: 0, to: 1_000 }, -0.25)).toEqual({ from: -250, to: 750 })
  const { from, to } = wholeWindow(5_000, 6_000)
  expect([from < 5_000, to > 6_000]).toEqual([true, true])
  expect(wholeWindow(5, 5).to).toBeGreaterThan(5)
})

test('a tree as it was is laid out anew only when other objects are in it', () => {
  const tree = new PastTree('root')
  tree.show([row('root'), below('b', 'root'), below('a', 'root')], [])
  const { structure, dependencies } = tree
  const b = tree.nodes.get('b')
  expect(tree.childrenOf('root')).toEqual(['a', 'b'])
  tree.show([row('root'), below('b', 'root'), below('a', 'root', { phase: 'FAILED' })], dependencies)
  expect([tree.structure, tree.nodes.get('b') === b, tree.nodes.get('a')?.phase]).toEqual([structure, true, 'FAILED'])
  tree.show([row('root'), below('b', 'root'), below('a', 'b')], dependencies)
  expect([tree.structure > structure, tree.parentOf('a')]).toEqual([true, 'b'])
})

test('a place in a tree is written into the address and read from it', () => {
  const graph = GRAPH_VIEW.all
  const place = {
    view: 'timeline',
    object: 'x',
    at: 42,
    last: 'day',
    since: '',
    runs: null,
    critical: true,
    graph,
  } as const
  expect(writePlace(place, 'root')).toBe('?view=timeline&critical=yes&object=x&at=42')
  expect(readPlace(writePlace(place, 'root'), 'root')).toEqual(place)
  expect(writePlace({ view: 'graph', object: 'root', at: null }, 'root')).toBe('')
  expect(readPlace('?view=x&at=-1&since=x&runs=1', 'root')).toEqual({
    ...{ view: 'graph', object: 'root', at: null, last: 'day', since: '', runs: null, critical: false, graph },
  })
  expect(readPlace('?at=0', 'root').at).toBe(0)
  const changes = {
    view: 'changes',
    object: 'root',
    at: null,
    last: 'week',
    since: '',
    runs: null,
    critical: false,
    graph,
  } as const
  expect(writePlace(changes, 'root')).toBe('?view=changes&last=week')
  expect(readPlace('?view=changes&last=week', 'root')).toEqual(changes)
  const between = { ...changes, last: 'day', since: '2026-11-21T20:00:00.000Z', runs: [3, 4] } as const
  expect(writePlace(between, 'root')).toBe('?view=changes&since=2026-11-21T20%3A00%3A00.000Z&runs=3,4')
  expect(readPlace(writePlace(between, 'root'), 'root')).toEqual(between)
})

test('the part of a tree that its graph shows is written into the address and read from it', () => {
  const graph = {
    ...{ name: 'a b', phases: ['FAILED', 'INIT'], failed: true, label: 'zone', closed: ['n1'] },
    open: ['n0', 'root~wéb.2c.', 'root~~1'],
  }
  const text = writePlace({ object: 'x', graph }, 'root')
  expect(text).toBe(
    '?object=x&name=a+b&phase=FAILED,INIT&failed=yes&by=zone&open=n0,root%7Ew%C3%A9b.2c.,root%7E%7E1&closed=n1',
  )
  expect(readPlace(text, 'root').graph).toEqual(graph)
  expect(readPlace('?open=<b>,n0,&phase=x', 'root').graph).toEqual({ ...GRAPH_VIEW.all, open: ['n0'] })
})

test('the address has the boxes that differ from the default alone', () => {
  const { all } = GRAPH_VIEW
  const open = withFold(all, { id: 'a', byDefault: 'closed' }, 'open', false)
  expect(open).toEqual({ ...all, open: ['a'] })
  expect(withFold(open, { id: 'a', byDefault: 'closed' }, 'closed', false)).toEqual(all)
  expect(withFold(all, { id: 'a', byDefault: 'open' }, 'closed', false)).toEqual({ ...all, closed: ['a'] })
  // It is open because of the selected object, which does not open it again.
  expect(withFold(all, { id: 'a', byDefault: 'closed' }, 'closed', true)).toEqual({ ...all, closed: ['a'] })
  expect(withOpen(open, ['a', 'b'])).toEqual({ ...all, open: ['a', 'b'] })
})

test('a way through a machine is numbered; the machine beside it has its own', () => {
  const [machine, secondary] = ['cloudlet', 'cloudletUpgrade'].map(
    (name) => machines.all.find((each) => each.name === name) as Machine,
  ) as [Machine, Machine]
  const own = { kind: 'CLOUDLET', machine: 'cloudlet' } as const
  const changes = [
    change('c', 'OFFLINE', { ...own, from: null }),
    change('c', 'READY', { ...own, from: 'OFFLINE' }),
    change('c', 'UPDATING', { kind: 'CLOUDLET', machine: 'cloudletUpgrade', from: 'READY' }),
    change('c', 'OFFLINE', { ...own, from: 'READY' }),
    change('c', 'GONE', { ...own, from: 'OFFLINE', rejected: true }),
    change('c', 'READY', { ...own, from: 'OFFLINE' }),
  ]
  const way = transitionPath(machine, changes)
  expect([...way.taken]).toEqual([
    [START, [1]],
    ['OFFLINE READY', [2, 4]],
    ['READY OFFLINE', [3]],
  ])
  expect([way.phase, way.refused.length]).toEqual(['READY', 1])
  expect(transitionPath(secondary, changes).steps.map(({ wayId }) => wayId)).toEqual(['READY UPDATING'])
  expect([numbersText([2, 4]), numbersText([1, 2, 3, 4])]).toEqual(['2, 4', '1, 2, 3 …'])
})

test('what happened is told in a line', () => {
  const received = change('db', 'SUCCEEDED', { name: 'db', actor: 'DEPLOYER', by: 'helm', reason: 'deployed' })
  expect(sentenceOf(received)).toBe('db PENDING → SUCCEEDED by DEPLOYER helm (deployed)')
  expect(sentenceOf({ ...received, rejected: true, from: null, message: 'No.' })).toBe(
    'refused: db SUCCEEDED by DEPLOYER helm (No.)',
  )
  expect([12.4, 1_250, 61_000].map(exactly)).toEqual(['12 ms', '1.3 s', '1m 1s'])
})
