import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { humanKind } from '../../model/known.ts'
import type { Row } from '../../model/object.ts'
import { plural } from '../../model/words.ts'
import { treeHref } from '../../ui/links.ts'

/** Entries of a section. */
export const SHOWN = 8

interface SectionProps {
  readonly id: string
  readonly title: string
  readonly count: string | number
  /** The list of all entries; null: there is none. */
  readonly all: { readonly label: string; readonly href: string } | null
  /** Replaces the entries; null: there are some. */
  readonly none: ReactNode
  /** Stands beside the title. */
  readonly badge?: ReactNode
  readonly children: ReactNode
}
/** A card with entries, or a line without a box. */
export function Section({ id, title, count, all, none, badge, children }: SectionProps) {
  if (none !== null)
    return (
      <section className="calm" aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        <p className="quiet">{none}</p>
      </section>
    )
  return (
    <section className="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>
          {title} <span className="count">{count.toLocaleString('en')}</span>
        </h2>
        {badge}
        {all && <Link href={all.href}>{all.label}</Link>}
      </header>
      {children}
    </section>
  )
}

interface NameProps {
  readonly row: Row
  /** Others of which the same is said. */
  readonly more?: number
  /** e.g. ` with this error`. */
  readonly alike?: string
}
export function Name({ row, more = 0, alike = '' }: NameProps) {
  return (
    <span className="thing-name">
      <Link href={treeHref(row.root.id, row.id)}>{row.name}</Link>{' '}
      <span className="quiet">
        {humanKind(row.kind)}
        {row.root.id !== row.id && ` in ${row.root.name}`}
        {more > 0 && ` – and ${more.toLocaleString('en')} more${alike}`}
      </span>
    </span>
  )
}

interface MoreProps {
  /** Entries that are not shown. */
  readonly count: number
  readonly noun: string
  readonly href: string
}
export function More({ count, noun, href }: MoreProps) {
  if (count <= 0) return null
  return (
    <p className="more">
      <Link href={href}>{plural(count, `more ${noun}`)}</Link>
    </p>
  )
}
