import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cellAt,
  cellByKey,
  cellOf,
  cornerOf,
  heatCells,
  heatRoom,
  membersOf,
  worstRanks,
} from '../../web-playground/src/model/heat-map.ts'

/** The cells of the heat map of a group: their places, their members and their colours. */

test('each object has a cell of its own while they have room, in rows', () => {
  const cells = heatCells(10, { width: 24, height: 18 }, 4)
  expect(cells).toEqual({ size: 10, perCell: 1, count: 10, columns: 4, pitch: 6 })
  expect(cornerOf(cells, 5)).toEqual({ x: 6, y: 6 })
  expect(cellAt(cells, 11, 11)).toBe(5)
  // Right of the last column, and behind the last cell.
  expect(cellAt(cells, 25, 0)).toBeUndefined()
  expect(cellAt(cells, 13, 13)).toBeUndefined()
})

test('cells are smaller before objects share one, and the worst of those that do gives the colour', () => {
  expect(heatCells(24, { width: 24, height: 16 }, 4)).toMatchObject({ perCell: 1, pitch: 4 })
  const cells = heatCells(50, { width: 24, height: 16 }, 4)
  expect(cells).toMatchObject({ perCell: 3, count: 17, pitch: 4 })
  const ranks = worstRanks(cells, (member) => (member === 49 ? 0 : member === 4 ? 2 : 6))
  expect([...ranks]).toEqual([6, 2, ...Array.from({ length: 14 }, () => 6), 0])
})

test('from afar cells are larger, so that one failed object of twenty thousand is seen', () => {
  const room = heatRoom(20_000, 140, 320)
  expect(room).toEqual({ width: 320, height: 112 })
  const [near, far] = [4, 10].map((least) => heatCells(20_000, room ?? { width: 0, height: 0 }, least))
  expect(near).toMatchObject({ perCell: 9, pitch: 4 })
  expect(far).toMatchObject({ perCell: 57, pitch: 10 })
  for (const cells of [near, far])
    expect(
      cells && [...worstRanks(cells, (member) => (member === 12_345 ? 0 : 6))].filter((rank) => rank === 0),
    ).toEqual([0])
})

test('few objects have no heat map, and many a room for all of them', () => {
  expect(heatRoom(11, 140, 320)).toBeNull()
  expect(heatRoom(12, 140, 320)).toEqual({ width: 140, height: 6 })
  const room = heatRoom(417, 140, 320)
  expect(room && heatCells(417, room, 4)).toMatchObject({ perCell: 1, pitch: 6 })
})

test('keys lead from cell to cell, and not beyond the first and the last', () => {
  const cells = heatCells(10, { width: 24, height: 18 }, 4)
  const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'Tab']
  expect(keys.map((key) => cellByKey(cells, 5, key))).toEqual([4, 6, 1, 9, 0, 9, undefined])
  expect(['ArrowLeft', 'ArrowUp'].map((key) => cellByKey(cells, 0, key))).toEqual([0, 0])
  expect(cellByKey(cells, 8, 'ArrowDown')).toBe(9)
})

test('each object is in exactly one cell, each cell is in the room and found at its place, and shows its worst object', () => {
  const rooms = fc.record({ width: fc.integer({ min: 60, max: 400 }), height: fc.integer({ min: 60, max: 200 }) })
  const sizes = fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 20_000 }))
  fc.assert(
    fc.property(sizes, rooms, fc.integer({ min: 2, max: 60 }), fc.integer({ min: 0 }), (size, room, least, seed) => {
      const cells = heatCells(size, room, least)
      const rankOf = (member: number): number => ((member + 1) * (seed % 9_973)) % 8
      const ranks = worstRanks(cells, rankOf)
      const seen: number[] = []
      const wrong = Array.from({ length: cells.count }, (_, cell) => cell).filter((cell) => {
        const [from, to] = membersOf(cells, cell)
        const members = Array.from({ length: to - from }, (_, i) => from + i)
        seen.push(...members)
        const { x, y } = cornerOf(cells, cell)
        const edge = cells.pitch - 0.01
        return !(
          members.every((member) => cellOf(cells, member) === cell) &&
          ranks[cell] === Math.min(...members.map(rankOf)) &&
          x + cells.pitch <= room.width &&
          y + cells.pitch <= room.height &&
          [x, x + edge].every((at) => [y, y + edge].every((down) => cellAt(cells, at, down) === cell))
        )
      })
      expect(wrong).toEqual([])
      expect(seen).toEqual(Array.from({ length: size }, (_, i) => i))
      expect(cells.pitch).toBeGreaterThanOrEqual(least)
    }),
    { numRuns: 60 },
  )
})
