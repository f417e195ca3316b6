import type { Machine } from './machines.ts'

/** The start of every machine. */
export const START = 'start'
const CHARACTER_PX = 8.2
const HEIGHT_PX = 30

export interface Box {
  readonly id: string
  readonly width: number
  readonly height: number
}
export interface Arrow {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly weight: number
  /** The actors of the transition. */
  readonly actors: readonly string[]
  /** Leads out of a final phase: a user has requested another job. */
  readonly again: boolean
}

/** Boxes and arrows of a machine: one arrow for each pair of phases, with all its actors. */
export function diagramOf({ initial, final, phases, transitions }: Machine): {
  readonly nodes: readonly Box[]
  readonly edges: readonly Arrow[]
} {
  const arrows = new Map<string, { from: string; to: string; actors: Set<string> }>()
  for (const { from, actor, to } of transitions) {
    const id = `${from} ${to}`
    const arrow = arrows.get(id) ?? { from, to, actors: new Set() }
    arrow.actors.add(actor)
    arrows.set(id, arrow)
  }
  const shown = new Set([...phases, ...transitions.map(({ to }) => to)])
  return {
    nodes: [
      { id: START, width: 12, height: 12 },
      ...[...shown].map((id) => ({ id, width: (id.length + 4) * CHARACTER_PX, height: HEIGHT_PX })),
    ],
    edges: [
      { id: START, from: START, to: initial, actors: [], again: false, weight: 4 },
      ...[...arrows].map(([id, { from, to, actors }]) => ({
        id,
        from,
        to,
        actors: [...actors],
        again: final.includes(from),
        // The path to success is drawn straight.
        weight: final.includes(from) ? 0 : final.includes(to) ? 1 : 6,
      })),
    ],
  }
}
