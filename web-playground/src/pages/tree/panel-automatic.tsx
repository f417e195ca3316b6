import { idleWords, retryOf } from 'phaseline/client-model'
import type { Details } from '../../data/details-store.ts'
import { Until } from '../../ui/phase.tsx'

/** The next job of a root that begins by itself. */
export function PanelAutomatic({ details: { automaticReconcile, finished, ignored } }: { readonly details: Details }) {
  if (!automaticReconcile) return null
  const { nextAt, editor, problem } = automaticReconcile
  const retry = retryOf(automaticReconcile)
  const isIdle = finished && !ignored
  return (
    <section aria-label="Automatic reconcile">
      <h3>Next reconcile by itself</h3>
      <p>
        {nextAt ? <Until at={nextAt} /> : idleWords(automaticReconcile, isIdle)}
        {retry && `, ${retry}`} <span className="quiet">for {editor}</span>
      </p>
      {problem && <p>The last time passed: {problem}</p>}
    </section>
  )
}
