import { Link } from 'wouter'
import { lastWhole, type Timeline } from '../../model/timeline.ts'
import { placeHref } from '../../ui/links.ts'
import { Empty } from '../../ui/states.tsx'

interface Props {
  readonly rootId: string
  /** The object was deleted while the page was open. */
  readonly wasHere: boolean
  readonly timeline: Timeline
}

export function Gone({ rootId, wasHere, timeline }: Props) {
  const isLogged = timeline.changes.length > 0
  const whole = lastWhole(timeline)
  return (
    <div className="page">
      <Empty
        isPage
        title={wasHere || isLogged ? 'This tree is gone: everything in it was deleted.' : `There is no tree ${rootId}.`}
      >
        {!wasHere && !isLogged && 'It was deleted, or your token does not let you see it. '}
        {isLogged && (
          <p>
            {whole !== null && (
              <>
                <Link href={placeHref(rootId, { at: whole })}>Look at it as it was</Link> before its deletion, or at{' '}
              </>
            )}
            <Link href={placeHref(rootId, { view: 'timeline' })}>its timeline</Link>.
          </p>
        )}
        See <Link href="/objects?roots=yes">what there is</Link>, or <Link href="/log">how it went</Link>.
      </Empty>
    </div>
  )
}
