import { Link } from 'wouter'
import { treeHref } from '../../../ui/links.ts'
import { Phase } from '../../../ui/phase.tsx'
import type { Existing, Opened } from '../data.ts'

type Found = { readonly existing: Existing | null } | null
interface Props {
  readonly found: Found
  readonly place: { readonly project: string; readonly name: string }
}

/** Says whether the form creates an installation or updates one. */
export function WhatIsThere({ found, place: { project, name } }: Props) {
  if (name === '') return 'The project and its name tell an installation from others.'
  if (!found) return 'Looking whether there is one…'
  if (!found.existing) return `A new installation in ${project}.`
  const { id, phase } = found.existing
  return (
    <>
      There is <Link href={treeHref(id)}>{name}</Link> already, <Phase phase={phase} />: this would update it.
    </>
  )
}

interface ChangedProps {
  readonly opened: Opened | null
  readonly found: Found
  readonly onReopen: () => void
}
/** The installation has changed since the form was opened. */
export function Changed({ opened, found, onReopen }: ChangedProps) {
  const existing = found?.existing
  if (!opened || existing?.id !== opened.id || existing.generation === opened.generation) return null
  return (
    <div className="notice" role="alert">
      <span>
        It was changed since you opened it (generation {opened.generation} → {existing.generation}): to update it takes
        that back.
      </span>
      <button type="button" onClick={onReopen}>
        Open it as it is now
      </button>
    </div>
  )
}
