import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { LinesStore } from '../../data/lines-store.ts'
import { levelOf } from '../../model/line-level.ts'
import { outputHref } from '../../ui/links.ts'
import { saveText } from '../../ui/save-text.ts'
import { useLive } from '../../ui/session-context.ts'
import { Problem } from '../../ui/states.tsx'

/** The most lines of a long output that are drawn, its last ones; all lines can be searched and downloaded. */
const DRAWN = 500

export function PanelLogs({ objectId, name }: { readonly objectId: string; readonly name: string }) {
  const store = useLive(objectId, (session, signal) => new LinesStore(session, objectId, signal))
  const [search, setSearch] = useState('')
  const [follows, setFollows] = useState(true)
  const box = useRef<HTMLDivElement>(null)
  const lines = store?.lines ?? []
  const words = search.toLowerCase()
  const found = words ? lines.filter(({ text }) => text.toLowerCase().includes(words)) : lines
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are what is followed
  useEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [follows, found.length])

  if (lines.length === 0 && !store?.error) return null
  return (
    <section aria-label="Output" className="logs">
      <h3>Output</h3>
      {store?.error && <Problem message={store.error} />}
      <div className="row">
        <input
          type="search"
          aria-label="Search the output"
          placeholder="search…"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <label className="check">
          <input type="checkbox" checked={follows} onChange={({ target }) => setFollows(target.checked)} /> Follow
        </label>
        <button
          type="button"
          onClick={() =>
            saveText(
              `${name}.log`,
              lines.map(({ at, stream, text }) => `${at} ${stream} ${text}`),
            )
          }
        >
          Download
        </button>
        <Link href={outputHref({ object: objectId })}>Full page</Link>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div className="lines" ref={box} tabIndex={0} role="log" aria-label={`Output of ${name}`}>
        {found.length > DRAWN && (
          <p className="quiet">{found.length - DRAWN} lines before: they are on the full page</p>
        )}
        {found.slice(-DRAWN).map(({ cursor, stream, text }) => (
          <div key={cursor} className={`line-${stream.toLowerCase()}${levelOf(text) === 'error' ? ' is-error' : ''}`}>
            {text}
          </div>
        ))}
      </div>
    </section>
  )
}
