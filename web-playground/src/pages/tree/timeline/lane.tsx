import { CLASS_SYMBOLS } from 'phaseline/client-model'
import { classOf, humanKind } from '../../../model/known.ts'
import { exactly } from '../../../model/moment.ts'
import type { Row } from '../../../model/object.ts'
import { LENGTH_PX, lengthsBeside, type Piece, piecesOf, type TimeWindow } from '../../../model/time-window.ts'
import type { Lane } from '../../../model/timeline.ts'
import { segmentsOf, type TimelineRow } from '../../../model/timeline-rows.ts'
import { type DrawnSegment, drawnSegments, lastSpan } from '../../../model/timeline-runs.ts'
import { lengthOf, lookOf, type TipText, tellPiece, tellRefused } from './describe.ts'

/** The smallest width with room for the symbol, and for the phase's name. */
const SYMBOL_PX = 16
const NAME_PX = 90
/** The part of the row's width by which one level is indented, up to the room that the name needs. */
const INDENT_PX = 14

/** -1: the name; then the drawn pieces, from left to right. */
export interface CellPlace {
  readonly id: string
  readonly cell: number
}
export interface LaneProps {
  readonly row: TimelineRow
  readonly index: number
  readonly start: number
  readonly lane: Lane | undefined
  /** The present row; undefined: the object is gone. */
  readonly live: Row | undefined
  /** The row at the shown moment; undefined: the object does not exist then. */
  readonly phase: string | undefined
  readonly window: TimeWindow
  readonly width: number
  readonly now: number
  readonly isSelected: boolean
  /** Milliseconds of the critical path that it accounts for; undefined: it is not on it, or none is shown. */
  readonly criticalMs: number | undefined
  /** The cell that has the focus, when it is in this row. */
  readonly cell: number | null
  readonly onSelect: (id: string) => void
  readonly onPlace: (place: CellPlace) => void
  readonly onTell: (text: TipText | null, element: Element) => void
}

/** One object: its name, and its phases over time. */
export function LaneRow(props: LaneProps) {
  const { row, index, start, lane, live, window, width, now, isSelected, criticalMs } = props
  const pieces = piecesOf(drawnSegments(row.kind, segmentsOf(lane, live)), window, { width, now })
  const lengths = lengthsBeside(pieces, width)
  const named = withLength(pieces, new Set(lengths.map(({ end }) => end)))
  const criticalFrom = criticalMs !== undefined && lane ? lastSpan(lane)?.from : undefined
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table's rows cannot be placed where a virtual list wants them
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons are
    <div
      className={`lane${isSelected ? ' selected' : ''}${row.isGone ? ' gone' : ''}${criticalMs === undefined ? '' : ' critical'}`}
      role="row"
      aria-level={row.depth + 1}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-lane={row.id}
      style={{ transform: `translateY(${start}px)` }}
    >
      <Name {...props} />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div className="lane-chart" role="gridcell">
        {pieces.map((piece, i) => (
          <PieceButton
            key={piece.segments[0]?.change?.sequence ?? 'before'}
            {...props}
            piece={piece}
            cell={i}
            isNamed={named.has(piece)}
            isCritical={criticalFrom !== undefined && (piece.segments.at(-1)?.from ?? 0) >= criticalFrom}
          />
        ))}
        {lengths.map(({ left, ms }) => (
          <span key={left} className="lane-length" style={{ left }} aria-hidden="true">
            {exactly(ms)}
          </span>
        ))}
        <Marks {...props} from={pieces.length} />
      </div>
    </div>
  )
}

/** The pieces that have the duration of their run beside it, and whose run has no other attempt. */
function withLength(
  pieces: readonly Piece<DrawnSegment>[],
  named: ReadonlySet<DrawnSegment>,
): ReadonlySet<Piece<DrawnSegment>> {
  let end: DrawnSegment | undefined
  return new Set(
    pieces.toReversed().filter(({ segments }) => {
      end = segments.find(({ isEnd }) => isEnd) ?? end
      return end !== undefined && named.has(end) && segments[0]?.attempt === null
    }),
  )
}

