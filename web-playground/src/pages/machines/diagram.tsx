import { CLASS_SYMBOLS } from 'phaseline/client-model'
import { useMemo, useState } from 'react'
import { type Arrow, diagramOf, START } from '../../model/diagram.ts'
import { classOf } from '../../model/known.ts'
import type { Machine } from '../../model/machines.ts'
import { numbersText, type WayTaken } from '../../model/way.ts'
import { type Layered, layered, type Point } from '../../ui/layered.ts'

const PAD = 14

/** One object in the diagram: its path, its phase, and the phases to which its viewer may move it. */
interface Taken extends Pick<WayTaken, 'taken' | 'phase'> {
  readonly next: readonly string[]
}
interface Props {
  readonly machine: Machine
  readonly way?: Taken
}

/** A machine as a diagram. The arrows of the phase under the pointer stand out, or those that an object took. */
export function Diagram({ machine, way }: Props) {
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
        {way
          ? 'Strong: the ways that it took, numbered in their order. Filled: where it is. Dashed: where you can move it.'
          : 'Point at a phase to see its transitions. Dotted: out of a final phase, on a new request.'}
      </p>
      <svg
        role="img"
        aria-label={`State diagram of ${machine.name}; the ${way ? 'lists beside it say' : 'table below says'} the same`}
        viewBox={`${x - PAD} ${y - PAD} ${width + 2 * PAD} ${height + 2 * PAD}`}
        width={width + 2 * PAD}
        height={height + 2 * PAD}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0L8 4L0 8z" />
          </marker>
        </defs>
        {edges.map((each) => (
          <path
            key={each.id}
            className={lookOf(each, pointed, way)}
            data-way={each.id}
            d={curve(layout.routes.get(each.id) ?? [])}
            markerEnd="url(#arrow)"
          >
            <title>{each.actors.join(', ')}</title>
          </path>
        ))}
        {nodes.map((box) => (
          <State
            key={box.id}
            box={{ ...box, ...(layout.places.get(box.id) ?? { x: 0, y: 0 }) }}
            more={`${machine.final.includes(box.id) ? ' final' : ''}${way ? standing(box.id, way) : ''}`}
            onPoint={setPointed}
          />
        ))}
        {way && <Numbers taken={way.taken} routes={layout.routes} />}
      </svg>
    </section>
  )
}

function lookOf({ id, from, to, again }: Arrow, pointed: string | null, way: Taken | undefined): string {
  const base = `way is-${classOf(to).toLowerCase()}${again ? ' again' : ''}`
  if (pointed !== null) return from === pointed || to === pointed ? `${base} near` : `${base} far`
  if (!way) return base
  if (way.taken.has(id)) return `${base} near taken`
  return from === way.phase && way.next.includes(to) ? `${base} next` : `${base} far`
}

const standing = (phase: string, { phase: now, next, taken }: Taken): string => {
  if (phase === now) return ' now'
  if (next.includes(phase)) return ' next'
  return [...taken.keys()].some((id) => id.split(' ').includes(phase)) ? ' was' : ' never'
}

/** The numbers of an object's steps, in the middle of their arrows. */
function Numbers({ taken, routes }: Pick<Taken, 'taken'> & Pick<Layered, 'routes'>) {
  return [...taken].flatMap(([id, numbers]) => {
    const route = routes.get(id) ?? []
    const at = route[Math.floor(route.length / 2)]
    if (!at) return []
    const label = numbersText(numbers)
    const width = 10 + label.length * 7
    return (
      <g key={id} className="way-label" data-numbers={numbers.join(' ')}>
        <rect x={at.x - width / 2} y={at.y - 9} width={width} height={18} rx={9} />
        <text x={at.x} y={at.y} dominantBaseline="central" textAnchor="middle">
          {label}
        </text>
      </g>
    )
  })
}

interface StateProps {
  readonly box: { readonly id: string; readonly width: number; readonly height: number } & Point
  readonly more: string
  readonly onPoint: (phase: string | null) => void
}
function State({ box: { id, x, y, width, height }, more, onPoint }: StateProps) {
  if (id === START) return <circle className="start" cx={x + width / 2} cy={y + height / 2} r={6} />
  const look = classOf(id)
  return (
    <g
      className={`state is-${look.toLowerCase()}${more}`}
      data-state={id}
      onPointerEnter={() => onPoint(id)}
      onPointerLeave={() => onPoint(null)}
    >
      <rect x={x} y={y} width={width} height={height} rx={6} />
      <text x={x + width / 2} y={y + height / 2} dominantBaseline="central" textAnchor="middle">
        {id === 'GONE' ? '∅' : CLASS_SYMBOLS[look]} {id}
      </text>
    </g>
  )
}

/** The straight end of a line: the arrow points in its direction. */
const STRAIGHT = 9

/** A path through the points, with round corners. */
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
