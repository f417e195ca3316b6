import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { OutputLine, OutputStore } from '../../data/output-store.ts'
import { levelOf } from '../../model/line-level.ts'
import type { OutputFilter } from '../../model/output-filter.ts'
import { clockOf } from '../../model/words.ts'
import { recentTime, zonedTime } from '../../ui/exact-time.ts'
import { outputHref, treeHref } from '../../ui/links.ts'
import { AnsiText } from './ansi-text.tsx'

const ROW_PX = 20
/** So near the end counts as at the end. */
const NEAR_PX = 40

export interface Look {
  readonly wraps: boolean
  readonly hasTimes: boolean
  readonly follows: boolean
}
interface Props {
  readonly store: OutputStore
  readonly filter: OutputFilter
  readonly look: Look
  readonly onFollow: (follows: boolean) => void
  /** Content before the first line and after the last one. */
  readonly before: ReactNode
  readonly after: ReactNode
}

export function OutputRows({ store, filter, look, onFollow, before, after }: Props) {
  const { lines } = store
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
    getItemKey: (index) => lines[index]?.cursor ?? index,
  })
  const { follows, wraps } = look
  const linked = useRef<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: wrapped lines have other heights
  useLayoutEffect(() => virtual.measure(), [wraps])
  useEffect(() => {
    const index = filter.line ? lines.findIndex(({ cursor }) => cursor === filter.line) : -1
    if (index >= 0 && linked.current !== filter.line) {
      linked.current = filter.line
      virtual.scrollToIndex(index, { align: 'center' })
    } else if (follows && !filter.line && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: 'end' })
  }, [lines, follows, filter.line, virtual])
  const onScroll = (): void => {
    const box = scroller.current
    if (!box) return
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX
    if (isAtEnd !== follows && !virtual.isScrolling) onFollow(isAtEnd)
  }
  return (
    <div
      className={`log-body output lines${wraps ? ' wraps' : ''}`}
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      role="log"
      aria-label="Output"
      onWheel={onScroll}
      onKeyUp={onScroll}
      onTouchEnd={onScroll}
    >
      {before}
      <ol className="grid-space" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const line = lines[index]
          return (
            line && (
              <OutputRow
                key={key}
                {...{ line, index, start, filter, look }}
                measure={virtual.measureElement}
                isLinked={line.cursor === filter.line}
              />
            )
          )
        })}
      </ol>
      {after}
    </div>
  )
}

interface RowProps {
  readonly line: OutputLine
  readonly index: number
  readonly start: number
  readonly filter: OutputFilter
  readonly look: Look
  readonly isLinked: boolean
  readonly measure: (node: Element | null) => void
}
const STREAM_WORDS: Readonly<Record<string, string>> = { STDERR: 'stderr', SYSTEM: 'note', STEP: 'step' }

function OutputRow({ line, index, start, filter, look, isLinked, measure }: RowProps) {
  const { at, stream, text, object, objectId, cursor } = line
  const level = levelOf(text)
  return (
    <li
      ref={measure}
      data-index={index}
      className={`output-row line-of-${stream.toLowerCase()}${level ? ` is-${level}` : ''}${isLinked ? ' is-linked' : ''}`}
      style={{ transform: `translateY(${start}px)` }}
    >
      {look.hasTimes && (
        <Link
          href={outputHref({ ...filter, line: cursor })}
          replace
          className="output-time"
          title={`${zonedTime(at)}: a link to this line`}
          aria-current={isLinked || undefined}
        >
          <time dateTime={at}>{recentTime(at, clockOf)}</time>
        </Link>
      )}
      {filter.object === '' && (
        <span className="output-place" title={object?.path ?? objectId}>
          {object ? <Link href={treeHref(object.root.id, objectId)}>{object.path}</Link> : 'deleted'}
        </span>
      )}
      <span className="output-stream" title={stream}>
        {STREAM_WORDS[stream] ?? ''}
      </span>
      <span className="output-text">
        <AnsiText text={text} />
      </span>
    </li>
  )
}
