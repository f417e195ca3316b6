import type { Machine } from './machines.ts'

/** Where every machine begins. */
export const START = 'start'
const CHARACTER_PX = 8.2
const HEIGHT_PX = 30

export interface Box {
  readonly id: string
  readonly width: number
  readonly height: number
}
export interface Way {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly weight: number
  /** Who may go it. */
  readonly actors: readonly string[]
  /** Out of a final phase: somebody has asked for something again. */
  readonly again: boolean
}

/** Boxes and ways of a machine: one way for each pair of phases, whoever goes it. */
export function diagramOf({ initial, final, phases, transitions }: Machine): {
  readonly nodes: readonly Box[]
  readonly edges: readonly Way[]
} {
  const ways = new Map<string, { from: string; to: string; actors: Set<string> }>()
  for (const { from, actor, to } of transitions) {
    const id = `${from} ${to}`
    const way = ways.get(id) ?? { from, to, actors: new Set() }
    way.actors.add(actor)
    ways.set(id, way)
  }
  const shown = new Set([...phases, ...transitions.map(({ to }) => to)])
  return {
    nodes: [
      { id: START, width: 12, height: 12 },
      ...[...shown].map((id) => ({ id, width: (id.length + 4) * CHARACTER_PX, height: HEIGHT_PX })),
    ],
    edges: [
      { id: START, from: START, to: initial, actors: [], again: false, weight: 4 },
      ...[...ways].map(([id, { from, to, actors }]) => ({
        id,
        from,
        to,
        actors: [...actors],
        again: final.includes(from),
        // The way to success is the one that should be straight.
        weight: final.includes(from) ? 0 : final.includes(to) ? 1 : 6,
      })),
    ],
  }
}
