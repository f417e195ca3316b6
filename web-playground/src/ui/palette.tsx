import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { docsPages } from '../data/docs-pages.ts'
import { foundObjects } from '../data/found-objects.ts'
import type { SavedViews } from '../data/saved-views.ts'
import { allForms } from '../families/index.ts'
import { humanKind } from '../model/known.ts'
import type { ListedRow } from '../model/object.ts'
import { textOf } from '../model/pairs.ts'
import { asSaved } from '../model/scope.ts'
import { fits, soughtIn, verbFor, verbIn } from '../model/sought.ts'
import { createHref, objectsHref, treeHref, verbHref } from './links.ts'
import type { Menu } from './menu.ts'
import { PaletteDialog, type PaletteText } from './palette-dialog.tsx'
import { Phase } from './phase.tsx'
import { useScope } from './scoped-router.tsx'
import { useSession } from './session-context.ts'

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

interface Props extends PaletteText {
  readonly saved: SavedViews | null
  readonly sections: Menu['sections']
}

/**
 * Finds objects by name, path, id or label, pages, saved views, what can be created, and pages of the documentation: by keyboard alone, or by
 * pointer. A verb before a name leads to the question of the object's page.
 */
export default function Palette({ saved, sections, text, onText, onClose }: Props) {
  const list = useId()
  const [, navigate] = useLocation()
  const [at, setAt] = useState(0)
  const { machines } = useSession()
  const asked = verbIn(machines.all, text)
  const objects = useObjects(asked?.rest ?? text)
  const { views, pages, others } = useDestinations({ text, saved, sections })
  const found = asked ? objects.found.flatMap((row) => verbChoice(row, asked.verb)) : objects.found.map(choiceOf)
  const choices = [...views, ...pages, ...found, ...others]
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
  const onTyped = (typed: string): void => {
    onText(typed)
    setAt(0)
  }
  const field = {
    'aria-expanded': choices.length > 0,
    'aria-controls': list,
    'aria-activedescendant': choices.length > 0 ? `${list}-${active}` : undefined,
    onKeyDown,
  }
  return (
    <PaletteDialog text={text} onText={onTyped} onClose={onClose} field={field}>
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
        {objects.problem ??
          (choices.length > 0 ? `${choices.length} found` : objects.isLooking ? '' : 'Nothing matches.')}
      </p>
    </PaletteDialog>
  )
}

const choiceOf = ({ id, path, kind, phase, root, project }: ListedRow): Choice => ({
  href: treeHref(root.id, id),
  label: path,
  about: `${humanKind(kind)} in ${project.name}`,
  phase,
})

/** None: the object has no such verb, or not now. */
function verbChoice(row: ListedRow, name: string): readonly Choice[] {
  const verb = verbFor(row, name)
  if (!verb) return []
  return [{ ...choiceOf(row), href: verbHref(row.root.id, row.id, verb.name), label: `${verb.label} ${row.path}…` }]
}

interface Destinations {
  readonly views: readonly Choice[]
  readonly pages: readonly Choice[]
  readonly others: readonly Choice[]
}
/** Saved views, pages, forms, the list of a label and the documentation; with nothing typed, the views and the pages alone. */
function useDestinations({ text, saved, sections }: Pick<Props, 'text' | 'saved' | 'sections'>): Destinations {
  const forms = useOnce(allForms)
  const documents = useOnce(docsPages)
  const sought = soughtIn(text)
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
    ...documents.map(({ title, path }) => ({ href: `/docs/${path}`, label: title, about: 'Documentation' })),
  ]
  const labelled =
    sought?.by === 'label'
      ? [
          {
            href: objectsHref({ labels: [sought.label] }),
            label: `Objects with ${textOf(sought.label)}`,
            about: 'List',
          },
        ]
      : []
  const isWanted = ({ label }: Choice): boolean => label.toLowerCase().includes(wanted)
  return {
    views: views.filter(isWanted),
    pages: pages.filter((page) => isWanted(page) || page.about.toLowerCase().startsWith(wanted)),
    others: wanted === '' ? [] : [...labelled, ...others.filter(isWanted)],
  }
}

/** Pages are there at once; what is missing when its files cannot be had is missing here alone. @param read always the same function */
function useOnce<T>(read: () => Promise<readonly T[]>): readonly T[] {
  const [things, setThings] = useState<readonly T[]>([])
  useEffect(() => void read().then(setThings, () => undefined), [read])
  return things
}

interface Looked {
  readonly found: readonly ListedRow[]
  readonly isLooking: boolean
  readonly problem: string | null
}

function useObjects(text: string): Looked {
  const { client } = useSession()
  const { project } = useScope()
  const wanted = text.trim()
  const [looked, setLooked] = useState<Looked & { readonly for: string }>({ ...NONE, for: '' })
  useEffect(() => {
    const stop = new AbortController()
    const sought = soughtIn(wanted)
    const look = async (): Promise<void> => {
      try {
        const found = sought ? await foundObjects(client, { sought, project, most: MOST }, stop.signal) : []
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
  }, [client, project, wanted])
  if (wanted === '') return NONE
  if (looked.for === wanted) return looked
  // Results of the previous text stay until newer ones arrive, unless an Enter would lead to what nobody looks for any more.
  const sought = soughtIn(wanted)
  return { ...looked, found: looked.found.filter((row) => sought && fits(row, sought)), isLooking: true }
}
const NONE: Looked = { found: [], isLooking: false, problem: null }
