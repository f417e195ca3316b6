import { Link } from 'wouter'
import { humanKind } from '../../model/known.ts'
import type { Row } from '../../model/object.ts'
import { treeHref } from '../../ui/links.ts'

/** Entries of a section. */
export const SHOWN = 12

interface TitleProps {
  readonly id: string
  readonly title: string
  readonly count: string | number | null
  readonly href: string | null
}
export function SectionTitle({ id, title, count, href }: TitleProps) {
  return (
    <h2 id={id}>
      {href ? <Link href={href}>{title}</Link> : title}
      {count !== null && <span className="count">{count.toLocaleString('en')}</span>}
    </h2>
  )
}

export function Name({ row }: { readonly row: Row }) {
  return (
    <span className="thing-name">
      <Link href={treeHref(row.root.id, row.id)}>{row.name}</Link>{' '}
      <span className="quiet">
        {humanKind(row.kind)}
        {row.root.id !== row.id && ` in ${row.root.name}`}
      </span>
    </span>
  )
}
