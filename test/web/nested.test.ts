import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { NestedEdge } from '../../web-playground/src/ui/area.ts'
import { answerLayout, type LayoutPort, type LayoutRequest, Layouts } from '../../web-playground/src/ui/layout.ts'
import { type Box, type NestedNode, nested, pathOf } from '../../web-playground/src/ui/nested.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'

const node = (id: string, parentId: string | null, width = 200, height = 56): NestedNode => ({
  ...{ id, parentId, width, height },
})
const edge = (from: string, to: string): NestedEdge => ({ id: `${from}:${to}`, from, to })

const right = ({ x, width }: Box): number => x + width
const bottom = ({ y, height }: Box): number => y + height
const overlap = (a: Box, b: Box): boolean => a.x < right(b) && b.x < right(a) && a.y < bottom(b) && b.y < bottom(a)
const isIn = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x && inner.y >= outer.y && right(inner) <= right(outer) && bottom(inner) <= bottom(outer)

/** Containers in containers, with items in an order that has no cycle. */
function random(seed: number) {
  const next = mulberry32(seed)
  const upTo = (most: number): number => Math.floor(next() * most)
  const nodes: NestedNode[] = [node('root', null)]
  const edges: NestedEdge[] = []
  const fill = (id: string, depth: number): void => {
    // Some are many, with few edges: layers of several columns.
    const isWide = next() < 0.15
    const children = Array.from({ length: 1 + upTo(isWide ? 40 : 6) }, (_, i) => `${id}.${i}`)
    for (const child of children) nodes.push(node(child, id, 150 + upTo(200), 56 + 20 * upTo(2)))
    for (const [i, from] of children.entries())
      for (const to of children.slice(i + 1)) if (next() < (isWide ? 0.06 : 0.35)) edges.push(edge(from, to))
    for (const child of children) if (depth < 3 && next() < (isWide ? 0.05 : 0.4)) fill(child, depth + 1)
  }
  fill('root', 0)
  return { nodes, edges }
}

test('each node is in its container and below its head, beside its siblings, whatever the tree', () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const { nodes, edges } = random(seed)
    const { boxes, box } = nested(nodes, edges)
    const of = (id: string): Box => {
      const found = boxes.get(id)
      if (!found) throw new Error(`${id} has no place`)
      return found
    }
    for (const { id, parentId, height } of nodes) {
      expect(isIn(of(id), { x: 0, y: 0, ...box, contains: true, depth: 0 })).toBe(true)
      for (const child of nodes.filter((one) => one.parentId === id)) {
        expect(isIn(of(child.id), of(id))).toBe(true)
        expect(of(child.id).y).toBeGreaterThanOrEqual(of(id).y + height)
        expect(of(child.id).depth).toBe(of(id).depth + 1)
      }
      const siblings = nodes.filter((one) => one.parentId === parentId && one.id !== id)
      expect(siblings.filter((one) => overlap(of(one.id), of(id)))).toEqual([])
    }
  }
})

test('no line is behind a box, and each leads from the right of one to the left of the other', () => {
  let wrapped = 0
  for (let seed = 1; seed <= 80; seed += 1) {
    const { nodes, edges } = random(seed)
    const { boxes, routes } = nested(nodes, edges)
    for (const { id, from, to } of edges) {
      const route = routes.get(id) ?? []
      const parent = nodes.find((one) => one.id === from)?.parentId
      const siblings = nodes.filter((one) => one.parentId === parent).flatMap(({ id: one }) => boxes.get(one) ?? [])
      expect(route[0]?.x).toBeCloseTo(right(boxes.get(from) as Box))
      expect(route.at(-1)?.x).toBeCloseTo(boxes.get(to)?.x ?? Number.NaN)
      for (const [i, b] of route.entries()) {
        const a = route[i - 1]
        if (!a) continue
        if (b.x < a.x) {
          wrapped += 1
          expect(b.y).toBe(a.y)
        }
        // A curve stays within the corners of its step.
        const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
        const [width, height] = [Math.abs(b.x - a.x), Math.abs(b.y - a.y)]
        const inset = { x: width > 0 ? 0.1 : 0, y: height > 0 ? 0.1 : 0 }
        const step = {
          ...{ x: x + inset.x, y: y + inset.y, width: width - 2 * inset.x, height: height - 2 * inset.y },
          ...{ contains: false, depth: 0 },
        }
        expect([seed, id, siblings.filter((box) => overlap(step, box))]).toEqual([seed, id, []])
      }
    }
  }
  expect(wrapped).toBeGreaterThan(0)
})

const root = node('root', null)
const of = (boxes: ReadonlyMap<string, Box>, id: string): Box => boxes.get(id) ?? expect.fail(`${id} has no place`)

