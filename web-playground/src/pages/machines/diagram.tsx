import { useMemo, useState } from 'react'
import { diagramOf, START, type Way } from '../../model/diagram.ts'
import type { Machine } from '../../model/machines.ts'
import { classOf, SYMBOLS } from '../../model/phases.ts'
import { layered, type Point } from '../../ui/layered.ts'

const PAD = 14

/** A machine as a picture; the ways of the phase that is pointed at stand out. */
export function Diagram({ machine }: { readonly machine: Machine }) {
  const [pointed, setPointed] = useState<string | null>(null)
  const { nodes, edges, layout } = useMemo(() => {
    const diagram = diagramOf(machine)
    return { ...diagram, layout: layered(diagram.nodes, diagram.edges, 'TB') }
  }, [machine])
  const { x, y, width, height } = layout.box
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="diagram card" tabIndex={0} aria-label="Diagram">
      <p className="quiet">
        Point at a phase to see its ways. Dotted: out of a final phase, when something is asked for again.
      </p>
      <svg
        role="img"
        aria-label={`State diagram of ${machine.name}; the table below says the same`}
        viewBox={`${x - PAD} ${y - PAD} ${width + 2 * PAD} ${height + 2 * PAD}`}
        width={width + 2 * PAD}
        height={height + 2 * PAD}
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0L8 4L0 8z" />
          </marker>
        </defs>
        {edges.map((way) => (
          <path
            key={way.id}
            className={lookOf(way, pointed)}
            d={curve(layout.routes.get(way.id) ?? [])}
            markerEnd="url(#arrow)"
          >
            <title>{way.actors.join(', ')}</title>
          </path>
        ))}
        {nodes.map((box) => (
          <State
            key={box.id}
            box={{ ...box, ...(layout.places.get(box.id) ?? { x: 0, y: 0 }) }}
            final={machine.final.includes(box.id)}
            onPoint={setPointed}
          />
        ))}
      </svg>
    </section>
  )
}

function lookOf({ from, to, again }: Way, pointed: string | null): string {
  const base = `way is-${to === 'GONE' ? 'removing' : classOf(to)}${again ? ' again' : ''}`
  if (pointed === null) return base
  return from === pointed || to === pointed ? `${base} near` : `${base} far`
}

interface StateProps {
  readonly box: { readonly id: string; readonly width: number; readonly height: number } & Point
  readonly final: boolean
  readonly onPoint: (phase: string | null) => void
}
function State({ box: { id, x, y, width, height }, final, onPoint }: StateProps) {
  if (id === START) return <circle className="start" cx={x + width / 2} cy={y + height / 2} r={6} />
  const look = id === 'GONE' ? 'removing' : classOf(id)
  return (
    <g
      className={`state is-${look}${final ? ' final' : ''}`}
      onPointerEnter={() => onPoint(id)}
      onPointerLeave={() => onPoint(null)}
    >
      <rect x={x} y={y} width={width} height={height} rx={6} />
      <text x={x + width / 2} y={y + height / 2} dominantBaseline="central" textAnchor="middle">
        {id === 'GONE' ? '∅' : SYMBOLS[look]} {id}
      </text>
    </g>
  )
}

/** So much of a way is straight before its arrow: the arrow points where the line does. */
const STRAIGHT = 9

/** Through the points, with round corners. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points
  const last = rest.at(-1)
  if (!first || !last) return ''
  const before = rest.at(-2) ?? first
  const distance = Math.hypot(last.x - before.x, last.y - before.y) || 1
  const end = towards(last, before, Math.min(1, STRAIGHT / distance))
  const turns = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1] ?? last
    return `Q${text(point)} ${text(i === rest.length - 2 ? end : towards(point, next, 0.5))}`
  })
  return `M${text(first)} ${turns.join(' ')} L${text(last)}`
}

const text = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`
const towards = (from: Point, to: Point, part: number): Point => ({
  x: from.x + (to.x - from.x) * part,
  y: from.y + (to.y - from.y) * part,
})
