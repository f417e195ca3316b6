import { type FormEvent, useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import type { SavedViews } from '../data/saved-views.ts'
import { MAX_NAME, MAX_VIEWS } from '../model/saved-views.ts'
import { asSaved } from '../model/scope.ts'
import { useModal } from './use-modal.ts'
import './palette.css'

interface Props {
  readonly saved: SavedViews
  readonly onClose: () => void
}

/** Saves the page that is shown, with its filter, under a name; leads to the saved ones, and removes them. */
export default function ViewsDialog({ saved, onClose }: Props) {
  const modal = useModal(onClose)
  const [path] = useLocation()
  const search = useSearch()
  const href = search ? `${path}?${search}` : path
  const { views } = saved
  const current = views.find((view) => view.href === href)
  const [name, setName] = useState(() => current?.name ?? document.title.replace(/ · Phaseline$/, ''))
  const isFull = !current && views.length >= MAX_VIEWS
  const save = (event: FormEvent): void => {
    event.preventDefault()
    saved.save({ name: name.trim(), href })
    onClose()
  }
  return (
    <dialog {...modal} className="palette saved-views" aria-label="Saved views">
      <form className="inline-form" onSubmit={save}>
        <label className="grow">
          <span>{current ? 'This view is saved as' : 'Save this view as'}</span>
          <input
            type="text"
            required
            maxLength={MAX_NAME}
            pattern=".*\S.*"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <button type="submit" className="primary" disabled={isFull}>
          {current ? 'Rename' : 'Save'}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </form>
      {isFull && <p role="status">There are {MAX_VIEWS} already: remove one first.</p>}
      {views.length === 0 ? (
        <p className="quiet">Nothing is saved yet. Views are kept in this browser; Ctrl K finds them too.</p>
      ) : (
        <ul className="palette-list">
          {views.map((view) => (
            <li key={view.href}>
              <Link
                href={asSaved(view.href)}
                onClick={onClose}
                aria-current={view.href === href ? 'page' : undefined}
                title={view.href}
              >
                {view.name}
              </Link>
              <button
                type="button"
                className="plain"
                aria-label={`Remove ${view.name}`}
                onClick={() => saved.remove(view.href)}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
    </dialog>
  )
}