test('siblings are in the order that they are given in: as on a page, and from top to bottom of a layer', () => {
  const ids = Array.from({ length: 30 }, (_, i) => `i${i}`)
  const edges = [edge('i3', 'i20'), edge('i3', 'i7'), edge('i1', 'i20')]
  const { boxes } = nested([root, ...ids.map((id) => node(id, 'root'))], edges)
  const free = ids.filter((id) => !['i1', 'i3', 'i7', 'i20'].includes(id)).map((id) => of(boxes, id))
  for (const [i, b] of free.entries()) {
    const a = free[i - 1]
    if (a) expect(b.y > a.y || (b.y === a.y && b.x > a.x)).toBe(true)
  }
  expect(of(boxes, 'i1').y).toBeLessThan(of(boxes, 'i3').y)
  expect(of(boxes, 'i7').y).toBeLessThan(of(boxes, 'i20').y)
})

test('many that wait for one are in several columns', () => {
  const ids = Array.from({ length: 48 }, (_, i) => `i${i}`)
  const { box } = nested(
    [root, node('first', 'root'), ...ids.map((id) => node(id, 'root'))],
    ids.map((id) => edge('first', id)),
  )
  expect(box.width / box.height).toBeGreaterThan(0.8)
  expect(box.width / box.height).toBeLessThan(3.2)
})

test('a long chain is several lines, as of a text', () => {
  const ids = Array.from({ length: 24 }, (_, i) => `i${i}`)
  const edges = ids.slice(1).map((id, i) => edge(`i${i}`, id))
  const { box, boxes } = nested([root, ...ids.map((id) => node(id, 'root'))], edges)
  expect(box.width / box.height).toBeLessThan(4)
  for (const [i, id] of ids.entries()) {
    const [a, b] = [boxes.get(`i${i - 1}`), of(boxes, id)]
    if (a) expect(b.x > a.x || b.y > bottom(a)).toBe(true)
  }
})

test('small ones beside a large one are below each other, and leave no hole', () => {
  const inside = Array.from({ length: 12 }, (_, i) => node(`b${i}`, 'large'))
  const others = Array.from({ length: 6 }, (_, i) => node(`s${i}`, 'root'))
  const { boxes } = nested([root, node('large', 'root'), ...inside, ...others], [])
  const [large, first, last] = [of(boxes, 'large'), of(boxes, 's0'), of(boxes, 's5')]
  expect(first.x).toBeGreaterThan(right(large))
  expect(bottom(last)).toBeLessThanOrEqual(bottom(large))
  expect(last.y).toBeGreaterThan(first.y)
})

test('the newest layout wins, and one that fails says so', async () => {
  const { port1, port2 } = new MessageChannel()
  const requests: LayoutRequest[] = []
  port2.on('message', (request: LayoutRequest) => requests.push(request))
  const layouts = new Layouts(port1 as unknown as LayoutPort)
  port1.start()
  const ends: string[] = []
  const end = (name: string) => ({
    laid: ({ boxes }: ReturnType<typeof nested>) => void ends.push(`${name} ${[...boxes.keys()]}`),
    failed: (message: string) => void ends.push(`${name} failed: ${message}`),
  })
  const layout = (id: string) => ({ nodes: [node(id, null)], edges: [], aspect: 1.6 })
  layouts.request(layout('a'), end('first'))
  layouts.request(layout('b'), end('second'))
  const answers = async (many: number) => {
    while (requests.length < many) await setImmediate()
    for (const request of requests.splice(0)) port2.postMessage(answerLayout(request))
  }
  await answers(2)
  while (ends.length < 1) await setImmediate()
  layouts.request({ ...layout('c'), nodes: [node('c', null, Number.NaN), null as unknown as NestedNode] }, end('third'))
  await answers(1)
  while (ends.length < 2) await setImmediate()
  expect(ends).toEqual(['second b', expect.stringContaining('third failed: TypeError')])
  port1.close()
})

test('a worker that is lost before the first layout is requested fails it', () => {
  const lost: (() => void)[] = []
  const layouts = new Layouts({
    postMessage: () => {},
    addEventListener: (type, listener) => void (type === 'error' && lost.push(() => listener(new Event(type)))),
  })
  for (const lose of lost) lose()
  const failed: string[] = []
  layouts.request({ nodes: [], edges: [], aspect: 1 }, { laid: () => {}, failed: (why) => void failed.push(why) })
  expect(failed).toEqual(['The part of the page that places them cannot be loaded.'])
})

test('a path is level at both ends of a step', () => {
  const route = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 30, y: 20 },
    { x: 40, y: 20 },
  ]
  expect(pathOf(route)).toBe('M0,0H10C20,0 20,20 30,20H40')
  expect(
    pathOf([
      { x: 5, y: 0 },
      { x: 5, y: 8 },
      { x: 0, y: 8 },
    ]),
  ).toBe('M5,0V8H0')
  expect(pathOf([])).toBe('')
})
