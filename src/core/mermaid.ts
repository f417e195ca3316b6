import type { Machine } from './machine.ts'

/** A machine as a `stateDiagram-v2` text: one arrow from phase to phase, labelled with every actor that may take it. */
export function mermaid({ initial, final, transitions }: Machine): string {
  const actors = new Map<string, Set<string>>()
  for (const { from, actor, to } of transitions) {
    const arrow = `${from} --> ${to === 'GONE' ? END : to}`
    actors.set(arrow, (actors.get(arrow) ?? new Set()).add(actor))
  }
  return [
    'stateDiagram-v2',
    `  ${START} --> ${initial}`,
    ...[...actors].map(([arrow, by]) => `  ${arrow}: ${[...by].join(', ')}`),
    ...final.map((phase) => `  ${phase} --> ${END}`),
    '',
  ].join('\n')
}

// Mermaid writes start and end alike; the side of the arrow distinguishes them.
const START = '[*]'
const END = '[*]'
