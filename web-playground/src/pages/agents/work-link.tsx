import { Link } from 'wouter'
import { humanKind } from '../../model/known.ts'
import type { WorkObject } from '../../model/work.ts'
import { treeHref } from '../../ui/links.ts'

/** An object with work, and its tree. */
export function WorkLink({ object: { id, kind, name, root } }: { readonly object: WorkObject }) {
  return (
    <>
      <Link href={treeHref(root.id, id)}>{name}</Link>{' '}
      <span className="quiet">
        {humanKind(kind)}
        {root.id !== id && ` in ${root.name}`}
      </span>
    </>
  )
}