function Name({ row, phase, cell, isSelected, criticalMs, onSelect, onPlace }: LaneProps) {
  const look = phase === undefined ? undefined : classOf(phase)
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: its button is
    <div className="lane-name" role="rowheader" style={{ paddingLeft: `min(${8 + row.depth * INDENT_PX}px, 35%)` }}>
      <button
        type="button"
        className={look && `is-${look.toLowerCase()}`}
        data-cell={-1}
        tabIndex={cell === -1 ? 0 : -1}
        aria-pressed={isSelected}
        title={`${row.name}: ${humanKind(row.kind)}`}
        aria-label={`${row.name}, ${humanKind(row.kind)}, ${phase ?? (row.isGone ? 'gone' : 'not there')}${criticalMs === undefined ? '' : `, on the critical path for ${exactly(criticalMs)}`}`}
        onFocus={() => onPlace({ id: row.id, cell: -1 })}
        onClick={() => onSelect(row.id)}
      >
        <span className="lane-symbol" aria-hidden="true">
          {look ? CLASS_SYMBOLS[look] : '∅'}
        </span>
        <span className="lane-text">{row.name}</span>
      </button>
    </div>
  )
}

interface PieceProps extends LaneProps {
  readonly piece: Piece<DrawnSegment>
  readonly cell: number
  /** Its duration is elsewhere. */
  readonly isNamed: boolean
  /** It is of the run whose critical path is marked. */
  readonly isCritical: boolean
}
function PieceButton({ piece, row, now, cell: at, isNamed, isCritical, onSelect, onPlace, onTell }: PieceProps) {
  const { left, width, segments } = piece
  const [only] = segments
  const isAlone = segments.length === 1
  const look = lookOf(segments)
  const text = tellPiece(piece, now)
  const isRunning = segments.at(-1)?.to === null && look === 'ACTIVE'
  return (
    <button
      type="button"
      className={`piece is-${look.toLowerCase()}${isRunning ? ' running' : ''}${isAlone && only?.isEnd ? ' end' : ''}${isCritical ? ' critical' : ''}`}
      data-cell={at}
      data-phases={segments.map(({ phase }) => phase).join(' ')}
      tabIndex={-1}
      aria-label={`${row.name}: ${text.title}, ${text.lines.join(', ')}`}
      style={{ left, width }}
      onClick={() => onSelect(row.id)}
      onFocus={({ currentTarget }) => {
        onPlace({ id: row.id, cell: at })
        onTell(text, currentTarget)
      }}
      onBlur={({ currentTarget }) => onTell(null, currentTarget)}
      onPointerEnter={({ currentTarget }) => onTell(text, currentTarget)}
      onPointerLeave={({ currentTarget }) => onTell(null, currentTarget)}
    >
      {width >= SYMBOL_PX && <span aria-hidden="true">{isAlone ? CLASS_SYMBOLS[look] : '⋯'}</span>}
      {only && isAlone && width >= NAME_PX && <span className="piece-name">{only.phase}</span>}
      {only && isAlone && !isNamed && !only.isEnd && width >= NAME_PX + LENGTH_PX && (
        // Drawn by the style: as text it would have to be in the name word by word.
        <span className="piece-length" data-length={lengthOf(only, now)} />
      )}
    </button>
  )
}

/** Marks for refused requests, and for the end. */
function Marks({ row, lane, window, width, from, onSelect, onPlace, onTell }: LaneProps & { readonly from: number }) {
  const x = (at: string): number => ((Date.parse(at) - window.from) / (window.to - window.from)) * width
  const refused = (lane?.refused ?? []).filter(({ at }) => x(at) >= 0 && x(at) <= width)
  const gone = lane?.gone && x(lane.gone.at)
  return (
    <>
      {refused.map((change, i) => {
        const text = tellRefused(change)
        return (
          <button
            key={change.sequence}
            type="button"
            className="refused-mark"
            data-cell={from + i}
            data-refused={change.sequence}
            tabIndex={-1}
            aria-label={`${row.name}: ${text.title}, ${text.lines.join(', ')}`}
            style={{ left: x(change.at) }}
            onClick={() => onSelect(row.id)}
            onFocus={({ currentTarget }) => {
              onPlace({ id: row.id, cell: from + i })
              onTell(text, currentTarget)
            }}
            onBlur={({ currentTarget }) => onTell(null, currentTarget)}
            onPointerEnter={({ currentTarget }) => onTell(text, currentTarget)}
            onPointerLeave={({ currentTarget }) => onTell(null, currentTarget)}
          >
            <span aria-hidden="true">⊘</span>
          </button>
        )
      })}
      {typeof gone === 'number' && gone >= 0 && gone <= width && (
        <span className="gone-mark" style={{ left: gone }} title="Gone">
          ∅
        </span>
      )}
    </>
  )
}
