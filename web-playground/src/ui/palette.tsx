import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { foundObjects } from '../data/found-objects.ts'
import type { SavedViews } from '../data/saved-views.ts'
import type { CreateForm } from '../families/family.ts'
import { allForms } from '../families/index.ts'
import { humanKind } from '../model/known.ts'
import type { Row } from '../model/object.ts'
import { asSaved } from '../model/scope.ts'
import { createHref, objectsHref, treeHref } from './links.ts'
import type { Menu } from './menu.ts'
import { Phase } from './phase.tsx'
import { useSession } from './session-context.ts'
import { useModal } from './use-modal.ts'
import './palette.css'

const MOST = 8
/** Names are typed faster than they are looked up. */
const SETTLE_MS = 150

interface Choice {
  readonly href: string
  readonly label: string
  /** A short description. */
  readonly about: string
  readonly phase?: string
}

interface Props {
  readonly saved: SavedViews | null
  readonly sections: Menu['sections']
  readonly onClose: () => void
}

/** Finds objects by name, pages, saved views, and what can be created: by keyboard alone, or by pointer. */
export default function Palette({ saved, sections, onClose }: Props) {
  const modal = useModal(onClose)
  const list = useId()
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const objects = useObjects(text)
  const { views, pages, others } = useDestinations({ text, saved, sections })
  const choices = [...views, ...pages, ...objects.found.map(choiceOf), ...others]
  const active = Math.min(at, choices.length - 1)
  const go = ({ href }: Choice): void => {
    onClose()
    // The documentation is another site.
    if (href.startsWith('/docs/')) location.assign(href)
    else navigate(href)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const chosen = choices[active]
    if (step !== 0 && choices.length > 0) setAt((active + step + choices.length) % choices.length)
    else if (event.key === 'Enter' && chosen) go(chosen)
    else return
    event.preventDefault()
  }
  return (
    <dialog {...modal} className="palette" aria-label="Find">
      <input
        type="text"
        role="combobox"
        aria-label="Name of an object or a page"
        aria-expanded={choices.length > 0}
        aria-controls={list}
        aria-activedescendant={choices.length > 0 ? `${list}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder="Name of an object or a page"
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={list} aria-label="Found" className="palette-list">
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are those of the input
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input
          <div
            key={`${choice.about} ${choice.href}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => go(choice)}
            onPointerMove={() => setAt(index)}
          >
            <span className="palette-label">{choice.label}</span> <span className="quiet">{choice.about}</span>
            {choice.phase !== undefined && <Phase phase={choice.phase} />}
          </div>
        ))}
      </div>
      <p className="quiet" role="status">
        {objects.problem ?? (choices.length === 0 && !objects.isLooking ? 'Nothing has this name.' : '')}
      </p>
    </dialog>
  )
}

const choiceOf = ({ id, name, kind, phase, root, project }: Row): Choice => ({
  href: treeHref(root.id, id),
  label: name,
  about: `${humanKind(kind)} in ${root.id === id ? project.name : root.name}`,
  phase,
})

interface Destinations {
  readonly views: readonly Choice[]
  readonly pages: readonly Choice[]
  readonly others: readonly Choice[]
}
/** Saved views, pages, forms and the documentation; with nothing typed, the views and the pages alone. */
function useDestinations({ text, saved, sections }: Omit<Props, 'onClose'> & { readonly text: string }): Destinations {
  const forms = useForms()
  const wanted = text.trim().toLowerCase()
  // The name of a section finds all of its pages.
  const pages = sections.flatMap((section) =>
    section.pages.map(({ href, label, section: about }) => ({ href, label, about })),
  )
  const views = (saved?.views ?? []).map(({ href, name }) => ({
    href: asSaved(href),
    label: name,
    about: 'Saved view',
  }))
  const others = [
    ...forms.map(({ name, label }) => ({
      href: createHref(name),
      label: `Create ${label.toLowerCase()}`,
      about: 'Form',
    })),
    { href: objectsHref({ finished: false }), label: 'Unfinished objects', about: 'List' },
    { href: '/docs/', label: 'Documentation', about: 'Site' },
  ]
  const isWanted = ({ label }: Choice): boolean => label.toLowerCase().includes(wanted)
  return {
    views: views.filter(isWanted),
    pages: pages.filter((page) => isWanted(page) || page.about.toLowerCase().startsWith(wanted)),
    others: wanted === '' ? [] : others.filter(isWanted),
  }
}

/** Pages are there at once; what is missing when its files cannot be had is missing here alone. */
function useForms(): readonly CreateForm[] {
  const [forms, setForms] = useState<readonly CreateForm[]>([])
  useEffect(() => void allForms().then(setForms, () => undefined), [])
  return forms
}

interface Looked {
  readonly found: readonly Row[]
  readonly isLooking: boolean
  readonly problem: string | null
}

function useObjects(text: string): Looked {
  const { client } = useSession()
  const wanted = text.trim()
  const [looked, setLooked] = useState<Looked & { readonly for: string }>({ ...NONE, for: '' })
  useEffect(() => {
    const stop = new AbortController()
    const look = async (): Promise<void> => {
      try {
        const found = await foundObjects(client, { text: wanted, most: MOST }, stop.signal)
        setLooked({ for: wanted, found, isLooking: false, problem: null })
      } catch (error) {
        if (!stop.signal.aborted) setLooked({ ...NONE, for: wanted, problem: String(error) })
      }
    }
    const timer = wanted === '' ? undefined : setTimeout(() => void look(), SETTLE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [client, wanted])
  if (wanted === '') return NONE
  // The results of the previous text stay until newer ones arrive.
  return looked.for === wanted ? looked : { ...looked, isLooking: true }
}
const NONE: Looked = { found: [], isLooking: false, problem: null }
