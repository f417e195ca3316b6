import { expect, test } from 'vitest'
import { type Box, type NestedEdge, type NestedNode, nested, pathOf } from '../../web-playground/src/ui/nested.ts'
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
    const children = Array.from({ length: 1 + upTo(6) }, (_, i) => `${id}.${i}`)
    for (const child of children) nodes.push(node(child, id, 150 + upTo(200), 56 + 20 * upTo(2)))
    for (const [i, from] of children.entries())
      for (const to of children.slice(i + 1)) if (next() < 0.35) edges.push(edge(from, to))
    for (const child of children) if (depth < 3 && next() < 0.4) fill(child, depth + 1)
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

test('no line is behind a box, and each leads from left to right', () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const { nodes, edges } = random(seed)
    const { boxes, routes } = nested(nodes, edges)
    for (const { id, from } of edges) {
      const route = routes.get(id) ?? []
      const parent = nodes.find((one) => one.id === from)?.parentId
      const siblings = nodes.filter((one) => one.parentId === parent).flatMap(({ id: one }) => boxes.get(one) ?? [])
      expect(route.length).toBeGreaterThanOrEqual(4)
      for (const [i, b] of route.entries()) {
        const a = route[i - 1]
        if (!a) continue
        expect(b.x).toBeGreaterThanOrEqual(a.x - 0.01)
        // A curve stays within the corners of its step.
        const step = {
          x: a.x + 0.1,
          y: Math.min(a.y, b.y),
          width: b.x - a.x - 0.2,
          height: Math.abs(b.y - a.y),
          contains: false,
          depth: 0,
        }
        if (step.width > 0) expect([seed, id, siblings.filter((box) => overlap(step, box))]).toEqual([seed, id, []])
      }
    }
  }
})

test('what has no order is side by side, as wide as the view rather than in one row', () => {
  const nodes = [node('root', null), ...Array.from({ length: 16 }, (_, i) => node(`i${i}`, 'root'))]
  const { box, routes } = nested(nodes, [])
  expect(routes.size).toBe(0)
  expect(box.width / box.height).toBeGreaterThan(1)
  expect(box.width / box.height).toBeLessThan(4)
})

test('a path is level at both ends of a step', () => {
  const route = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 30, y: 20 },
    { x: 40, y: 20 },
  ]
  expect(pathOf(route)).toBe('M0,0H10C20,0 20,20 30,20H40')
  expect(pathOf([])).toBe('')
})
